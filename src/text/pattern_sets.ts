/**
 * Sets of characters, as the engine itself understands them.
 *
 * Case folding is not computed here: what a class or a character matches under `i`, `u` or both is asked of V8 by running it over
 * every character there is, so a set can never differ from what the plain pattern would have matched. Sets are what lets a pattern
 * be written again without `i` and without `u`, which V8's linear engine does not take.
 */

/** Inclusive ranges `[low, high, low, high, …]`, ascending, none touching. UTF-16 units, or code points for a Unicode pattern. */
export type Ranges = readonly number[];

const LAST_UNIT = 0xffff;
const LAST_POINT = 0x10ffff;
const HIGH = 0xd800;
const LOW = 0xdc00;
const LAST_SURROGATE = 0xdfff;

/** Every character a pattern of this mode can meet. In Unicode mode lone surrogates are left out: decoded text has none. */
export function everything(unicode: boolean): Ranges {
  return unicode ? [0, HIGH - 1, LAST_SURROGATE + 1, LAST_POINT] : [0, LAST_UNIT];
}

/** Ranges in any order, overlapping or not, as a proper set. */
export function unite(pairs: readonly (readonly [number, number])[]): Ranges {
  const sorted = [...pairs].sort((a, b) => a[0] - b[0]);
  const ranges: number[] = [];
  for (const [low, high] of sorted) {
    if (ranges.length > 0 && low <= ranges[ranges.length - 1] + 1) {
      ranges[ranges.length - 1] = Math.max(ranges[ranges.length - 1], high);
    } else ranges.push(low, high);
  }
  return ranges;
}

/** The ranges as pairs. */
export function pairs(ranges: Ranges): [number, number][] {
  const list: [number, number][] = [];
  for (let i = 0; i < ranges.length; i += 2) list.push([ranges[i], ranges[i + 1]]);
  return list;
}

/** What is in `from` and not in `without`. */
export function subtract(from: Ranges, without: Ranges): Ranges {
  const rest: number[] = [];
  let k = 0;
  for (const [first, high] of pairs(from)) {
    let low = first;
    while (k < without.length && without[k + 1] < low) k += 2;
    for (let j = k; j < without.length && without[j] <= high && low <= high; j += 2) {
      if (without[j] > low) rest.push(low, without[j] - 1);
      low = without[j + 1] + 1;
    }
    if (low <= high) rest.push(low, high);
  }
  return rest;
}

/** How many characters a set holds. */
export function size(ranges: Ranges): number {
  let count = 0;
  for (let i = 0; i < ranges.length; i += 2) count += ranges[i + 1] - ranges[i] + 1;
  return count;
}

/** Characters in one string handed to the engine; above about 50,000 failed starts V8 changes to its slow engine. */
const PIECE = 8192;
const pieces: { first: number; text: string }[] = [];

/** Strings that hold every UTF-16 unit, or every code point but the surrogates, in order. */
function characters(unicode: boolean): { first: number; text: string }[] {
  const last = unicode ? LAST_POINT : LAST_UNIT;
  for (let first = pieces.length * PIECE; first <= last; first += PIECE) {
    const units = new Uint16Array(first > LAST_UNIT ? PIECE * 2 : PIECE);
    for (let i = 0; i < PIECE; i++) {
      const point = first + i;
      if (point <= LAST_UNIT) units[i] = point;
      else {
        units[i * 2] = HIGH + ((point - 0x10000) >> 10);
        units[i * 2 + 1] = LOW + ((point - 0x10000) & 0x3ff);
      }
    }
    // A decoder would replace the surrogates of the one piece that has them alone; elsewhere it is the fastest way to a string.
    const text = first === (HIGH & -PIECE)
      ? String.fromCharCode.apply(null, units as unknown as number[])
      : new TextDecoder("utf-16le", { ignoreBOM: true }).decode(units);
    pieces.push({ first, text });
  }
  return unicode ? pieces : pieces.slice(0, (LAST_UNIT + 1) / PIECE);
}

const known = new Map<string, Ranges>();

/**
 * The characters that `source`, the text of one character or class, matches under `flags` (of `i`, `u`, `s`).
 *
 * Costs well under a millisecond for units, some 20 ms for code points; answers are kept.
 */
