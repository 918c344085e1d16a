/** Signed JSON web tokens: `eyJ….eyJ….…`. Spec: 6-screens §6.4. */
import { BASE64URL, runEnd, runStart } from "./characters.ts";
import type { Match } from "./match.ts";

const NAME = "json-web-token";

/** Fewest characters of the header and of the payload, and of the signature. */
const PART = 10;
const SIGNATURE = 16;

/**
 * Finds signed tokens. What is sought is the second part's beginning, since a dot is rarer in text than an `e`.
 *
 * Linear: the parts are runs between dots, and each is read at most three times, as first, second and third part.
 */
export function webTokens(text: string): Match[] {
  const found: Match[] = [];
  let last = 0;
  for (let dot = text.indexOf(".eyJ"); dot >= 0; dot = text.indexOf(".eyJ", dot + 1)) {
    const start = runStart(BASE64URL, text, dot);
    if (start < last || dot - start < PART || !text.startsWith("eyJ", start)) continue;
    const second = runEnd(BASE64URL, text, dot + 1);
    if (second - (dot + 1) < PART || text[second] !== ".") continue;
    const end = runEnd(BASE64URL, text, second + 1);
    if (end - (second + 1) < SIGNATURE || !isHeader(text.slice(start, dot))) continue;
    found.push({ detector: NAME, start, end, secret: text.slice(start, end) });
    last = end;
  }
  return found;
}

/** The run is a JSON object that names an algorithm. */
function isHeader(run: string): boolean {
  if (run.length % 4 === 1) return false;
  const json = atob(run.replaceAll("-", "+").replaceAll("_", "/"));
  // Most that is no header is turned down without the price of an exception. `\` since a key may be written with escapes.
  if (!json.includes("alg") && !json.includes("\\")) return false;
  try {
    const header = JSON.parse(json);
    return typeof header === "object" && header !== null && typeof header.alg === "string";
  } catch {
    return false;
  }
}
