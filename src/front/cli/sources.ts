/**
 * The files of the person who types, and standard input. Outside the boundary on purpose: no MCP argument comes here.
 *
 * Spec: 2-verbs §2.2 (the caller's own files).
 */
import { Refusal } from "../../refusal.ts";
import { readRelaxedJson } from "../../text/edit_json.ts";

/** The lines of a file, or of standard input; blank ones dropped, nothing trimmed. @throws {Refusal} 3, or 2 for what is no text. */
export function readLines(file: string | undefined): string[] {
  return readText(file).split(/\r\n|\n|\r/).filter((line) => line.trim() !== "");
}

/** A value in JSON, with comments and trailing commas, from a file or standard input. @throws {Refusal} 3, 2. */
export function readDocument(file: string | undefined): unknown {
  try {
    return readRelaxedJson(readText(file, MOST_OF_DOCUMENT));
  } catch (error) {
    if (error instanceof Refusal && error.path === undefined && file !== undefined) {
      throw new Refusal(error.outcome, error.message, file);
    }
    throw error;
  }
}

/** Bytes of what is read for an argument: those of the largest file that is changed. Spec: decision 58. */
const MOST = 256 * 1024 * 1024;
/** Bytes of a document: those of the longest message of a client. Spec: decision 59. */
const MOST_OF_DOCUMENT = 64 * 1024 * 1024;

/**
 * The text of a file, or of standard input, without a mark at its front.
 *
 * @throws {Refusal} 3, 2 for what is no text, 8 for what is too large.
 */
export function readText(file: string | undefined, most = MOST): string {
  const bytes = file === undefined ? readStdin(most) : readOwnFile(file, most);
  try {
    // Drops a mark at the very front.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal("invalid", `${file === undefined ? "standard input" : "the file"} is not UTF-8 text`, file);
  }
}

function readOwnFile(file: string, most: number): Uint8Array {
  try {
    demandSize(Deno.statSync(file).size, most, file);
    return Deno.readFileSync(file);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const why = error instanceof Deno.errors.NotFound
      ? "there is no such file"
      : error instanceof Deno.errors.NotCapable
      ? "devices and pipes are not opened by name; for standard input there is a flag that ends in -stdin"
      : error instanceof Deno.errors.IsADirectory
      ? "this is a folder"
      : "the system does not let this account read it";
    throw new Refusal("not-found", why, file === "" ? undefined : file);
  }
}

function readStdin(most: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  const buffer = new Uint8Array(64 * 1024);
  let size = 0;
  for (let n = Deno.stdin.readSync(buffer); n !== null; n = Deno.stdin.readSync(buffer)) {
    pieces.push(buffer.slice(0, n));
    size += n;
    demandSize(size, most);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function demandSize(size: number, most: number, file?: string) {
  if (size <= most) return;
  const what = file === undefined ? "standard input" : "the file";
  throw new Refusal("refused", `${what} has more than ${most / 1024 / 1024} MiB`, file);
}
