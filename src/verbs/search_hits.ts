/**
 * The hits of a search: limits, budget, line numbers, windows into long lines, context.
 *
 * Spec: 2-verbs §2.7, §2.10; decision 33.
 */
import { LineCounter } from "../text/scan.ts";
import type { Finder, Unfound } from "./search_finders.ts";

/** Characters of hits and context that one answer holds. One hit is always served. */
const BUDGET = 40_000;
/** Characters of one line that are shown round its match. */
const WINDOW = 4_000;

/** A line of context, the hit's own included. */
export interface ContextLine {
  line: number;
  text: string;
  /** `text` is part of the line. */
  cut?: true;
}

export interface Hit {
  /** Below its tree. */
  path: string;
  line: number;
  column: number;
  /** The line without its ending; absent where only files are asked for. */
  text?: string;
  /** `text` is a window round the match. */
  cut?: true;
  context?: ContextLine[];
}

/** A line of which it is not known whether it matches. */
export interface UndecidedLine {
  path: string;
  line: number;
}

export interface CollectOptions {
  mode: "hits" | "files" | "count";
  /** Hits, or files in mode `files`; 0 is all. */
  limit: number;
  context: number;
}

/** Collects over all files of a call. */
export class HitCollector {
  readonly hits: Hit[] = [];
  readonly undecided: UndecidedLine[] = [];
  /** Hits, as far as they were taken. */
  count = 0;
  /** Files with a hit. */
  files = 0;
  /** What ended the search before its end: there was more than the limit or the 40,000 characters take. */
  full?: "limit" | "budget";

  #characters = 0;
  /** Lines of the present file before the text at hand. */
  #lines = 0;
  #inFile = 0;
  /** The last lines of the piece before, for context. */
  #before: Excerpt[] = [];
  /** Hits at the end of the piece before whose context goes on. */
  #open: { hit: Hit; missing: number }[] = [];

  /** Where the search gave up: its time for undecided lines was used up. */
  stoppedAt?: UndecidedLine;

  constructor(readonly find: Finder, readonly options: CollectOptions) {}

  /** Searches the next text of a file: whole lines. Returns false when no more of the file is wanted. */
  search(path: string, text: string, isLast: boolean): boolean {
    this.#closeContexts(text);
    if (this.full) return false;
    const { mode } = this.options;
    const counter = mode === "count" ? undefined : new LineCounter(text);
    const unfound = this.find(text, (lineStart, lineEnd, matchStart, matchEnd) => {
      if (!this.#room()) return false;
      this.count++;
      this.#inFile++;
      if (!counter) return;
      const line = this.#lines + counter.lineAt(lineStart);
      const hit: Hit = { path, line, column: matchStart - lineStart + 1 };
      if (mode === "hits" && !this.#serve(hit, text, lineStart, lineEnd, matchStart, matchEnd, isLast)) return false;
      this.hits.push(hit);
      return mode === "files" ? false : undefined;
    }, this.#wanted());
    if (unfound) this.#note(path, text, unfound);
    const ended = this.full !== undefined || this.stoppedAt !== undefined || mode === "files" && this.#inFile > 0;
    if (!isLast && !ended) this.#carry(text);
    return !ended;
  }

  /** No more hits than this can be of use; one more tells that there are more. */
  #wanted(): number | undefined {
    const { limit, mode } = this.options;
    if (mode === "files") return 1;
    return limit === 0 ? undefined : limit - this.count + 1;
  }

  #note(path: string, text: string, { undecided, stoppedAt }: Unfound) {
    const counter = new LineCounter(text);
    for (const start of undecided) this.undecided.push({ path, line: this.#lines + counter.lineAt(start) });
    if (stoppedAt !== undefined) this.stoppedAt = { path, line: this.#lines + counter.lineAt(stoppedAt) };
  }

  /** A line too long to be searched stands at this place of the file. */
  giveUp(path: string) {
    this.#lines++;
    this.#before = [];
    this.undecided.push({ path, line: this.#lines });
  }

  /** The file is done. Returns whether it had a hit. One that turned out not to be text has none. */
  endFile(isText: boolean): boolean {
    if (!isText) {
      this.hits.length -= this.options.mode === "count" ? 0 : this.#inFile;
      this.count -= this.#inFile;
      this.#inFile = 0;
    }
    const had = this.#inFile > 0;
    if (had) this.files++;
    this.#inFile = 0;
    this.#lines = 0;
    this.#before = [];
    this.#open = [];
    return had;
  }

  #room(): boolean {
    const { limit, mode } = this.options;
    const taken = mode === "files" ? this.files : this.count;
    if (limit === 0 || taken < limit) return true;
    this.full = "limit";
    return false;
  }

  /** Puts text and context into a hit. Returns false when the budget takes no more: the hit is then not served. */
  #serve(
    hit: Hit,
    text: string,
    start: number,
    end: number,
    matchStart: number,
    matchEnd: number,
    isLast: boolean,
  ): boolean {
    const shown = windowOf(text, start, end, matchStart, matchEnd);
    hit.text = text.slice(shown.start, shown.end);
    if (shown.start > start || shown.end < end) hit.cut = true;
    // More lines than the budget has characters are never served, empty ones included.
    const wanted = Math.min(this.options.context, BUDGET);
    if (wanted > 0) {
      const above = this.#above(text, start, wanted);
      const below = linesAfter(text, end, wanted);
      hit.context = [
        ...above.map((excerpt, i) => ({ line: hit.line - above.length + i, ...excerpt })),
        { line: hit.line, text: hit.text, ...hit.cut ? { cut: hit.cut } : {} },
        ...below.map((excerpt, i) => ({ line: hit.line + 1 + i, ...excerpt })),
      ];
    }
    if (this.hits.length === 0) this.#trim(hit);
    const cost = costOf(hit);
    if (this.#characters + cost > BUDGET && this.hits.length > 0) {
      this.full = "budget";
      this.count--;
      this.#inFile--;
      return false;
    }
    this.#characters += cost;
    const missing = wanted - (hit.context ? hit.context[hit.context.length - 1].line - hit.line : 0);
    if (!isLast && missing > 0) this.#open.push({ hit, missing });
    return true;
  }

  /** The first hit is always served; of its context the nearest lines, as far as the budget goes. */
  #trim(hit: Hit) {
    const { context } = hit;
    if (!context) return;
    let left = BUDGET - hit.text!.length;
    const own = context.findIndex(({ line }) => line === hit.line);
    let [first, last] = [own, own];
    for (let d = 1; d < context.length; d++) {
      for (const i of [own - d, own + d]) {
        if (i !== first - 1 && i !== last + 1 || context[i] === undefined) continue;
        left -= context[i].text.length;
        if (left < 0) {
          this.full = "budget";
          hit.context = context.slice(first, last + 1);
          return;
        }
        if (i < own) first = i;
        else last = i;
      }
    }
  }

  #above(text: string, start: number, wanted: number): Excerpt[] {
    const above = linesBefore(text, start, wanted);
    const missing = wanted - above.length;
    return missing > 0 && this.#before.length > 0 ? [...this.#before.slice(-missing), ...above] : above;
  }

  /** Context of hits at the end of the piece before, from the start of this one. */
  #closeContexts(text: string) {
    for (const { hit, missing } of this.#open) {
      for (const excerpt of linesAfter(text, -1, missing)) {
        if (this.#characters + excerpt.text.length > BUDGET) {
          this.full = "budget";
          break;
        }
        this.#characters += excerpt.text.length;
        hit.context!.push({ line: hit.context![hit.context!.length - 1].line + 1, ...excerpt });
      }
    }
    this.#open = [];
  }

  #carry(text: string) {
    this.#lines += new LineCounter(text).lineAt(text.length) - 1;
    if (this.options.context > 0) this.#before = linesBefore(text, text.length, Math.min(this.options.context, BUDGET));
  }
}

