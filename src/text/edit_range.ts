/** Ranges of lines as a caller writes them: `A-B`, `A..B` or `A:B`. Spec: 2-verbs §2.13. */
import { Refusal } from "../refusal.ts";

/** Lines from 1, both ends included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads a range of lines.
 *
 * @param single Whether one number is a range of one line, as in `--delete 7`.
 * @throws {Refusal} `invalid` for anything else than line numbers of 1 and above, and for a range that runs backwards.
 */
export function parseLineRange(written: string, single: boolean): LineRange {
  const parts = /^(\d+)(?:(?:-|\.\.|:)(\d+))?$/.exec(written);
  const from = Number(parts?.[1]);
  const to = Number(parts?.[2] ?? (single ? from : NaN));
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 1) {
    throw new Refusal(
      "invalid",
      `${JSON.stringify(written)} is no range of lines; write it as 3-7, lines counting from 1`,
    );
  }
  if (from > to) throw new Refusal("invalid", `the lines ${written} run backwards; put the lower number first`);
  return { from, to };
}
