/**
 * Searching lines with patterns that may run away. Runs in a sealed process, whose owner kills it where a line takes too long.
 *
 * Which line that was, the last report tells: within the first lines there is one before each, later one every few milliseconds.
 */
import type { JobResult } from "./mode.ts";

/** What is to be searched for. The body is UTF-8. */
export interface LinesRequest {
  expressions: readonly { source: string; flags: string }[];
  /** So many lines are reported one by one. */
  exact: number;
  /** Whether to end behind those. */
  pause: boolean;
  /** Ends at this many hits. */
  mostHits?: number;
  /** Ends once so many milliseconds have gone into lines that V8 gave up. */
  budget: number;
}

/**
 * How far the search is. The body holds the hits since the report before: quadruples of 32 bits, in the machine's order: start and end of the
 * line, start and end of the match, in UTF-16 units of the decoded body.
 */
export interface LinesReport {
  /** Start of the line that is tried next. */
  at: number;
  /** Whether there will be another report before the line after it. */
  exact: boolean;
  /** Lines since the report before on which V8 gave up, and the milliseconds that cost. */
  undecided: number[];
  spent: number;
  /** In an answer: whether there is nothing left to search. */
  done: boolean;
}

/** Milliseconds between reports. A report costs about 0.005 ms. */
const REPORT_EVERY = 5;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The job. @throws {TypeError} for a body that is not UTF-8. */
export function searchLines(
  header: Record<string, unknown>,
  body: Uint8Array,
  report: (progress: JobResult) => void,
): JobResult {
  const { expressions, exact, pause, mostHits = Infinity, budget } = header as unknown as LinesRequest;
  const text = decoder.decode(body);
  const patterns = expressions.map(({ source, flags }) => new RegExp(source, flags));
  const lines = new Lines(text);
  let hits: number[] = [];
  let undecided: number[] = [];
  let [found, spent, wasted, reported] = [0, 0, 0, 0];

  const resultAt = (at: number, exact: boolean, done = false): JobResult => {
    const result = {
      header: { at, exact, undecided, spent, done } satisfies LinesReport,
      body: new Uint8Array(new Uint32Array(hits).buffer),
    };
    [hits, undecided, spent] = [[], [], 0];
    return result;
  };
  const reportAt = (at: number, exact: boolean) => {
    report(resultAt(at, exact));
    reported = performance.now();
  };

  for (let tried = 0; lines.next(); tried++) {
    const { start, end } = lines;
    if (tried === exact && pause || found >= mostHits || wasted >= budget) {
      return resultAt(start, false, found >= mostHits);
    }
    if (tried < exact) reportAt(start, true);
    else if (tried === exact || performance.now() - reported >= REPORT_EVERY) reportAt(start, false);
    try {
      const match = firstMatch(patterns, text.slice(start, end));
      if (!match) continue;
      hits.push(start, end, start + match.index, start + match.index + match[0].length);
      found++;
    } catch (error) {
      // V8 remembers only so many places to go back to.
      if (!(error instanceof RangeError)) throw error;
      const cost = performance.now() - reported;
      undecided.push(start);
      spent += cost;
      wasted += cost;
    }
  }
  return resultAt(text.length, false, true);
}

/** As `matchLine` of `text/patterns.ts`, with expressions that are compiled once. */
function firstMatch(patterns: readonly RegExp[], line: string): RegExpExecArray | undefined {
  let first: RegExpExecArray | undefined;
  for (const pattern of patterns) {
    const match = pattern.exec(line);
    if (match && (!first || match.index < first.index)) first = match;
    if (first?.index === 0) break;
  }
  return first;
}

/** The lines of a text one after another, as `scan` has them. */
class Lines {
  start = 0;
  /** Without the ending. */
  end = 0;
  readonly #text: string;
  #next = 0;
  /** Where the next endings stand; the text's length where there is none. */
  #feed = -1;
  #return = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** Goes to the next line; false when there is none. */
  next(): boolean {
    const text = this.#text;
    this.start = this.#next;
    if (this.start >= text.length) return false;
    if (this.#feed < this.start) this.#feed = this.#find("\n");
    if (this.#return < this.start) this.#return = this.#find("\r");
    this.end = Math.min(this.#feed, this.#return);
    this.#next = this.end + (this.#return < this.#feed && this.#feed === this.end + 1 ? 2 : 1);
    return true;
  }

  #find(ending: string): number {
    const found = this.#text.indexOf(ending, this.start);
    return found < 0 ? this.#text.length : found;
  }
}
