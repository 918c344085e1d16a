/**
 * The whole program as a child process. `FETTLE_PROGRAM` names what is tested: a launcher or a compiled file; without it the sources
 * run under the present runtime.
 */
import { V8_FLAGS } from "../../src/dispatch/v8_flags.ts";

const main = new URL("../../main.ts", import.meta.url);
const named = Deno.env.get("FETTLE_PROGRAM");

const SOURCE = [
  "run",
  "--no-prompt",
  "--cached-only",
  V8_FLAGS,
  ...["read", "write", "run", "env", "sys", "ffi"].map((name) => `--allow-${name}`),
];

/** Command and first arguments that start the program. */
export function program(): { command: string; args: string[] } {
  if (named) return { command: Deno.realPathSync(named), args: [] };
  return { command: Deno.execPath(), args: [...SOURCE, decodeURIComponent(main.pathname)] };
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
