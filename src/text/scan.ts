/**
 * The lines of a text that patterns match.
 *
 * Lines end at LF, CRLF or a lone CR, and are matched without their ending. A text that ends with an ending has no further line.
 * Many lines are searched at once: no class of a compiled pattern holds a line break, so a match lies within the line where it begins.
 */

import { demandLinear, type Matcher, type Plan, type Sought } from "./patterns.ts";

/**
 * Told of each line that matches: offsets of the line, without its ending, and of the match, all in UTF-16 units of the text.
 * Returning `false` ends the scan.
 */
export type OnHit = (lineStart: number, lineEnd: number, matchStart: number, matchEnd: number) => boolean | void;

/**
 * Visits each line of `text` that matches, once, in order, at the earliest column any pattern matches.
 *
 * @param pulse Passed every few kilobytes and for every line that is tried; what it throws ends the scan.
 * @throws {Refusal} `refused` when the patterns do not run in linear time.
 * @see spec 2-verbs §2.10
 */
export function scan(text: string, matcher: Matcher, onHit: OnHit, pulse: () => void = noPulse): void {
  const prepared = prepare(matcher);
  const { plan } = prepared;
  prepared.whole.expression.renew();
  prepared.line.renew();
  if (plan.anchored && (text.includes("\u2028") || text.includes("\u2029"))) {
    return scanLineByLine(text, prepared.line, onHit, pulse);
  }
  if (prepared.required && isWorthIt(prepared)) {
    return scanBehindRequired(text, prepared, prepared.required, onHit, pulse);
  }
  scanWhole(text, 0, prepared.whole, onHit, pulse);
}

function noPulse() {}

/** How many lines of `text` match. */
export function countHits(text: string, matcher: Matcher): number {
  let hits = 0;
  scan(text, matcher, () => {
    hits++;
  });
  return hits;
}

/** Numbers lines, from 1, at offsets that never go back. Lines are counted only as far as it is asked. */
export class LineCounter {
  readonly #feeds: Ahead;
  readonly #returns: Ahead;
  readonly #text: string;
  #offset = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
    this.#feeds = new Ahead(text, "\n");
    this.#returns = new Ahead(text, "\r");
  }

  /** The number of the line that starts at `lineStart`, which lies no earlier than the one before. */
  lineAt(lineStart: number): number {
    let line = this.#line;
    for (let at = this.#feeds.from(this.#offset); at < lineStart; at = this.#feeds.from(at + 1)) line++;
    for (let at = this.#returns.from(this.#offset); at < lineStart; at = this.#returns.from(at + 1)) {
      if (this.#text.charCodeAt(at + 1) !== LF) line++;
    }
    this.#offset = lineStart;
    this.#line = line;
    return line;
  }
}

/** Where a character stands next, for offsets that never go back: a text that has none is searched once, not once for every line. */
class Ahead {
  readonly #text: string;
  readonly #character: string;
  #at = -1;

  constructor(text: string, character: string) {
    this.#text = text;
    this.#character = character;
  }

  /** The first place at or after `offset`; the text's length when there is none. */
  from(offset: number): number {
    if (this.#at < offset) {
      const found = this.#text.indexOf(this.#character, offset);
      this.#at = found < 0 ? this.#text.length : found;
    }
    return this.#at;
  }
}

const LF = 0x0a;
const CR = 0x0d;

/** Expressions made of a matcher once; they keep V8's compiled code from one text to the next. */
interface Prepared {
  readonly plan: Plan;
  readonly whole: Target;
  readonly required?: Target;
  /** For one line by itself. */
  readonly line: Expression;
  /** Lines, over all texts so far, in which the required text stood in vain, and the characters it was looked for in. */
  vain: number;
  passed: number;
}

/** What a finder looks for. */
interface Target {
  readonly text?: string;
  readonly expression: Expression;
  readonly loops: boolean;
}

const preparations = new WeakMap<Matcher, Prepared>();

function prepare(matcher: Matcher): Prepared {
  const before = preparations.get(matcher);
  if (before) return before;
  demandLinear(matcher);
  const { plan } = matcher;
  const target = ({ text, source, loops }: Sought): Target => ({
    text,
    expression: new Expression(source, "m", loops),
    loops,
  });
  const prepared: Prepared = {
    plan,
    whole: target(plan.whole),
    required: plan.required && target(plan.required),
    line: new Expression(plan.whole.source, "", plan.whole.loops),
    vain: 0,
    passed: 0,
  };
  preparations.set(matcher, prepared);
  return prepared;
}

/** Which calls are timed: every so many, a prime so as not to fall in step with the text. */
const TIMED = 17;
/** How many timed calls must be slow, and what part of all timed calls: one in so many. */
const SLOW_CALLS = 3;
const SLOW_PART = 20;
/** A call is slow beyond this many milliseconds, and so many more for each character: the linear engine does 9 to 20 MB/s (measured). */
const SLOW = 0.2;
const SLOW_PER_CHARACTER = 60e-6;

/** Calls on longer texts are all timed: one alone can take a third of a second. */
const TIMED_ALWAYS = 2 * 1024;
/**
 * A longer text, which is then a line, goes to the linear engine at once. The fast one goes back within a loop of one class without
 * counting its steps, so it never hands over: `[a-z]+[0-9]+qq` takes 22 ms for 4,000 letters, 320 for 16,000, half a minute for
 * 400,000; the linear engine 0.6, 2 and 60 ms.
 */
const LONG = 16 * 1024;

/**
 * An expression that always answers, in linear time.
 *
 * V8's fast engine throws where it would have to remember too many places to go back to (on a line of 10 million characters, measured).
 * And where it goes back too often it hands over to the linear engine, but anew in each call: 0.25 ms for each line of 28 characters
 * (measured with `(a+)+$`). In both cases the rest of the text is given to the linear engine itself, which takes 0.004 ms for such a line.
 */
class Expression {
  readonly #fast: RegExp;
  readonly #loops: boolean;
  #linear?: RegExp;
  #isLinear = false;
  #calls = 0;
  #timedCalls = 0;
  #slowCalls = 0;

  constructor(source: string, flags: string, loops: boolean) {
    this.#fast = new RegExp(source, flags);
    this.#loops = loops;
  }

  /** Trusts the fast engine again, for another text. */
  renew(): void {
    this.#isLinear = false;
    this.#timedCalls = 0;
    this.#slowCalls = 0;
  }

  /** The first match in a text. There is no way to begin further on: V8's linear engine takes no look-behind together with `g` or `y`. */
  exec(text: string): RegExpExecArray | null {
    if (this.#isLinear || this.#loops && text.length > LONG) return this.#execLinear(text);
    const timed = this.#loops && (text.length > TIMED_ALWAYS || ++this.#calls % TIMED === 0);
    if (!timed) return this.#execFast(text);
    const begun = performance.now();
    const match = this.#execFast(text);
    const passed = match ? match.index + match[0].length : text.length;
    this.#timedCalls++;
    if (performance.now() - begun > SLOW + passed * SLOW_PER_CHARACTER) this.#slowCalls++;
    this.#isLinear = this.#slowCalls >= SLOW_CALLS && this.#slowCalls * SLOW_PART >= this.#timedCalls;
    return match;
  }

  #execFast(text: string): RegExpExecArray | null {
    try {
      return this.#fast.exec(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#isLinear = true;
      return this.#execLinear(text);
    }
  }

  #execLinear(text: string): RegExpExecArray | null {
    this.#linear ??= new RegExp(this.#fast.source, `${this.#fast.flags}l`);
    return this.#linear.exec(text);
  }
}

