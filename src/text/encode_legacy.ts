/**
 * Encoders for the legacy encodings, made by inverting the platform's decoders: what is read is what is written.
 *
 * Where several byte sequences stand for one character, the one is taken that the WHATWG standard's encoder takes. Unlike that encoder
 * these never put another character for one that is lacking, and they take what only the decoder knows (JIS X 0212 in EUC-JP, the rest of
 * Big5-HKSCS, half-width katakana in ISO-2022-JP). GBK has no four-byte sequences: a file that has some is GB18030.
 * Spec: 3-documents-and-archives §3.1.2; decision 61.
 */
import type { Encoding } from "./encoding.ts";

/** Byte sequences by character, each as one number with the first byte highest; 0 for none, also for U+0000, which is itself. */
export interface LegacyTable {
  /** Characters up to U+FFFF. */
  readonly basic: Uint32Array;
  /** Characters beyond. */
  readonly astral: ReadonlyMap<number, number>;
  /** Two characters that are one sequence (Big5), as both together in a string. */
  readonly pairs: ReadonlyMap<string, number>;
}

const tables = new Map<string, LegacyTable>();

/** The table of a `single` or `multi` encoding; made once: 2 to 30 ms (measured). */
export function legacyTable({ label, family }: Encoding): LegacyTable {
  let table = tables.get(label);
  if (!table) tables.set(label, table = family === "single" ? singleTable(label) : multiTable(label));
  return table;
}

class Builder implements LegacyTable {
  readonly basic = new Uint32Array(0x10000);
  readonly astral = new Map<number, number>();
  readonly pairs = new Map<string, number>();

  /** Adds what a sequence stands for; of several sequences the first one added stays, unless a later one shall win. */
  add(characters: string, sequence: number, wins = false): void {
    if (characters.includes("\ufffd")) return;
    const code = characters.codePointAt(0);
    if (code === undefined) return;
    if (characters.length > (code > 0xffff ? 2 : 1)) {
      if (wins || !this.pairs.has(characters)) this.pairs.set(characters, sequence);
    } else if (code > 0xffff) {
      if (wins || !this.astral.has(code)) this.astral.set(code, sequence);
    } else if (wins || this.basic[code] === 0) {
      this.basic[code] = sequence;
    }
  }
}

function singleTable(label: string): LegacyTable {
  const table = new Builder();
  addSingles(table, label);
  return table;
}

/** Adds the characters of one byte. @returns Which bytes are one by themselves. */
function addSingles(table: Builder, label: string): boolean[] {
  const decoder = new TextDecoder(label, { ignoreBOM: true });
  return Array.from({ length: 256 }, (_, byte) => {
    const character = decoder.decode(new Uint8Array([byte]));
    table.add(character, byte);
    return character !== "\ufffd";
  });
}

/** Ends every sequence that is tried, so that each is decoded by itself. */
const LF = 10;

/** Decodes many sequences of the same length in one call. A sequence that is none gives a text with U+FFFD in it. */
function addSequences(table: Builder, label: string, length: number, sequences: number[], wins = false): void {
  const bytes = new Uint8Array(sequences.length * (length + 1));
  let at = 0;
  for (const sequence of sequences) {
    for (let shift = 8 * (length - 1); shift >= 0; shift -= 8) bytes[at++] = sequence >>> shift & 0xff;
    bytes[at++] = LF;
  }
  const all = new TextDecoder(label, { ignoreBOM: true }).decode(bytes).split("\n");
  sequences.forEach((sequence, i) => table.add(all[i], sequence, wins));
}

function multiTable(label: string): LegacyTable {
  if (label === "iso-2022-jp") return shiftedTable();
  const table = new Builder();
  const isSingle = addSingles(table, label);
  addSequences(table, label, 2, doubles(label, isSingle));
  if (label === "big5") addSequences(table, label, 2, doublesBelow(0xa1));
  if (label === "shift_jis") addSequences(table, label, 2, range(0xed, 0xef).flatMap(rowOf));
  if (label === "gb18030") {
    // The euro sign: one byte in GBK, two in GB18030, whose decoder takes both.
    addSequences(table, label, 2, [0xa2e3], true);
    addQuadruples(table);
  }
  if (label === "big5") addSequences(table, label, 2, BIG5_LAST, true);
  if (label === "euc-jp") {
    const triples = range(0xa1, 0xff).flatMap((second) =>
      range(0xa1, 0xff).map((third) => 0x8f0000 | second << 8 | third)
    );
    addSequences(table, label, 3, triples);
  }
  return table;
}

