/**
 * The arguments as they were typed. The runtime takes carriage returns away from the end of each and puts U+FFFD for what is not
 * Unicode (measured), so that another text or file would be meant; the launcher of the portable build says what it gave.
 *
 * Spec: 1-boundary §1.8; 2-verbs §2.2.
 */
import { Refusal } from "../../refusal.ts";

/** The variable by which the launcher says what the arguments are like. */
export const MARKS = "FETTLE_ARGUMENTS";

/** Its words. */
export const MARK = {
  /** Every argument has a dot behind it, which is not part of it. */
  DOTTED: "dotted",
  /** U+FFFD was typed. */
  REPLACEMENT: "replacement",
} as const;

/** @param given What the runtime tells. */
export function typedArguments(given: readonly string[], marks: string): readonly string[] {
  return marks.includes(MARK.DOTTED) ? given.map((argument) => argument.slice(0, -1)) : given;
}

/** @throws {Refusal} `invalid` for an argument that was not Unicode, as far as is known. */
export function demandUnicode(typed: readonly string[], marks: string): void {
  if (marks.includes(MARK.REPLACEMENT)) return;
  const lossy = typed.find((argument) => argument.includes("\ufffd"));
  if (lossy === undefined) return;
  throw new Refusal(
    "invalid",
    `an argument is not Unicode text, or holds U+FFFD: ${JSON.stringify(lossy.slice(0, 80))}`,
  );
}
