/**
 * New content of a file, as `write` gives it: one line ending throughout, in the encoding of the old content or a named one.
 *
 * Spec: 2-verbs §2.8, §2.12; 3-documents-and-archives §3.1.2, §3.1.3.
 */
import { decodeSwept, decodeWhole, refuseUndecodable, Undecodable } from "./decoder.ts";
import { refuseNul, withEnding } from "./edit_changes.ts";
import { encodeText, refuseUnencodable, Unencodable } from "./encode.ts";
import { detectEncoding, type Encoding, encodingOf, namedEncoding } from "./encoding.ts";
import { countEndings, type Ending } from "./lines.ts";

/** What a file that is replaced hands down to its successor. */
export interface Heritage {
  readonly encoding: Encoding;
  /** The dominant ending. */
  readonly ending: Ending;
}

/**
 * What the old content hands down; nothing when it is binary.
 *
 * @param named The encoding that the new content is to have; then old content that does not decode is simply replaced.
 * @throws {Refusal} `refused`, asking for `--encoding`, for old content that is text in an unknown encoding.
 */
export function heritageOf(old: Uint8Array, named?: Encoding, path?: string): Heritage | undefined {
  const swept = decodeSwept(old, named);
  if (swept === "undecodable" && !named) throw refuseOld(old, path);
  return typeof swept === "string" ? undefined : { encoding: swept.encoding, ending: countEndings(swept.text).ending };
}

function refuseOld(old: Uint8Array, path?: string) {
  const encoding = detectEncoding(old);
  try {
    if (encoding !== "binary") decodeWhole(old, encoding);
  } catch (error) {
    if (error instanceof Undecodable) return refuseUndecodable(error, false, path);
    throw error;
  }
  throw new Error("content that decodes is not undecodable");
}

/** What is to be written. */
export interface NewContent {
  readonly text: string;
  /** What the replaced file hands down, where there is one that does. */
  readonly heritage?: Heritage;
  /** The encoding the caller names. Default: the old one; for a new file UTF-8 without a mark. */
  readonly encoding?: Encoding;
  /** The ending the caller names. Default: the old dominant one; where there is none `lf`. */
  readonly ending?: Exclude<Ending, "none">;
  /** Named in refusals. */
  readonly path?: string;
}

/** Bytes to be written, and what answers say of them. */
export interface Written {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The text with the endings that it got. */
  readonly text: string;
  readonly encoding: Encoding;
  readonly ending: Ending;
  readonly finalNewline: boolean;
}

/**
 * The bytes of new content. A final newline is there when the text has one, and then only.
 *
 * A mark that the old content has is kept when its encoding is kept, also when that is named without the mark; a `…-bom` name puts one.
 *
 * @throws {Refusal} `refused` for a NUL and for a character that the encoding lacks, with its line.
 */
export function newContent({ text, heritage, encoding: named, ending, path }: NewContent): Written {
  const encoding = encodingFor(named, heritage);
  const put = withEnding(text, ending ?? heritage?.ending ?? "lf");
  const endings = countEndings(put);
  const nul = put.indexOf("\0");
  if (nul >= 0) throw refuseNul(countEndings(put.slice(0, nul)).ended + 1, path);
  try {
    const bytes = encodeText(put, encoding);
    const { ending, finalNewline } = endings;
    return { bytes, text: put, encoding: asRead(bytes, encoding), ending, finalNewline };
  } catch (error) {
    if (!(error instanceof Unencodable)) throw error;
    throw refuseUnencodable(error, countEndings(put.slice(0, error.offset)).ended + 1, path);
  }
}

/** What the bytes will be taken for: a U+FEFF that begins the text is the mark of a Unicode encoding. */
function asRead(bytes: Uint8Array, encoding: Encoding): Encoding {
  const read = encodingOf(bytes, encoding);
  return read === "binary" ? encoding : read;
}

function encodingFor(named: Encoding | undefined, heritage: Heritage | undefined): Encoding {
  if (!named) return heritage?.encoding ?? namedEncoding("utf-8");
  const isKept = heritage?.encoding.label === named.label && named.bom.length === 0;
  return isKept ? heritage.encoding : named;
}
