/**
 * `replace`: one literal text for another, at every place in a file.
 *
 * Case counts; there are no expressions and no templates: `$1` in the replacement is just that. As in `edit` a text may differ from the
 * one to find in its line endings where none matches exactly, and what is brought in takes the file's ending.
 * Spec: 2-verbs §2.14; 3-documents-and-archives §3.1.3; decision 37.
 */
import { Refusal } from "../refusal.ts";
import { type Change, Replacement } from "./edit_changes.ts";
import { searchFor } from "./edit_match.ts";
import { countEndings } from "./lines.ts";

/** What a replacement does to one file. */
export interface Substitution {
  /** Places where the text to find stands, not overlapping, counted from the left. */
  readonly occurrences: number;
  /** In order; none when the replacement is what is there. */
  readonly changes: readonly Change[];
}

/** Holds for all files of a call. @throws {Refusal} `invalid` for a text to find that is empty or that no file can hold. */
export function demandFindable(find: string): void {
  if (find === "") throw new Refusal("invalid", "the text to find is empty");
  if (!find.isWellFormed()) {
    throw new Refusal("invalid", "the text to find holds half of a surrogate pair, which no file can hold");
  }
}

/**
 * Every place in a text where another stands, and what is put there.
 *
 * @param find As `demandFindable` takes it.
 */
export function substitute(text: string, find: string, replacement: string): Substitution {
  const search = searchFor(text, find);
  let span = search.next(0);
  if (!span) return { occurrences: 0, changes: [] };
  const ending = /[\r\n]/.test(replacement) ? countEndings(text).ending : "lf";
  const replacing = new Replacement(find, replacement, ending);
  const changes: Change[] = [];
  let occurrences = 0;
  for (; span; span = search.next(span.end)) {
    occurrences++;
    if (!replacing.isIdle) changes.push(replacing.at(text, span, search));
  }
  return { occurrences, changes };
}
