/**
 * A slice of a text file: a range of lines, or its last lines, within the caps on what is served, in bounded memory.
 *
 * Up to 64 MiB a file is streamed to its end, so that its hash, its number of lines and its endings are those of the whole and
 * the whole is known to decode. Above, only what the slice needs is read: a range from the start up to its last line, a tail
 * backwards from the end. Nothing is ever held but a block of the file and what is served.
 * Spec: 2-verbs §2.7, §2.11; 3-documents-and-archives §3.1.5; decisions 23, 33.
 */
import { Refusal } from "../refusal.ts";
import { Decoder, refuseBinary, refuseUndecodable, Undecodable } from "./decoder.ts";
import { type Encoding, encodingOf, HEAD_BYTES } from "./encoding.ts";
import { type Ending, EndingCounter } from "./lines.ts";

/** Bytes up to which a file is read to its end. */
export const WHOLE_BYTES = 64 * 1024 * 1024;

/** Lines served where no last line is stated. */
export const LINE_CAP = 2000;

/** Characters (UTF-16 units) of one line, and of all that one call serves. */
export const CHARACTER_CAP = 40_000;

/** Bytes read at a time. Measured: larger blocks gain nothing in ASCII, and cost memory and, beyond it, a quarter of the speed. */
const BLOCK = 64 * 1024;

/** Where the bytes come from: an open file, an archive's member. */
export interface ByteSource {
  /** Bytes when it was opened. Nothing beyond is read. */
  readonly size: number;
  /** Reads into the buffer from an offset. @returns Bytes read, maybe fewer than fit; 0 at the end. */
  readAt(buffer: Uint8Array, offset: number): number;
}

/** What is wanted of a file. `from`, `to` and `tail` are whole numbers of 1 and above, checked by the caller. */
export interface SliceRequest {
  /** First line. Default: 1. */
  from?: number;
  /** Last line; lifts the cap of 2,000 lines. Default: 2,000 lines from `from`. */
  to?: number;
  /** The last so many lines, instead of `from` and `to`. */
  tail?: number;
  /** First and last character of each line, from 1; moved inward where they would split a code point. Default: the whole line. */
  columns?: readonly [number, number];
  /** The encoding the caller names. Default: the file's first bytes decide. */
  encoding?: Encoding;
  /** Line numbers will stand before the lines, and are charged. */
  numbered: boolean;
  /** Characters left of the call's 40,000. The first line is served even when there are none. */
  budget: number;
  /** Gets every byte of a file of up to 64 MiB, in order; none of a larger one. */
  hasher?: { update(bytes: Uint8Array): unknown };
  /** Named in refusals. */
  path?: string;
}

/** A line that goes on behind the 40,000 characters that were served of it. It is the last one served. */
export interface LineCut {
  /** Its number, as in `from`. */
  line: number;
  /** Characters of the whole line, where it was read to its end. */
  total?: number;
  /** It has more characters than this. */
  moreThan: number;
  /** The column at which to go on. */
  next: number;
}

/** What is served of a file. */
export interface Slice {
  /** The lines without their endings, each as far as it is served. */
  lines: string[];
  /** The ending of each line; empty where the line has none, or was cut before it. */
  endings: string[];
  /** Number of the first line served; below the last line's where none is served. Negative, counted from -1, the last line, in a tail
   * of a file whose lines were not counted. */
  from: number;
  /** Number of the last line served, counted as `from`; `from - 1` where none is. */
  to: number;
  /** Lines of the whole file, where it was read to its end. */
  total?: number;
  /** The last line served is not the file's last. */
  truncated: boolean;
  /** Lines behind the last one served; in a tail that the budget cut, lines before the first one served. Absent when 0 or unknown. */
  linesRemaining?: number;
  /** The 40,000 characters ended the slice before the lines asked for were all served. */
  budgeted: boolean;
  lineCut?: LineCut;
  /** Characters served, with endings and numbers: what the call's budget has to be charged. */
  spent: number;
  encoding: Encoding;
  /** The dominant ending, of the part read in a large file. */
  ending: Ending;
  /** Absent in a large file. */
  mixed?: boolean;
  /** Absent where the end was not read. */
  finalNewline?: boolean;
  /** Above 64 MiB: the hasher got nothing. */
  large: boolean;
}

/**
 * Reads a slice.
 *
 * @throws {Refusal} `refused` for a binary file, and for one that does not decode: the whole of it up to 64 MiB, above that the first
 * 8,192 bytes and what was read.
 */
