/** The main process: the command line, and the server behind its one verb. */
import { openDispatcher } from "../dispatch/dispatcher.ts";
import { faultLine } from "../dispatch/fault_line.ts";
import { EXIT_CODES, Refusal } from "../refusal.ts";
import { VERBS } from "../verbs/mod.ts";
import { VERSION } from "../version.ts";
import { demandUnicode, MARKS, typedArguments } from "./cli/arguments.ts";
import type { Globals } from "./cli/grammar.ts";
import { runCommandLine } from "./cli/run.ts";

/** Runs the program. Returns the exit code. */
export async function main(given: readonly string[]): Promise<number> {
  // Nobody but the launcher knows; a compiled program has none.
  const marks = Deno.build.standalone ? "" : Deno.env.get(MARKS) ?? "";
  try {
    return await runCommandLine(typedArguments(given, marks), {
      check: (typed) => demandUnicode(typed, marks),
      verbs: VERBS,
      dispatcher: (globals) =>
        openDispatcher({ launch: () => launchOf(globals), verbs: VERBS, workers: 1, once: true, patience: patience() }),
      serve: runServer,
      write: writeOut,
      complain: (text) => console.error(text.trimEnd()),
    });
  } catch (error) {
    console.error(faultLine(error));
    return EXIT_CODES[error instanceof Refusal ? error.outcome : "fault"];
  }
}

/** A boundary that cannot be opened at start is told on standard error: standard output carries the protocol. Spec: 1-boundary §1.12.4. */
async function runServer(globals: Globals): Promise<number> {
  const dispatcher = openDispatcher({
    launch: () => launchOf(globals),
    verbs: VERBS,
    workers: navigator.hardwareConcurrency,
    patience: patience(),
  });
  try {
    dispatcher.start();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(`fettle: ${error.message}${error.path === undefined ? "" : ` (${error.path})`}`);
    return EXIT_CODES[error.outcome];
  }
  const { serve } = await import("./mcp/server.ts");
  await serve({ dispatcher, verbs: VERBS, version: VERSION, input: Deno.stdin, output: Deno.stdout });
  await dispatcher.close();
  return EXIT_CODES.ok;
}

/** Tests need not wait for half a minute: they may make the patience shorter, nobody can make it longer. Decision 49. */
function patience(): number | undefined {
  const stated = Number(Deno.env.get("FETTLE_TEST_PATIENCE_MS"));
  return stated > 0 ? Math.min(stated, 30_000) : undefined;
}

function launchOf({ config, roots, noConfig }: Globals) {
  return { folder: launchFolder(), config, roots, noConfig };
}

function launchFolder(): string {
  try {
    return Deno.cwd();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new Refusal("not-found", "the folder that Fettler was started in is gone");
    }
    throw new Refusal(
      "invalid",
      "the folder that Fettler was started in has a name that is not Unicode; start it elsewhere",
    );
  }
}

function writeOut(bytes: Uint8Array) {
  try {
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(Deno.stdout.writeSync(rest));
  } catch (error) {
    // Whoever read us has seen enough (`fettle find | head`).
    if (error instanceof Deno.errors.BrokenPipe) return;
    throw new Refusal("denied", "standard output cannot be written");
  }
}
