/**
 * Private keys between PEM lines. Spec: 6-screens §6.3, §6.4.
 *
 * The one detector that looks beyond a line: found is the begin line, compared is the key up to its end line.
 */
import type { Match } from "./match.ts";

const NAME = "private-key-header";
const BEGIN = /-----BEGIN ((?:(?:RSA|EC|DSA|OPENSSH|PGP|ENCRYPTED) )?PRIVATE KEY(?: BLOCK)?)-----/y;

/** Within how many characters of its begin line a key's end line is sought. */
export const REACH = 64 * 1024;

/** More than the longest begin line. */
const HEADER = 64;

/**
 * Finds the private keys whose begin line starts in `text` from `from` to `to`.
 *
 * A key whose end line is not there before the next begin line or within `REACH` is its begin line alone.
 */
export function privateKeys(text: string, from = 0, to = text.length): Match[] {
  const piece = text.slice(from, to + REACH + HEADER);
  const headers = [...beginLines(piece)];
  return headers.flatMap(({ start, label, end }, index) => {
    if (from + start > to) return [];
    const next = headers[index + 1]?.start ?? piece.length;
    const key = piece.slice(start, Math.min(next, start + REACH));
    const close = key.indexOf(`-----END ${label}-----`);
    const secret = compact(close < 0 ? piece.slice(start, end) : key.slice(0, close));
    return [{ detector: NAME, start: from + start, end: from + end, secret }];
  });
}

/** Sought by `BEGIN `: a capital is rarer than a hyphen, and a rule of hyphens is not looked through hyphen by hyphen. */
function* beginLines(text: string): Generator<{ start: number; label: string; end: number }> {
  for (let at = text.indexOf("BEGIN "); at >= 0; at = text.indexOf("BEGIN ", at + 1)) {
    BEGIN.lastIndex = at - 5;
    const found = at < 5 ? null : BEGIN.exec(text);
    if (found) yield { start: found.index, label: found[1], end: BEGIN.lastIndex };
  }
}

/** Without white space and escaped line breaks, so that indenting a key, or quoting it in JSON, adds none. */
function compact(key: string): string {
  return key.replace(/\s|\\[nr]/g, "");
}
