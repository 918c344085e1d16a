/**
 * How a verb is declared: one value from which the command line's grammar, help, the tool's schema, the check of arguments
 * and the tests of the registry follow.
 *
 * Spec: 2-verbs §2.1–2.4; decision 40.
 */
import type { Survey } from "../boundary/survey.ts";
import type { Configuration } from "../config/types.ts";
import type { Assist, Crew } from "./crew.ts";
import type { Disk } from "../disk/disk.ts";
import type { Outcome } from "../refusal.ts";
import type { Infer, ObjectShape } from "./shape.ts";

/** The shape in which a caller wants an answer: readable text, one JSON object, or the text of an MCP tool. */
export type Form = "text" | "json" | "tool";

/** What help and the command line need to know of one argument beside its schema. */
export interface Argument {
  /** One sentence: help of the flag, description in the tool's schema. */
  help: string;
  /** What stands for the value in help: `N`, `GLOB`. A switch has none. */
  value?: string;
  /** Given as a word, not as a flag: `one` at most, or as `many` as there are. */
  word?: "one" | "many";
  /** A flag of one dash and one letter that means the same. */
  short?: string;
  /** The flag's name where it is not the property's name in kebab case; for a word, a flag that may be used as well. */
  flag?: string;
  /** Switches that stand for this argument with a fixed value: `{ "sort-modified": "mtime" }`. */
  presets?: Readonly<Record<string, string>>;
  /** Flags by which the person who types feeds this argument from a file or standard input, one value a line. */
  lines?: { file: string; stdin: string };
  /** Switches that stand for the two values of a yes or no, instead of a flag: `{ on: true, off: false }`. */
  switches?: Readonly<Record<string, boolean>>;
  /** Flags by which the person who types gives this argument's text as a whole, from a file or standard input. */
  content?: { file: string; stdin: string };
  /** The flag names a file of the person who types, in JSON with comments: its value is the argument. */
  document?: true;
  /** For the person who types; not in the tool's schema. */
  commandLine?: true;
  /** What holds when it is not given, for help. */
  default?: string | number;
  /** What a tool call gets where it says nothing, when that differs from the command line. */
  toolDefault?: unknown;
}

/** What a verb hands back. Rendered where it ran, so that an answer crosses to the front end as finished bytes. */
export interface Answer {
  /** `ok` unless the work was done in part only; then `message` says why. */
  outcome?: Outcome;
  message?: string;
  /** The fields of the JSON answer after `ok` and `outcome`. */
  json: Readonly<Record<string, unknown>>;
  /** The readable text, without a final newline. */
  text(): string;
  /** Lines at the end of the text that are kept where the text has to be cut. */
  closing?(): string;
  /** The JSON answer is `json` alone, without `ok` and `outcome`: a document of its own. */
  bare?: boolean;
  /** The text keeps to a budget of its own, so the cap on other MCP answers does not apply. */
  budgeted?: boolean;
  /** Native images of an MCP answer. */
  images?: readonly { mimeType: string; data: string }[];
}

/** Which fences stand, and why one does not. Spec: decision 45. */
export interface Fences {
  verbs: true;
  process: boolean;
  process_reason?: string;
  kernel: boolean;
  kernel_reason?: string;
}

/** What ties a running call to whoever waits for it. */
export interface Call {
  /** A safe point, passed often: shows that the call is alive. @throws {Refusal} `refused` when the call was cancelled. */
  pulse(): void;
  /** Tells how far the work is, in files or the like; costs next to nothing. */
  progress(done: number): void;
  /**
   * Told before the first change of anything, and of each entry once it has been changed: what the answer names when the engine ends
   * in the middle. Until then a call may be run again. Spec: decision 51.
   */
  changed(path?: string): void;
  /** Other threads that do jobs of this task, as the verb's `assist` does them; hired when it is asked. `undefined`: there are none. */
  crew?(task: unknown): Crew | undefined;
  /**
   * Has something done that only the main process can have done, and waits for it: a search that may run away. Decision 41.
   * @throws {Refusal} `refused` when the call is cancelled meanwhile.
   */
  ask(
    job: string,
    header: Record<string, unknown>,
    body: Uint8Array,
  ): { header: Record<string, unknown>; body: Uint8Array };
}

/** What a verb of the engine works with. */
export interface EngineSide {
  call: Call;
  survey: Survey;
  disk: Disk;
  /** The form of the answer: what is said of flags is for the person who types. */
  form?: Form;
}

/** What a verb of the main process works with. */
export interface MainSide {
  /** Read afresh for this call. @throws {Refusal} when it cannot be. */
  configuration(): Configuration;
  /** What an engine found when it tried them. Started when it is first asked for, so it is asked for early and awaited late. */
  fences(): Promise<Fences>;
  verbs: readonly Verb[];
}

interface Declaration<S extends ObjectShape> {
  name: string;
  /** Half a line for the overview. */
  summary: string;
  /** A few sentences for help of the verb and the tool's description. */
  description: string;
  /** Property names in snake_case, as the tool takes them. */
  schema: S;
  arguments: { readonly [N in keyof S["members"] & string]: Argument };
  /** Combinations that the schema cannot express. @throws {Refusal} `invalid`. */
  check?(args: Infer<S>): void;
  /** A tool of the MCP server too, with its hints; else command line only. */
  tool?: { readOnly: boolean; destructive: boolean; idempotent: boolean };
}

/** What a verb of the engine does, with arguments that its schema has checked. */
export interface Work {
  run(args: Record<string, unknown>, side: EngineSide): Answer | Promise<Answer>;
  /** Whether a call with these arguments is soon over and asks nothing: then the engine's main thread may run it itself. */
  brief?(args: Record<string, unknown>): boolean;
  /** What a helper does for a running call: takes its task, then job after job. */
  assist?(task: unknown, side: EngineSide): Assist;
}

/** A verb that locates a caller's paths: it runs in the engine process, which loads what it does (`work.ts`) when it is first asked. */
export interface EngineVerb<S extends ObjectShape = ObjectShape> extends Declaration<S> {
  where: "engine";
}

/** A verb that touches no path of a caller's: it runs in the main process. */
export interface MainVerb<S extends ObjectShape = ObjectShape> extends Declaration<S> {
  where: "main";
  run(args: Infer<S>, side: MainSide): Answer | Promise<Answer>;
}

/** What the front end does itself: `serve`. It stands in the registry for help and the grammar of arguments. */
export interface FrontVerb<S extends ObjectShape = ObjectShape> extends Declaration<S> {
  where: "front";
}

export type Verb = EngineVerb | MainVerb | FrontVerb;
