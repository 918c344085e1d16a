/** Addresses with a password: `scheme://user:password@host`. Spec: 6-screens §6.7. */
import { ADDRESS_PART, isIn, LETTER, runEnd, runStart, SCHEME } from "./characters.ts";
import { isExempt } from "./host.ts";
import type { Match } from "./match.ts";
import { isPlaceholder, isReference } from "./placeholder.ts";

/** Shorter passwords are none. */
export const LEAST_PASSWORD = 6;

/** Finds passwords in addresses. Linear: what is read for one `://` ends before the next. */
export function addresses(text: string): Match[] {
  const found: Match[] = [];
  for (let sign = text.indexOf("://"); sign >= 0; sign = text.indexOf("://", sign + 1)) {
    const authority = sign + 3;
    const start = text.indexOf(":", authority) + 1;
    if (start === 0) break;
    const end = runEnd(ADDRESS_PART, text, authority);
    if (start > end || text[end] !== "@" || end - start < LEAST_PASSWORD || !hasScheme(text, sign)) continue;

    const secret = text.slice(start, end);
    const host = text.slice(end + 1, runEnd(ADDRESS_PART, text, end + 1));
    if (host === "" || isExempt(host)) continue;
    if (isReference(secret) || isPlaceholder(secret) || secret === text.slice(authority, start - 1)) continue;
    found.push({ detector: "connection-string", start, end, secret });
  }
  return found;
}

/** A letter, and nothing but a scheme's characters behind it. */
function hasScheme(text: string, end: number): boolean {
  for (let at = runStart(SCHEME, text, end); at < end; at++) {
    if (isIn(LETTER, text, at)) return true;
  }
  return false;
}
