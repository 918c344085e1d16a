/**
 * A stand-in for a compiled program, where the runtime that one is made from cannot be had: `dist/standin/fettle` starts the compiled
 * program's one entry under the plain runtime, with the flags that are baked into the former, and tells it that it is compiled.
 *
 * So the end-to-end tests try what is particular to a compiled program: one executable that starts itself again in hidden modes, one
 * set of permissions for all its processes, workers that are held by lists, modules that no fence lets anybody read. What they do not
 * try is the runtime itself and its way of carrying files. Never shipped.
 */
import { V8_FLAGS } from "../src/dispatch/v8_flags.ts";
import { bundle, removeOld, TOP } from "./bundle.ts";
import { PERMISSION_FLAGS } from "./flags.ts";

/** Makes the folder anew. It needs the runtime that runs this script. */
export async function buildStandin(into: URL): Promise<void> {
  await removeOld(into);
  const lib = new URL("lib/", into);
  await Deno.mkdir(lib, { recursive: true });
  await bundle("main.ts", lib, { whole: true });
  await Deno.writeTextFile(new URL("standin.js", lib), pretence());
  await Deno.writeTextFile(new URL("fettle", into), launcher());
  await Deno.chmod(new URL("fettle", into), 0o755);
}

/** The flags of a compiled program, for `deno run`. */
function runFlags(): string {
  const flags = [...PERMISSION_FLAGS, "--unstable-worker-options", V8_FLAGS];
  return ["--quiet", "--no-config", "--no-lock", "--no-remote", "--no-npm", "--cached-only", ...flags].join(" ");
}

function launcher(): string {
  return `#!/bin/sh
export DENO_NO_PACKAGE_JSON=1 DENO_NO_UPDATE_CHECK=1
here=$(dirname "$(readlink -f "$0")")
exec "${Deno.execPath()}" run ${runFlags()} "$here/lib/standin.js" "$@"
`;
}

/** Exported for a test, which starts the modules of a compiled program themselves: `inMemory` is for a bundle that is one module. */
export function pretence({ inMemory = true } = {}): string {
  return `
Object.defineProperty(Deno, "build", { value: { ...Deno.build, standalone: true } });
Object.defineProperty(Deno, "execPath", { value: () => decodeURIComponent(new URL("../fettle", import.meta.url).pathname) });
${inMemory ? WORKERS : ""}
await import("./main.js");
`;
}

/** A compiled program has its modules in memory, where no fence is in the way of a worker that loads them. */
const WORKERS = `
const text = Deno.readTextFileSync(new URL("main.js", import.meta.url));
globalThis.Worker = class extends Worker {
  constructor(module, options) {
    super(module === Deno.mainModule ? "data:text/javascript," + encodeURIComponent(text) : module, options);
  }
};
`;

if (import.meta.main) await buildStandin(new URL("dist/standin/", TOP));
