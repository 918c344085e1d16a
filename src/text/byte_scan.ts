/**
 * Looking through the bytes of a file before they become text: is all of it ASCII, and does what a search must meet stand in it?
 *
 * Most files of most searches hold nothing of what is looked for. In ASCII a character is a byte, so that can be seen in the bytes:
 * they are gone through once, at 16 GB/s, where decoding and an expression together do 1.5 (measured, 20,000 source files of 12 KB).
 * Whatever is not plainly without a match is left to the plain way, so nothing here decides that something is a hit.
 */
import { assemble, FIELD, LONGEST_WINDOW, PAD } from "./byte_scan_module.ts";
import type { Ranges } from "./pattern_sets.ts";

/** A stretch of ASCII that a match in an ASCII text must hold: for each character the set it is of. An empty set stands nowhere. */
export type Window = readonly Ranges[];

/** More windows than this are not looked for one after the other. */
export const MOST_WINDOWS = 4;

/** Bytes that `hold` takes at most. */
export const MOST_BYTES = 8 * 1024 * 1024 + LONGEST_WINDOW;

const PAGE = 64 * 1024;
/** Bytes of files begin here, behind the windows' descriptions. */
const BYTES = Math.ceil(MOST_WINDOWS * FIELD.size / 64) * 64;
/**
 * Comparisons in vain that are taken, and one more for so many bytes. A comparison of a whole window costs some 30 ns, so text made
 * to mislead the scanner costs at most as much as an expression does.
 */
const FUEL = 256;
const BYTES_PER_FUEL = 64;

type Look = (window: number, start: number, end: number, fuel: number) => number;

export class ByteScanner {
  readonly #memory: WebAssembly.Memory;
  readonly #look: Look;
  readonly #lookEqual: Look;
  #bytes: Uint8Array<ArrayBuffer>;
  #windows?: readonly Window[];
  /** How each window is looked for. */
  #looks: readonly Look[] = [];

  /** @throws {WebAssembly.CompileError} where the processor has no vectors; {RangeError} where there is no memory to be had. */
  constructor() {
    const pages = (bytes: number) => Math.ceil((BYTES + bytes + PAD) / PAGE);
    const module = new WebAssembly.Module(assemble(pages(PAGE), pages(MOST_BYTES)));
    const { look, lookEqual, memory } = new WebAssembly.Instance(module).exports;
    this.#look = look as Look;
    this.#lookEqual = lookEqual as Look;
    this.#memory = memory as WebAssembly.Memory;
    this.#bytes = new Uint8Array(this.#memory.buffer as ArrayBuffer, BYTES);
  }

  /** Where bytes are to be put: at least so many, those of before still there. The array is good until the next call. */
  hold(bytes: number): Uint8Array<ArrayBuffer> {
    const missing = bytes + PAD - this.#bytes.length;
    if (missing > 0) {
      this.#memory.grow(Math.ceil(Math.max(missing, Math.min(this.#bytes.length, MOST_BYTES - bytes)) / PAGE));
      this.#bytes = new Uint8Array(this.#memory.buffer as ArrayBuffer, BYTES);
    }
    return this.#bytes;
  }

  /**
   * Whether the first `length` bytes held are ASCII without NUL and none of the windows stands in them. False is not certain.
   *
   * @param windows At most `MOST_WINDOWS`, each of at most `LONGEST_WINDOW` characters. With none, only that it is ASCII is asked.
   */
  isWithout(windows: readonly Window[], length: number): boolean {
    if (windows !== this.#windows) this.#aim(windows);
    const fuel = FUEL + Math.ceil(length / BYTES_PER_FUEL);
    for (let i = 0; i < this.#looks.length; i++) {
      if (this.#looks[i](i * FIELD.size, BYTES, BYTES + length, fuel) !== 0) return false;
    }
    return true;
  }

  #aim(windows: readonly Window[]): void {
    const view = new DataView(this.#memory.buffer);
    const described = windows.length > 0 ? windows : [[[]]];
    this.#looks = described.map((window, i) => {
      const tests = describe(view, i * FIELD.size, window);
      return tests.every(({ span }) => span === 0) ? this.#lookEqual : this.#look;
    });
    this.#windows = windows;
  }
}

