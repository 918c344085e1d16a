/** All detectors over a text, or over what changed in it. Spec: 6-screens §6.4 to §6.8. */
import { addresses } from "./address.ts";
import { assignments } from "./assignment.ts";
import { keyLists } from "./key_list.ts";
import { type Detector, disjoint, joined, type Match } from "./match.ts";
import { privateKeys, REACH } from "./private_key.ts";
import { TOKENS } from "./tokens.ts";
import { webTokens } from "./web_token.ts";
import { pieces, type Range, touchedLines, widened } from "./windows.ts";

/** Detectors that look at one line at a time. Of overlapping matches that of the earlier detector is kept; private keys follow the tokens. */
const BY_LINE: readonly Detector[] = [
  ...TOKENS,
  webTokens,
  (text) => disjoint([...addresses(text), ...keyLists(text)]),
  assignments,
];

/**
 * The secrets in a text, in order, none overlapping another.
 *
 * @param pause Called between pieces; what it throws ends the search.
 * @param changed Where the text differs from an older one. What is found then is every secret that the older text may not have
 * held: of the others, some. Nothing but the lines touched is looked at, and 64 KiB before and behind them for private keys.
 */
export function secretsIn(text: string, pause: () => void, changed?: readonly Range[]): Match[] {
  const whole = { start: 0, end: text.length };
  const lines = changed ? touchedLines(text, changed) : [whole];
  const keys = widened(lines, REACH).flatMap(({ start, end }) => privateKeys(text, start, end));
  const byDetector: Match[][] = BY_LINE.map(() => []);
  for (const range of lines) {
    for (const piece of pieces(text, range)) findIn(text, piece, byDetector, pause);
  }
  return byDetector.toSpliced(TOKENS.length, 0, keys).reduce(joined);
}

function findIn(text: string, { start, end }: Range, byDetector: Match[][], pause: () => void): void {
  const piece = start === 0 && end === text.length ? text : text.slice(start, end);
  for (const [index, detector] of BY_LINE.entries()) {
    pause();
    for (const match of detector(piece)) {
      byDetector[index].push({ ...match, start: start + match.start, end: start + match.end });
    }
  }
}
