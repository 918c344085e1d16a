/**
 * The compiled builds: one executable for each system, which carries all its modules and starts itself again as its engine and its
 * sealed process. The runtime that it is made from is downloaded, or is the file that `DENORT_BIN` names, for the one system that
 * this file is made for.
 *
 * Where a runtime cannot be had, everything else is done all the same: the modules are bundled, their graph is whole, and
 * `dist/compile.json` says what would be embedded and with which flags.
 *
 * Spec: design, Packaging.
 */
import { Buffer } from "node:buffer";
import { V8_FLAGS } from "../src/dispatch/v8_flags.ts";
import { VERSION } from "../src/version.ts";
import { bundle, removeOld, toPath } from "./bundle.ts";
import { PERMISSION_FLAGS } from "./flags.ts";

/** Systems that a release is made for, by the name that is in its files' names, and the name that the runtime has for each. */
export const TARGETS: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "macos-x64": "x86_64-apple-darwin",
  "macos-arm64": "aarch64-apple-darwin",
  "windows-x64": "x86_64-pc-windows-msvc",
};

/** What is baked into every compiled program. */
export const COMPILE_FLAGS = [
  ...PERMISSION_FLAGS,
  // Without it the runtime ends the process where a worker is given a permission list.
  "--unstable-worker-options",
  V8_FLAGS,
  // No configuration, lock file or package goes in: the modules need none, and a program would carry them about.
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--cached-only",
  // The cache of compiled code is a file of a known name in the folder for temporary files, which any account may put there first.
  "--no-code-cache",
];

/** What `compile.json` says. */
export interface Manifest {
  version: string;
  /** The runtime's version. */
  runtime: string;
  flags: string[];
  /** What is embedded: files below `modules/`, `main.js` among them, which is the entry. */
  modules: { file: string; bytes: number }[];
  targets: Compiled[];
}

/** What became of a target. */
export interface Compiled {
  target: string;
  /** The executable, below the folder that holds `compile.json`. */
  file: string;
  bytes?: number;
  /** Why there is none: its runtime could not be had. */
  missing?: string;
}

export interface CompileOptions {
  /** Names of `TARGETS`; all unless stated. */
  targets?: readonly string[];
  /** A runtime to use for the system that it is made for; what `DENORT_BIN` names unless stated. */
  denort?: string;
  /** Environment variables that the compiler gets besides those of this process. */
  env?: Readonly<Record<string, string>>;
}

/**
 * Compiles for each target that can be had, and writes `compile.json`.
 *
 * @throws When anything fails but the download of a runtime.
 */
export async function compileAll(into: URL, options: CompileOptions = {}): Promise<Manifest> {
  const { targets = Object.keys(TARGETS), denort = Deno.env.get("DENORT_BIN") || undefined, env = {} } = options;
  const modules = new URL("modules/", into);
  await Promise.all([modules, ...targets.map((target) => new URL(`${target}/`, into))].map(removeOld));
  await Deno.mkdir(modules, { recursive: true });
  await bundle("main.ts", modules);
  const files = await modulesOf(modules);
  const made = denort === undefined ? undefined : targetOf(denort);
  const compiled = await Promise.all(
    targets.map((target) => compile(into, target, files, target === made ? denort : undefined, env)),
  );
  const manifest: Manifest = {
    version: VERSION,
    runtime: Deno.version.deno,
    flags: COMPILE_FLAGS,
    modules: files.map((file) => ({ file, bytes: Deno.statSync(new URL(file, modules)).size })),
    targets: compiled,
  };
  await Deno.writeTextFile(new URL("compile.json", into), JSON.stringify(manifest, undefined, 2) + "\n");
  return manifest;
}

