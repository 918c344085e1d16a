/**
 * What `search` looks for: patterns compiled so that no line of any file can make them run away.
 *
 * A pattern is read into a small tree, its case goes into its classes, large counted repeats are unrolled, and the result is shown to
 * V8's linear engine (flag `l`). What that takes runs as an ordinary expression, which V8 finishes in linear time once it has gone back
 * too often (`--enable-experimental-regexp-engine-on-excessive-backtracks`): running under `l` itself is many times slower (measured).
 * `scan.ts` runs the result over a text.
 */

import { Refusal } from "../refusal.ts";
import type { Window } from "./byte_scan.ts";
import {
  beginsWithLoop,
  demandSize,
  type Form,
  hasAnchor,
  hasLoop,
  isLarge,
  needleSource,
  Obstacle,
  plainText,
  required,
  textOf,
  windows,
  write,
} from "./pattern_form.ts";

/** How patterns are to be understood. */
export interface PatternOptions {
  /** Patterns are text, not expressions. */
  readonly literal: boolean;
  /** Upper and lower case differ. */
  readonly caseSensitive: boolean;
}

/** Something a search looks for first: exact text, or an expression without flags whose matches lie within one line. */
export interface Sought {
  /** Set where `source` means just this text. */
  readonly text?: string;
  readonly source: string;
  /** Whether a failed start may go back many steps, so that V8 must be given little text at a time. */
  readonly loops: boolean;
}

/** How a text is to be searched. */
export interface Plan {
  /** The whole alternation: a match of it is a hit. */
  readonly whole: Sought;
  /** Text that every line with a hit holds, worth looking for before `whole` is tried on that line. */
  readonly required?: Sought;
  /** Whether `whole` is slow even where it finds nothing, so that `required` pays however often it stands in vain. */
  readonly slow: boolean;
  /** Whether `^` or `$` occurs, which take U+2028 and U+2029 for line ends where lines are searched together. */
  readonly anchored: boolean;
  /** Of which an ASCII text with a hit holds at least one, for the byte scanner; `undefined` where no few are known. */
  readonly windows?: readonly Window[];
}

/** Compiled patterns: plain data, which may be sent to another thread or process. */
export interface Matcher {
  readonly patterns: readonly string[];
  readonly options: PatternOptions;
  /** The patterns as plain ECMAScript expressions, in their order, for an engine that is bounded by other means. */
  readonly expressions: readonly { readonly source: string; readonly flags: string }[];
  /** Whether the patterns run in linear time, that is whether there is a `plan`. */
  readonly linear: boolean;
  readonly plan?: Plan;
  /** What keeps the patterns from being linear. */
  readonly obstacles: readonly { readonly pattern: string; readonly construct: string }[];
}

/**
 * Compiles the patterns of one search, which are alternatives taken in their order.
 *
 * Unicode mode (`u`) is used only for a pattern with `\p{…}` or `\u{…}`, or with a character beyond U+FFFF in a class or repeated.
 *
 * @throws {Refusal} `invalid` for no pattern, an empty one, or one that does not compile.
 * @see spec 2-verbs §2.10, decisions 22 and 60
 *
 * ```ts
 * const matcher = await compilePatterns(["TODO|FIXME"], { literal: false, caseSensitive: false });
 * ```
 */
export async function compilePatterns(patterns: readonly string[], options: PatternOptions): Promise<Matcher> {
  if (patterns.length === 0) throw new Refusal("invalid", "no pattern: search needs at least one");
  if (patterns.includes("")) {
    throw new Refusal("invalid", "an empty pattern would match every line; give text to look for");
  }
  const long = patterns.find((pattern) => pattern.length > LONGEST && !(options.literal && options.caseSensitive));
  if (long !== undefined) {
    throw new Refusal(
      "invalid",
      `a pattern has ${long.length} characters, and at most ${LONGEST} are taken; --literal --case-sensitive takes any number`,
    );
  }
  const expressions: { source: string; flags: string }[] = [];
  const obstacles: { pattern: string; construct: string }[] = [];
  const forms: Form[] = [];
  for (const pattern of patterns) {
    const texts = options.literal ? [pattern] : plainAlternatives(pattern);
    const flags = (options.caseSensitive ? "" : "i") + (texts || !wantsUnicode(pattern) ? "" : "u");
    expressions.push({ source: options.literal ? quoted(pattern) : pattern, flags });
    if (texts) {
      forms.push(...texts.map((text) => textOf(text, !options.caseSensitive)));
      continue;
    }
    judge(pattern, flags, options);
    try {
      const { parse } = await import("./pattern_parse.ts");
      const form = parse(pattern, { unicode: flags.includes("u"), ignoreCase: !options.caseSensitive });
      demandSize(form);
      demandEngine(write(form));
      forms.push(form);
    } catch (error) {
      if (!(error instanceof Obstacle)) throw error;
      obstacles.push({ pattern, construct: error.message });
    }
  }
  const all: Form = forms.length === 1 ? forms[0] : { kind: "choice", options: forms };
  const plan = obstacles.length === 0 ? planFor(all) : undefined;
  return { patterns, options, expressions, linear: plan !== undefined, plan, obstacles };
}

