/**
 * The place in a text that is most like a text that is not in it.
 *
 * Sought in three ways, the first that finds one decides: the whole, folded, anywhere; the place where most of its lines stand, folded;
 * the line most like its longest one. Each is one pass over at most `WINDOW` characters, whatever the sizes of the two texts.
 * Spec: 2-verbs §2.13; decision 62.
 */
import { behindLine, endingBefore } from "./edit_lines.ts";
import type { Span } from "./edit_match.ts";
import { type Folded, foldStretch, kindsBetween } from "./nearest_fold.ts";

/** Characters in which the nearest place is sought, and milliseconds for it. */
export const WINDOW = 4 * 1024 * 1024;
const TIME = 100;

/** Characters and lines of the text to find that are taken into account. */
const LONGEST = 64 * 1024;
const MOST_LINES = 1000;

/** Thrown within this file when the time is over. */
class TimeOver extends Error {}

class Deadline {
  readonly #end = performance.now() + TIME;

  get isOver(): boolean {
    return performance.now() > this.#end;
  }

  check(): void {
    if (this.isOver) throw new TimeOver();
  }
}

/** The nearest place within a region, in whole characters of the text; `undefined` where none is near or the time was over. */
export function nearestPlace(text: string, find: string, region: Span): Span | undefined {
  const wanted = find.slice(0, LONGEST);
  const deadline = new Deadline();
  try {
    const window = windowFor(text, wanted, region, deadline);
    const needle = foldStretch(wanted, 0, wanted.length);
    if (needle.codes.length === 0) return undefined;
    const folded = foldStretch(text, window.start, window.end);
    deadline.check();
    const place = { text, wanted, needle, window, folded, deadline };
    return wholeFolded(place) ?? mostLines(place) ?? likestLine(place);
  } catch (error) {
    if (error instanceof TimeOver) return undefined;
    throw error;
  }
}

/** Characters of a line by which the window is placed, and how many lines are tried. */
const PROBE_LEAST = 8;
const PROBE_MOST = 100;
const PROBES = 3;

/** The region itself, or of a large one the part round one of the longest lines to find, or else its beginning. */
function windowFor(text: string, wanted: string, region: Span, deadline: Deadline): Span {
  if (region.end - region.start <= WINDOW) return region;
  const probes = wanted.split(/[\r\n]+/, MOST_LINES).map((line) => line.trim().slice(0, PROBE_MOST))
    .filter((line) => line.length >= PROBE_LEAST).sort((a, b) => b.length - a.length).slice(0, PROBES);
  const part = text.slice(region.start, region.end);
  for (const probe of probes) {
    const at = part.indexOf(probe);
    deadline.check();
    if (at < 0) continue;
    const start = Math.max(region.start, region.start + at - WINDOW / 2);
    return { start: behindCut(text, start, region.start), end: Math.min(region.end, start + WINDOW) };
  }
  return { start: region.start, end: region.start + WINDOW };
}

/** The start of the first whole line behind a cut; the cut itself where that is the region's start or the line never ends. */
function behindCut(text: string, cut: number, start: number): number {
  if (cut === start) return cut;
  const next = behindLine(text, cut);
  return next < cut + WINDOW / 2 ? next : cut;
}

/** Places with the same folded text that are compared, and characters altogether. */
const COMPARED = 50;
const COMPARED_CHARACTERS = 256 * 1024;

/** What the three ways look at. */
interface Sought {
  readonly text: string;
  /** The text to find, as far as it counts, and folded. */
  readonly wanted: string;
  readonly needle: Folded;
  readonly window: Span;
  /** The window's text. */
  readonly folded: Folded;
  readonly deadline: Deadline;
}

function wholeFolded({ text, wanted, needle, folded, deadline }: Sought): Span | undefined {
  let best: Span | undefined;
  let least = Infinity;
  let left = Math.min(COMPARED, Math.ceil(COMPARED_CHARACTERS / wanted.length));
  const probe = probeOf(needle);
  const piece = needle.text.slice(probe, probe + PIECE);
  for (let at = folded.text.indexOf(piece, probe); at >= 0 && left > 0; at = folded.text.indexOf(piece, at + 1)) {
    if (best && deadline.isOver) break;
    deadline.check();
    if (!folded.text.startsWith(needle.text, at - probe)) continue;
    left--;
    const span = unfolded(text, wanted, folded, at - probe, needle.text.length);
    const differing = kindsBetween(text.slice(span.start, span.end), wanted)?.length ?? Infinity;
    if (differing < least || best === undefined) [best, least] = [span, differing];
  }
  return best;
}

/**
 * Units that are looked for natively. A search for more, which nothing can interrupt, takes up to the product of both lengths: 14 s for
 * 20,000 units in a text of 2 million that are all the same but one (measured).
 */
const PIECE = 64;

/** The place of the piece with the most different units, among those that follow one another. */
function probeOf({ codes }: Folded): number {
  let best = 0;
  let most = 0;
  for (let start = 0; start < codes.length; start += PIECE) {
    const different = new Set(codes.subarray(start, start + PIECE)).size;
    if (different > most) [best, most] = [start, different];
  }
  return best;
}

/** The characters that a folded match comes from, with the blanks at its ends where the text to find has some at its own. */
function unfolded(text: string, wanted: string, { origins }: Folded, at: number, length: number): Span {
  let start = origins[at];
  let end = origins[at + length - 1] + 1;
  if (/^\s/.test(wanted)) { while (start > 0 && isBlank(text, start - 1)) start--; }
  if (/[^\S\r\n]$/.test(wanted)) { while (end < text.length && isBlank(text, end)) end++; }
  if (/[\r\n]$/.test(wanted)) end = Math.min(behindLine(text, end), blankEnd(text, end));
  return { start, end };
}

