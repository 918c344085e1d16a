/**
 * Changes of a text: what is put where, and what the text is afterwards.
 *
 * A change is as small as it can be: what the text to find and its replacement have in common at their ends is not touched, so that
 * lines with an ending of their own keep it. Spec: 2-verbs §2.8, §2.13; 3-documents-and-archives §3.1.3.
 */
import { Refusal } from "../refusal.ts";
import { endingAt, isInsidePair } from "./edit_lines.ts";
import type { Search, Span } from "./edit_match.ts";
import { type Ending, EndingCounter, ENDINGS } from "./lines.ts";

/** Text put in place of a stretch, which may be empty. */
export interface Change extends Span {
  readonly text: string;
  /** Number of the edit that it comes from, from 1. */
  readonly edit?: number;
}

/** Changes in order, without overlap. They need not all be held: one edit may make tens of millions. */
export interface Changes {
  readonly length: number;
  /** Hands them out. Each is good only until the next one. */
  forEach(take: (change: Change) => void): void;
}

/** What keeps the change of a large file within bounds. */
export interface Bounds {
  /** The most bytes that the file may have afterwards. Default: what one text can hold. */
  readonly largest?: number;
  /** Passed every mebibyte or so of any work; what it throws ends that. Default: nothing. */
  readonly pulse?: () => void;
  /** The file, named in refusals. */
  readonly path?: string;
}

/** UTF-16 units of V8's longest string. */
const LONGEST = 2 ** 29 - 24;

/**
 * @param size Bytes that the new file has, or more than these.
 * @throws {Refusal} `refused` when they are too many. Spec: 2-verbs §2.7, decision 58.
 */
export function demandSize(size: number, { largest = LONGEST, path }: Bounds, isLeast = false): void {
  if (size <= largest) return;
  throw new Refusal(
    "refused",
    `the file would have ${isLeast ? "at least " : ""}${size} bytes; files of up to ${largest >> 20} MiB are changed`,
    path,
  );
}

/** The refusal of a NUL that is brought in: the file would be taken for binary from then on. @param line On which it would stand. */
export function refuseNul(line: number, path?: string, edit?: number): Refusal {
  const which = edit === undefined ? "" : `edit ${edit}: `;
  return new Refusal("refused", `${which}line ${line} would hold a NUL, which no text holds; leave it out`, path);
}

/** How much of a long text is taken at a time. */
const PIECE = 1024 * 1024;

/** A text in views of it that part no CR LF. */
function* piecesOf(text: string, pulse?: () => void): Generator<string> {
  for (let at = 0; at < text.length;) {
    pulse?.();
    let end = Math.min(at + PIECE, text.length);
    if (isInsidePair(text, end)) end++;
    yield text.slice(at, end);
    at = end;
  }
}

/** As `countEndings`, for a text that may be long. */
export function endingsOf(text: string, pulse?: () => void): EndingCounter {
  const counter = new EndingCounter();
  for (const piece of piecesOf(text, pulse)) counter.add(piece);
  return counter;
}

/**
 * A text with every line ending turned into one kind, `lf` for `none`.
 *
 * Piece by piece: the native replacement of 50 million endings at once takes 2 GB (measured).
 * @throws {Refusal} `refused` when it is longer by that than any file may be. Spec: 3-documents-and-archives §3.1.3.
 */
export function withEnding(text: string, ending: Ending, bounds: Bounds = {}): string {
  const wanted = ENDINGS[ending === "none" ? "lf" : ending];
  if (wanted === "\n" && !text.includes("\r")) return text;
  const pieces: string[] = [];
  let length = 0;
  for (const piece of piecesOf(text, bounds.pulse)) {
    const put = piece.replace(/\r\n|\r|\n/g, wanted);
    demandSize(length += put.length, bounds, true);
    pieces.push(put);
  }
  return pieces.join("");
}

/** What a replacement does to each place where its text is found. */
export class Replacement {
  /** What is put there. */
  readonly text: string;
  readonly #find: string;
  readonly #prefix: number;
  readonly #suffix: number;

