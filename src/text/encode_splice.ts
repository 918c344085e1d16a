/**
 * Changes of a text, made in the bytes that it was decoded from: what no change touches keeps its bytes, whatever they are.
 *
 * The changes are gone through twice, once for the new size and once for the new bytes. Beside the old bytes, their text and the new
 * bytes nothing is held but a block of 64 KiB. Spec: 3-documents-and-archives §3.1.2, §3.1.3; 2-verbs §2.13, §2.14.
 */
import { Refusal } from "../refusal.ts";
import { type Bounds, type Change, type Changes, demandSize, lineAfter, refuseNul } from "./edit_changes.ts";
import { encodePart, LegacyEncoder, refuseUnencodable, Unencodable } from "./encode.ts";
import { legacyTable } from "./encode_legacy.ts";
import type { Encoding } from "./encoding.ts";

/** A file as it was read. */
export interface Decoded {
  /** With the mark, where the encoding has one. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** All of it, as `decodeWhole` gave it. */
  readonly text: string;
  readonly encoding: Encoding;
}

/**
 * The new bytes of a file.
 *
 * In encodings in which a character may have several byte sequences (Shift_JIS, EUC-JP, ISO-2022-JP, Big5, GBK, GB18030, EUC-KR) the whole
 * file is first encoded and compared with its bytes.
 *
 * @param changes Never inside a surrogate pair, in UTF-16 units of the text.
 * @returns The old bytes themselves when there are no changes.
 * @throws {Refusal} `refused` for a character that the encoding lacks and for a NUL, with its line in the new text; for a file that does
 * not give its own bytes when it is encoded; for a new file that is too large, before it is made.
 */
export function spliceChanges(file: Decoded, changes: Changes, bounds: Bounds = {}): Uint8Array<ArrayBuffer> {
  if (changes.length === 0) return file.bytes;
  if (file.encoding.family === "multi") demandExact(file, bounds);
  const puts = new Puts(file.encoding, bounds);
  if (file.encoding.label === "iso-2022-jp") return encodeAnew(file, changes, puts, bounds);
  const { bytes } = file;
  const result = new Uint8Array(sizeAfter(file, changes, puts, bounds));
  const meter = meterFor(file, bounds);
  let from = 0;
  let to = 0;
  changes.forEach(({ start, end, text }) => {
    const stop = meter.to(start);
    copy(bytes, from, stop, result, to);
    to += stop - from;
    const put = puts.of(text);
    copy(put, 0, put.length, result, to);
    to += put.length;
    from = meter.to(end);
  });
  copy(bytes, from, bytes.length, result, to);
  return result;
}

/** Up to so many bytes or characters a loop is sooner done than a native call (measured for bytes). */
const FEW = 40;

function copy(source: Uint8Array, from: number, end: number, target: Uint8Array, at: number): void {
  if (end - from > FEW) target.set(source.subarray(from, end), at);
  else while (from < end) target[at++] = source[from++];
}

/**
 * How many bytes the new file has.
 *
 * @throws {Refusal} As `spliceChanges`.
 */
function sizeAfter(file: Decoded, changes: Changes, puts: Puts, bounds: Bounds): number {
  const meter = meterFor(file, bounds);
  let size = file.bytes.length;
  puts.forEach(file.text, changes, ({ start, end }, put) => {
    const from = meter.to(start);
    size += put.length - (meter.to(end) - from);
  });
  demandSize(size, bounds);
  return size;
}

/** The bytes of each change's text; one text that is put in many places is encoded once. */
class Puts {
  readonly #known = new Map<string, Uint8Array>([["", new Uint8Array(0)]]);
  /** The one that was asked for last. */
  #text = "";
  #bytes = this.#known.get("")!;

  constructor(readonly encoding: Encoding, readonly bounds: Bounds) {}

