/**
 * Which encoding a file is in: by its own first bytes, or by a name that the caller gives.
 *
 * Nothing is guessed: a byte-order mark decides, else the file is UTF-8 or it is not text. Decoding is in `decoder.ts`.
 * Spec: 3-documents-and-archives §3.1.1, §3.1.2; decision 21.
 */
import { nearest, Refusal } from "../refusal.ts";

/** How many bytes at the front of a file are looked at for a NUL. Spec: 3-documents-and-archives §3.1.1, rule 6. */
export const HEAD_BYTES = 8192;

/** One way in which bytes become text. Plain data; compare by `name`. */
export interface Encoding {
  /** As answers report it and as a caller may name it: `utf-8`, `utf-16le-bom`, `windows-1252`. */
  readonly name: string;
  /** As `TextDecoder` calls it, without the mark; `utf-32le` and `utf-32be` are ours. */
  readonly label: string;
  /** How the bytes hang together; `single` and `multi` are the one-byte and the other encodings of the WHATWG standard. */
  readonly family: "utf-8" | "utf-16" | "utf-32" | "single" | "multi";
  /** The byte-order mark that the file begins with; empty where there is none. */
  readonly bom: readonly number[];
  /** Bytes of a code unit: a line ending is one unit or two. */
  readonly unit: 1 | 2 | 4;
  /** A line can be found from its ending alone, so a file can be read from its end. Not where a state runs on (ISO-2022-JP). */
  readonly backwards: boolean;
}

const UTF_8: Encoding = {
  name: "utf-8",
  label: "utf-8",
  family: "utf-8",
  bom: [],
  unit: 1,
  backwards: true,
};
const UTF_16LE: Encoding = { ...UTF_8, name: "utf-16le", label: "utf-16le", family: "utf-16", unit: 2 };
const UTF_16BE: Encoding = { ...UTF_16LE, name: "utf-16be", label: "utf-16be" };

/** Encodings with a mark, in the order in which the marks are tried: the mark of UTF-32LE begins with that of UTF-16LE. */
const MARKED: readonly Encoding[] = [
  {
    name: "utf-32le-bom",
    label: "utf-32le",
    family: "utf-32",
    bom: [0xff, 0xfe, 0, 0],
    unit: 4,
    backwards: true,
  },
  {
    name: "utf-32be-bom",
    label: "utf-32be",
    family: "utf-32",
    bom: [0, 0, 0xfe, 0xff],
    unit: 4,
    backwards: true,
  },
  { ...UTF_8, name: "utf-8-bom", bom: [0xef, 0xbb, 0xbf] },
  { ...UTF_16LE, name: "utf-16le-bom", bom: [0xff, 0xfe] },
  { ...UTF_16BE, name: "utf-16be-bom", bom: [0xfe, 0xff] },
];

const UNMARKED: readonly Encoding[] = [UTF_8, UTF_16LE, UTF_16BE];

/** Names of the WHATWG standard in which a character may take more than one byte, without the Unicode ones. */
const MULTI = new Set(["big5", "euc-jp", "euc-kr", "gb18030", "gbk", "iso-2022-jp", "shift_jis"]);

/** Names to suggest for a mistyped one: the standard's own, ours, and the labels people know. */
const SUGGESTED: readonly string[] = [
  ...UNMARKED.map((encoding) => encoding.name),
  ...MARKED.map((encoding) => encoding.name),
  ...MULTI,
  ...["ibm866", "koi8-r", "koi8-u", "macintosh", "x-mac-cyrillic", "windows-874", "iso-8859-8-i"],
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16].map((part) => `iso-8859-${part}`),
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((page) => `windows-125${page}`),
  ...["ascii", "utf8", "utf-16", "latin1", "iso-8859-1", "cp1252", "sjis", "gb2312", "ks_c_5601-1987"],
];

/**
 * The encoding a caller names: any label of the WHATWG Encoding Standard, or one of the five `…-bom` names, in any case.
 *
 * The answer has no mark unless the name says so; `encodingOf` tells whether a file begins with one.
 * @throws {Refusal} `invalid` for an unknown name, and for labels of `replacement` and `x-user-defined`.
 * Spec: 3-documents-and-archives §3.1.2.
 */
export function namedEncoding(label: string): Encoding {
  const wanted = label.trim().toLowerCase();
  const marked = MARKED.find((encoding) => encoding.name === wanted);
  if (marked) return marked;
  const name = standardName(label);
  if (name === undefined || name === "x-user-defined") {
    const meant = nearest(wanted, SUGGESTED);
    throw new Refusal(
      "invalid",
      `unknown encoding ${JSON.stringify(label)}; ` +
        (meant !== undefined
          ? `did you mean ${meant}?`
          : "take a label of the WHATWG Encoding Standard, such as windows-1252"),
    );
  }
  const unicode = UNMARKED.find((encoding) => encoding.name === name);
  if (unicode) return unicode;
  const family = MULTI.has(name) ? "multi" : "single";
  return { name, label: name, family, bom: [], unit: 1, backwards: name !== "iso-2022-jp" };
}

/** The standard's own name for a label, in lower case. Labels of `replacement` have no decoder and so no name. */
function standardName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/**
 * What a file is by its first bytes (8,192 of them, or all there are): a marked encoding, `"binary"`, or UTF-8.
 *
 * UTF-8 is what is left: whether the bytes are strict UTF-8 shows when they are decoded.
 * Spec: 3-documents-and-archives §3.1.1, rules 1 to 7.
 */
export function detectEncoding(head: Uint8Array): Encoding | "binary" {
  const marked = MARKED.find((encoding) => begins(head, encoding.bom));
  if (marked) return marked;
  return head.subarray(0, HEAD_BYTES).includes(0) ? "binary" : UTF_8;
}

/**
 * The encoding in which `read`, `edit` and `write` take a file: by its first bytes, unless a name decides.
 *
 * A mark that belongs to the named encoding is recognised; where a named one lacks its mark, the file is taken without. UTF-32
 * without its mark has no name, so such a file is binary, unless it is empty.
 * Spec: 3-documents-and-archives §3.1.2.
 */
export function encodingOf(head: Uint8Array, named?: Encoding): Encoding | "binary" {
  if (!named) return detectEncoding(head);
  const marked = MARKED.find((encoding) => encoding.label === named.label);
  if (marked && begins(head, marked.bom)) return marked;
  if (named.bom.length === 0) return named;
  const plain = UNMARKED.find((encoding) => encoding.label === named.label);
  return plain ?? (head.length === 0 ? UTF_8 : "binary");
}

function begins(bytes: Uint8Array, mark: readonly number[]): boolean {
  return bytes.length >= mark.length && mark.every((byte, i) => bytes[i] === byte);
}