/** Characters of one pattern; V8 gives up on expressions of some 32,000. Exact text is looked for without an expression. */
const LONGEST = 10_000;

/**
 * Refuses patterns that do not run in linear time. The one place that decides what becomes of them.
 *
 * @throws {Refusal} `refused`, naming the pattern, the construct and the ways out.
 */
export function demandLinear(matcher: Matcher): asserts matcher is Matcher & { plan: Plan } {
  if (matcher.plan) return;
  const { pattern, construct } = matcher.obstacles[0];
  throw new Refusal(
    "refused",
    `the pattern ${
      shown(pattern)
    } is not searched for: this release takes only patterns that run in linear time, and ` +
      `${construct} does not; rewrite the pattern without it, or pass --literal if it is meant as text`,
  );
}

/**
 * Where the plain expressions first match one line, taken without its ending: the earliest column of any pattern, and among equals
 * the pattern given first. Nothing bounds its time.
 */
export function matchLine(matcher: Matcher, line: string): { start: number; end: number } | undefined {
  let first: { start: number; end: number } | undefined;
  for (const { source, flags } of matcher.expressions) {
    const match = new RegExp(source, flags).exec(line);
    if (match && (!first || match.index < first.start)) {
      first = { start: match.index, end: match.index + match[0].length };
    }
  }
  return first;
}

/** Refuses a pattern that V8 does not compile. */
function judge(pattern: string, flags: string, options: PatternOptions): void {
  const reason = fault(pattern, flags);
  if (reason === undefined) return;
  const advice = /^\(\?[a-z]*i[a-z]*\)/.test(pattern)
    ? options.caseSensitive
      ? "leave out the (?i) and --case-sensitive: case is then ignored"
      : "leave out the (?i): case is already ignored"
    : "pass --literal to search for it as text";
  throw new Refusal("invalid", `the pattern ${shown(pattern)} is not a regular expression: ${reason}; ${advice}`);
}

/** Why V8 does not compile an expression; `undefined` when it does. */
function fault(source: string, flags: string): string | undefined {
  try {
    new RegExp(source, flags);
  } catch (error) {
    const message = (error as Error).message;
    return message.slice(message.lastIndexOf(": ") + 1).trim();
  }
}

/** A pattern as a message shows it. */
function shown(pattern: string): string {
  return JSON.stringify(pattern.length > 200 ? `${pattern.slice(0, 200)}…` : pattern);
}

/** Text as an expression of either mode. */
function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/**
 * The alternatives of a pattern that is nothing but text, escaped punctuation and top-level `|`; `undefined` for any other.
 * These need no parser.
 */
function plainAlternatives(pattern: string): string[] | undefined {
  const texts = [""];
  for (let i = 0; i < pattern.length; i++) {
    let character = pattern[i];
    if (character === "|") {
      texts.push("");
      continue;
    }
    if (character === "\\") {
      character = pattern[++i] ?? "";
      if (!/^[\\^$.*+?()[\]{}|/]$/.test(character)) return undefined;
    } else if (/[\^$.*+?()[\]{}]/.test(character)) return undefined;
    texts[texts.length - 1] += character;
  }
  return texts.includes("") ? undefined : texts;
}

/** Whether a pattern needs Unicode mode to mean what it says. */
function wantsUnicode(pattern: string): boolean {
  let inClass = false;
  let repeatedFar = false;
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === "\\") {
      if (/^(?:[pP]|u)\{/.test(pattern.slice(i + 1, i + 3))) return true;
      i++;
    } else if (character === "[") inClass = true;
    else if (character === "]") inClass = false;
    else if (pattern.codePointAt(i)! > 0xffff) {
      if (inClass || /^[*+?{]/.test(pattern.slice(i + 2, i + 3))) repeatedFar = true;
      i++;
    }
  }
  return repeatedFar && fault(pattern, "u") === undefined;
}

/**
 * Shows an expression to V8's linear engine.
 *
 * @throws {Obstacle} when the engine does not take it, or is not there because a launcher left out its flags.
 */
function demandEngine(source: string): void {
  if (fault(source, "lm") === undefined) return;
  throw new Obstacle(
    fault("", "l") === undefined
      ? "a construct of it"
      : "an expression in a V8 started without --enable-experimental-regexp-engine",
  );
}

function planFor(form: Form): Plan {
  const text = plainText(form);
  const whole: Sought = text ? { ...needleSource(text), loops: false } : { source: write(form), loops: hasLoop(form) };
  const needles = text ? undefined : required(form);
  return {
    whole,
    required: needles && { ...needleSource(needles), loops: false },
    slow: !text && beginsWithLoop(form),
    anchored: !text && hasAnchor(form),
    // What V8 might refuse as too large is shown to it by the first text, and so no text may be passed over.
    windows: whole.text !== undefined || whole.source.length <= MOST_SOURCE && !isLarge(form)
      ? windows(form)
      : undefined,
  };
}

/** Characters of an expression of which V8 has never said that it is too large. */
const MOST_SOURCE = 10_000;
