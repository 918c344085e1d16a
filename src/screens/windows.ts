/** The parts of a text that are looked through: whole lines round what changed, in pieces. */
import { isIn, LINE_BREAK } from "./characters.ts";

/** A part of a text, in UTF-16 units; empty where something was taken out. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Between pieces of this length the clock is read. */
const PIECE = 1024 * 1024;

/** Lines that are nearer to each other are looked through with what lies between: cheaper than to begin again. */
const NEAR = 4096;

/** The whole lines that the ranges touch, and what lies between near ones, in order and apart from each other. */
export function touchedLines(text: string, ranges: readonly Range[]): Range[] {
  const lines: { start: number; end: number }[] = [];
  for (const { start, end } of inOrder(ranges)) {
    const last = lines.at(-1);
    if (last === undefined || start > last.end + NEAR) {
      lines.push({ start: lineStart(text, start), end: lineEnd(text, end) });
    } else if (end > last.end) last.end = lineEnd(text, end);
  }
  return lines;
}

/** The ranges with `before` more in front, in order, united where they meet. */
export function widened(ranges: readonly Range[], before: number): Range[] {
  const wide: { start: number; end: number }[] = [];
  for (const { start, end } of inOrder(ranges)) {
    const from = Math.max(0, start - before);
    const last = wide.at(-1);
    if (last && from <= last.end) last.end = Math.max(last.end, end);
    else wide.push({ start: from, end });
  }
  return wide;
}

/** The range, which begins and ends with lines, in pieces that do. A long line is one piece. */
export function* pieces(text: string, { start, end }: Range): Generator<Range> {
  for (let at = start; at < end;) {
    const next = end - at <= PIECE ? end : Math.min(end, lineEnd(text, at + PIECE));
    yield { start: at, end: next };
    at = next;
  }
}

function inOrder(ranges: readonly Range[]): Range[] {
  return ranges.toSorted((a, b) => a.start - b.start);
}

function lineStart(text: string, at: number): number {
  while (at > 0 && !isIn(LINE_BREAK, text, at - 1)) at--;
  return at;
}

/** Before the line's ending. */
function lineEnd(text: string, at: number): number {
  while (at < text.length && !isIn(LINE_BREAK, text, at)) at++;
  return at;
}