/** One way to test a byte: `(byte | bits) - low <= span`. It may take more bytes than the set has, as a window is compared after. */
interface Test {
  readonly bits: number;
  readonly low: number;
  readonly span: number;
  /** How often a byte of source text passes, as a part of 1. */
  readonly share: number;
}

/** Puts down what `look` needs to know of a window; how it tests two bytes of it. */
function describe(view: DataView, at: number, window: Window): readonly Test[] {
  const fits = new Int32Array(0x80);
  window.forEach((ranges, i) => eachByte(ranges, (byte) => fits[byte] |= 1 << i));
  fits.forEach((bits, byte) => view.setInt32(at + FIELD.fits + 4 * byte, bits, true));
  view.setInt32(at + FIELD.length, window.length, true);
  return rarePair(window).map((distance, which) => {
    const test = testFor(window[distance]);
    view.setInt32(at + FIELD.distances + 4 * which, distance, true);
    [test.bits, test.low, test.span].forEach((value, i) => {
      new Uint8Array(view.buffer, at + FIELD.tests + 48 * which + 16 * i, 16).fill(value);
    });
    return test;
  });
}

/** The two characters of a window that least often pass. */
function rarePair(window: Window): [number, number] {
  const shares = window.map((ranges) => testFor(ranges).share);
  const order = shares.map((_, i) => i).sort((a, b) => shares[a] - shares[b]);
  const [first, second = first] = order;
  return [first, second];
}

/** The narrower of two tests: as the bytes are, or with the bit set in which upper and lower case differ. */
function testFor(ranges: Ranges): Test {
  const [plain, folded] = [0, 0x20].map((bits): Test => {
    let [low, high] = [0xff, 0];
    eachByte(ranges, (byte) => [low, high] = [Math.min(low, byte | bits), Math.max(high, byte | bits)]);
    if (low > high) return { bits: 0, low: 0, span: 0, share: 0 };
    let share = 0;
    for (let byte = low; byte <= high; byte++) {
      if ((byte & bits) === bits) share += SHARES[byte] + (bits === 0 ? 0 : SHARES[byte ^ bits]);
    }
    return { bits, low, span: high - low, share };
  });
  return plain.share <= folded.share ? plain : folded;
}

function eachByte(ranges: Ranges, act: (byte: number) => void): void {
  for (let i = 0; i < ranges.length; i += 2) {
    for (let byte = ranges[i]; byte <= ranges[i + 1] && byte < 0x80; byte++) act(byte);
  }
}

/** ASCII from the most to the least frequent in 38 MB of Python, C, TypeScript and Markdown (measured). */
const BY_FREQUENCY =
  " et_snriao\nlcdp,fu)(mSh'EgTy.*NIOCbLR0:k\"APx#1v/w-=M2D;FGX\tU5B3\\9>[]<4KHV{6}8Yzq`7|&+Wj@Z?%J~Q!$^";

/** What part of a text each ASCII byte makes up: roughly as the place in that order says, a sixth for the blank. */
const SHARES: readonly number[] = Array.from({ length: 0x80 }, (_, byte) => {
  const place = BY_FREQUENCY.indexOf(String.fromCharCode(byte));
  return place < 0 ? 0.0001 : 0.17 / (place + 1) ** 1.2;
});

/** How telling a window is: bits that one place of a text tells. Of a very long one the front is asked, which is enough. */
export function worthOf(window: Window): number {
  return telling(window).reduce((sum, bits) => sum + bits, 0);
}

/** The most telling part of a window that is too long to be looked for. */
export function trimmed(window: Window): Window {
  if (window.length <= LONGEST_WINDOW) return window;
  const bits = telling(window);
  let worth = 0;
  let [most, best] = [0, 0];
  bits.forEach((bit, i) => {
    worth += bit - (i < LONGEST_WINDOW ? 0 : bits[i - LONGEST_WINDOW]);
    if (worth > most && i >= LONGEST_WINDOW - 1) [most, best] = [worth, i + 1 - LONGEST_WINDOW];
  });
  return window.slice(best, best + LONGEST_WINDOW);
}

function telling(window: Window): number[] {
  return window.slice(0, 256).map((ranges) => {
    let share = 1e-6;
    eachByte(ranges, (byte) => share += SHARES[byte]);
    return -Math.log2(Math.min(1, share));
  });
}
