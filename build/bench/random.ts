/** A stream of numbers that a label decides: the same label gives the same numbers on every machine. */
export class Random {
  #state = 0x811c9dc5;

  constructor(label: string) {
    for (const letter of label) this.#state = Math.imul(this.#state ^ letter.codePointAt(0)!, 0x01000193);
  }

  /** From 0 up to and without 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to and without `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** One of these. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }
}
