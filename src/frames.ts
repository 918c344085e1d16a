/**
 * Framing on the pipes between the main process and the engine: two lengths of four bytes (little endian), a header in JSON,
 * and a body of raw bytes, so that a finished answer crosses without being quoted.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A message: what it is about, and finished bytes. */
export interface Frame<H> {
  header: H;
  body: Uint8Array;
}

const NO_BODY = new Uint8Array();

/** The bytes of one frame. */
export function encodeFrame(header: unknown, body: Uint8Array = NO_BODY): Uint8Array {
  const head = encoder.encode(JSON.stringify(header));
  const frame = new Uint8Array(8 + head.length + body.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, head.length, true);
  view.setUint32(4, body.length, true);
  frame.set(head, 8);
  frame.set(body, 8 + head.length);
  return frame;
}

/** Puts frames together from whatever pieces a pipe hands out. */
export class FrameReader<H> {
  #pieces: Uint8Array[] = [];
  #held = 0;

  /** Takes the next piece, kept by reference, and returns the frames that are whole now. */
  push(piece: Uint8Array): Frame<H>[] {
    this.#pieces.push(piece);
    this.#held += piece.length;
    const frames: Frame<H>[] = [];
    for (let frame = this.#take(); frame; frame = this.#take()) frames.push(frame);
    return frames;
  }

  /** Whether bytes of an unfinished frame are held: the other side ended in the middle of one. */
  get unfinished(): boolean {
    return this.#held > 0;
  }

  #take(): Frame<H> | undefined {
    if (this.#held < 8) return undefined;
    if (this.#pieces[0].length < 8) this.#join();
    const first = this.#pieces[0];
    const view = new DataView(first.buffer, first.byteOffset, 8);
    const head = view.getUint32(0, true);
    const size = 8 + head + view.getUint32(4, true);
    if (this.#held < size) return undefined;
    if (first.length < size) this.#join();
    const bytes = this.#pieces[0];
    const header = JSON.parse(decoder.decode(bytes.subarray(8, 8 + head)));
    const body = bytes.subarray(8 + head, size);
    if (bytes.length === size) this.#pieces.shift();
    else this.#pieces[0] = bytes.subarray(size);
    this.#held -= size;
    return { header, body };
  }

  /** One piece out of all: done once a frame is known to be whole, so that a large one is copied once. */
  #join() {
    const whole = new Uint8Array(this.#held);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [whole];
  }
}
