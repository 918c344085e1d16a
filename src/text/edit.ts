/**
 * The edits of one file, resolved: every one of them against the text as it was read, and all of them or none.
 *
 * Nothing is written here. What comes out is a list of changes, which `encode_splice.ts` puts into the file's bytes.
 * Spec: 2-verbs §2.13; 3-documents-and-archives §3.1.3; decisions 37, 62.
 */
import { Refusal } from "../refusal.ts";
import { type Bounds, type Changes, endingsOf, Joined, Replacement, Replacements, withEnding } from "./edit_changes.ts";
import { endingBefore, LineIndex } from "./edit_lines.ts";
import { type Search, searchFor, type Span } from "./edit_match.ts";
import { type Ending, ENDINGS } from "./lines.ts";
import { nearestWords } from "./nearest.ts";

/** One edit. Lines count from 1, both ends included. */
export type Edit = ReplaceEdit | InsertEdit | DeleteEdit;

/** Exact text for text. */
export interface ReplaceEdit {
  readonly kind: "replace";
  readonly find: string;
  readonly with: string;
  /** First and last line in which a match must wholly lie. Default: the first and last of the file. */
  readonly from?: number;
  readonly to?: number;
  /** Every place instead of the only one. Default: false. */
  readonly all?: boolean;
}

/** Text as lines of its own behind a line, 0 for the top. */
export interface InsertEdit {
  readonly kind: "insert";
  readonly after: number;
  readonly text: string;
}

/** Whole lines with their endings. */
export interface DeleteEdit {
  readonly kind: "delete";
  readonly from: number;
  /** Default: `from` alone. */
  readonly to?: number;
}

/** What one edit does, for the answer of a dry run. */
export interface Planned {
  /** Its number, from 1. */
  readonly edit: number;
  /** Line of the text as read where it begins; for an insertion the number that the first inserted line would have by itself. */
  readonly line: number;
  /** Places where text is replaced, or 1. */
  readonly places: number;
  /** Such as `replace 2 places`, `insert 1 line`, `delete 3 lines`. */
  readonly description: string;
}

/** All edits of a file, ready to be applied. */
export interface Resolution {
  /** In order, without overlap; none when every edit puts back what is there. */
  readonly changes: Changes;
  /** One for each edit, in the order given. */
  readonly planned: readonly Planned[];
}

/** What a resolution needs to know besides. */
export interface ResolveOptions extends Bounds {
  /** Whether lines of the file may be quoted in a refusal; where not, the nearest place is left out. Default: always. */
  readonly mayQuote?: (quoted: string) => boolean;
}

/**
 * Resolves the edits of one file.
 *
 * @param text The file, decoded, without its mark.
 * @throws {Refusal} `invalid` for an empty or broken text to find and for lines that the file has not or that run backwards;
 * `not-found` with the nearest place; `conflict` for a text found more than once and for edits that overlap. The first edit that fails
 * is named by its number. Characters that the file's encoding lacks show later, in `spliceChanges`; so does the size of the new file,
 * but for text that is longer than any file (`refused`).
 *
 * ```ts
 * const { changes } = resolveEdits("a\r\nb\r\n", [{ kind: "replace", find: "b\n", with: "c\nd\n" }]);
 * changes.forEach(({ start, end, text }) => {}); // once: 3, 4, "c\r\nd"
 * ```
 */
export function resolveEdits(text: string, edits: readonly Edit[], options: ResolveOptions = {}): Resolution {
  const resolver = new Resolver(text, options);
  const claims = edits.map((edit, i) => resolver.resolve(edit, i + 1));
  const planned = claims.map((claim) => claim.planned);
  const sorted = claims.toSorted((a, b) => a.start - b.start || a.end - b.end || a.edit - b.edit);
  resolver.demandApart(sorted);
  return { changes: resolver.changesOf(sorted), planned };
}

/** What an edit lays hold of, an empty stretch for an insertion, and what becomes of it. */
interface Claim extends Span {
  readonly edit: number;
  readonly changes: Changes;
  readonly planned: Planned;
  /** The lines that an insertion puts there, each with its ending. */
  readonly inserted?: string;
}

/** Lines named in the refusal of a text that is found more than once. */
const NAMED_LINES = 20;

class Resolver {
  readonly #text: string;
  readonly #options: ResolveOptions;
  readonly #lines: LineIndex;
  #ending?: Ending;

