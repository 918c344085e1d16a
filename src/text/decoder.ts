/**
 * Strict decoding: bytes become exactly the text they stand for, or an error with the place of the first byte that stands
 * for none. Nothing is ever replaced by U+FFFD, so text that was decoded can be encoded to the same bytes again.
 *
 * Spec: 3-documents-and-archives §3.1.1, §3.1.2.
 */
import { Refusal } from "../refusal.ts";
import { detectEncoding, type Encoding, encodingOf } from "./encoding.ts";

/** Bytes that the encoding does not define. */
export class Undecodable extends Error {
  override readonly name = "Undecodable";

  /** @param offset From the file's first byte, its mark included, to the first byte of the bad sequence. */
  constructor(readonly encoding: Encoding, readonly offset: number) {
    super(`the byte at offset ${offset} is not ${encoding.label}`);
  }
}

/** The refusal of a binary file. Spec: 3-documents-and-archives §3.1.1. */
export function refuseBinary(path?: string): Refusal {
  return new Refusal(
    "refused",
    "this is a binary file (a NUL byte among its first 8192), not text; for UTF-16 text without a mark name it with " +
      "--encoding utf-16le or utf-16be",
    path,
  );
}

/**
 * The refusal of a file that does not decode.
 *
 * @param named The caller named the encoding; otherwise the file's first bytes decided and `--encoding` is advised.
 * Spec: 3-documents-and-archives §3.1.1, §3.1.2; decision 21.
 */
export function refuseUndecodable(error: Undecodable, named: boolean, path?: string): Refusal {
  const { encoding, offset } = error;
  const message = named
    ? `the byte at offset ${offset} is not defined in ${encoding.name}; name the file's own encoding with --encoding`
    : encoding.bom.length > 0
    ? `not text: the file has the byte-order mark of ${encoding.label}, but does not decode at offset ${offset}; ` +
      "if that is not its encoding, name the right one with --encoding"
    : `not UTF-8: the byte at offset ${offset} does not decode; ` +
      "name the file's encoding with --encoding, such as --encoding windows-1252";
  return new Refusal("refused", message, path);
}

/** Native decoders for whole texts. They hold no state between calls. */
const whole = new Map<string, TextDecoder>();

/**
 * What a native decoder that does not fail puts for bytes that are none. Its text without one is the strict text, and measured
 * at 8 GB/s in ASCII, where one that fails takes 2; with one, the bytes are decoded once more by one that fails.
 */
const REPLACEMENT = "\ufffd";

/**
 * Decodes a whole file in one call.
 *
 * @param bytes The file with its mark, where the encoding has one.
 * @throws {Undecodable}
 */
export function decodeWhole(bytes: Uint8Array, encoding: Encoding): string {
  const text = tryDecodeWhole(bytes, encoding);
  if (text !== undefined) return text;
  const decoder = new Decoder(encoding);
  decoder.decode(bytes, true);
  throw new Undecodable(encoding, 0);
}

/** As `decodeWhole`, but `undefined` for what does not decode: a sweep that passes such files over need not know where. */
export function tryDecodeWhole(bytes: Uint8Array, encoding: Encoding): string | undefined {
  const { bom, label, family } = encoding;
  for (let i = 0; i < bom.length; i++) if (bytes[i] !== bom[i]) return undefined;
  const body = bom.length > 0 ? bytes.subarray(bom.length) : bytes;
  if (family === "utf-32") {
    try {
      return new Decoder({ ...encoding, bom: [] }).decode(body, true);
    } catch (error) {
      if (error instanceof Undecodable) return undefined;
      throw error;
    }
  }
  let native = whole.get(label);
  if (!native) whole.set(label, native = lenient(label));
  const text = native.decode(body);
  return text.includes(REPLACEMENT) && !decodes(label, body, false) ? undefined : text;
}

/**
 * A whole file as a sweep (`search`, `replace`) takes it: what its own bytes make text keeps that encoding; a name serves those that
 * are not UTF-8, and a UTF-16 or UTF-32 name also those that are binary.
 *
 * @returns The text and its encoding, or why the file is passed over.
 * Spec: 3-documents-and-archives §3.1.1, §3.1.2.
 */
