/**
 * The command line: reads the arguments, calls the verb, writes its answer to standard output. Spec: 2-verbs §2.2–2.5.
 */
import type { Dispatcher } from "../../dispatch/types.ts";
import { EXIT_CODES, Refusal } from "../../refusal.ts";
import { renderRefusal } from "../../verbs/answer.ts";
import type { Form, Verb } from "../../verbs/verb.ts";
import { type CommandLine, type Globals, parseCommandLine, verbNamed } from "./grammar.ts";
import { ProgressMeter } from "./progress.ts";
import { readDocument, readLines, readText } from "./sources.ts";

/** What the command line needs of the rest of the program. */
export interface Program {
  /** What is to be said of the arguments before they are read. @throws {Refusal} */
  check(argv: readonly string[]): void;
  verbs: readonly Verb[];
  /** The dispatcher for a boundary given by global flags. */
  dispatcher(globals: Globals): Dispatcher;
  /** Runs the server until its client goes away. Returns the exit code. */
  serve(globals: Globals): Promise<number>;
  /** Writes all of it to standard output. */
  write(bytes: Uint8Array): void;
  /** Writes to standard error. */
  complain(text: string): void;
}

/** Runs one command line. Returns the exit code. */
export async function runCommandLine(argv: readonly string[], program: Program): Promise<number> {
  const form: Form = asksForJson(argv) ? "json" : "text";
  let line: CommandLine;
  try {
    program.check(argv);
    line = parseCommandLine(argv, program.verbs);
    if (line.verb?.where === "front" && !line.globals.help && !line.globals.version) {
      if (line.globals.json) {
        throw new Refusal("invalid", `${line.verb.name} takes no --json; its answers are the protocol's`);
      }
      return await program.serve(line.globals);
    }
    fillFromSources(line);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const text = renderRefusal(error, form).text;
    // Whoever starts the server reads standard output as the protocol.
    if (verbNamed(argv, program.verbs)?.where === "front") program.complain(text);
    else program.write(new TextEncoder().encode(text));
    return EXIT_CODES[error.outcome];
  }
  const { verb, args } = asked(line, program.verbs);
  const stop = new AbortController();
  const meter = Deno.stderr.isTerminal() ? new ProgressMeter() : undefined;
  const options = { signal: stop.signal, onProgress: meter?.show.bind(meter) };
  const answer = program.dispatcher(line.globals).call(verb, args, form, options);
  // While the engine starts.
  for (const signal of INTERRUPTS) Deno.addSignalListener(signal, () => stop.abort());
  const { outcome, body } = await answer;
  meter?.clear();
  program.write(body);
  return EXIT_CODES[outcome];
}

/** What ends the work at its next safe point; the answer then says so. Spec: 2-verbs §2.5. */
const INTERRUPTS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/** What is to be called: `--version` and `--help` are the verbs of these names, and so is nothing at all. */
function asked(
  { verb, args, globals }: CommandLine,
  verbs: readonly Verb[],
): { verb: Verb; args: Record<string, unknown> } {
  const named = (name: string) => verbs.find((verb) => verb.name === name)!;
  if (globals.version) return { verb: named("version"), args: {} };
  if (!verb || globals.help) return { verb: named("help"), args: verb ? { verb: verb.name } : {} };
  return { verb, args };
}

function fillFromSources({ args, sources }: CommandLine) {
  for (const { property, as, file, flag } of sources) {
    if (as === "lines") args[property] = [...args[property] as string[] ?? [], ...readLines(file)];
    else if (Object.hasOwn(args, property)) {
      throw new Refusal("invalid", `${flag} and another flag give the same thing twice; give one of them`);
    } else args[property] = as === "text" ? readText(file) : readDocument(file);
  }
}

/** Refusals of the grammar itself are told in the form that was asked for, as far as that can be seen. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).some((token) => token.toLowerCase() === "--json");
}
