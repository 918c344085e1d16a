/** Random values assigned to secret-like names: `assigned-NAME`. Spec: 6-screens §6.5, §6.6. */
import { BARE, BLANK, IDENTIFIER, isIn, NOT_WHITE, QUOTE, runEnd, runStart, WORD } from "./characters.ts";
import { disjoint, type Match } from "./match.ts";
import { isMember, isPlaceholder, isReference } from "./placeholder.ts";
import { secretName } from "./secret_name.ts";
import { LEAST_SECRET, Tally } from "./tally.ts";

/** A value with a name and a sign before it. */
interface Candidate {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly bare: boolean;
}

/**
 * Finds random values with a secret-like name.
 *
 * Every sign of assignment is looked at; most are done with after a few characters, since their value is shorter than 20.
 */
export function assignments(text: string): Match[] {
  const candidates = signs(text, values(text));
  return candidates.length === 0 ? [] : disjoint(judged(text, candidates));
}

/** The candidates of all signs, in the order of the text. */
function signs(text: string, valueAfter: (at: number) => Value | undefined): Candidate[] {
  const candidates: Candidate[] = [];
  let equals = text.indexOf("=");
  let colon = text.indexOf(":");
  while (equals >= 0 || colon >= 0) {
    const sign = colon < 0 || (equals >= 0 && equals < colon) ? equals : colon;
    const end = signEnd(text, sign);
    const value = end < 0 ? undefined : valueAfter(end);
    const name = value && nameBefore(text, sign);
    if (value && name) candidates.push({ name, ...value });
    if (sign === equals) equals = text.indexOf("=", sign + 1);
    else colon = text.indexOf(":", sign + 1);
  }
  return candidates;
}

/** Where `:`, `=`, `:=` or `=>` ends; -1 for a comparison, `==`. */
function signEnd(text: string, at: number): number {
  const next = text.charCodeAt(at + 1);
  if (text.charCodeAt(at) === COLON) return next === EQUALS ? at + 2 : at + 1;
  return next === EQUALS ? -1 : next === GREATER ? at + 2 : at + 1;
}

const COLON = ":".charCodeAt(0);
const EQUALS = "=".charCodeAt(0);
const GREATER = ">".charCodeAt(0);

type Value = Omit<Candidate, "name">;

/**
 * Tells the value that begins at a place or behind blanks, if it is long enough. To be asked from left to right.
 *
 * A bare run is read once for all the signs in it. A quoted one ends at white space or its quote, so that those of one kind of quote
 * do not overlap.
 */
function values(text: string): (at: number) => Value | undefined {
  let bareEnd = 0;
  return (at) => {
    const first = runEnd(BLANK, text, at);
    if (isIn(QUOTE, text, first)) {
      const quote = text.charCodeAt(first);
      const start = first + 1;
      let end = start;
      while (isIn(NOT_WHITE, text, end) && text.charCodeAt(end) !== quote) end++;
      return end - start >= LEAST_SECRET && text.charCodeAt(end) === quote ? { start, end, bare: false } : undefined;
    }
    if (first >= bareEnd) bareEnd = runEnd(BARE, text, first);
    return bareEnd - first >= LEAST_SECRET ? { start: first, end: bareEnd, bare: true } : undefined;
  };
}

/** The secret-like name before a sign, if there is one: right before it, or before a colon and one word for the type. */
function nameBefore(text: string, sign: number): string | undefined {
  const type = runStart(BLANK, text, sign);
  const name = identifierBefore(text, type);
  if (name) return name;
  const typeStart = runStart(WORD, text, type);
  const colon = runStart(BLANK, text, typeStart) - 1;
  if (typeStart === type || text[colon] !== ":") return undefined;
  return identifierBefore(text, runStart(BLANK, text, colon));
}

/** The secret-like name that ends at `end`, perhaps in quotes. */
function identifierBefore(text: string, end: number): string | undefined {
  const close = isIn(QUOTE, text, end - 1) ? end - 1 : end;
  const start = runStart(IDENTIFIER, text, close);
  return start === close ? undefined : secretName(text.slice(start, close));
}

/** Those whose value passes every test. From the right, since bare values that end together are then tallied together. */
function judged(text: string, candidates: readonly Candidate[]): Match[] {
  const found: Match[] = [];
  let bare: Tally | undefined;
  for (const candidate of candidates.toReversed()) {
    const { start, end } = candidate;
    const tally = candidate.bare && bare?.end === end ? bare : new Tally(text, end);
    if (candidate.bare) bare = tally;
    tally.extendTo(start);
    if (!tally.isRandom || (candidate.bare && tally.isCode)) continue;

    const secret = text.slice(start, end);
    if (isReference(secret) || isPlaceholder(secret) || (candidate.bare && isMember(secret))) continue;
    found.push({ detector: `assigned-${candidate.name}`, start, end, secret });
  }
  return found.reverse();
}