/** Every module that the entry reaches, in order: the whole folder and nothing else. */
async function modulesOf(folder: URL): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-config", "--no-lock", "--no-remote", "--no-npm", toPath(new URL("main.js", folder))],
    env: { NO_COLOR: "1", DENO_NO_PACKAGE_JSON: "1" },
  }).output();
  if (!success) throw new Error(`the bundle has no module graph:\n${new TextDecoder().decode(stderr)}`);
  const graph = JSON.parse(new TextDecoder().decode(stdout)) as { modules: { specifier: string; error?: string }[] };
  const reached: string[] = [];
  for (const { specifier, error } of graph.modules) {
    if (error !== undefined) throw new Error(`the bundle's module graph is broken at ${specifier}: ${error}`);
    if (specifier.startsWith("node:")) continue;
    if (!specifier.startsWith(folder.href)) throw new Error(`the bundle reaches outside itself: ${specifier}`);
    reached.push(decodeURIComponent(specifier.slice(folder.href.length)));
  }
  const there = [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
  reached.sort();
  if (there.join() !== reached.join()) throw new Error(`the bundle holds ${there}, and its entry reaches ${reached}`);
  return reached;
}

async function compile(
  into: URL,
  target: string,
  modules: readonly string[],
  denort: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<Compiled> {
  const file = `${target}/fettle${target.startsWith("windows-") ? ".exe" : ""}`;
  const made = new URL(file, into);
  await Deno.mkdir(new URL("./", made), { recursive: true });
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "compile",
      ...COMPILE_FLAGS,
      `--target=${TARGETS[target]}`,
      `--output=${toPath(made)}`,
      toPath(new URL("modules/main.js", into)),
    ],
    clearEnv: true,
    env: { ...compilerEnvironment(), ...env, ...denort === undefined ? {} : { DENORT_BIN: denort } },
  }).output();
  if (!success) {
    const said = new TextDecoder().decode(stderr);
    const missing = whyNoRuntime(said);
    if (missing === undefined) throw new Error(`${target} could not be compiled:\n${said}`);
    await removeOld(new URL(`${target}/`, into));
    return { target, file, missing };
  }
  const program = latin1(made);
  for (const module of modules) {
    if (!program.includes(latin1(new URL(`modules/${module}`, into)))) {
      throw new Error(`${file} does not hold ${module}`);
    }
  }
  return { target, file, bytes: program.length };
}

/** A file as a text of as many letters as it has bytes. Searched as a buffer, the build took 24 s instead of 5 (measured). */
function latin1(file: URL): string {
  return Buffer.from(Deno.readFileSync(file).buffer).toString("latin1");
}

/** This process's environment, less what would change what is compiled. */
function compilerEnvironment(): Record<string, string> {
  const { DENORT_BIN: _, DENO_V8_FLAGS: __, DENO_LOG: ___, ...rest } = Deno.env.toObject();
  return { ...rest, NO_COLOR: "1", DENO_NO_PACKAGE_JSON: "1", DENO_NO_UPDATE_CHECK: "1" };
}

/** The compiler could not download the runtime, in its own words; `undefined` when it failed for another reason. */
function whyNoRuntime(said: string): string | undefined {
  if (!said.includes("Setting up base binary.")) return undefined;
  return said.match(/error sending request for url \([^)]*\).*/)?.[0];
}

/**
 * The target that an executable is made for, by its header.
 *
 * @throws When it is no executable, or for none of the targets.
 */
export function targetOf(executable: string): string {
  const bytes = Deno.readFileSync(executable).subarray(0, 4096);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const read = (at: number) => at + 4 <= bytes.length ? view.getUint32(at, true) : 0;
  const target = Object.entries(HEADERS).find(([, fits]) => fits(read))?.[0];
  if (target === undefined) throw new Error(`DENORT_BIN names no program of a system that is built for: ${executable}`);
  return target;
}

type Read = (at: number) => number;

const elf = (machine: number) => (read: Read) => read(0) === 0x464c457f && (read(18) & 0xffff) === machine;
const machO = (processor: number) => (read: Read) => read(0) === 0xfeedfacf && read(4) === processor;
const pe = (machine: number) => (read: Read) =>
  (read(0) & 0xffff) === 0x5a4d && read(read(0x3c)) === 0x4550 && (read(read(0x3c) + 4) & 0xffff) === machine;

/** How an executable of each target begins. */
const HEADERS: Readonly<Record<string, (read: Read) => boolean>> = {
  "linux-x64": elf(62),
  "linux-arm64": elf(183),
  "macos-x64": machO(0x01000007),
  "macos-arm64": machO(0x0100000c),
  "windows-x64": pe(0x8664),
};
