/**
 * Cuts a stream of bytes into lines, without copying a line more than twice and without holding one that is too long.
 */

/** Stands for a line longer than the limit, dropped to its end. */
export const TOO_LONG = Symbol("a line longer than the limit");

const LF = 0x0a;

/** The bytes of a line without its LF, or that it was too long. Valid until the next one is asked for. */
export type Line = Uint8Array | typeof TOO_LONG;

/** Assembles lines from chunks of any size. Spec: 2-verbs §2.26, message size. */
export class Lines {
  /** The start of a line whose end has not come yet; the buffer doubles, so that a long line costs linear time. */
  #buffer = new Uint8Array(0);
  #held = 0;
  #dropping = false;

  /** @param limit The longest line in bytes, its LF not counted. */
  constructor(readonly limit: number) {}

  /** The lines that end in this chunk. The chunk may be reused afterwards. */
  *feed(chunk: Uint8Array): Generator<Line> {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      const tail = chunk.subarray(from, end);
      from = end + 1;
      yield this.#line(tail);
    }
    this.#hold(chunk.subarray(from));
  }

  /** The last line, when it had no LF. */
  *end(): Generator<Line> {
    if (this.#held > 0 || this.#dropping) yield this.#line(new Uint8Array(0));
  }

  #line(tail: Uint8Array): Line {
    if (this.#held === 0 && !this.#dropping && tail.length <= this.limit) return tail;
    this.#hold(tail);
    const line = this.#dropping ? TOO_LONG : this.#buffer.subarray(0, this.#held);
    this.#buffer = new Uint8Array(0);
    this.#held = 0;
    this.#dropping = false;
    return line;
  }

  #hold(piece: Uint8Array): void {
    const length = this.#held + piece.length;
    if (this.#dropping || length > this.limit) {
      this.#dropping = true;
      this.#buffer = new Uint8Array(0);
      this.#held = 0;
      return;
    }
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(this.limit, Math.max(length, 2 * this.#buffer.length)));
      larger.set(this.#buffer.subarray(0, this.#held));
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#held);
    this.#held = length;
  }
}
