/**
 * The whole program as a child process. `FETTLE_PROGRAM` names what is tested: a launcher or a compiled file; without it the sources
 * run under the present runtime.
 */
import { toPath } from "../../build/bundle.ts";
import { PERMISSION_FLAGS } from "../../build/flags.ts";
import { V8_FLAGS } from "../../src/dispatch/v8_flags.ts";

const main = toPath(new URL("../../main.ts", import.meta.url));
const named = Deno.env.get("FETTLE_PROGRAM");

const SOURCE = ["run", "--cached-only", V8_FLAGS, ...PERMISSION_FLAGS];

/** Command and first arguments that start the program. */
export function program(): { command: string; args: string[] } {
  if (named) return { command: Deno.realPathSync(named), args: [] };
  return { command: Deno.execPath(), args: [...SOURCE, main] };
}

export interface Ran {
  code: number;
  out: string;
  err: string;
  /** The JSON answer. */
  // deno-lint-ignore no-explicit-any
  json: any;
}

export interface RunOptions {
  cwd?: string;
  stdin?: string | Uint8Array;
  env?: Record<string, string>;
  uid?: number;
}

/** Runs one command line. */
export async function fettle(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { command, args: first } = program();
  const child = new Deno.Command(command, {
    args: [...first, ...args],
    cwd: options.cwd,
    env: options.env,
    uid: options.uid,
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (options.stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(typeof options.stdin === "string" ? new TextEncoder().encode(options.stdin) : options.stdin);
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  const out = new TextDecoder("utf-8", { fatal: true }).decode(stdout);
  return {
    code,
    out,
    err: new TextDecoder().decode(stderr),
    get json() {
      return JSON.parse(out);
    },
  };
}

/** Why the engine of a compiled program has no process fence. */
export const COMPILED = "a compiled program can give its engine no permission flags";

/** Whether it is a compiled program that is tested, by what it says itself. */
export function isCompiled(): Promise<boolean> {
  return compiled ??= fettle(["--no-config", "roots", "--json"]).then(({ json }) =>
    json.fences.process_reason === COMPILED
  );
}

let compiled: Promise<boolean> | undefined;
