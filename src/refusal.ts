/**
 * Outcome words, their exit codes, and the one exception that carries a refusal from where it is found to the front end.
 *
 * Every room may import this file; it imports nothing.
 */

/** Outcome words and their exit codes. Numbers are never reused. Spec: decision 16, 2-verbs §2.5. */
export const EXIT_CODES = {
  "ok": 0,
  "fault": 1,
  "invalid": 2,
  "not-found": 3,
  "outside-root": 4,
  "target-exists": 5,
  "stale": 6,
  "conflict": 7,
  "refused": 8,
  "denied": 9,
  "timed-out": 10,
  "governed": 11,
  "credential": 12,
  "screened": 13,
  "blocked": 14,
} as const;

/** What became of a request. */
export type Outcome = keyof typeof EXIT_CODES;

/**
 * A request that Fettler declines, with the outcome of the spec and a message for a person: what was refused, why, what to do.
 *
 * `path` is the path as the caller may pass it back; it is left out wherever it must not be named.
 * `fields` go into the JSON answer beside `message` (partial work of a verb).
 * Spec: 2-verbs §2.4.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly outcome: Exclude<Outcome, "ok">,
    message: string,
    readonly path?: string,
    readonly fields?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

/**
 * The one answer for a path outside every open tree and for a path in a hidden place, whether or not anything is there:
 * no path, no echo of the argument. `position` tells which of several arguments it was, counted from 1.
 * Spec: 1-boundary §1.10, decision 8.
 */
export function outside(position?: { index: number; of: number }): Refusal {
  const which = position && position.of > 1 ? ` (path ${position.index} of ${position.of})` : "";
  return new Refusal(
    "outside-root",
    `the path lies outside every declared tree; ask for the roots to see the boundary${which}`,
  );
}

/**
 * The known word nearest to a mistyped one by edit distance, or `undefined` when none is near enough to be meant.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Levenshtein distance with transpositions of neighbours counted once. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j], before[j - 2] + 1);
      }
    }
    [before, last] = [last, row];
  }
  return last[b.length];
}