export function readSlice(source: ByteSource, request: SliceRequest): Slice {
  const { path, encoding: named, tail } = request;
  const buffer = new Uint8Array(Math.min(HEAD_BYTES, source.size));
  const head = buffer.subarray(0, fill(source, buffer, 0));
  const encoding = encodingOf(head, named);
  if (encoding === "binary") {
    if (!named || named.bom.length === 0) throw refuseBinary(path);
    throw new Refusal("refused", `the file does not begin with the byte-order mark of ${named.name}`, path);
  }
  try {
    if (tail === undefined) return readRange(source, encoding, request);
    if (!encoding.backwards) return readTailForward(source, encoding, request, tail);
    if (source.size > WHOLE_BYTES) new Decoder(encoding).decode(head, false);
    return readTail(source, encoding, request, tail);
  } catch (error) {
    if (error instanceof Undecodable) throw refuseUndecodable(error, named !== undefined, path);
    throw error;
  }
}

/** The text of a slice as the file has it, each line with its own ending; on demand with line numbers before the lines. */
export function sliceText(slice: Slice, numbered: boolean): string {
  let text = "";
  for (let i = 0; i < slice.lines.length; i++) {
    if (numbered) text += prefix(slice.from + i);
    text += slice.lines[i] + slice.endings[i];
  }
  return text;
}

/** The rows of a slice for a readable answer, `NNNNN | text` each, without endings; for another form give another prefix. */
export function sliceRows(slice: Slice): string[] {
  return slice.lines.map((line, i) => prefix(slice.from + i) + line);
}

/** `NNNNN | `, the number right-aligned in 5. */
export function prefix(line: number): string {
  return `${String(line).padStart(5)} | `;
}

/** Its length. */
function prefixLength(line: number): number {
  return line > -10_000 && line < 100_000 ? 8 : prefix(line).length;
}

/** A source of bytes that are at hand: a rendering, a member that was unpacked. */
export function sourceOf(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    readAt(buffer, offset) {
      const part = bytes.subarray(offset, offset + buffer.length);
      buffer.set(part);
      return part.length;
    },
  };
}

/** A range of lines: streamed from the start, in a large file up to the slice's end only. */
function readRange(source: ByteSource, encoding: Encoding, request: SliceRequest): Slice {
  const large = source.size > WHOLE_BYTES;
  const from = request.from ?? 1;
  const picker = new Picker(request, { large, from, to: request.to ?? from + LINE_CAP - 1 });
  const counter = new EndingCounter();
  const ended = readText(source, encoding, 0, large ? undefined : request.hasher, (text) => {
    const before = counter.ended;
    counter.add(text);
    picker.take(text, counter.ended - before);
    return !(large && picker.done);
  });
  if (ended) picker.finish();

  const total = ended ? counter.lines : undefined;
  const to = picker.from + picker.lines.length - 1;
  return {
    ...served(picker, encoding, counter, large),
    total,
    truncated: total === undefined || to < total,
    linesRemaining: total !== undefined && to < total ? total - to : undefined,
    budgeted: picker.budgeted,
    finalNewline: ended ? counter.finalNewline : undefined,
  };
}

/** The last lines, found backwards. Up to 64 MiB the file is streamed first, for its totals and to know that all of it decodes. */
function readTail(source: ByteSource, encoding: Encoding, request: SliceRequest, tail: number): Slice {
  const large = source.size > WHOLE_BYTES;
  const whole = new EndingCounter();
  if (!large) {
    readText(source, encoding, 0, request.hasher, (text) => {
      whole.add(text);
      return true;
    });
  }
  const total = large ? undefined : whole.lines;

  const most = linesAtMost(request, tail);
  // A unit takes four bytes at most, so what lies before so many bytes of whole lines cannot be served any more.
  const enough = request.columns ? Infinity : 4 * (CHARACTER_CAP + 1);
  const { start, count } = lastLines(source, encoding, most, enough);
  const from = (total ?? -1) - count + 1;
  const picker = new Picker(request, { large, from, to: from + count - 1, most });
  const part = new EndingCounter();
  const ended = readText(source, encoding, start, undefined, (text) => {
    part.add(text);
    picker.take(text, Infinity);
    return !picker.done;
  });
  if (ended) picker.finish();

  const earlier = picker.from > from || start > encoding.bom.length;
  return {
    ...served(picker, encoding, large ? part : whole, large),
    ...tailFacts(picker, total, tail, earlier),
    finalNewline: !large ? whole.finalNewline : ended ? part.finalNewline : undefined,
  };
}

/** The last lines of a file that cannot be read backwards: all of it is streamed, the last lines so far are kept. */
function readTailForward(source: ByteSource, encoding: Encoding, request: SliceRequest, tail: number): Slice {
  const large = source.size > WHOLE_BYTES;
  const picker = new Picker(request, { large, from: 1, to: Infinity, most: linesAtMost(request, tail) });
  const counter = new EndingCounter();
  readText(source, encoding, 0, large ? undefined : request.hasher, (text) => {
    counter.add(text);
    picker.take(text, Infinity);
    return true;
  });
  picker.finish();
  return {
    ...served(picker, encoding, counter, large),
    ...tailFacts(picker, counter.lines, tail, picker.from > 1),
    finalNewline: counter.finalNewline,
  };
}

