/** Frames from a process that may send anything: none is collected that is larger than expected. */
import { type Frame, FrameReader } from "../frames.ts";

/** Largest header, in bytes. */
const MOST_HEADER = 1024 * 1024;

/** What came is no frame, or larger than it may be. */
export class Garbage extends Error {
  override readonly name = "Garbage";
}

/** A `FrameReader` that looks at the announced lengths before it keeps anything. */
export class BoundedFrames {
  readonly #reader = new FrameReader<unknown>();
  readonly #lengths = new DataView(new ArrayBuffer(8));
  /** Bytes of the lengths that are there. */
  #known = 0;
  /** Bytes of the present frame that are still to come. */
  #due = 0;

  /** Whether a frame has begun and not ended. */
  get unfinished(): boolean {
    return this.#known > 0;
  }

  /**
   * Takes the next piece and returns the frames that are whole now.
   *
   * @param mostBody Bytes that a body may have.
   * @throws {Garbage}
   */
  push(piece: Uint8Array, mostBody: number): Frame<Record<string, unknown>>[] {
    for (let at = 0; at < piece.length || this.#known === 8 && this.#due === 0;) {
      if (this.#known < 8) {
        this.#lengths.setUint8(this.#known++, piece[at++]);
        if (this.#known < 8) continue;
        const header = this.#lengths.getUint32(0, true);
        const body = this.#lengths.getUint32(4, true);
        if (header > MOST_HEADER || body > mostBody) throw new Garbage("a frame larger than expected");
        this.#due = header + body;
      }
      const taken = Math.min(this.#due, piece.length - at);
      this.#due -= taken;
      at += taken;
      if (this.#due === 0) this.#known = 0;
    }
    try {
      return this.#reader.push(piece).map(({ header, body }) => {
        if (!isRecord(header)) throw new Garbage("a header that is no object");
        return { header, body };
      });
    } catch (error) {
      throw error instanceof Garbage ? error : new Garbage("a header that is not JSON");
    }
  }
}

/** Whether a value from outside is an object with fields. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
