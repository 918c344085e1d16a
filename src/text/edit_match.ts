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
export interface Search {
  /** Whether matches may differ from the text to find in their line endings. */
  readonly loose: boolean;
  /** The first match that begins at or after an offset. */
  next(from: number): Span | undefined;
}

/**
 * The search for a text, which is not empty: an exact one, or, when nothing matches exactly, one for which all line endings are equal.
 *
 * Text to find that ends in a lone CR is not taken for a CR LF where it stands in the CR of one: it may be meant to take that CR away.
 */
export function searchFor(text: string, find: string): Search {
  const exact = new ExactSearch(text, find);
  if (exact.next(0) || !/[\r\n]/.test(find)) return exact;
  if (find.endsWith("\r") && text.includes(find)) return exact;
  return new LooseSearch(text, find);
}

/** All matches from the left that do not overlap. */
export function allMatches(search: Search): Span[] {
  const spans: Span[] = [];
  for (let span = search.next(0); span; span = search.next(span.end)) spans.push(span);
  return spans;
}

class ExactSearch implements Search {
  readonly loose = false;
  readonly #text: string;
  readonly #find: string;
  /** Whether a match may lie askew to a CR LF. */
  readonly #maySplit: boolean;
  /** The first match, so as not to look for it twice. */
  #first?: { readonly span: Span | undefined };

  constructor(text: string, find: string) {
    this.#text = text;
    this.#find = find;
    this.#maySplit = find.startsWith("\n") || find.endsWith("\r");
  }

  next(from: number): Span | undefined {
    if (from > 0) return this.#next(from);
    this.#first ??= { span: this.#next(0) };
    return this.#first.span;
  }

  #next(from: number): Span | undefined {
    const { length } = this.#find;
    for (let start = from;; start++) {
      start = this.#text.indexOf(this.#find, start);
      if (start < 0) return undefined;
      const end = start + length;
      if (!this.#maySplit || !isInsidePair(this.#text, start) && !isInsidePair(this.#text, end)) return { start, end };
    }
  }
}

class LooseSearch implements Search {
  readonly loose = true;
  readonly #text: string;
  /** What lies between the endings. */
  readonly #pieces: readonly string[];
  /** Which piece is looked for natively: the longest. */
  readonly #pivot: number;

  constructor(text: string, find: string) {
    this.#text = text;
    this.#pieces = find.split(/\r\n|\r|\n/);
    this.#pivot = this.#pieces.reduce((best, piece, i, all) => piece.length > all[best].length ? i : best, 0);
  }

  next(from: number): Span | undefined {
    const pivot = this.#pieces[this.#pivot];
    return pivot.length > 0 ? this.#nextAround(pivot, from) : this.#nextEndings(from);
  }

  #nextAround(pivot: string, from: number): Span | undefined {
    for (let at = this.#text.indexOf(pivot, from); at >= 0; at = this.#text.indexOf(pivot, at + 1)) {
      const start = this.#backwards(at);
      if (start < from) continue;
      const end = this.#forwards(at);
      if (end >= 0) return { start, end };
    }
    return undefined;
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
  #nextEndings(from: number): Span | undefined {
    const ending = /[\r\n]/g;
    ending.lastIndex = isInsidePair(this.#text, from) ? from + 1 : from;
    for (let match = ending.exec(this.#text); match; match = ending.exec(this.#text)) {
      const start = match.index;
      const end = this.#forwards(start);
      if (end >= 0) return { start, end };
      ending.lastIndex = start + endingAt(this.#text, start);
    }
    return undefined;
  }
}
