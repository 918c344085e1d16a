/**
 * Where the text to find stands: exactly, or exactly but for the line endings. Nothing looser ever leads to a change.
 *
 * A CR LF is one thing: no match begins or ends inside one. Otherwise `"\nb"` would be found in a CR LF file behind the CR, and what
 * is written there in the file's own ending would leave that CR alone on its line.
 * Spec: 2-verbs §2.13, §2.14; decision 37.
 */
import { endingAt, endingBefore, isInsidePair } from "./edit_lines.ts";

/** A stretch of a text, in UTF-16 units; `end` is behind it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Looks for one text in another. */
export abstract class Search {
  /** Whether matches may differ from the text to find in their line endings. */
  abstract readonly loose: boolean;
  /** Behind the match that was found last. */
  protected end = 0;

  /** Where the first match begins that begins at or after an offset; -1 where there is none. */
  protected abstract seek(from: number): number;

  /** The first match that begins at or after an offset. */
  next(from: number): Span | undefined {
    const start = this.seek(from);
    return start < 0 ? undefined : { start, end: this.end };
  }

  /** Hands out all matches from the left that do not overlap, without a list of them. */
  forEach(take: (start: number, end: number) => void): void {
    for (let start = this.seek(0); start >= 0; start = this.seek(this.end)) take(start, this.end);
  }
}

/**
 * The search for a text, which is not empty: an exact one, or, when nothing matches exactly, one for which all line endings are equal.
 *
 * Text to find that ends in a lone CR is not taken for a CR LF where it stands in the CR of one: it may be meant to take that CR away.
 *
 * @param pulse Passed every 256 KiB or so, as long as the search is used; what it throws ends it. Default: nothing.
 */
export function searchFor(text: string, find: string, pulse: () => void = () => {}): Search {
  const exact = new ExactSearch(text, find, pulse);
  if (exact.next(0) || !/[\r\n]/.test(find)) return exact;
  if (find.endsWith("\r") && text.includes(find)) return exact;
  return new LooseSearch(text, find, pulse);
}

/** How much is looked through at a time: it may hold as many places, and something is done at each. */
const WINDOW = 256 * 1024;

/**
 * Characters that are compared one by one before a native search is called, which takes as long as 5 of them for one character and as 30
 * for several (measured): places may lie close together.
 */
const NEAR = 16;

/** Where a text stands in another, unit for unit. */
class Finder {
  readonly #text: string;
  readonly #find: string;
  readonly #pulse: () => void;
  /** A view of the text from an offset on, in which every match lies that begins within `WINDOW` characters. */
  #window = "";
  #base = 0;
  /** Where the last such match may begin, and one. */
  #behind = 0;

  constructor(text: string, find: string, pulse: () => void) {
    this.#text = text;
    this.#find = find;
    this.#pulse = pulse;
  }

