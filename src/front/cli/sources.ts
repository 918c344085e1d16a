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
    return readRelaxedJson(readText(file));
  } catch (error) {
    if (error instanceof Refusal && error.path === undefined && file !== undefined) {
      throw new Refusal(error.outcome, error.message, file);
    }
    throw error;
  }
}

/** The text of a file, or of standard input, without a mark at its front. @throws {Refusal} 3, or 2 for what is no text. */
export function readText(file: string | undefined): string {
  const bytes = file === undefined ? readStdin() : readOwnFile(file);
  try {
    // Drops a mark at the very front.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal("invalid", `${file === undefined ? "standard input" : "the file"} is not UTF-8 text`, file);
  }
}

function readOwnFile(file: string): Uint8Array {
  try {
    return Deno.readFileSync(file);
  } catch (error) {
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

function readStdin(): Uint8Array {
  const pieces: Uint8Array[] = [];
  const buffer = new Uint8Array(64 * 1024);
  for (let n = Deno.stdin.readSync(buffer); n !== null; n = Deno.stdin.readSync(buffer)) {
    pieces.push(buffer.slice(0, n));
  }
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