  /** @param ending The file's dominant ending, which the text that is brought in takes. */
  constructor(find: string, replacement: string, ending: Ending, bounds?: Bounds) {
    this.#find = find;
    this.#prefix = commonPrefix(find, replacement);
    this.#suffix = commonSuffix(find, replacement, this.#prefix);
    this.text = withEnding(replacement.slice(this.#prefix, replacement.length - this.#suffix), ending, bounds);
  }

  /** Both texts are the same: nothing changes. */
  get isIdle(): boolean {
    return this.text === "" && this.#prefix + this.#suffix === this.#find.length;
  }

  /** Where what changes begins in a match. @param isLoose The match may differ from the text to find in its endings. */
  startIn(text: string, start: number, isLoose: boolean): number {
    return isLoose ? this.#follow(text, start, this.#prefix) : start + this.#prefix;
  }

  /** Where what changes ends in a match. */
  endIn(text: string, start: number, end: number, isLoose: boolean): number {
    if (this.#suffix === 0 || !isLoose) return end - this.#suffix;
    return this.#follow(text, start, this.#find.length - this.#suffix);
  }

  /** Where the first so many characters of the text to find end in the text, whose endings may differ. */
  #follow(text: string, at: number, length: number): number {
    for (let i = 0; i < length;) {
      const ending = endingAt(this.#find, i);
      i += ending || 1;
      at += ending === 0 ? 1 : endingAt(text, at);
    }
    return at;
  }
}

/** Where in a text a replacement is made. */
export interface Everywhere {
  readonly text: string;
  /** For matches in that text. */
  readonly search: Search;
  readonly replacement: Replacement;
  /** Where that text begins in the whole one. Default: 0. */
  readonly offset?: number;
  /** The only match, where it is known. Default: all that do not overlap, counted from the left. */
  readonly only?: Span;
  readonly edit?: number;
}

/** A replacement at all its places. They are counted, and looked for again whenever they are gone through. */
export class Replacements implements Changes {
  readonly length: number;
  readonly places: number;
  /** From the first place to the end of the last. */
  readonly span: Span;
  readonly #at: Everywhere;

  /** @param at There is one place at least. */
  constructor(at: Everywhere) {
    this.#at = at;
    let places = 0;
    let first = 0;
    let behind = 0;
    this.#forEachMatch((start, end) => {
      if (places++ === 0) first = start;
      behind = end;
    });
    const { replacement, offset = 0 } = at;
    this.places = places;
    this.length = replacement.isIdle ? 0 : places;
    this.span = { start: offset + first, end: offset + behind };
  }

  forEach(take: (change: Change) => void): void {
    if (this.length === 0) return;
    const { text, search, replacement, offset = 0, edit } = this.#at;
    // One object for all of them: 40 million would be work for the collector.
    const change = { start: 0, end: 0, text: replacement.text, edit };
    this.#forEachMatch((start, end) => {
      change.start = offset + replacement.startIn(text, start, search.loose);
      change.end = offset + replacement.endIn(text, start, end, search.loose);
      take(change);
    });
  }

  #forEachMatch(take: (start: number, end: number) => void): void {
    const { search, only } = this.#at;
    if (only) take(only.start, only.end);
    else search.forEach(take);
  }
}

/** Lists of changes, each behind the one before. */
export class Joined implements Changes {
  readonly length: number;

  constructor(readonly lists: readonly Changes[]) {
    this.length = lists.reduce((sum, { length }) => sum + length, 0);
  }

  forEach(take: (change: Change) => void): void {
    for (const list of this.lists) list.forEach(take);
  }
}

function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  while (isAskew(a, length) || isAskew(b, length)) length--;
  return length;
}

function commonSuffix(a: string, b: string, prefix: number): number {
  const most = Math.min(a.length, b.length) - prefix;
  let length = 0;
  while (length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)) length++;
  while (length > 0 && (isAskew(a, a.length - length) || isAskew(b, b.length - length))) length--;
  return length;
}

/** Whether an offset parts a CR LF or a surrogate pair. */
function isAskew(text: string, offset: number): boolean {
  if (isInsidePair(text, offset)) return true;
  return isLow(text.charCodeAt(offset)) && isHigh(text.charCodeAt(offset - 1));
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** On which line of the new text a character of the text of one change, which is given by its number from 0, lies. */
export function lineAfter(text: string, changes: Changes, index: number, offset: number): number {
  const counter = new EndingCounter();
  let at = 0;
  let i = 0;
  changes.forEach(({ start, end, text: put }) => {
    if (i <= index) {
      counter.add(text.slice(at, start));
      counter.add(i < index ? put : put.slice(0, offset));
      at = end;
    }
    i++;
  });
  return counter.ended + 1;
}