function costOf(hit: Hit): number {
  return hit.context ? hit.context.reduce((sum, { text }) => sum + text.length, 0) : hit.text!.length;
}

/** A line as it is shown beside a hit. */
type Excerpt = Omit<ContextLine, "line">;

/** The part of a line that is shown: all of it, or a window round the match that parts no surrogate pair. */
function windowOf(
  text: string,
  start: number,
  end: number,
  matchStart: number,
  matchEnd: number,
): { start: number; end: number } {
  if (end - start <= WINDOW) return { start, end };
  const room = Math.max(0, WINDOW - (matchEnd - matchStart));
  let from = Math.max(start, matchStart - (room >> 1));
  let to = Math.min(end, from + WINDOW);
  from = Math.max(start, to - WINDOW);
  if (isLowSurrogate(text, from)) from++;
  if (to < end && isLowSurrogate(text, to)) to--;
  return { start: from, end: to };
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** A line of context as it is shown: its start. */
function excerptOf(text: string, start: number, end: number): Excerpt {
  const shown = windowOf(text, start, end, start, start);
  return { text: text.slice(shown.start, shown.end), ...shown.end < end ? { cut: true as const } : {} };
}

/** Up to `wanted` lines that end before a line's start, in order. */
function linesBefore(text: string, lineStart: number, wanted: number): Excerpt[] {
  const lines: Excerpt[] = [];
  for (let start = lineStart; start > 0 && lines.length < wanted;) {
    const end = text.charCodeAt(start - 1) === 0x0a && text.charCodeAt(start - 2) === 0x0d ? start - 2 : start - 1;
    start = lastLineStart(text, end);
    lines.push(excerptOf(text, start, end));
  }
  return lines.reverse();
}

function lastLineStart(text: string, end: number): number {
  if (end === 0) return 0;
  return Math.max(text.lastIndexOf("\n", end - 1), text.lastIndexOf("\r", end - 1)) + 1;
}

/** Up to `wanted` lines behind a line's end (without its ending); -1 begins with the first line of the text. */
function linesAfter(text: string, lineEnd: number, wanted: number): Excerpt[] {
  const lines: Excerpt[] = [];
  let start = lineEnd < 0 ? 0 : behindEnding(text, lineEnd);
  while (lines.length < wanted && start < text.length) {
    const end = nextEnding(text, start);
    lines.push(excerptOf(text, start, end));
    start = behindEnding(text, end);
  }
  return lines;
}

function nextEnding(text: string, start: number): number {
  const lf = text.indexOf("\n", start);
  const line = lf < 0 ? text.length : lf;
  const cr = text.slice(start, line).indexOf("\r");
  return cr < 0 ? line : start + cr;
}

function behindEnding(text: string, end: number): number {
  return text.charCodeAt(end) === 0x0d && text.charCodeAt(end + 1) === 0x0a ? end + 2 : end + 1;
}