  /** @throws {Unencodable} Also for a NUL. @throws {Refusal} `refused` for a text that is longer than any file. */
  of(text: string): Uint8Array {
    if (text === this.#text) return this.#bytes;
    let bytes = this.#known.get(text);
    if (!bytes) {
      demandSize(text.length, this.bounds, true);
      const nul = text.indexOf("\0");
      if (nul >= 0) throw new Unencodable(this.encoding, nul, 0);
      this.#known.set(text, bytes = encodePart(text, this.encoding));
    }
    this.#text = text;
    return this.#bytes = bytes;
  }

  /** Goes through changes for the first time. @throws {Refusal} Also for a character that the encoding lacks, with its line. */
  forEach(text: string, changes: Changes, take: (change: Change, put: Uint8Array) => void): void {
    let i = 0;
    changes.forEach((change) => {
      take(change, this.#ofNumber(i++, change, text, changes));
    });
  }

  #ofNumber(i: number, change: Change, text: string, changes: Changes): Uint8Array {
    try {
      return this.of(change.text);
    } catch (error) {
      if (!(error instanceof Unencodable)) throw error;
      const { path } = this.bounds;
      const { edit } = change;
      const line = lineAfter(text, changes, i, error.offset);
      throw error.code === 0 ? refuseNul(line, path, edit) : refuseUnencodable(error, line, path, edit);
    }
  }
}

/** Tells which byte a character begins at, for offsets that never go back. */
interface Meter {
  to(offset: number): number;
}

function meterFor({ bytes, text, encoding }: Decoded, { pulse, path }: Bounds): Meter {
  const mark = encoding.bom.length;
  const { family, unit } = encoding;
  if (family === "multi") {
    return wholePairs(new CountingMeter(text, mark, counterOf(encoding, path), pulse), text, encoding, path);
  }
  // One unit of the file for each of the text: ASCII in UTF-8, everything in UTF-16 and the one-byte encodings.
  if (bytes.length - mark === text.length * unit) return { to: (offset) => mark + offset * unit };
  return new CountingMeter(text, mark, family === "utf-8" ? bytesIn8 : bytesIn32, pulse);
}

/** Counts the bytes of the characters passed. */
class CountingMeter implements Meter {
  readonly #text: string;
  readonly #count: Count;
  readonly #pulse?: () => void;
  #offset = 0;
  #bytes: number;

  constructor(text: string, mark: number, count: Count, pulse?: () => void) {
    this.#text = text;
    this.#bytes = mark;
    this.#count = count;
    this.#pulse = pulse;
  }

