/**
 * What a refusal says about text that is not there: the nearest place and what differs, so that the next attempt can succeed.
 *
 * Spec: 2-verbs §2.13, decisions 37, 62; bugs B 41.
 */
import { behindLine, endingBefore, type LineIndex } from "./edit_lines.ts";
import { searchFor, type Span } from "./edit_match.ts";
import { KINDS, kindsBetween } from "./nearest_fold.ts";
import { nearestPlace } from "./nearest_place.ts";

/** Lines of the file that one refusal quotes, and characters of each. */
const QUOTED_LINES = 3;
const QUOTED_CHARACTERS = 200;

/** Characters of a line that are compared. */
const COMPARED = 10_000;

/**
 * The nearest place in words; `undefined` where none is near, none was found in 100 ms, or it may not be quoted.
 *
 * Looks at 4 Mi characters of the region at most. Of the file no more than three lines of 200 characters are quoted, with escapes for
 * what cannot be seen.
 *
 * @param region The part of the text, whole lines, that the text to find is not in.
 * @param mayQuote Whether the lines at the place may be shown.
 */
export function nearestWords(
  text: string,
  find: string,
  region: Span,
  index: LineIndex,
  mayQuote: (quoted: string) => boolean = () => true,
): string | undefined {
  const hint = slipIn(text, find, region, index);
  if (hint !== undefined) return hint;
  const place = nearestPlace(text, find, region);
  if (!place) return undefined;
  const first = index.lineAt(place.start);
  const start = index.start(first);
  let end = behindLine(text, Math.max(place.start, place.end - 1));
  end -= endingBefore(text, end);
  if (!mayQuote(text.slice(start, end))) return undefined;
  const wanted = linesOf(find.slice(0, 64 * 1024));
  const there = linesOf(text.slice(place.start, place.end));
  const last = first + there.length - 1;
  const where = first === last ? `line ${first}` : `the lines ${first}-${last}`;
  const column = place.start - start;
  if (wanted.length !== there.length) {
    return `nearest: ${where}, where the line breaks differ; ${quoteLines(text, index, first, last, column)}`;
  }
  return `nearest: ${where}; ${differences(text, index, first, column, wanted, there)}`;
}

/** Slips that explain themselves: the numbers of `read` quoted along, `\n` written as two characters. */
function slipIn(text: string, find: string, region: Span, index: LineIndex): string | undefined {
  const slips: [said: string, meant: string][] = [];
  if (/^ *\d+ \| /.test(find)) {
    slips.push([
      "without the line numbers of `read`, which are no part of the file",
      find.replace(/^ *\d+ \| ?/gm, ""),
    ]);
  }
  if (/\\[nrt"]/.test(find)) {
    slips.push([
      "with real line breaks, tabs and quotes instead of backslashes",
      find.replace(/\\([nrt"])/g, (_, one) => ({ n: "\n", r: "\r", t: "\t" } as Record<string, string>)[one] ?? one),
    ]);
  }
  const part = text.slice(region.start, region.end);
  for (const [said, meant] of slips) {
    const match = meant === "" ? undefined : searchFor(part, meant).next(0);
    if (match) return `it stands at line ${index.lineAt(region.start + match.start)} ${said}`;
  }
  return undefined;
}

function linesOf(text: string): string[] {
  return text.replace(/(?:\r\n|\r|\n)$/, "").split(/\r\n|\r|\n/);
}

/** Line for line what differs, each with the file's own line; the first begins at a column, from 0. */
function differences(
  text: string,
  index: LineIndex,
  first: number,
  column: number,
  wanted: readonly string[],
  there: readonly string[],
): string {
  const told: string[] = [];
  let more = 0;
  wanted.forEach((line, i) => {
    const kinds = isPart(line, there[i], i === 0, i === wanted.length - 1) ? [] : kindsOf(line, there[i]);
    if (kinds.length === 0) return;
    if (told.length >= QUOTED_LINES) return void more++;
    const differs = (i === 0 ? column : 0) + sameLength(line, there[i]);
    const own = lineAt(text, index, first + i);
    told.push(`line ${first + i} differs in ${kinds.join(", ")} and reads ${quote(own, differs)}`);
  });
  if (told.length === 0) return "only its line endings differ";
  return told.join("; ") + (more > 0 ? `; and ${more} more ${more === 1 ? "line" : "lines"}` : "");
}

/** Whether a line to find is what its place allows: the end of the first line, the beginning of the last, else the whole. */
function isPart(wanted: string, there: string, isFirst: boolean, isLast: boolean): boolean {
  if (isFirst && isLast) return there.includes(wanted);
  return isFirst ? there.endsWith(wanted) : isLast ? there.startsWith(wanted) : there === wanted;
}

function sameLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function lineAt(text: string, index: LineIndex, line: number): string {
  const end = index.start(line + 1);
  const start = index.start(line);
  return text.slice(start, Math.max(start, end - endingBefore(text, end)));
}

/** What two lines differ in, in words. */
function kindsOf(wanted: string, there: string): string[] {
  const [a, b] = [partsOf(wanted), partsOf(there)];
  const kinds: string[] = [];
  if (a.indent !== b.indent) kinds.push(`indentation (there ${blanks(b.indent)}, to find ${blanks(a.indent)})`);
  if (a.core !== b.core) {
    const inner = kindsBetween(a.core, b.core);
    kinds.push(...(inner === undefined ? ["text"] : inner.length > 0 ? inner : [KINDS[0]]));
  }
  if (a.trail !== b.trail) {
    kinds.push(`blanks at the line's end (there ${blanks(b.trail)}, to find ${blanks(a.trail)})`);
  }
  return kinds;
}

function partsOf(line: string): { indent: string; core: string; trail: string } {
  const cut = line.slice(0, COMPARED);
  const begin = cut.length - cut.trimStart().length;
  const core = cut.trim();
  return { indent: cut.slice(0, begin), core, trail: cut.slice(begin + core.length) };
}

/** Blanks in words: `2 tabs`, `1 tab and 3 spaces`, `none`. */
function blanks(text: string): string {
  const tabs = text.split("\t").length - 1;
  const spaces = text.split(" ").length - 1;
  const others = text.length - tabs - spaces;
  const counted = ([[tabs, "tab"], [spaces, "space"], [others, "other blank"]] as const)
    .filter(([count]) => count > 0).map(([count, noun]) => `${count} ${noun}${count === 1 ? "" : "s"}`);
  return counted.join(" and ") || "none";
}

function quoteLines(text: string, index: LineIndex, first: number, last: number, column: number): string {
  const told: string[] = [];
  for (let line = first; line <= last && told.length < QUOTED_LINES; line++) {
    told.push(`line ${line} reads ${quote(lineAt(text, index, line), line === first ? column : 0)}`);
  }
  return told.join("; ");
}

/** Blanks and marks that look like others or like nothing. */
const UNSEEN = /[\u007f-\u00a0\u00ad\u0300-\u036f\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]/g;

/** A line in quotes with escapes; of a long one a window round the place where it differs. */
function quote(line: string, differs: number): string {
  let start = Math.max(0, Math.min(differs - QUOTED_CHARACTERS / 2, line.length - QUOTED_CHARACTERS));
  let end = Math.min(line.length, start + QUOTED_CHARACTERS);
  if (isLow(line.charCodeAt(start))) start++;
  if (isLow(line.charCodeAt(end))) end--;
  const shown = JSON.stringify(line.slice(start, end)).replace(
    UNSEEN,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return (start > 0 ? "…" : "") + shown + (end < line.length ? `… (${line.length} characters)` : "");
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
