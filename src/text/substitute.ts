/**
 * `replace`: one literal text for another, at every place in a file.
 *
 * Case counts; there are no expressions and no templates: `$1` in the replacement is just that. As in `edit` a text may differ from the
 * one to find in its line endings where none matches exactly, and what is brought in takes the file's ending.
 * Spec: 2-verbs §2.14; 3-documents-and-archives §3.1.3; decision 37.
 */
import { Refusal } from "../refusal.ts";
import { type Bounds, type Changes, endingsOf, Replacement, Replacements } from "./edit_changes.ts";
import { searchFor } from "./edit_match.ts";

/** What a replacement does to one file. */
export interface Substitution {
  /** Places where the text to find stands, not overlapping, counted from the left. */
  readonly occurrences: number;
  /** In order; none when the replacement is what is there. */
  readonly changes: Changes;
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
 * @throws {Refusal} `refused` for a replacement that is longer than any file.
 */
export function substitute(text: string, find: string, put: string, bounds: Bounds = {}): Substitution {
  const search = searchFor(text, find, bounds.pulse);
  if (!search.next(0)) return { occurrences: 0, changes: [] };
  const ending = /[\r\n]/.test(put) ? endingsOf(text, bounds.pulse).ending : "lf";
  const changes = new Replacements({ text, search, replacement: new Replacement(find, put, ending, bounds) });
  return { occurrences: changes.places, changes };
}
