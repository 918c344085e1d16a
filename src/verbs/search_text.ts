/**
 * The text of one file after another, for a sweep: one buffer for all of them, one decoding each, large files in pieces.
 *
 * Spec: 3-documents-and-archives §3.1.1, §3.1.2; decisions 23 and 58.
 */
import type { OpenFile } from "../disk/disk.ts";
import { ByteScanner, type Window } from "../text/byte_scan.ts";
import { LONGEST_WINDOW } from "../text/byte_scan_module.ts";
import { Decoder, decodeSwept, Undecodable } from "../text/decoder.ts";
import { detectEncoding, type Encoding, encodingOf, HEAD_BYTES } from "../text/encoding.ts";

/**
 * Files up to this size are decoded and searched whole, larger ones in pieces of it: a cancelled search ends within a few of them. A
 * log of 1 GB takes 175 MiB in all our processes, in pieces of 8 MiB it took 500, and was no sooner done (measured).
 */
const PIECE = 1024 * 1024;
/** Bytes that are read to see whether a file is text at all, and with most files all there is. */
const FIRST = 64 * 1024;
/** A line beyond this many UTF-16 units is not decided. Spec: decision 58. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** Takes text that ends with a line's ending or the file's end; returns false to see no more of the file. */
export type OnText = (text: string, isLast: boolean) => boolean;

/**
 * What a file is. `without` is a text in which nothing can be found: it has not been handed on.
 */
export type Verdict = "text" | "without" | "binary" | "undecodable";

export class FileText {
  readonly #scanner: ByteScanner | undefined;
  #buffer = new Uint8Array(0);

  /**
   * @param named The encoding for files that are otherwise passed over.
   * @param pulse A safe point, passed for every piece.
   * @param windows What ASCII files must hold to be of interest; others of them need not be decoded. Without it every text is handed on.
   * @param piece Files above this many bytes are handed on in pieces of this size.
   */
  constructor(
    readonly named: Encoding | undefined,
    readonly pulse: () => void,
    readonly windows?: readonly Window[],
    readonly piece = PIECE,
  ) {
    this.#scanner = windows && theScanner();
  }

