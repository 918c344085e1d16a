/**
 * The portable build: a folder that runs Fettler anywhere on this kind of system without a network. It holds the launcher `fettle`,
 * the runtime that runs this script, and the bundled program.
 *
 * Spec: design, Packaging.
 */
import { V8_FLAGS } from "../src/dispatch/v8_flags.ts";
import { MARK, MARKS } from "../src/front/cli/arguments.ts";
import { bundle, removeOld, TOP } from "./bundle.ts";
import { PERMISSION_FLAGS } from "./flags.ts";

/** Makes the folder anew; says what is in it. */
export async function buildPortable(into: URL): Promise<string> {
  await removeOld(into);
  const lib = new URL("lib/", into);
  await Deno.mkdir(lib, { recursive: true });
  await Promise.all(["front", "engine"].map((name) => bundle(`src/entries/${name}.ts`, lib)));
  for (const { name } of Deno.readDirSync(lib)) await hideLateImports(new URL(name, lib));
  // Its own modules are all loaded before it is sealed: later it can read none.
  await bundle("src/entries/sealed.ts", lib);
  const runtime = Deno.build.os === "windows" ? "deno.exe" : "deno";
  await Deno.copyFile(Deno.execPath(), new URL(runtime, lib));
  await Deno.copyFile(new URL("LICENSE", TOP), new URL("LICENSE", into));
  if (Deno.build.os === "windows") {
    await Deno.writeTextFile(new URL("fettle.cmd", into), windowsLauncher());
  } else {
    const launcher = new URL("fettle", into);
    await Deno.writeTextFile(launcher, posixLauncher());
    await Deno.chmod(launcher, 0o755);
  }
  const modules = [...Deno.readDirSync(lib)].filter((entry) => entry.name.endsWith(".js"));
  const bytes = modules.reduce((sum, entry) => sum + Deno.statSync(new URL(entry.name, lib)).size, 0);
  return `launcher, runtime ${Deno.version.deno}, ${modules.length} modules of ${Math.ceil(bytes / 1024)} KiB`;
}

/**
 * Hides from the runtime what a module imports in the middle. What it can read in the text, it loads together with the module, whether
 * it will be asked for or not: the main module took 4.6 ms instead of 2.8 (measured).
 */
async function hideLateImports(module: URL): Promise<void> {
  const text = await Deno.readTextFile(module);
  await Deno.writeTextFile(module, text.replaceAll('import("./', 'import(""+"./'));
}

/** Variables that would make the runtime do more, or other things, than the command line says. */
const UNSET = [
  "DENO_V8_FLAGS",
  "DENO_COVERAGE_DIR",
  "DENO_LOG",
  "DENO_AUDIT_PERMISSIONS",
  "DENO_PERMISSION_BROKER_PATH",
  "DENO_TRACE_PERMISSIONS",
].join(" ");

/** Finds its own folder through links, without starting another program where there is none: each costs a millisecond. */
function posixLauncher(): string {
  const REPLACEMENT = "\ufffd";
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
# The runtime takes carriage returns away from the end of an argument, and puts U+FFFD for what is not Unicode.
${MARKS}=
case "$*" in
  *${REPLACEMENT}*) ${MARKS}=${MARK.REPLACEMENT} ;;
esac
case "$*" in
  *\r*)
    ${MARKS}="$${MARKS} ${MARK.DOTTED}"
    for argument do
      shift
      set -- "$@" "$argument."
    done
    ;;
esac
export ${MARKS} DENO_NO_UPDATE_CHECK=1 DENO_NO_PACKAGE_JSON=1
unset ${UNSET}
exec "$here/lib/deno" run ${runFlags()} "$here/lib/front.js" "$@"
`;
}

function windowsLauncher(): string {
  return `@echo off\r
setlocal\r
set DENO_NO_UPDATE_CHECK=1\r
set DENO_NO_PACKAGE_JSON=1\r
for %%v in (${UNSET} ${MARKS}) do set %%v=\r
"%~dp0lib\\deno.exe" run ${runFlags()} "%~dp0lib\\front.js" %*\r
`;
}

function runFlags(): string {
  return ["--quiet", "--no-config", "--no-lock", "--cached-only", V8_FLAGS, ...PERMISSION_FLAGS].join(" ");
}