/** Sequences of the six characters of which the standard's encoder takes the last one in Big5. */
const BIG5_LAST = [0xf9f9, 0xf9e9, 0xf9ea, 0xf9eb, 0xa451, 0xa4ca];

/** Sequences of two bytes that are tried first. */
function doubles(label: string, isSingle: readonly boolean[]): number[] {
  const least = label === "big5" ? 0xa1 : 0x80;
  return range(least, 0x100)
    .filter((lead) => !isSingle[lead] && !(label === "shift_jis" && lead >= 0xed && lead <= 0xee))
    .flatMap(rowOf);
}

function doublesBelow(lead: number): number[] {
  return range(0x81, lead).flatMap(rowOf);
}

function rowOf(lead: number): number[] {
  return range(0x21, 0x100).map((trail) => lead << 8 | trail);
}

function range(from: number, behind: number): number[] {
  return Array.from({ length: behind - from }, (_, i) => from + i);
}

/** How many sequences of four bytes stand for characters up to U+FFFF, and the number of the one for U+10000. */
const BASIC_QUADRUPLES = 39_420;
const FIRST_ASTRAL = 189_000;

function addQuadruples(table: Builder): void {
  addSequences(table, "gb18030", 4, range(0, BASIC_QUADRUPLES).map(quadruple));
  const replacement = quadruple(39_417);
  if (isReplacement(replacement)) table.basic[0xfffd] = replacement;
}

/** Whether a sequence stands for U+FFFD itself, rather than for nothing. */
function isReplacement(sequence: number): boolean {
  const bytes = new Uint8Array([sequence >>> 24, sequence >>> 16, sequence >>> 8, sequence]);
  return new TextDecoder("gb18030", { fatal: true }).decode(bytes) === "\ufffd";
}

/** The four bytes with a number, as the standard counts them. */
function quadruple(pointer: number): number {
  const fourth = 0x30 + pointer % 10;
  const third = 0x81 + Math.floor(pointer / 10) % 126;
  const second = 0x30 + Math.floor(pointer / 1260) % 10;
  const first = 0x81 + Math.floor(pointer / 12600);
  return (first << 24 | second << 16 | third << 8 | fourth) >>> 0;
}

/** The four bytes of a character beyond U+FFFF in GB18030. */
export function astralQuadruple(code: number): number {
  return quadruple(FIRST_ASTRAL + code - 0x10000);
}

/** Modes of ISO-2022-JP, in the number that a character's sequence has above its bytes. */
export const MODES = { ascii: 0, roman: 1, katakana: 2, kanji: 3 } as const;
const MODE_SHIFT = 16;

/** The sequence of a character in ISO-2022-JP, parted. */
export function shifted(sequence: number): { mode: number; bytes: number } {
  return { mode: sequence >>> MODE_SHIFT, bytes: sequence & 0xffff };
}

/** ISO-2022-JP holds the kanji of EUC-JP without the high bits, and three sets of one byte. */
function shiftedTable(): LegacyTable {
  const table = new Builder();
  for (const byte of range(1, 0x80)) if (byte !== 0x0e && byte !== 0x0f && byte !== 0x1b) table.basic[byte] = byte;
  table.basic[0xa5] = MODES.roman << MODE_SHIFT | 0x5c;
  table.basic[0x203e] = MODES.roman << MODE_SHIFT | 0x7e;
  for (const byte of range(0x21, 0x60)) table.basic[0xff40 + byte] = MODES.katakana << MODE_SHIFT | byte;
  const { basic } = multiTable("euc-jp");
  basic.forEach((sequence, code) => {
    if (sequence < 0xa1a1 || sequence > 0xfefe || table.basic[code] !== 0) return;
    table.basic[code] = MODES.kanji << MODE_SHIFT | sequence & 0x7f7f;
  });
  return table;
}