function isBlank(text: string, offset: number): boolean {
  return /[^\S\r\n]/.test(text[offset]);
}

/** Behind the blanks at an offset, and behind a line ending that follows them. */
function blankEnd(text: string, offset: number): number {
  while (offset < text.length && isBlank(text, offset)) offset++;
  return /[\r\n]/.test(text[offset] ?? "") ? behindLine(text, offset) : offset;
}

/** What a line weighs at most, so that one long line does not outweigh a block. */
const HEAVIEST = 40;
/** The part of the weight of all lines to find that has to stand at a place, and how much that is at least. */
const LEAST_PART = 0.25;
const LEAST_WEIGHT = 4;
/** A line that occurs more often among the lines to find says nothing about the place. */
const MOST_ALIKE = 8;

function mostLines({ text, needle, folded, deadline, window }: Sought): Span | undefined {
  const known = new Map<number, number[]>();
  let total = 0;
  const count = Math.min(lineCount(needle), MOST_LINES);
  if (count < 2) return undefined;
  for (let i = 0; i < count; i++) {
    const [hash, weight] = hashOf(needle, i);
    total += weight;
    const alike = known.get(hash);
    if (alike) alike.push(i);
    else if (weight > 0) known.set(hash, [i]);
  }
  const votes = new Map<number, number>();
  const lines = lineCount(folded);
  for (let line = 0; line < lines; line++) {
    if ((line & 1023) === 0) deadline.check();
    const [hash, weight] = hashOf(folded, line);
    const alike = weight > 0 ? known.get(hash) : undefined;
    if (!alike || alike.length > MOST_ALIKE) continue;
    for (const i of alike) if (line >= i) votes.set(line - i, (votes.get(line - i) ?? 0) + weight);
  }
  let most = 0;
  for (const weight of votes.values()) most = Math.max(most, weight);
  if (most < Math.max(LEAST_WEIGHT, total * LEAST_PART)) return undefined;
  const tied = [...votes].filter(([, weight]) => weight === most).map(([line]) => line).slice(0, COMPARED);
  const best = likest(tied, needle, folded, count);
  const end = folded.lines[best + count] ?? window.end;
  return { start: folded.lines[best], end: end - endingBefore(text, end) };
}

/** Of places with the same lines the one whose others begin and end most like those to find. */
function likest(places: readonly number[], needle: Folded, folded: Folded, count: number): number {
  let best = places[0];
  let most = -1;
  for (const place of places.length > 1 ? places : []) {
    let alike = 0;
    for (let i = 0; i < count; i++) alike += sharedEnds(lineOf(needle, i), lineOf(folded, place + i));
    if (alike > most) [best, most] = [place, alike];
  }
  return best;
}

/** Characters that two lines have in common at their beginnings and ends. */
function sharedEnds(a: Uint16Array, b: Uint16Array): number {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return start + end;
}

/** Lines, without an empty one behind a final ending. */
function lineCount({ foldedLines, codes }: Folded): number {
  return foldedLines.length - (foldedLines[foldedLines.length - 1] === codes.length ? 1 : 0);
}

function lineOf({ codes, foldedLines }: Folded, line: number): Uint16Array {
  return codes.subarray(foldedLines[line], foldedLines[line + 1] ?? codes.length);
}

/** The hash of a folded line, and what it weighs. */
function hashOf({ codes, foldedLines }: Folded, line: number): [hash: number, weight: number] {
  const end = foldedLines[line + 1] ?? codes.length;
  let hash = 0;
  for (let i = foldedLines[line]; i < end; i++) hash = Math.imul(hash ^ codes[i], 0x01000193);
  return [hash, Math.min(end - foldedLines[line], HEAVIEST)];
}

/** The part of the pairs of characters in the longest line to find that a line has to hold to be called near. */
const LIKE = 0.6;
/** Taken off for each character that a line is longer, and at most. */
const LONGER = 0.0005;
const LONGER_MOST = 0.2;

function likestLine({ text, needle, folded, window, deadline }: Sought): Span | undefined {
  let longest = lineOf(needle, 0);
  for (let i = 1; i < Math.min(lineCount(needle), MOST_LINES); i++) {
    const line = lineOf(needle, i);
    if (line.length > longest.length) longest = line;
  }
  if (longest.length < LEAST_WEIGHT) return undefined;
  const pairs = new Uint8Array(0x10000);
  let all = 0;
  for (let i = 1; i < longest.length; i++) {
    const pair = pairOf(longest[i - 1], longest[i]);
    if (pairs[pair] === 0) all++;
    pairs[pair] = 1;
  }
  const { codes, lines, foldedLines } = folded;
  const seen = new Uint32Array(0x10000);
  let best = -1;
  let most = LIKE * all;
  for (let line = 0; line < lines.length; line++) {
    if ((line & 1023) === 0) deadline.check();
    const end = foldedLines[line + 1] ?? codes.length;
    let shared = 0;
    for (let i = foldedLines[line] + 1; i < end; i++) {
      const pair = pairOf(codes[i - 1], codes[i]);
      if (pairs[pair] === 0 || seen[pair] === line + 1) continue;
      seen[pair] = line + 1;
      shared++;
    }
    const longer = end - foldedLines[line] - longest.length;
    const score = shared - all * Math.min(LONGER_MOST, Math.max(0, longer) * LONGER);
    if (score > most) [best, most] = [line, score];
  }
  if (best < 0) return undefined;
  const end = lines[best + 1] ?? window.end;
  return { start: lines[best], end: end - endingBefore(text, end) };
}

function pairOf(a: number, b: number): number {
  return (Math.imul(a, 0x9e3b) ^ b) & 0xffff;
}