  to(offset: number): number {
    while (this.#offset < offset) {
      let end = Math.min(offset, this.#offset + STRETCH);
      if (end < offset) {
        if (isBound(this.#text.charCodeAt(end))) end++;
        this.#pulse?.();
      }
      this.#bytes += this.#count(this.#text, this.#offset, end);
      this.#offset = end;
    }
    return this.#bytes;
  }
}

/** No change begins or ends between two characters that are one sequence of bytes. @throws {Refusal} `refused` */
function wholePairs(meter: Meter, text: string, encoding: Encoding, path?: string): Meter {
  const { pairs } = legacyTable(encoding);
  if (pairs.size === 0) return meter;
  return {
    to(offset) {
      const at = meter.to(offset);
      if (offset > 0 && pairs.has(text.slice(offset - 1, offset + 1))) throw refuseInexact(encoding, at - 2, path);
      return at;
    },
  };
}

/** How many bytes a stretch of a text takes, `STRETCH` characters and one at most. */
type Count = (text: string, start: number, end: number) => number;

/** Characters counted at a time. */
const STRETCH = 16 * 1024;
const scratch = new Uint8Array(3 * STRETCH + 8);
const encoder = new TextEncoder();

function bytesIn8(text: string, start: number, end: number): number {
  if (end - start > FEW) return encoder.encodeInto(text.slice(start, end), scratch).written;
  let bytes = 0;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    // Half of a surrogate pair is half of four bytes.
    bytes += code < 0x80 ? 1 : code < 0x800 || isHalf(code) ? 2 : 3;
  }
  return bytes;
}

function bytesIn32(text: string, start: number, end: number): number {
  let bytes = 0;
  for (let i = start; i < end; i++) bytes += isHalf(text.charCodeAt(i)) ? 2 : 4;
  return bytes;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}

/** Whether a character may be one sequence of bytes with the one before it. */
function isBound(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff || code >= 0x300 && code <= 0x36f;
}

/** Counts what `LegacyEncoder` puts for characters that are all known to be in the encoding. */
function counterOf(encoding: Encoding, path?: string): Count {
  const { basic, astral, pairs } = legacyTable(encoding);
  const isQuadruple = encoding.label === "gb18030";
  return (text, start, end) => {
    let bytes = 0;
    for (let i = start; i < end; i++) {
      const code = text.charCodeAt(i);
      if (pairs.size > 0 && i + 1 < end && isBound(text.charCodeAt(i + 1)) && pairs.has(text.slice(i, i + 2))) {
        bytes += 2;
        i++;
      } else if (isHigh(code) && i + 1 < end) {
        bytes += isQuadruple ? 4 : lengthOf(astral.get(text.codePointAt(i)!)!);
        i++;
      } else if (basic[code] === 0 && code !== 0) {
        // Half of what one sequence stands for: a change begins or ends inside.
        throw refuseInexact(encoding, encodePart(text.slice(0, i), encoding).length, path);
      } else {
        bytes += lengthOf(basic[code]);
      }
    }
    return bytes;
  };
}

function lengthOf(sequence: number): number {
  return sequence > 0xffffff ? 4 : sequence > 0xffff ? 3 : sequence > 0xff ? 2 : 1;
}

/** @throws {Refusal} `refused` for a file that does not give its own bytes when it is encoded. */
function demandExact({ bytes, text, encoding }: Decoded, { pulse, path }: Bounds): void {
  let compared = 0;
  const encoder = new LegacyEncoder(encoding, (block) => {
    pulse?.();
    let same = 0;
    while (same < block.length && bytes[compared + same] === block[same]) same++;
    compared += same;
    if (same < block.length) throw refuseInexact(encoding, compared, path);
  });
  try {
    encoder.encode(text, 0, text.length);
    encoder.end();
  } catch (error) {
    if (!(error instanceof Unencodable)) throw error;
    encoder.flush();
    throw refuseInexact(encoding, compared, path);
  }
  if (compared < bytes.length) throw refuseInexact(encoding, compared, path);
}

function refuseInexact({ label }: Encoding, offset: number, path?: string): Refusal {
  return new Refusal(
    "refused",
    `the file cannot be changed as ${label}: from offset ${offset} on it has other bytes than ${label} text is written with, and they ` +
      "would not all survive; name its true encoding with --encoding, or convert it with `write --encoding utf-8`",
    path,
  );
}

/** ISO-2022-JP: what a byte means depends on what went before, so the new text is encoded as a whole. */
function encodeAnew(
  { text, encoding }: Decoded,
  changes: Changes,
  puts: Puts,
  bounds: Bounds,
): Uint8Array<ArrayBuffer> {
  const blocks: Uint8Array[] = [];
  let size = 0;
  const encoder = new LegacyEncoder(encoding, (block) => {
    bounds.pulse?.();
    demandSize(size += block.length, bounds, true);
    blocks.push(block.slice());
  });
  let at = 0;
  puts.forEach(text, changes, ({ start, end, text: put }) => {
    encoder.encode(text, at, start);
    encoder.encode(put, 0, put.length);
    at = end;
  });
  encoder.encode(text, at, text.length);
  encoder.end();
  const result = new Uint8Array(size);
  let to = 0;
  for (const block of blocks) {
    result.set(block, to);
    to += block.length;
  }
  return result;
}
