/**
 * Where lines begin, and on which line a place lies, without a list of all lines.
 *
 * A line ends with LF, CR LF or a lone CR. Spec: 3-documents-and-archives §3.1.3.
 */

const LF = 10;
const CR = 13;

/** A line is noted once it begins so many characters or more behind the one before: 200 million empty ones make 50,000 notes. */
const NOTED = 4096;
/** So many notes are a mebibyte of text, or some lines that are longer. */
const PULSED = 256;

/** Line numbers of one text, found as far as they are asked for. Lines count from 1, offsets are UTF-16 units. */
export class LineIndex {
  readonly #text: string;
  readonly #pulse: () => void;
  /** Noted places: that line begins at that offset. */
  readonly #lines = [1];
  readonly #offsets = [0];
  /** How far lines were counted: `#line` begins at `#offset`. */
  #line = 1;
  #offset = 0;
  /** The next LF and CR at or after `#offset`; the text's length where there is none. */
  #feed = -1;
  #return = -1;

  /** @param pulse Passed every mebibyte or so while lines are counted; what it throws ends that. Default: nothing. */
  constructor(text: string, pulse: () => void = () => {}) {
    this.#text = text;
    this.#pulse = pulse;
  }

  /** Lines of the text: an unterminated last one counts, a final ending opens no further one. */
  get total(): number {
    this.#countTo(Infinity, this.#text.length);
    return this.#offset < this.#text.length ? this.#line : this.#line - 1;
  }

  /** Where a line begins; the text's length for any line behind the last one. */
  start(line: number): number {
    this.#countTo(line, this.#text.length);
    const noted = lastAtMost(this.#lines, line);
    let offset = this.#offsets[noted];
    for (let at = this.#lines[noted]; at < line && offset < this.#text.length; at++) {
      offset = behindLine(this.#text, offset);
    }
    return offset;
  }

  /** The line that holds the character at an offset. Behind a final ending it is the number after the last line's. */
  lineAt(offset: number): number {
    this.#countTo(Infinity, offset);
    const noted = lastAtMost(this.#offsets, offset);
    let line = this.#lines[noted];
    for (let at = this.#offsets[noted]; at < this.#text.length; line++) {
      const next = behindLine(this.#text, at);
      if (next > offset || !endsAt(this.#text, next)) return line;
      at = next;
    }
    return line;
  }

  /** Counts on until a line or an offset is reached. */
  #countTo(line: number, offset: number): void {
    const text = this.#text;
    while (this.#line < line && this.#offset <= offset) {
      if (this.#feed < this.#offset) this.#feed = next(text, "\n", this.#offset);
      if (this.#return < this.#offset) this.#return = next(text, "\r", this.#offset);
      const end = Math.min(this.#feed, this.#return);
      if (end === text.length) return;
      this.#offset = end + endingAt(text, end);
      this.#line++;
      if (this.#offset - this.#offsets[this.#offsets.length - 1] >= NOTED) {
        if (this.#lines.length % PULSED === 0) this.#pulse();
        this.#lines.push(this.#line);
        this.#offsets.push(this.#offset);
      }
    }
  }
}

function next(text: string, character: string, from: number): number {
  const found = text.indexOf(character, from);
  return found < 0 ? text.length : found;
}

/** Behind the ending of the line that begins at an offset; the text's length where it has none. */
export function behindLine(text: string, offset: number): number {
  for (let i = offset; i < text.length; i++) {
    const length = endingAt(text, i);
    if (length > 0) return i + length;
  }
  return text.length;
}

/** Characters of the line ending that begins at an offset; 0 where none does. */
export function endingAt(text: string, offset: number): 0 | 1 | 2 {
  const code = text.charCodeAt(offset);
  if (code === LF) return 1;
  if (code !== CR) return 0;
  return text.charCodeAt(offset + 1) === LF ? 2 : 1;
}

/** Characters of the line ending just before an offset; 0 where there is none. */
export function endingBefore(text: string, offset: number): 0 | 1 | 2 {
  const code = text.charCodeAt(offset - 1);
  if (code === CR) return 1;
  if (code !== LF) return 0;
  return text.charCodeAt(offset - 2) === CR ? 2 : 1;
}

/** Whether a text up to an offset ends with a line ending. */
function endsAt(text: string, offset: number): boolean {
  return endingBefore(text, offset) > 0;
}

/** Whether an offset lies inside a CR LF. */
export function isInsidePair(text: string, offset: number): boolean {
  return text.charCodeAt(offset) === LF && text.charCodeAt(offset - 1) === CR;
}

/** The place of the last of ascending numbers that is not above a limit; the first is not. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let low = 0;
  for (let high = numbers.length; high - low > 1;) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= limit) low = middle;
    else high = middle;
  }
  return low;
}