export function matchedBy(source: string, flags: string): Ranges {
  const key = `${flags}/${source}`;
  const before = known.get(key);
  if (before) return before;
  const unicode = flags.includes("u");
  const run = new RegExp(`(?:${source})+`, `g${flags}`);
  const found: [number, number][] = [];
  for (const { first, text } of characters(unicode)) {
    const width = first > LAST_UNIT ? 2 : 1;
    run.lastIndex = 0;
    for (let hit = run.exec(text); hit; hit = run.exec(text)) {
      const low = first + hit.index / width;
      found.push([low, low + hit[0].length / width - 1]);
    }
  }
  const ranges = unicode ? subtract(unite(found), [HIGH, LAST_SURROGATE]) : unite(found);
  known.set(key, ranges);
  return ranges;
}

/** One character, and where `ignoreCase` says so every character of the mode that counts as the same. */
export function variants(point: number, ignoreCase: boolean, unicode: boolean): Ranges {
  if (unicode && point >= HIGH && point <= LAST_SURROGATE) return [];
  if (!ignoreCase) return [point, point];
  const text = String.fromCodePoint(point);
  // A character that has neither an upper nor a lower case has no variants (held by a test over all of Unicode).
  if (text.toLowerCase() === text && text.toUpperCase() === text) return [point, point];
  if (point < 0x80) return foldAscii([[point, point]], unicode);
  return matchedBy(escaped(point), unicode ? "iu" : "i");
}

/** Sets of ASCII characters with their variants: the other case, and in Unicode mode the long s and the Kelvin sign. */
export function foldAscii(ascii: readonly (readonly [number, number])[], unicode: boolean): Ranges {
  const all: [number, number][] = [];
  for (const [low, high] of ascii) {
    all.push([low, high]);
    for (const [from, to, shift] of [[0x41, 0x5a, 32], [0x61, 0x7a, -32]]) {
      const [a, b] = [Math.max(low, from), Math.min(high, to)];
      if (a <= b) all.push([a + shift, b + shift]);
    }
  }
  if (unicode) {
    if (all.some(([low, high]) => low <= 0x73 && 0x73 <= high)) all.push([0x17f, 0x17f]);
    if (all.some(([low, high]) => low <= 0x6b && 0x6b <= high)) all.push([0x212a, 0x212a]);
  }
  return unite(all);
}

/** A character as it may stand anywhere in a pattern, inside a class or out. */
function escaped(point: number): string {
  if (point > LAST_UNIT) return `\\u{${point.toString(16)}}`;
  if (/\w/.test(String.fromCharCode(point))) return String.fromCharCode(point);
  return `\\u${point.toString(16).padStart(4, "0")}`;
}

/** The inside of a class. */
function members(ranges: Ranges): string {
  return pairs(ranges).map(([low, high]) =>
    low === high ? escaped(low) : `${escaped(low)}${high > low + 1 ? "-" : ""}${escaped(high)}`
  ).join("");
}

/** A set of UTF-16 units as pattern text: a character, a class, or a negated class where the set begins with U+0000 as those do. */
function unitSource(units: Ranges): string {
  if (units.length === 2 && units[0] === units[1]) return escaped(units[0]);
  return units[0] === 0 ? `[^${members(subtract([0, LAST_UNIT], units))}]` : `[${members(units)}]`;
}

/**
 * A set as the text of a pattern without `u`, as alternatives: at most one class of units, then pairs of classes of surrogates for
 * what lies beyond U+FFFF.
 */
export function alternatives(ranges: Ranges): string[] {
  const near: [number, number][] = [];
  const pairsOf = new Map<string, [number, number][]>();
  const add = (first: number, last: number, low: number, high: number) => {
    const seconds = unitSource([LOW + low, LOW + high]);
    pairsOf.set(seconds, [...(pairsOf.get(seconds) ?? []), [HIGH + first, HIGH + last]]);
  };
  for (const [low, high] of pairs(ranges)) {
    if (low <= LAST_UNIT) near.push([low, Math.min(high, LAST_UNIT)]);
    if (high <= LAST_UNIT) continue;
    const last = high - 0x10000;
    for (let at = Math.max(low - 0x10000, 0); at <= last;) {
      const block = at >> 10;
      const wholeBlocks = (at & 0x3ff) === 0 ? (last + 1 >> 10) - block : 0;
      const end = wholeBlocks > 0 ? at + wholeBlocks * 0x400 - 1 : Math.min(last, block * 0x400 + 0x3ff);
      add(block, end >> 10, wholeBlocks > 0 ? 0 : at & 0x3ff, end & 0x3ff);
      at = end + 1;
    }
  }
  const sources = near.length > 0 || pairsOf.size === 0 ? [unitSource(near.flat())] : [];
  for (const [seconds, firsts] of pairsOf) sources.push(unitSource(unite(firsts)) + seconds);
  return sources;
}
