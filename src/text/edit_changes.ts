/**
 * Changes of a text: what is put where, and what the text is afterwards.
 *
 * A change is as small as it can be: what the text to find and its replacement have in common at their ends is not touched, so that
 * lines with an ending of their own keep it. Spec: 2-verbs §2.8, §2.13; 3-documents-and-archives §3.1.3.
 */
import { endingAt, isInsidePair } from "./edit_lines.ts";
import type { Search, Span } from "./edit_match.ts";
import { countEndings, type Ending, EndingCounter, ENDINGS } from "./lines.ts";

/** Text put in place of a stretch, which may be empty. Lists of them are in order and do not overlap. */
export interface Change extends Span {
  readonly text: string;
  /** Number of the edit that it comes from, from 1. */
  readonly edit?: number;
}

/** A text with every line ending turned into one kind, `lf` for `none`. Spec: 3-documents-and-archives §3.1.3. */
export function withEnding(text: string, ending: Ending): string {
  const wanted = ENDINGS[ending === "none" ? "lf" : ending];
  if (wanted === "\n" && !text.includes("\r")) return text;
  return text.replace(/\r\n|\r|\n/g, wanted);
}

/** What a replacement does to each place where its text is found. */
export class Replacement {
  readonly #find: string;
  readonly #prefix: number;
  readonly #suffix: number;
  readonly #middle: string;

  /** @param ending The file's dominant ending, which the text that is brought in takes. */
  constructor(find: string, replacement: string, ending: Ending) {
    this.#find = find;
    this.#prefix = commonPrefix(find, replacement);
    this.#suffix = commonSuffix(find, replacement, this.#prefix);
    this.#middle = withEnding(replacement.slice(this.#prefix, replacement.length - this.#suffix), ending);
  }

  /** Both texts are the same: nothing changes. */
  get isIdle(): boolean {
    return this.#middle === "" && this.#prefix + this.#suffix === this.#find.length;
  }

  /** The change at one match of the text to find. */
  at(text: string, span: Span, search: Search, edit?: number): Change {
    const { start, end } = span;
    const tail = this.#find.length - this.#suffix;
    const place = (length: number) => search.loose ? this.#follow(text, start, length) : start + length;
    return { start: place(this.#prefix), end: this.#suffix === 0 ? end : place(tail), text: this.#middle, edit };
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

/** Hands out the new text piece by piece. Pieces of the old text are views of it, not copies. */
function forEachPiece(text: string, changes: readonly Change[], take: (piece: string) => void): void {
  let at = 0;
  for (const change of changes) {
    if (change.start > at) take(text.slice(at, change.start));
    if (change.text.length > 0) take(change.text);
    at = change.end;
  }
  if (at < text.length) take(text.slice(at));
}

/** The whole new text. */
export function textAfter(text: string, changes: readonly Change[]): string {
  if (changes.length === 0) return text;
  const pieces: string[] = [];
  forEachPiece(text, changes, (piece) => pieces.push(piece));
  return pieces.join("");
}

/** The endings of the new text, which is not built for it. */
export function endingsAfter(text: string, changes: readonly Change[]): EndingCounter {
  if (changes.length === 0) return countEndings(text);
  const counter = new EndingCounter();
  forEachPiece(text, changes, (piece) => counter.add(piece));
  return counter;
}

/** On which line of the new text a character of a change's text lies. */
export function lineAfter(text: string, changes: readonly Change[], change: number, offset: number): number {
  const { start, text: put } = changes[change];
  const last = { start, end: start, text: put.slice(0, offset) };
  return endingsAfter(text.slice(0, start), [...changes.slice(0, change), last]).ended + 1;
}
