/** How random a value is. Spec: 6-screens §6.6. */
import { DIGIT, HEX_DIGIT, isIn, LETTER } from "./characters.ts";

/** Bits per character from which a value is random, and from which one of hexadecimal digits is. */
const ENTROPY = 3.8;
const HEX_ENTROPY = 2.8;

/** Fewest characters of a secret, and fewest digits of a hexadecimal one. */
export const LEAST_SECRET = 20;

const HYPHEN = "-".charCodeAt(0);

/**
 * What a value consists of, character by character. It grows in front only, so that all values that end at the same place, as those of
 * `token=token=token=…` do, are judged in one pass from the right.
 */
export class Tally {
  readonly #counts = new Map<number, number>();
  readonly #text: string;
  readonly #end: number;
  #start: number;
  #letters = 0;
  #digits = 0;
  #hexDigits = 0;
  #calls = 0;
  /** The sum of n·log n over the counts of all characters. */
  #sum = 0;

  /** Of the empty value that ends at `end`. */
  constructor(text: string, end: number) {
    this.#text = text;
    this.#start = this.#end = end;
  }

  get end(): number {
    return this.#end;
  }

  /** Takes in what stands before, up to `start`. */
  extendTo(start: number): void {
    while (this.#start > start) this.#add(--this.#start);
  }

  #add(at: number): void {
    const unit = this.#text.charCodeAt(at);
    const count = this.#counts.get(unit) ?? 0;
    this.#counts.set(unit, count + 1);
    this.#sum += weight(count + 1) - weight(count);
    if (isIn(LETTER, this.#text, at)) this.#letters++;
    if (isIn(DIGIT, this.#text, at)) this.#digits++;
    if (isIn(HEX_DIGIT, this.#text, at)) this.#hexDigits++;
    if (this.#text[at] === "(" || this.#text[at] === "[") this.#calls++;
  }

  /** Holds `(` or `[`: part of a program where it stands without quotes. */
  get isCode(): boolean {
    return this.#calls > 0;
  }

  /** Long and mixed enough, and random enough, for a secret. */
  get isRandom(): boolean {
    const length = this.#end - this.#start;
    if (length < LEAST_SECRET || this.#letters === 0 || this.#digits === 0) return false;
    return entropy(length, this.#sum) >= ENTROPY || this.#isRandomHex(length);
  }

  #isRandomHex(length: number): boolean {
    const hyphens = this.#counts.get(HYPHEN) ?? 0;
    if (this.#hexDigits < LEAST_SECRET || this.#hexDigits + hyphens < length) return false;
    return entropy(this.#hexDigits, this.#sum - weight(hyphens)) >= HEX_ENTROPY;
  }
}

function weight(count: number): number {
  return count === 0 ? 0 : count * Math.log2(count);
}

/** Shannon's, in bits per character. */
function entropy(length: number, sum: number): number {
  return Math.log2(length) - sum / length;
}