/** Finds matches anywhere in a text, each search beginning no earlier than the one before. */
interface Finder {
  /** Bounds of the match found last. */
  start: number;
  end: number;
  find(from: number): boolean;
}

/** The choice of finder: `indexOf` for exact text, 9.4 GB/s with rare hits and 1.3 with frequent ones (as an expression 8.5 and 1.0). */
function finderFor(text: string, target: Target, pulse: () => void): Finder {
  return target.text !== undefined ? new TextFinder(text, target.text) : new ExpressionFinder(text, target, pulse);
}

class TextFinder implements Finder {
  start = 0;
  end = 0;
  readonly #text: string;
  readonly #sought: string;

  constructor(text: string, sought: string) {
    this.#text = text;
    this.#sought = sought;
  }

  find(from: number): boolean {
    this.start = this.#text.indexOf(this.#sought, from);
    this.end = this.start + this.#sought.length;
    return this.start >= 0;
  }
}

/**
 * How much text V8 is given at a time. In one call it goes back 50,000 times before it changes to its linear engine, which is some 60
 * times slower and begins anew; on ordinary text that is a long way, but not the way through a whole file. Measured over 20 MB:
 * `[0-9]{4}:[0-9]{2}-[0-9]{2}` in one call 0.02 GB/s, in pieces 1.3; `\w+\s+\w+\s+zzz` in pieces of 16 Ki 0.006 GB/s, of 8 Ki 0.03.
 * Text in either case goes back little, and larger pieces serve it better: of 8 Ki 2.7 GB/s, of 32 Ki 3.7.
 */
const PIECE = 32 * 1024;
const PIECE_FOR_LOOPS = 8 * 1024;

class ExpressionFinder implements Finder {
  start = 0;
  end = 0;
  readonly #text: string;
  readonly #expression: Expression;
  readonly #size: number;
  /** The character that pieces end after. */
  readonly #ending: string;
  readonly #pulse: () => void;
  #pieceEnd = 0;