  /** The first place at or after an offset; -1 where there is none. */
  next(from: number): number {
    const first = this.#find.charCodeAt(0);
    const { length } = this.#find;
    while (from <= this.#text.length - length) {
      if (from < this.#base || from >= this.#behind) this.#moveTo(from);
      const near = Math.min(from + NEAR, this.#behind) - this.#base;
      let at = from - this.#base;
      for (; at < near; at++) {
        if (this.#window.charCodeAt(at) !== first) continue;
        if (length === 1 || this.#window.startsWith(this.#find, at)) return this.#base + at;
      }
      at = this.#window.indexOf(this.#find, at);
      if (at >= 0) return this.#base + at;
      from = this.#behind;
    }
    return -1;
  }

  #moveTo(from: number): void {
    this.#pulse();
    this.#base = from;
    this.#behind = Math.min(from + WINDOW, this.#text.length - this.#find.length + 1);
    this.#window = this.#text.slice(from, this.#behind + this.#find.length - 1);
  }
}

/** Where line endings begin, each of them by its first character. */
class EndingFinder {
  readonly #feeds: Finder;
  readonly #returns: Finder;
  /** Where the last search began, and the LF and the CR behind that; endless where there is none. */
  #from = 0;
  #feed = -1;
  #return = -1;

  constructor(text: string, pulse: () => void) {
    this.#feeds = new Finder(text, "\n", pulse);
    this.#returns = new Finder(text, "\r", pulse);
  }

  /** The first place at or after an offset, which is not inside a CR LF; -1 where there is none. */
  next(from: number): number {
    if (from < this.#from) this.#feed = this.#return = -1;
    this.#from = from;
    if (this.#feed < from) this.#feed = endless(this.#feeds.next(from));
    if (this.#return < from) this.#return = endless(this.#returns.next(from));
    const at = Math.min(this.#feed, this.#return);
    return at === Infinity ? -1 : at;
  }
}

function endless(at: number): number {
  return at < 0 ? Infinity : at;
}

class ExactSearch extends Search {
  readonly loose = false;
  readonly #text: string;
  readonly #length: number;
  readonly #finder: Finder;
  /** Whether a match may lie askew to a CR LF. */
  readonly #maySplit: boolean;
  /** The first match, so as not to look for it twice. */
  #first?: number;

  constructor(text: string, find: string, pulse: () => void) {
    super();
    this.#text = text;
    this.#length = find.length;
    this.#finder = new Finder(text, find, pulse);
    this.#maySplit = find.startsWith("\n") || find.endsWith("\r");
  }

  protected seek(from: number): number {
    const start = from > 0 ? this.#seek(from) : this.#first ??= this.#seek(0);
    this.end = start + this.#length;
    return start;
  }

  #seek(from: number): number {
    for (let start = from;; start++) {
      start = this.#finder.next(start);
      if (start < 0 || !this.#maySplit) return start;
      if (!isInsidePair(this.#text, start) && !isInsidePair(this.#text, start + this.#length)) return start;
    }
  }
}

class LooseSearch extends Search {
  readonly loose = true;
  readonly #text: string;
  /** What lies between the endings. */
  readonly #pieces: readonly string[];
  /** Which piece is looked for natively: the longest. */
  readonly #pivot: number;
  /** Where the pivot stands; where endings are, if it is empty, since all pieces are then. */
  readonly #finder: Finder | EndingFinder;

  constructor(text: string, find: string, pulse: () => void) {
    super();
    this.#text = text;
    this.#pieces = find.split(/\r\n|\r|\n/);
    this.#pivot = this.#pieces.reduce((best, piece, i, all) => piece.length > all[best].length ? i : best, 0);
    const pivot = this.#pieces[this.#pivot];
    this.#finder = pivot === "" ? new EndingFinder(text, pulse) : new Finder(text, pivot, pulse);
  }

  protected seek(from: number): number {
    return this.#finder instanceof EndingFinder ? this.#seekEndings(this.#finder, from) : this.#seekAround(from);
  }

  #seekAround(from: number): number {
    for (let at = this.#finder.next(from); at >= 0; at = this.#finder.next(at + 1)) {
      const start = this.#backwards(at);
      if (start < from) continue;
      this.end = this.#forwards(at);
      if (this.end >= 0) return start;
    }
    return -1;
  }

  /** Where the pieces before the pivot begin; -1 where they do not stand there. */
  #backwards(at: number): number {
    for (let i = this.#pivot - 1; i >= 0; i--) {
      const ending = endingBefore(this.#text, at);
      const piece = this.#pieces[i];
      at -= ending + piece.length;
      if (ending === 0 || at < 0 || !this.#text.startsWith(piece, at)) return -1;
    }
    return at;
  }

  /** The end of the pivot and the pieces behind it; -1 where they do not stand there. */
  #forwards(at: number): number {
    at += this.#pieces[this.#pivot].length;
    for (let i = this.#pivot + 1; i < this.#pieces.length; i++) {
      const ending = endingAt(this.#text, at);
      const piece = this.#pieces[i];
      if (ending === 0 || !this.#text.startsWith(piece, at + ending)) return -1;
      at += ending + piece.length;
    }
    return at;
  }

  /** A run of so many endings. */
  #seekEndings(finder: EndingFinder, from: number): number {
    let start = finder.next(isInsidePair(this.#text, from) ? from + 1 : from);
    while (start >= 0) {
      this.end = this.#forwards(start);
      if (this.end >= 0) return start;
      start = finder.next(start + endingAt(this.#text, start));
    }
    return -1;
  }
}