  constructor(text: string, options: ResolveOptions) {
    this.#text = text;
    this.#options = options;
    this.#lines = new LineIndex(text, options.pulse);
  }

  resolve(edit: Edit, number: number): Claim {
    if (edit.kind === "replace") return this.#replace(edit, number);
    return edit.kind === "insert" ? this.#insert(edit, number) : this.#delete(edit, number);
  }

  #replace(edit: ReplaceEdit, number: number): Claim {
    if (edit.find === "") throw this.#refuse("invalid", number, "the text to find is empty");
    if (!edit.find.isWellFormed()) {
      throw this.#refuse("invalid", number, "the text to find holds half of a surrogate pair, which no file can hold");
    }
    const region = this.#region(edit, number);
    const part = this.#text.slice(region.start, region.end);
    const search = searchFor(part, edit.find, this.#options.pulse);
    const first = search.next(0);
    if (!first) throw this.#notFound(edit, region, number);
    if (!edit.all && search.next(first.start + 1)) throw this.#ambiguous(search, region, number);

    const replacement = new Replacement(edit.find, edit.with, this.#fileEnding(edit.with), this.#options);
    const only = edit.all ? undefined : first;
    const changes = new Replacements({ text: part, search, replacement, offset: region.start, only, edit: number });
    const { places, span } = changes;
    const planned = {
      edit: number,
      line: this.#lines.lineAt(span.start),
      places,
      description: `replace ${counted(places, "place")}`,
    };
    return { ...span, edit: number, changes, planned };
  }

  #insert({ after, text }: InsertEdit, number: number): Claim {
    if (!isLine(after, 0) || after > this.#total()) throw this.#refuse("invalid", number, this.#outOfRange(after));
    const at = this.#lines.start(after + 1);
    const lines = Math.max(1, endingsOf(text, this.#options.pulse).lines);
    const ending = this.#fileEnding("\n");
    const inserted = withEnding(text, ending, this.#options) +
      (endingBefore(text, text.length) > 0 ? "" : ENDINGS[ending]);
    const planned = { edit: number, line: after + 1, places: 1, description: `insert ${counted(lines, "line")}` };
    const changes = [{ start: at, end: at, text: inserted, edit: number }];
    return { start: at, end: at, edit: number, changes, planned, inserted };
  }

  #delete({ from, to = from }: DeleteEdit, number: number): Claim {
    const { start, end } = this.#region({ from, to }, number);
    const planned = {
      edit: number,
      line: from,
      places: 1,
      description: `delete ${counted(to - from + 1, "line")}`,
    };
    return { start, end, edit: number, changes: [{ start, end, text: "", edit: number }], planned };
  }

  /** The characters of a range of lines, the last one's ending included. */
  #region({ from, to }: { from?: number; to?: number }, number: number): Span {
    if (from === undefined && to === undefined) return { start: 0, end: this.#text.length };
    for (const line of [from, to]) {
      if (line === undefined) continue;
      if (!isLine(line, 1) || line > this.#total()) throw this.#refuse("invalid", number, this.#outOfRange(line));
    }
    if (from !== undefined && to !== undefined && from > to) {
      throw this.#refuse("invalid", number, `the lines ${from}-${to} run backwards; put the lower number first`);
    }
    return {
      start: this.#lines.start(from ?? 1),
      end: to === undefined ? this.#text.length : this.#lines.start(to + 1),
    };
  }

  /** @throws {Refusal} `conflict` unless no claim begins inside another; touching is fine. */
  demandApart(sorted: readonly Claim[]): void {
    let holder: Claim | undefined;
    for (const claim of sorted) {
      if (holder && claim.start < holder.end) {
        const [one, other] = [holder.edit, claim.edit].toSorted((a, b) => a - b);
        throw this.#refuse(
          "conflict",
          other,
          `it overlaps edit ${one} at line ${
            this.#lines.lineAt(claim.start)
          }; every edit counts on the file as it was read, ` +
            "so join the two into one",
        );
      }
      if (!holder || claim.end > holder.end) holder = claim;
    }
  }

  /** The changes of all claims, the lines of insertions as they fit into what is round them. */
  changesOf(sorted: readonly Claim[]): Changes {
    const lists: Changes[] = [];
    let end = 0;
    /** The last character of the new text so far. */
    let tail = "";
    sorted.forEach((claim, i) => {
      if (claim.start > end) tail = this.#text.charAt(claim.start - 1);
      const changes = claim.inserted === undefined ? claim.changes : this.#fitting(claim, claim.inserted, tail);
      // All places of an edit are gone through for it only if something joins on.
      if (sorted[i + 1]?.start === claim.end) tail = this.#tailBehind(claim, changes, tail);
      end = claim.end;
      lists.push(changes);
    });
    return lists.length === 1 ? lists[0] : new Joined(lists);
  }

  /** The last character of the new text up to a claim's end. @param tail The same up to its beginning. */
  #tailBehind(claim: Claim, changes: Changes, tail: string): string {
    let at = claim.start;
    changes.forEach(({ start, end, text }) => {
      if (start > at) tail = this.#text.charAt(start - 1);
      if (text !== "") tail = text.charAt(text.length - 1);
      at = end;
    });
    return at < claim.end ? this.#text.charAt(claim.end - 1) : tail;
  }

  /**
   * The insertion of whole lines. Behind a last line without an ending they get theirs before them, and none behind; only an empty
   * last line keeps it, since without it it would not be there.
   */
  #fitting({ start, edit }: Claim, lines: string, tail: string): Changes {
    const isAtEnd = start > 0 && start === this.#text.length;
    if (isAtEnd && endingBefore(this.#text, start) === 0) {
      const bare = lines.slice(0, lines.length - endingBefore(lines, lines.length));
      if (!isEnded(bare)) lines = bare;
      if (!isEnded(tail)) lines = ENDINGS[this.#fileEnding("\n")] + lines;
    }
    // In a file of several kinds of endings a CR and an LF of two lines would become the ending of one.
    if (tail === "\r" && lines.startsWith("\n")) lines = "\r" + lines;
    if (lines.endsWith("\r") && this.#text.charAt(start) === "\n") lines += "\n";
    return [{ start, end: start, text: lines, edit }];
  }

  /** The ending for text that is brought in; it is not looked for when that text has none. */
  #fileEnding(text: string): Exclude<Ending, "none"> {
    if (!/[\r\n]/.test(text)) return "lf";
    this.#ending ??= endingsOf(this.#text, this.#options.pulse).ending;
    return this.#ending === "none" ? "lf" : this.#ending;
  }

  #total(): number {
    return this.#lines.total;
  }

  #outOfRange(line: number): string {
    return `there is no line ${line}; the file has ${counted(this.#total(), "line")}`;
  }

  #ambiguous(search: Search, region: Span, number: number): Refusal {
    const starts: number[] = [];
    let count = 0;
    search.forEach((start) => {
      if (count++ < NAMED_LINES) starts.push(start);
    });
    // A match may overlap the only other one: `\n\n` in three line feeds.
    if (count === 1) count = starts.push(search.next(starts[0] + 1)!.start);
    const lines = starts.map((start) => this.#lines.lineAt(region.start + start));
    const more = count > NAMED_LINES ? ` and ${count - NAMED_LINES} more` : "";
    return this.#refuse(
      "conflict",
      number,
      `the text to find stands there ${count} times, in the lines ${lines.join(", ")}${more}; take more of the text ` +
        "around it, give a range of lines, or ask for all",
    );
  }

  #notFound(edit: ReplaceEdit, region: Span, number: number): Refusal {
    const { mayQuote } = this.#options;
    const where = region.start > 0 || region.end < this.#text.length ? "in those lines" : "in the file";
    const elsewhere = where === "in the file"
      ? undefined
      : searchFor(this.#text, edit.find, this.#options.pulse).next(0);
    const near = elsewhere
      ? `it is at line ${this.#lines.lineAt(elsewhere.start)}, outside them`
      : nearestWords(this.#text, edit.find, region, this.#lines, mayQuote);
    const advice = near === undefined ? "read the file and quote it exactly" : near;
    return this.#refuse("not-found", number, `the text to find is not ${where}; ${advice}`);
  }

  #refuse(outcome: "invalid" | "not-found" | "conflict", number: number, message: string): Refusal {
    return new Refusal(outcome, `edit ${number}: ${message}`, this.#options.path);
  }
}

/** Nothing stands on the line that a text ends in: it is empty, or its last line has an ending. */
function isEnded(text: string): boolean {
  return text === "" || endingBefore(text, text.length) > 0;
}

function isLine(line: number, least: number): boolean {
  return Number.isSafeInteger(line) && line >= least;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
