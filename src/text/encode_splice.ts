/**
 * Changes of a text, made in the bytes that it was decoded from: what no change touches keeps its bytes, whatever they are.
 *
 * The bytes are gone through once. Beside the old bytes, their text and the new bytes nothing is held but 16 bytes for each change and
 * a block of 64 KiB. Spec: 3-documents-and-archives §3.1.2, §3.1.3; 2-verbs §2.13, §2.14.
 */
import { Refusal } from "../refusal.ts";
import { type Change, lineAfter, textAfter } from "./edit_changes.ts";
import { encodePart, encodeText, LegacyEncoder, refuseUnencodable, Unencodable } from "./encode.ts";
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
 * @param changes In order, without overlap, never inside a surrogate pair, in UTF-16 units of the text.
 * @returns The old bytes themselves when there are no changes.
 * @throws {Refusal} `refused` for a character that the encoding lacks, with its line in the new text, and for a file that does not give
 * its own bytes when it is encoded.
 */
export function spliceChanges(file: Decoded, changes: readonly Change[], path?: string): Uint8Array<ArrayBuffer> {
  if (changes.length === 0) return file.bytes;
  if (file.encoding.label === "iso-2022-jp") return encodeAnew(file, changes, path);
  const puts = encodePuts(file, changes, path);
  const bounds = byteBounds(file, changes, path);
  const { bytes } = file;
  let size = bytes.length;
  for (let i = 0; i < changes.length; i++) size += puts(i).length - (bounds[2 * i + 1] - bounds[2 * i]);
  const result = new Uint8Array(size);
  let from = 0;
  let to = 0;
  for (let i = 0; i < changes.length; i++) {
    const kept = bytes.subarray(from, bounds[2 * i]);
    result.set(kept, to);
    to += kept.length;
    result.set(puts(i), to);
    to += puts(i).length;
    from = bounds[2 * i + 1];
  }
  result.set(bytes.subarray(from), to);
  return result;
}

/** The bytes of each change's text; one text that is put in many places is encoded once. */
function encodePuts({ text, encoding }: Decoded, changes: readonly Change[], path?: string) {
  const known = new Map<string, Uint8Array>();
  changes.forEach((change, i) => {
    if (known.has(change.text)) return;
    try {
      known.set(change.text, encodePart(change.text, encoding));
    } catch (error) {
      if (!(error instanceof Unencodable)) throw error;
      throw refuseUnencodable(error, lineAfter(text, changes, i, error.offset), path, change.edit);
    }
  });
  return (i: number) => known.get(changes[i].text)!;
}

/** Where each change begins and ends in the bytes, two numbers each. */
function byteBounds(file: Decoded, changes: readonly Change[], path?: string): Float64Array {
  const meter = meterFor(file, path);
  const bounds = new Float64Array(2 * changes.length);
  changes.forEach(({ start, end }, i) => {
    bounds[2 * i] = meter.to(start);
    bounds[2 * i + 1] = meter.to(end);
  });
  meter.end();
  return bounds;
}

/** Tells which byte a character begins at, for offsets that never go back. */
interface Meter {
  to(offset: number): number;
  /** Nothing more will be asked. */
  end(): void;
}

function meterFor({ bytes, text, encoding }: Decoded, path?: string): Meter {
  const mark = encoding.bom.length;
  const { family, unit } = encoding;
  const body = bytes.length - mark;
  if (family === "multi") return new ComparingMeter(bytes, text, encoding, path);
  // One unit of the file for each of the text: ASCII in UTF-8, everything in UTF-16 and the one-byte encodings.
  if (body === text.length * unit) return { to: (offset) => mark + offset * unit, end() {} };
  return new CountingMeter(text, mark, family === "utf-8" ? bytesIn8 : bytesIn32);
}

/** Counts the bytes of the characters passed. */
class CountingMeter implements Meter {
  readonly #text: string;
  readonly #count: (text: string) => number;
  #offset = 0;
  #bytes: number;

  constructor(text: string, mark: number, count: (text: string) => number) {
    this.#text = text;
    this.#bytes = mark;
    this.#count = count;
  }

  to(offset: number): number {
    while (this.#offset < offset) {
      let end = Math.min(offset, this.#offset + STRETCH);
      if (end < offset && isLow(this.#text.charCodeAt(end))) end++;
      this.#bytes += this.#count(this.#text.slice(this.#offset, end));
      this.#offset = end;
    }
    return this.#bytes;
  }

  end() {}
}

/** Characters counted at a time. */
const STRETCH = 16 * 1024;
const scratch = new Uint8Array(3 * STRETCH + 8);
const encoder = new TextEncoder();

function bytesIn8(text: string): number {
  return encoder.encodeInto(text, scratch).written;
}

function bytesIn32(text: string): number {
  let characters = text.length;
  for (let i = 0; i < text.length; i++) if (isLow(text.charCodeAt(i))) characters--;
  return 4 * characters;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Encodes the old text again, and holds it to the old bytes. */
class ComparingMeter implements Meter {
  readonly #text: string;
  readonly #encoder: LegacyEncoder;
  readonly #size: number;
  readonly #refuse: () => Refusal;
  #offset = 0;
  #compared = 0;

  constructor(bytes: Uint8Array, text: string, encoding: Encoding, path?: string) {
    this.#text = text;
    this.#size = bytes.length;
    this.#refuse = () => refuseInexact(encoding, this.#compared, path);
    this.#encoder = new LegacyEncoder(encoding, (block) => {
      let same = 0;
      while (same < block.length && bytes[this.#compared + same] === block[same]) same++;
      this.#compared += same;
      if (same < block.length) throw this.#refuse();
    });
  }

  to(offset: number): number {
    try {
      this.#encoder.encode(this.#text, this.#offset, offset);
    } catch (error) {
      throw error instanceof Unencodable ? this.#refuse() : error;
    }
    this.#encoder.flush();
    this.#offset = offset;
    return this.#compared;
  }

  end() {
    this.to(this.#text.length);
    this.#encoder.end();
    if (this.#compared < this.#size) throw this.#refuse();
  }
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
function encodeAnew(file: Decoded, changes: readonly Change[], path?: string): Uint8Array<ArrayBuffer> {
  const { bytes, text, encoding } = file;
  new ComparingMeter(bytes, text, encoding, path).end();
  encodePuts(file, changes, path);
  return encodeText(textAfter(text, changes), encoding);
}