/** Every line but an unterminated last one costs a character, so the budget bounds their number too. */
function linesAtMost({ budget }: SliceRequest, tail: number): number {
  return Math.min(tail, Math.max(0, budget) + 1);
}

function served(picker: Picker, encoding: Encoding, counter: EndingCounter, large: boolean) {
  const { lines, endings, from, lineCut, spent } = picker;
  const to = from + lines.length - 1;
  const mixed = large ? undefined : counter.mixed;
  return { lines, endings, from, to, lineCut, spent, encoding, ending: counter.ending, mixed, large };
}

function tailFacts(picker: Picker, total: number | undefined, tail: number, earlier: boolean) {
  const budgeted = earlier && picker.lines.length < tail;
  const linesRemaining = budgeted && total !== undefined ? picker.from - 1 : undefined;
  return { total, truncated: false, budgeted, linesRemaining };
}

/** Fills the buffer from an offset on. @returns Bytes read: fewer than fit only at the source's end. */
function fill(source: ByteSource, buffer: Uint8Array, offset: number): number {
  const wanted = Math.min(buffer.length, source.size - offset);
  let filled = 0;
  while (filled < wanted) {
    const read = source.readAt(buffer.subarray(filled, wanted), offset + filled);
    if (read <= 0) break;
    filled += read;
  }
  return filled;
}

/**
 * Streams a source as text from the start of a line. A CR LF is never handed over in halves.
 *
 * @param take Gets the next part of the text; says whether to go on.
 * @returns Whether the end was reached.
 */
function readText(
  source: ByteSource,
  encoding: Encoding,
  start: number,
  hasher: SliceRequest["hasher"],
  take: (text: string) => boolean,
): boolean {
  const decoder = new Decoder(encoding, start);
  const buffer = new Uint8Array(Math.max(1, Math.min(BLOCK, source.size - start)));
  let offset = start;
  let held = "";
  for (;;) {
    const block = buffer.subarray(0, fill(source, buffer, offset));
    offset += block.length;
    const last = block.length < buffer.length || offset >= source.size;
    hasher?.update(block);
    let text = held + decoder.decode(block, last);
    held = "";
    if (!last && text.endsWith("\r")) {
      held = "\r";
      text = text.slice(0, -1);
    }
    const more = take(text);
    if (last) return true;
    if (!more) return false;
  }
}

/**
 * Finds from the end where the last lines start.
 *
 * @param most How many lines are wanted.
 * @param enough Bytes of whole lines beyond which no more is wanted.
 * @returns Where the first of them starts, and how many they are.
 */
function lastLines(
  source: ByteSource,
  encoding: Encoding,
  most: number,
  enough: number,
  size = source.size,
): { start: number; count: number } {
  const { unit, label, bom } = encoding;
  const front = bom.length;
  const big = label.endsWith("be");
  const end = size - (size - front) % unit;
  const buffer = new Uint8Array(Math.max(0, Math.min(BLOCK / 4, end - front)));
  let count = 0;
  let following = -1;
  for (let high = end; high > front;) {
    const low = Math.max(front, high - buffer.length);
    const read = fill(source, buffer.subarray(0, high - low), low);
    if (read < high - low) return lastLines(source, encoding, most, enough, low + read);
    for (let i = high - low - unit; i >= 0; i -= unit) {
      let value = buffer[i];
      for (let k = 1; k < unit; k++) value = big ? value * 256 + buffer[i + k] : value + buffer[i + k] * 256 ** k;
      const start = low + i + unit;
      if ((value === 10 || value === 13 && following !== 10) && start < end) {
        count++;
        if (count === most || end - start >= enough) return { start, count };
      }
      following = value;
    }
    high = low;
  }
  return { start: front, count: end > front ? count + 1 : 0 };
}

/** What a picker is to take. */
interface Range {
  /** The file's end need not be reached. */
  large: boolean;
  /** Number of the first line of interest; the text handed over starts with line 1, or with this one in a tail. */
  from: number;
  /** Number of the last line of interest. */
  to: number;
  /** A tail: so many lines at most, and where the budget is short, the last ones. */
  most?: number;
}

/** Takes the lines of a slice out of a text that comes in parts, keeping no more of it than may be served. */
class Picker {
  readonly lines: string[] = [];
  readonly endings: string[] = [];
  /** Number of the first line in `lines`. */
  from: number;
  spent = 0;
  budgeted = false;
  lineCut?: LineCut;
  /** Nothing more will be taken. */
  done = false;

  readonly #request: SliceRequest;
  readonly #range: Range;
  /** The units of a line that are served, from 0, the end not included. */
  readonly #low: number;
  readonly #high: number;
  /** No wider window can be served: a line that goes on behind it is cut. */
  readonly #full: boolean;

