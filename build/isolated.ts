/**
 * Runs the end-to-end tests on a copy of `dist/portable` in a fresh folder, with an empty home and, where the system lets us, without
 * a network: `deno run --allow-all build/isolated.ts`. What the program needs it then has to have in itself.
 *
 * The tests themselves need their packages, which lie in this account's cache: they are told of it, and forget it before they begin.
 */
import { TOP, toPath } from "./bundle.ts";
import { V8_FLAGS } from "../src/dispatch/v8_flags.ts";

const FORGET = `data:text/javascript,Deno.env.delete("DENO_DIR")`;

/** Folders of a fresh place: the program, and a home that stays empty but for what the program itself puts there. */
async function makePlace(): Promise<{ place: string; program: string; home: string }> {
  const place = await Deno.makeTempDir({ prefix: "fettle-isolated-" });
  // Some tests run the program as another account.
  await Deno.chmod(place, 0o755);
  const [program, home] = [`${place}/portable`, `${place}/home`];
  await Deno.mkdir(home);
  copy(`${toPath(TOP)}dist/portable`, program);
  return { place, program, home };
}

function copy(from: string, to: string): void {
  Deno.mkdirSync(to);
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copy(`${from}/${name}`, `${to}/${name}`);
    else Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

/** The words before a command that take the network from it; none where the system does not let us. */
function withoutNetwork(): string[] {
  const words = Deno.build.os === "linux"
    ? ["unshare", "--net"]
    : ["sandbox-exec", "-p", "(version 1)(allow default)(deny network*)"];
  try {
    return new Deno.Command(words[0], { args: [...words.slice(1), "true"] }).outputSync().success ? words : [];
  } catch {
    return [];
  }
}

async function cacheFolder(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

if (import.meta.main) {
  const { place, program, home } = await makePlace();
  const isolation = withoutNetwork();
  console.log(
    `${program}: an empty home, ${
      isolation.length > 0 ? "no network" : "the network stays: this system does not let us"
    }`,
  );
  const fettle = `${program}/fettle${Deno.build.os === "windows" ? ".cmd" : ""}`;
  const [command, ...args] = [
    ...isolation,
    Deno.execPath(),
    "test",
    "--no-prompt",
    "--allow-all",
    "--cached-only",
    `--preload=${FORGET}`,
    V8_FLAGS,
    "tests/e2e",
    ...Deno.args,
  ];
  const { code } = await new Deno.Command(command, {
    args,
    cwd: toPath(TOP),
    env: { HOME: home, DENO_DIR: await cacheFolder(), FETTLE_PROGRAM: fettle },
  }).spawn().status;
  const all = Deno.args.length === 0;
  if (all && Deno.build.os !== "windows" && [...Deno.readDirSync(home)].length === 0) {
    throw new Error("the program did not see its home, so this proved nothing");
  }
  await Deno.remove(place, { recursive: true });
  Deno.exit(code);
}
