/** Requests as frames: a long text goes as bytes behind the header, since a string of JSON could not hold the longest. Decision 58. */
import { encodeFrame, type Frame } from "../frames.ts";
import type { Request } from "./protocol.ts";

/** UTF-16 units from which on a text goes by itself. */
const LONG = 1024 * 1024;

const encoder = new TextEncoder();
/** Byte for byte: a mark at the front of a text is part of it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The frame of a request. @throws {RangeError} when its arguments are too long for JSON all the same. */
export function encodeRequest(request: Request): Uint8Array {
  const args: Record<string, unknown> = {};
  const texts: [string, number][] = [];
  const bodies: Uint8Array[] = [];
  for (const [name, value] of Object.entries(request.args)) {
    // A lone surrogate is no character of UTF-8.
    if (typeof value !== "string" || value.length < LONG || !value.isWellFormed()) args[name] = value;
    else {
      const bytes = encoder.encode(value);
      bodies.push(bytes);
      texts.push([name, bytes.length]);
    }
  }
  if (texts.length === 0) return encodeFrame(request);
  const [only, ...others] = bodies;
  return encodeFrame({ ...request, args, texts }, others.length === 0 ? only : joined(bodies));
}

/** The request of a frame. */
export function decodeRequest({ header, body }: Frame<Request>): Request {
  const { texts, ...request } = header;
  if (!texts) return header;
  const args = { ...request.args };
  let at = 0;
  for (const [name, length] of texts) args[name] = decoder.decode(body.subarray(at, at += length));
  return { ...request, args };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