  /** The line at hand: its number, its units so far, those served of them, whether it has begun. */
  #line: number;
  #length = 0;
  #kept = "";
  #begun = false;

  constructor(request: SliceRequest, range: Range) {
    this.#request = request;
    this.#range = range;
    this.from = range.from;
    this.#line = range.most === undefined ? 1 : range.from;
    const [first, last] = request.columns ?? [1, Infinity];
    this.#low = first - 1;
    this.#high = Math.min(last, this.#low + CHARACTER_CAP);
    this.#full = this.#high - this.#low >= CHARACTER_CAP;
  }

  /** @param ended How many lines end in this text, or more: then it is only passed over where all of them lie before the slice. */
  take(text: string, ended: number): void {
    const { from } = this.#range;
    if (this.done) return;
    if (this.#line + ended < from) {
      this.#line += ended;
      return;
    }
    let feed = text.indexOf("\n");
    let mark = text.indexOf("\r");
    for (let at = 0; at < text.length;) {
      const found = feed < 0 ? mark : mark < 0 ? feed : Math.min(feed, mark);
      const end = found < 0 ? text.length : found;
      if (this.#line >= from && end > at) this.#append(text, at, end);
      if (found < 0 || this.done) return;
      const ending = found === feed ? "\n" : feed === found + 1 ? "\r\n" : "\r";
      if (this.#line >= from) this.#close(ending);
      if (this.done) return;
      this.#line++;
      at = end + ending.length;
      if (feed >= 0 && feed < at) feed = text.indexOf("\n", at);
      if (mark >= 0 && mark < at) mark = text.indexOf("\r", at);
    }
  }

  /** The text is at its end: an unterminated line counts. */
  finish(): void {
    if (this.#begun && !this.done) this.#close("");
  }

  #append(text: string, start: number, end: number): void {
    const origin = start - this.#length;
    const low = Math.max(start, origin + this.#low);
    const high = Math.min(end, origin + this.#high);
    if (low < high) this.#kept += text.slice(low, high);
    this.#length += end - start;
    this.#begun = true;

    const { large, to, most } = this.#range;
    // One unit less, since the window's last may be taken off.
    const cannotFit = most === undefined && this.lines.length > 0 &&
      this.spent + this.#prefix() + this.#kept.length - 1 > this.#request.budget;
    if (cannotFit) this.budgeted = this.done = true;
    else if (large && this.#length > this.#high && (this.#line === to || (this.#full && most === undefined))) {
      this.#close(undefined);
      if (this.#line < to) this.budgeted = true;
      this.done = true;
    }
  }

  /** @param ending Of the line at hand; `undefined` where its end will not be read. */
  #close(ending: string | undefined): void {
    const { budget } = this.#request;
    const { to, most } = this.#range;
    const line = this.#line;
    let kept = this.#kept;
    if (isHigh(kept.charCodeAt(kept.length - 1))) kept = kept.slice(0, -1);
    const next = this.#low + kept.length + 1;
    if (isLow(kept.charCodeAt(0))) kept = kept.slice(1);
    const cut = this.#full && this.#length > this.#high;
    const total = ending === undefined ? undefined : this.#length;
    const close = cut || ending === undefined ? "" : ending;
    const cost = this.#prefix() + kept.length + close.length;
    this.#kept = "";
    this.#length = 0;
    this.#begun = false;

    if (most === undefined && this.lines.length > 0 && this.spent + cost > budget) {
      this.budgeted = this.done = true;
      return;
    }
    this.lines.push(kept);
    this.endings.push(close);
    this.spent += cost;
    if (most === undefined) {
      // Behind a cut line nothing fits.
      if (cut) this.spent = Math.max(this.spent, budget);
      if (line === to) this.done = true;
    } else {
      this.#drop(most, cut || this.lineCut !== undefined);
      this.lineCut = undefined;
    }
    if (cut) this.lineCut = { line, total, moreThan: this.#high, next };
  }

  /** Lets go of the first lines of a tail until the last ones fit: all but one beside a line that is cut. */
  #drop(most: number, cut: boolean): void {
    const { numbered, budget } = this.#request;
    const all = this.lines.length;
    let first = 0;
    while (all - first > 1 && (cut || all - first > most || this.spent > budget)) {
      this.spent -= this.#cost(first++, numbered);
    }
    if (first === 0) return;
    this.lines.splice(0, first);
    this.endings.splice(0, first);
    this.from += first;
  }

  #cost(i: number, numbered: boolean): number {
    return (numbered ? prefixLength(this.from + i) : 0) + this.lines[i].length + this.endings[i].length;
  }

  #prefix(): number {
    return this.#request.numbered ? prefixLength(this.#line) : 0;
  }
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