  /**
   * Hands the text of a file on: whole, or in pieces of whole lines. `onLongLine` stands for a line that is too long for that.
   * Nothing is read beyond the size the file had when it was opened.
   *
   * @returns What it is; text may have been handed on before a file turns out to be undecodable.
   */
  read(file: OpenFile, onText: OnText, onLongLine: () => void): Verdict {
    const { size } = file.facts();
    this.#hold(FIRST, 0);
    let held = file.readAt(this.#buffer.subarray(0, Math.min(size, FIRST)), 0);
    if (size > FIRST || size > this.piece) {
      const encoding = this.#encodingOf(this.#buffer.subarray(0, Math.min(held, HEAD_BYTES)));
      if (encoding === "binary") return "binary";
      if (size > this.piece) {
        return this.#piecesAreWithout(file, size)
          ? "without"
          : this.#readPieces(file, size, encoding, onText, onLongLine);
      }
      this.#hold(size, held);
      held += file.readAt(this.#buffer.subarray(held, size), held);
    }
    if (this.#isWithout(held)) return "without";
    const swept = decodeSwept(this.#buffer.subarray(0, held), this.named);
    if (typeof swept === "string") return swept;
    onText(swept.text, true);
    return "text";
  }

  /**
   * The fast path: what is looked for cannot stand in these bytes. Measured over 20,000 source files (248 MB) with a word that 500
   * hold, case ignored: 356 ms with every file decoded and searched, 141 with this; with a date of four digits and more 700 and 156.
   */
  #isWithout(held: number): boolean {
    return this.#scanner !== undefined && this.#scanner.isWithout(this.windows!, held);
  }

  /**
   * The same for a large file, piece by piece; a match may lie across two of them. Where it fails the file is read once more: the
   * scan costs a tenth of what follows.
   */
  #piecesAreWithout(file: OpenFile, size: number): boolean {
    if (!this.#scanner) return false;
    this.#hold(this.piece + LONGEST_WINDOW, 0);
    for (let at = 0, kept = 0; at < size;) {
      this.pulse();
      const n = file.readAt(this.#buffer.subarray(kept, kept + Math.min(this.piece, size - at)), at);
      if (n === 0) return true;
      at += n;
      const held = kept + n;
      if (!this.#isWithout(held)) return false;
      // Whether a line is too long is for the plain way to say; where no piece is without a line's end, none is.
      if (size > LONGEST_LINE && this.#buffer.subarray(kept, held).lastIndexOf(0x0a) < 0) return false;
      kept = Math.min(held, LONGEST_WINDOW - 1);
      this.#buffer.copyWithin(0, held - kept, held);
    }
    return true;
  }

  /** A buffer that holds this many bytes and those that have been read. The scanner's may have moved since the file before. */
  #hold(bytes: number, held: number) {
    if (this.#scanner) {
      this.#buffer = this.#scanner.hold(bytes);
    } else if (bytes > this.#buffer.length) {
      const before = this.#buffer;
      this.#buffer = new Uint8Array(Math.max(bytes, Math.min(this.piece, before.length * 2)));
      this.#buffer.set(before.subarray(0, held));
    }
  }

  /** A file with a NUL is text only under the name of an encoding whose units have several bytes. */
  #encodingOf(head: Uint8Array): Encoding | "binary" {
    const detected = detectEncoding(head);
    if (detected !== "binary" || !this.named || this.named.unit === 1) return detected;
    return encodingOf(head, this.named);
  }

  #readPieces(
    file: OpenFile,
    size: number,
    encoding: Encoding,
    onText: OnText,
    onLongLine: () => void,
  ): "text" | "undecodable" {
    // Asked first only where a named encoding could serve instead.
    const detected = !this.named || this.#decodePieces(file, size, encoding, () => true);
    const lines = new WholeLines(onText, onLongLine);
    const decoded = this.#decodePieces(
      file,
      size,
      detected ? encoding : this.named!,
      (text, end) => lines.take(text, end),
    );
    return decoded ? "text" : "undecodable";
  }

  /** Decodes a large file piece by piece, as long as `take` says so. Returns whether it decodes. */
  #decodePieces(file: OpenFile, size: number, encoding: Encoding, take: OnText): boolean {
    this.#hold(this.piece, 0);
    const decoder = new Decoder(encoding);
    try {
      for (let at = 0, end = false; !end;) {
        this.pulse();
        const n = file.readAt(this.#buffer.subarray(0, Math.min(this.piece, size - at)), at);
        at += n;
        end = n === 0 || at >= size;
        if (!take(decoder.decode(this.#buffer.subarray(0, n), end), end)) return true;
      }
      return true;
    } catch (error) {
      if (error instanceof Undecodable) return false;
      throw error;
    }
  }
}

/** Puts pieces of text together to whole lines. */
class WholeLines {
  #rest = "";
  /** In a line that is too long to be kept. */
  #dropping = false;

  constructor(readonly onText: OnText, readonly onLongLine: () => void) {}

  take(text: string, end: boolean): boolean {
    if (this.#dropping) {
      const next = afterFirstEnding(text);
      if (next < 0 && !end) return true;
      this.onLongLine();
      this.#dropping = false;
      text = next < 0 ? "" : text.slice(next);
    }
    const cut = end ? text.length : afterLastEnding(text);
    if (cut > 0 || end) {
      if (!this.onText(this.#rest + text.slice(0, cut), end)) return false;
      this.#rest = text.slice(cut);
    } else {
      this.#rest += text;
    }
    if (this.#rest.length > LONGEST_LINE) [this.#rest, this.#dropping] = ["", true];
    return true;
  }
}

/** Where the text behind the last line ending begins; 0 when there is none. A CR at the very end may be half of a CR LF. */
function afterLastEnding(text: string): number {
  const lf = text.lastIndexOf("\n");
  const cr = text.lastIndexOf("\r", text.length - 2);
  return Math.max(lf, cr) + 1;
}

/** Where the text behind the first line ending begins; -1 when there is none. */
function afterFirstEnding(text: string): number {
  const lf = text.indexOf("\n");
  const cr = text.indexOf("\r");
  if (cr < 0 || lf >= 0 && lf < cr) return lf < 0 ? -1 : lf + 1;
  return text.charCodeAt(cr + 1) === 0x0a ? cr + 2 : cr + 1;
}

let shared: ByteScanner | undefined;

/** One scanner serves all searches of a thread, since each is over before the next begins; `undefined` where there can be none. */
function theScanner(): ByteScanner | undefined {
  try {
    return shared ??= new ByteScanner();
  } catch (error) {
    if (error instanceof WebAssembly.CompileError || error instanceof RangeError) return undefined;
    throw error;
  }
}