  constructor(text: string, target: Target, pulse: () => void) {
    this.#pulse = pulse;
    this.#text = text;
    this.#expression = target.expression;
    this.#size = target.loops ? PIECE_FOR_LOOPS : PIECE;
    this.#ending = text.length > this.#size && !text.includes("\n") ? "\r" : "\n";
  }

  find(from: number): boolean {
    const { length } = this.#text;
    for (; from < length; from = this.#pieceEnd) {
      if (from >= this.#pieceEnd) this.#pieceEnd = this.#endOfPiece(from);
      const match = this.#expression.exec(this.#text.slice(from, this.#pieceEnd));
      if (!match) continue;
      this.start = from + match.index;
      // A match of nothing at the very end of a piece belongs to the next one.
      if (this.start === this.#pieceEnd && this.start < length) continue;
      this.end = this.start + match[0].length;
      return true;
    }
    return false;
  }

  /** The end of the whole lines to be searched from here on. */
  #endOfPiece(from: number): number {
    this.#pulse();
    const last = from + this.#size >= this.#text.length ? -1 : this.#text.indexOf(this.#ending, from + this.#size);
    return last < 0 ? this.#text.length : last + 1;
  }
}

/** Bounds of the line that a place lies in, for places that come in order. */
class Lines {
  start = 0;
  end = 0;
  /** Where the line after begins. */
  next = 0;
  readonly #text: string;
  readonly #feeds: Ahead;
  readonly #returns: Ahead;

  constructor(text: string) {
    this.#text = text;
    this.#feeds = new Ahead(text, "\n");
    this.#returns = new Ahead(text, "\r");
  }

  /**
   * Settles on the line that holds `place`; `false` when it lies inside a CRLF or behind the last ending, so in no line.
   * `from` is the start of that line or of one before.
   */
  settle(place: number, from: number): boolean {
    const text = this.#text;
    let start = place;
    for (; start > from; start--) {
      const before = text.charCodeAt(start - 1);
      if (before === LF || before === CR) break;
    }
    this.start = start;
    this.end = Math.min(this.#feeds.from(place), this.#returns.from(place));
    this.next = this.end + (text.charCodeAt(this.end) === CR && text.charCodeAt(this.end + 1) === LF ? 2 : 1);
    if (start < place || place < this.end) return true;
    return place < text.length && !(text.charCodeAt(place) === LF && place > 0 && text.charCodeAt(place - 1) === CR);
  }
}

/** Every match of the whole alternation is a hit. */
function scanWhole(text: string, from: number, target: Target, onHit: OnHit, pulse: () => void): void {
  const finder = finderFor(text, target, pulse);
  const lines = new Lines(text);
  while (from < text.length && finder.find(from)) {
    const settled = lines.settle(finder.start, from);
    if (settled && onHit(lines.start, lines.end, finder.start, finder.end) === false) return;
    from = lines.next;
  }
}

/**
 * After this many lines in which the required text stood in vain, its worth is judged: where such lines come more often than one in
 * this many characters, a pattern that is not slow is faster by itself. Measured with `[0-9]{4}-[0-9]{2}-[0-9]{2}`, 1.0 GB/s by itself:
 * behind a `-` that stands in every 3rd line of 45 characters 0.8 GB/s, in every 6th 1.2, in every 50th 8.
 */
const VAIN_LINES = 64;
const VAIN_SPACING = 200;

/** Tries the pattern only on lines that hold the required text: `\w+_init\(` at 3.3 GB/s, by itself at 0.09. */
function scanBehindRequired(text: string, prepared: Prepared, required: Target, onHit: OnHit, pulse: () => void): void {
  const finder = finderFor(text, required, pulse);
  const lines = new Lines(text);
  let from = 0;
  while (from < text.length && finder.find(from)) {
    pulse();
    lines.settle(finder.start, from);
    prepared.passed += lines.next - from;
    from = lines.next;
    const match = prepared.line.exec(text.slice(lines.start, lines.end));
    if (match) {
      const start = lines.start + match.index;
      if (onHit(lines.start, lines.end, start, start + match[0].length) === false) return;
    } else if (++prepared.vain >= VAIN_LINES && !isWorthIt(prepared)) {
      return scanWhole(text, from, prepared.whole, onHit, pulse);
    }
  }
  prepared.passed += text.length - from;
}

function isWorthIt({ plan, vain, passed }: Prepared): boolean {
  return plan.slow || vain < VAIN_LINES || passed >= vain * VAIN_SPACING;
}

/** The plain way, for texts in which an anchor would take more than line endings for the end of a line. */
function scanLineByLine(text: string, line: Expression, onHit: OnHit, pulse: () => void): void {
  const lines = new Lines(text);
  for (let from = 0; from < text.length; from = lines.next) {
    pulse();
    lines.settle(from, from);
    const match = line.exec(text.slice(from, lines.end));
    if (match && onHit(from, lines.end, from + match.index, from + match.index + match[0].length) === false) return;
  }
}
