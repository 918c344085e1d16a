/**
 * Text becomes bytes: the inverse of `decoder.ts`, for every encoding that it decodes. No character is ever put for another.
 *
 * Spec: 3-documents-and-archives §3.1.2; decision 61.
 */
import { Refusal } from "../refusal.ts";
import { astralQuadruple, type LegacyTable, legacyTable, MODES, shifted } from "./encode_legacy.ts";
import type { Encoding } from "./encoding.ts";

/** A character that the encoding lacks: half of a surrogate pair in any of them. */
export class Unencodable extends Error {
  override readonly name = "Unencodable";

  /** @param offset In the text, in UTF-16 units. */
  constructor(readonly encoding: Encoding, readonly offset: number, readonly code: number) {
    super(`U+${hex(code)} is not in ${encoding.label}`);
  }
}

/**
 * The refusal of a character that the encoding lacks.
 *
 * @param line On which it would stand. Spec: 3-documents-and-archives §3.1.2.
 */
export function refuseUnencodable(
  { encoding, code }: Unencodable,
  line: number,
  path?: string,
  edit?: number,
): Refusal {
  const which = edit === undefined ? "" : `edit ${edit}: `;
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  const what = isHalf
    ? `line ${line} would hold U+${hex(code)}, half of a surrogate pair, which is no character; give the whole one`
    : `line ${line} would hold ${String.fromCodePoint(code)} (U+${hex(code)}), which ${encoding.label} has not; ` +
      "write it otherwise, or convert the file with `write --encoding utf-8`";
  return new Refusal("refused", which + what, path);
}

function hex(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, "0");
}

/**
 * A whole file: the mark, where the encoding has one, and the text.
 *
 * @throws {Unencodable}
 *
 * ```ts
 * encodeText("é", namedEncoding("windows-1252")); // one byte, 0xe9
 * ```
 */
export function encodeText(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> {
  const body = encodePart(text, encoding);
  if (encoding.bom.length === 0) return body;
  const bytes = new Uint8Array(encoding.bom.length + body.length);
  bytes.set(encoding.bom);
  bytes.set(body, encoding.bom.length);
  return bytes;
}

/** Text without a mark. In ISO-2022-JP it begins and ends in ASCII. @throws {Unencodable} */
export function encodePart(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> {
  if (encoding.family === "single" || encoding.family === "multi") {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    const encoder = new LegacyEncoder(encoding, (bytes) => parts.push(bytes.slice()), text.length);
    encoder.encode(text, 0, text.length);
    encoder.end();
    return parts.length === 1 ? parts[0] : concatenated(parts);
  }
  demandWellFormed(text, encoding);
  if (encoding.family === "utf-8") return new TextEncoder().encode(text);
  return encoding.family === "utf-16" ? encode16(text, encoding) : encode32(text, encoding);
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function demandWellFormed(text: string, encoding: Encoding): void {
  if (text.isWellFormed()) return;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i)!;
    if (code > 0xffff) i++;
    else if (code >= 0xd800 && code <= 0xdfff) throw new Unencodable(encoding, i, code);
  }
}

function encode16(text: string, { label }: Encoding): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 2);
  const low = label === "utf-16be" ? 1 : 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    bytes[2 * i + low] = code & 0xff;
    bytes[2 * i + 1 - low] = code >> 8;
  }
  return bytes;
}

function encode32(text: string, { label }: Encoding): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 4);
  const view = new DataView(bytes.buffer);
  let length = 0;
  for (let i = 0; i < text.length; i++, length += 4) {
    const code = text.codePointAt(i)!;
    if (code > 0xffff) i++;
    view.setUint32(length, code, label !== "utf-32be");
  }
  return bytes.slice(0, length);
}

/** Bytes gathered before they are handed on. */
const BLOCK = 64 * 1024;
/** Bytes of one character at most, with an escape sequence before it. */
const LONGEST = 8;

/** Encodes text in a legacy encoding, stretch after stretch; the bytes are handed on in blocks that are valid until the next one. */
export class LegacyEncoder {
  readonly #encoding: Encoding;
  readonly #take: (bytes: Uint8Array<ArrayBuffer>) => void;
  readonly #table: LegacyTable;
  readonly #block: Uint8Array<ArrayBuffer>;
  #length = 0;
  #mode: number = MODES.ascii;

  /** @param characters UTF-16 units to come at most: a short text needs no large block. */
  constructor(encoding: Encoding, take: (bytes: Uint8Array<ArrayBuffer>) => void, characters = Infinity) {
    this.#encoding = encoding;
    this.#take = take;
    this.#table = legacyTable(encoding);
    this.#block = new Uint8Array(Math.min(BLOCK, LONGEST * (characters + 2)));
  }

  /** Encodes a stretch of a text. What two characters make one sequence is looked for within it only. @throws {Unencodable} */
  encode(text: string, start: number, end: number): void {
    const { basic, astral, pairs } = this.#table;
    const { label } = this.#encoding;
    const isShifted = label === "iso-2022-jp";
    for (let i = start; i < end; i++) {
      if (this.#length > this.#block.length - LONGEST) this.flush();
      let code = text.charCodeAt(i);
      if (code < 0x80 && !isShifted && basic[code] === code) {
        this.#block[this.#length++] = code;
        continue;
      }
      const pair = pairs.size > 0 && i + 1 < end ? pairs.get(text.slice(i, i + 2)) : undefined;
      let sequence = pair ?? basic[code];
      if (pair !== undefined) {
        i++;
      } else if (sequence === 0 && code !== 0) {
        code = text.codePointAt(i)!;
        if (code > 0xffff && i + 1 < end) {
          sequence = label === "gb18030" ? astralQuadruple(code) : astral.get(code) ?? 0;
        }
        if (sequence === 0) throw new Unencodable(this.#encoding, i, code);
        i++;
      }
      if (isShifted) this.#putShifted(sequence, code);
      else this.#put(sequence);
    }
  }

  /** Hands on what is gathered. */
  flush(): void {
    if (this.#length > 0) this.#take(this.#block.subarray(0, this.#length));
    this.#length = 0;
  }

  /** The end of the file: back to ASCII, and hands on the rest. */
  end(): void {
    this.#enter(MODES.ascii);
    this.flush();
  }

  #put(sequence: number): void {
    if (sequence > 0xffffff) this.#block[this.#length++] = sequence >>> 24;
    if (sequence > 0xffff) this.#block[this.#length++] = sequence >>> 16;
    if (sequence > 0xff) this.#block[this.#length++] = sequence >>> 8;
    this.#block[this.#length++] = sequence;
  }

  #putShifted(sequence: number, code: number): void {
    const { mode, bytes } = shifted(sequence);
    // The roman set is ASCII but for two characters, and stays in force for the others.
    const stays = mode === MODES.ascii && this.#mode === MODES.roman && code !== 0x5c && code !== 0x7e;
    if (!stays) this.#enter(mode);
    this.#put(bytes);
  }

  #enter(mode: number): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    for (const byte of ESCAPES[mode]) this.#block[this.#length++] = byte;
  }
}

/** Escape sequences of ISO-2022-JP, by mode. */
const ESCAPES: readonly (readonly number[])[] = [
  [0x1b, 0x28, 0x42],
  [0x1b, 0x28, 0x4a],
  [0x1b, 0x28, 0x49],
  [0x1b, 0x24, 0x42],
];
