/**
 * `deno task build`: makes `dist/portable/`, a folder that runs Fettler anywhere on this kind of system without a network:
 * the launcher `fettle`, the runtime that runs this script, and the bundled program.
 *
 * Spec: design, Packaging.
 */
import { V8_FLAGS } from "../src/dispatch/v8_flags.ts";

const top = new URL("../", import.meta.url);
const portable = new URL("dist/portable/", top);

/** What the main process may do. The engine that it starts gets flags of its own. Spec: design, Packaging; decision 42. */
const PERMISSIONS = ["read", "write", "run", "env", "sys", "ffi"];

if (import.meta.main) await build();

/** Builds everything that can be built here. */
async function build(): Promise<void> {
  await Deno.remove(portable, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  const lib = new URL("lib/", portable);
  await Deno.mkdir(lib, { recursive: true });
  await bundle(lib);
  const runtime = Deno.build.os === "windows" ? "deno.exe" : "deno";
  await Deno.copyFile(Deno.execPath(), new URL(runtime, lib));
  await Deno.copyFile(new URL("LICENSE", top), new URL("LICENSE", portable));
  if (Deno.build.os === "windows") {
    await Deno.writeTextFile(new URL("fettle.cmd", portable), windowsLauncher());
  } else {
    const launcher = new URL("fettle", portable);
    await Deno.writeTextFile(launcher, posixLauncher());
    await Deno.chmod(launcher, 0o755);
  }
  const files = [...Deno.readDirSync(lib)].filter((entry) => entry.name.endsWith(".js"));
  const bytes = files.reduce((sum, entry) => sum + Deno.statSync(new URL(entry.name, lib)).size, 0);
  console.log(
    `dist/portable: launcher, runtime ${Deno.version.deno}, ${files.length} modules of ${Math.ceil(bytes / 1024)} KiB`,
  );
}

/** One module for each entry and what they share, so that a command loads only what it needs. */
async function bundle(into: URL): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "bundle",
      "--quiet",
      "--platform=deno",
      "--code-splitting",
      "--minify",
      `--outdir=${toPath(into)}`,
      "src/entries/front.ts",
      "src/entries/engine.ts",
      "src/entries/sealed.ts",
    ],
    cwd: toPath(top),
  }).spawn().status;
  if (!success) throw new Error("the program could not be bundled");
}

/** Finds its own folder through links, without starting another program where there is none: each costs a millisecond. */
function posixLauncher(): string {
  return `#!/bin/sh
# Starts Fettler with the runtime beside it, wherever this folder lies and by whatever link it is called.
# A folder that is gone has no name, and the runtime cannot start in one.
if [ -z "$PWD" ] || ! [ -d "$PWD/." ]; then
  case " $* " in
    *" --json "*) echo '{"ok":false,"outcome":"not-found","message":"the folder that Fettler was started in is gone"}' ;;
    *) echo "refused: the folder that Fettler was started in is gone" ;;
  esac
  exit 3
fi
self=$0
while [ -h "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=\${self%/*}/$target ;;
  esac
done
case $self in
  /*) here=\${self%/*} ;;
  */*) here=./\${self%/*} ;;
  *) here=. ;;
esac
export DENO_NO_UPDATE_CHECK=1 DENO_NO_PACKAGE_JSON=1
# What would make the runtime do more, or other things, than the command line says.
unset DENO_V8_FLAGS DENO_COVERAGE_DIR DENO_LOG DENO_AUDIT_PERMISSIONS DENO_PERMISSION_BROKER_PATH DENO_TRACE_PERMISSIONS
exec "$here/lib/deno" run ${runFlags()} "$here/lib/front.js" "$@"
`;
}

function windowsLauncher(): string {
  return `@echo off\r
set DENO_NO_UPDATE_CHECK=1\r
set DENO_NO_PACKAGE_JSON=1\r
"%~dp0lib\\deno.exe" run ${runFlags()} "%~dp0lib\\front.js" %*\r
`;
}

function runFlags(): string {
  const allowed = PERMISSIONS.map((name) => `--allow-${name}`);
  return ["--quiet", "--no-prompt", "--no-config", "--no-lock", "--cached-only", "--deny-import", V8_FLAGS, ...allowed]
    .join(" ");
}

function toPath(url: URL): string {
  return decodeURIComponent(url.pathname).replace(/^\/([A-Za-z]:)/, "$1");
}