export function decodeSwept(
  bytes: Uint8Array,
  named?: Encoding,
): { text: string; encoding: Encoding } | "binary" | "undecodable" {
  const detected = detectEncoding(bytes);
  if (detected !== "binary") {
    const text = tryDecodeWhole(bytes, detected);
    if (text !== undefined) return { text, encoding: detected };
  }
  const passed = detected === "binary" ? "binary" : "undecodable";
  if (!named || (passed === "binary" && named.unit === 1)) return passed;
  const encoding = encodingOf(bytes, named);
  if (encoding === "binary") return passed;
  const text = tryDecodeWhole(bytes, encoding);
  return text === undefined ? passed : { text, encoding };
}

/** `ignoreBOM` keeps a U+FEFF as text: the mark of a file is taken off by us, and only where it belongs to the encoding. */
function lenient(label: string): TextDecoder {
  return new TextDecoder(label, { ignoreBOM: true });
}

function strict(label: string): TextDecoder {
  return new TextDecoder(label, { fatal: true, ignoreBOM: true });
}

/** Whether bytes are wholly text, or, where more may follow, begin one. */
function decodes(label: string, bytes: Uint8Array, more: boolean): boolean {
  try {
    strict(label).decode(bytes, { stream: more });
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** Bytes in which the place of an error is sought by halving. */
const PROBE = 4096;

/** How many bytes of one line in a multi-byte encoding are kept to place an error exactly. */
const KEPT = 1 << 20;

const NOTHING = new Uint8Array(0);

/**
 * Decodes a file block by block. A character that a block cuts comes with the next block, never in halves.
 *
 * One call of a native decoder per block; UTF-32, which the platform lacks, is turned into UTF-16 first.
 *
 * @example
 * ```ts
 * const decoder = new Decoder(namedEncoding("utf-8"));
 * const text = decoder.decode(new Uint8Array([0xe2, 0x82]), false) + decoder.decode(new Uint8Array([0xac]), true); // "€"
 * ```
 */
export class Decoder {
  readonly #encoding: Encoding;
  readonly #native: TextDecoder;
  /** Offset in the file of the next byte. */
  #offset: number;
  /** Bytes of the mark still to come. */
  #mark: number;
  /** UTF-32: the bytes of a code point that a block cut. Else: what was decoded since a place from where decoding may start. */
  #tail: Uint8Array = NOTHING;

  /** @param start Offset in the file of the first byte to come: at a line's start. The mark is expected at offset 0 only. */
  constructor(encoding: Encoding, start = 0) {
    this.#encoding = encoding;
    const { family, label } = encoding;
    this.#native = family === "multi" ? strict(label) : lenient(family === "utf-32" ? "utf-16le" : label);
    this.#offset = start;
    this.#mark = start === 0 ? encoding.bom.length : 0;
  }

  /**
   * The text of the next bytes. They may be overwritten afterwards.
   *
   * @param last Nothing follows: a character left unfinished is an error.
   * @throws {Undecodable} Afterwards the decoder is of no more use.
   */
  decode(bytes: Uint8Array, last: boolean): string {
    if (this.#mark > 0) bytes = this.#skipMark(bytes);
    if (this.#encoding.family === "utf-32") return this.#decode32(bytes, last);
    const text = this.#encoding.family === "multi" ? this.#decodeMulti(bytes, last) : this.#decodeOther(bytes, last);
    if (!last) this.#remember(bytes);
    this.#offset += bytes.length;
    return text;
  }

  #decodeOther(bytes: Uint8Array, last: boolean): string {
    const text = this.#native.decode(bytes, { stream: !last });
    if (text.includes(REPLACEMENT) && !decodes(this.#encoding.label, joined(this.#tail, bytes), !last)) {
      throw new Undecodable(this.#encoding, this.#place(bytes, last));
    }
    return text;
  }

  /** Strictly at once: where a line is too long to be kept, it could not be decoded once more. */
  #decodeMulti(bytes: Uint8Array, last: boolean): string {
    try {
      return this.#native.decode(bytes, { stream: !last });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new Undecodable(this.#encoding, this.#place(bytes, last));
    }
  }

  #skipMark(bytes: Uint8Array): Uint8Array {
    const { bom } = this.#encoding;
    let i = 0;
    for (; i < bytes.length && this.#mark > 0; i++, this.#mark--, this.#offset++) {
      if (bytes[i] !== bom[bom.length - this.#mark]) throw new Undecodable(this.#encoding, 0);
    }
    return bytes.subarray(i);
  }

  #decode32(bytes: Uint8Array, last: boolean): string {
    const all = joined(this.#tail, bytes);
    const start = this.#offset - this.#tail.length;
    const units = new Uint8Array(all.length - all.length % 4);
    const big = this.#encoding.label === "utf-32be";
    let length = 0;
    for (let i = 0; i + 4 <= all.length; i += 4) {
      let code = big
        ? (all[i] << 24 | all[i + 1] << 16 | all[i + 2] << 8 | all[i + 3]) >>> 0
        : (all[i + 3] << 24 | all[i + 2] << 16 | all[i + 1] << 8 | all[i]) >>> 0;
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new Undecodable(this.#encoding, start + i);
      if (code > 0xffff) {
        code -= 0x10000;
        const high = 0xd800 | code >> 10;
        units[length++] = high & 0xff;
        units[length++] = high >> 8;
        code = 0xdc00 | code & 0x3ff;
      }
      units[length++] = code & 0xff;
      units[length++] = code >> 8;
    }
    const left = all.length % 4;
    if (last && left > 0) throw new Undecodable(this.#encoding, start + all.length - left);
    this.#tail = all.slice(all.length - left);
    this.#offset += bytes.length;
    return this.#native.decode(units.subarray(0, length));
  }

  /** Keeps what has to be decoded again when the place of an error in the next block is sought. */
  #remember(bytes: Uint8Array): void {
    const { family } = this.#encoding;
    if (family === "single") return;
    if (family === "multi") {
      // A line feed is itself in each of these encodings and ends any unfinished character: decoding may start behind it.
      const line = bytes.lastIndexOf(10);
      if (line >= 0) this.#tail = bytes.slice(line + 1);
      else if (this.#tail.length + bytes.length <= KEPT) this.#tail = joined(this.#tail, bytes).slice();
      else this.#tail = NOTHING;
      return;
    }
    const all = bytes.length < 16 ? joined(this.#tail, bytes) : bytes;
    if (all.length < 8) {
      this.#tail = all.slice();
    } else if (family === "utf-8") {
      let start = all.length - 1;
      while (start > all.length - 4 && (all[start] & 0xc0) === 0x80) start--;
      this.#tail = all.slice(start);
    } else {
      // Units lie at even distances from the file's start, the mark included.
      const origin = this.#offset + bytes.length - all.length;
      let start = all.length - 6;
      start += (origin + start) % 2;
      const high = this.#encoding.label === "utf-16be" ? all[start] : all[start + 1];
      if (high >= 0xdc && high <= 0xdf) start += 2;
      this.#tail = all.slice(start);
    }
  }

  /** The offset of the first bad sequence in a block that the native decoder would not take. */
  #place(bytes: Uint8Array, last: boolean): number {
    if (bytes.length > PROBE) {
      const again = new Decoder({ ...this.#encoding, bom: [] }, this.#offset);
      again.#prime(this.#tail);
      for (let i = 0; i < bytes.length; i += PROBE) {
        try {
          again.decode(bytes.subarray(i, i + PROBE), last && i + PROBE >= bytes.length);
        } catch (error) {
          if (error instanceof Undecodable) return error.offset;
          throw error;
        }
      }
      return this.#offset;
    }
    const all = joined(this.#tail, bytes);
    const takes = (length: number, more: boolean) => decodes(this.#encoding.label, all.subarray(0, length), more);
    // `good` bytes decode as a beginning, `bad` do not: at last the bad sequence ends at `bad`, or runs out of the file.
    let good = 0;
    let bad = all.length + 1;
    while (bad - good > 1) {
      const middle = (good + bad) >> 1;
      if (takes(middle, true)) good = middle;
      else bad = middle;
    }
    let start = bad - 1;
    while (start > 0 && bad - start < 8 && !takes(start, false)) start--;
    return this.#offset - this.#tail.length + start;
  }

  /** Brings a fresh decoder to where another stands. */
  #prime(tail: Uint8Array): void {
    this.#offset -= tail.length;
    this.decode(tail, false);
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
