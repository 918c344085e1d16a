/** `replace`: one literal text for another in many files. Spec: 2-verbs §2.14; decisions 14, 58. */
import type { Location } from "../boundary/locate.ts";
import { demand, grants } from "../boundary/permission.ts";
import { printable } from "../boundary/print.ts";
import type { Place } from "../boundary/survey.ts";
import { DiskError, type Facts, type Folder, type OpenFile } from "../disk/disk.ts";
import type { Door } from "../disk/mutate.ts";
import type { Found } from "../disk/resolve.ts";
import { isTextual, kindOf } from "../documents/kinds.ts";
import { Refusal } from "../refusal.ts";
import { namedEncoding } from "../text/encoding.ts";
import { compilePatterns, type Matcher } from "../text/patterns.ts";
import { demandFindable, substitute } from "../text/substitute.ts";
import { changing, demandNoCredential, LARGEST } from "./change.ts";
import { openSource, type Outcome, outcomeOf, publishAll, type Source } from "./edit_files.ts";
import { hashOf } from "./hash.ts";
import { excludedNote, foldersNote } from "./find.ts";
import { reopen } from "./search_crew.ts";
import { FileText, type Verdict } from "./search_text.ts";
import { flag, type Infer, list, object, optional, text } from "./shape.ts";
import { type Sweep, sweep } from "./sweep.ts";
import type { Answer, EngineSide, EngineVerb } from "./verb.ts";

const schema = object({
  find: text(),
  with: text(),
  glob: optional(text()),
  in: optional(text()),
  encoding: optional(text()),
  include_generated: optional(flag()),
  exclude: optional(list(text())),
  dry_run: optional(flag()),
});

type ReplaceArguments = Infer<typeof schema>;

export const replace: EngineVerb<typeof schema> = {
  name: "replace",
  where: "engine",
  summary: "replace one text by another in many files",
  description:
    "Replaces a literal text, heeding case, at every place in the text files of one tree that the glob matches. No expressions. Nothing is " +
    "written unless it can be written in every file that holds the text.",
  tool: { readOnly: false, destructive: true, idempotent: false },
  schema,
  arguments: {
    find: { word: "one", value: "FIND", help: "the text to be found" },
    with: { word: "one", value: "WITH", help: "what comes in its place; may be empty" },
    glob: { value: "GLOB", help: "only files that this glob matches, such as src/**/*.ts" },
    in: { value: "TREE", help: "which open tree; default is the first declared" },
    encoding: { value: "NAME", help: "for files that have no byte-order mark and are not UTF-8" },
    include_generated: { help: "do not skip generated folders" },
    exclude: { value: "GLOB", help: "leave out what this glob matches" },
    dry_run: { help: "check everything and change nothing" },
  },
  check({ find, encoding }) {
    demandFindable(find);
    if (encoding !== undefined) namedEncoding(encoding);
  },
  async run(args, side): Promise<Answer> {
    // A text within one line can be looked for in bytes; one over several lines may have other endings in the file.
    const within = !/[\r\n]/.test(args.find);
    const matcher = within ? await compilePatterns([args.find], { literal: true, caseSensitive: true }) : undefined;
    return changing(side, (door) => new Replacing(args, matcher, side, door).answer());
  },
};

/** A file that holds the text. */
interface Holder {
  real: Location;
  written: Location;
  identity: Facts;
  name: string;
  path: string;
  place: Place;
  /** As it was judged. */
  facts: Facts;
  occurrences: number;
  hash?: string;
}

/** Files that are staged before they are published: each holds a handle until then. */
const TOGETHER = 200;

class Replacing {
  readonly #text: FileText;
  readonly #holders: Holder[] = [];
  #matched = 0;
  #searched = 0;
  readonly #passed = { documents_skipped: 0, files_unreadable: 0, files_binary: 0, files_undecodable: 0 };

  constructor(
    readonly args: ReplaceArguments,
    readonly matcher: Matcher | undefined,
    readonly side: EngineSide,
    readonly door: Door,
  ) {
    const named = args.encoding === undefined ? undefined : namedEncoding(args.encoding);
    // Over several lines a match could lie across two pieces, so files are taken whole.
    const piece = matcher ? undefined : LARGEST;
    this.#text = new FileText(named, () => side.call.pulse(), matcher?.plan?.windows, piece);
  }

  answer(): Answer {
    const candidates: Omit<Holder, "occurrences">[] = [];
    const met = sweep(this.side, this.args, {
      folders: false,
      visit: (at, name, path, kind, place) => {
        if (kind !== "file") return true;
        this.side.call.progress(++this.#matched);
        if (!grants(place, "read")) this.#passed.files_unreadable++;
        else {
          const facts = this.#look(at.folder, name);
          if (facts) {
            const real = { tree: at.real.tree, segments: [...at.real.segments, name] };
            const written = { tree: at.real.tree, segments: path.split("/") };
            candidates.push({ real, written, identity: at.folder.facts(), name, path, place, facts });
          }
        }
        return true;
      },
    });
    // What a person may pass back is known only now.
    for (const candidate of candidates) candidate.path = met.print(candidate.path);
    this.#judge(candidates);
    if (!this.args.dry_run) this.#write();
    return this.#answerOf(met);
  }

  /** The facts of a file that holds the text; `undefined` for any other. */
  #look(folder: Folder, name: string): Facts | undefined {
    let file: OpenFile | undefined;
    let holds = false;
    try {
      file = folder.file(name);
      const verdict = this.#text.read(file, (text) => {
        holds ||= substitute(text, this.args.find, this.args.find).occurrences > 0;
        return !holds;
      }, () => {});
      return this.#tally(verdict, name, holds) ? file.facts() : undefined;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      if (file || error.fault === "denied" || error.fault === "failed") this.#passed.files_unreadable++;
      else this.#matched--;
      return undefined;
    } finally {
      file?.close();
    }
  }

  /** Counts a file as `search` does. A document's name is refused only where the file is text and holds what is looked for. */
  #tally(verdict: Verdict, name: string, holds: boolean): boolean {
    const found = holds && verdict === "text";
    if (!isTextual(kindOf(name)) && !found) this.#passed.documents_skipped++;
    else if (verdict === "binary") this.#passed.files_binary++;
    else if (verdict === "undecodable") this.#passed.files_undecodable++;
    else this.#searched++;
    return found;
  }

  /** Every refusal of every file, before anything is written; stage by stage. */
  #judge(candidates: readonly Omit<Holder, "occurrences">[]) {
    for (const candidate of candidates) this.door.demandOrdinary(candidate);
    for (const { place, path } of candidates) demand(place, ["read", "update"], path);
    const findings: Outcome["addition"][] = [];
    for (const candidate of candidates) {
      this.#withFile(candidate, (source) => {
        const { occurrences, outcome } = this.#made(source);
        const holder: Holder = { ...candidate, occurrences };
        findings.push(outcome.addition);
        if (!this.args.dry_run) holder.hash = hashOf(outcome.bytes);
        this.#holders.push(holder);
      });
      // Judged one by one, so that the texts need not be kept; told together would be the same for the first.
      demandNoCredential(this.side, findings.splice(0), false);
    }
  }

  #made(source: Source): { occurrences: number; outcome: Outcome } {
    const { occurrences, changes } = substitute(source.text, this.args.find, this.args.with);
    return { occurrences, outcome: outcomeOf(source, changes) };
  }

  /** Opens a holder anew, in the folder that was judged. @throws {Refusal} `stale` when it is not the file any more that was judged. */
  #withFile(holder: Omit<Holder, "occurrences">, act: (source: Source) => void) {
    const found = this.#found(holder);
    const named = this.args.encoding === undefined ? undefined : namedEncoding(this.args.encoding);
    try {
      const source = openSource(this.side, found, named);
      try {
        act(source);
      } finally {
        source.file.close();
      }
    } finally {
      found.close();
    }
  }

  #found({ real, written, identity, name, path, place, facts }: Omit<Holder, "occurrences">): Found {
    const at = { tree: real.tree, segments: real.segments.slice(0, -1) };
    const folder = reopen(this.side, at, identity);
    if (!folder) {
      throw new Refusal("stale", "its folder was replaced while this call was at it; nothing was changed", path);
    }
    return { written, real, place, folder, name, facts, close: () => folder.close() };
  }

  /** In groups: each file that is staged holds a handle until it is in its place. All of them have been judged. */
  #write() {
    for (let i = 0; i < this.#holders.length; i += TOGETHER) {
      const founds: Found[] = [];
      const sources: Source[] = [];
      const named = this.args.encoding === undefined ? undefined : namedEncoding(this.args.encoding);
      try {
        const group = this.#holders.slice(i, i + TOGETHER);
        for (const holder of group) founds.push(this.#found(holder));
        this.door.lock(founds);
        const outcomes = group.map((_, k): Outcome => {
          const source = openSource(this.side, founds[k], named);
          sources.push(source);
          const { outcome } = this.#made(source);
          return outcome;
        });
        publishAll(this.door, outcomes);
      } finally {
        for (const { file } of sources) file.close();
        for (const found of founds) found.close();
        this.door.release();
      }
    }
  }

  #answerOf(met: Sweep): Answer {
    const dry = this.args.dry_run === true;
    const files = this.#holders.map(({ path, occurrences, hash }) => ({
      path,
      occurrences,
      ...hash === undefined ? {} : { hash },
    }));
    const occurrences = files.reduce((sum, { occurrences }) => sum + occurrences, 0);
    const counts = Object.fromEntries(Object.entries(this.#passed).filter(([, n]) => n > 0));
    return {
      json: {
        dry_run: dry,
        occurrences,
        files,
        count: files.length,
        files_matched: this.#matched,
        files_searched: this.#searched,
        excluded: met.excluded,
        ...met.excludedAtLeast ? { excluded_at_least: true } : {},
        ...counts,
        ...met.foldersUnreadable > 0 ? { folders_unreadable: met.foldersUnreadable } : {},
        ...met.namesUndecodable > 0 ? { names_undecodable: met.namesUndecodable } : {},
      },
      text: () =>
        [
          `${dry ? "would change" : "changed"} ${plural(files.length, "file")}, ${plural(occurrences, "occurrence")}`,
          ...files.map(({ path, occurrences }) => `   ${printable(path).padEnd(44)} ${occurrences}`),
        ].join("\n"),
      closing: () => this.#closing(met),
    };
  }

  #closing(met: Sweep): string {
    const notes = [
      [this.#passed.documents_skipped, "document", "passed over"],
      [this.#passed.files_unreadable, "file", "unreadable"],
      [this.#passed.files_undecodable, "file", "not text (try --encoding)"],
    ] as const;
    const said = notes.filter(([n]) => n > 0).map(([n, noun, what]) => `; ${plural(n, noun)} ${what}`).join("");
    const rows = [`${plural(this.#searched, "file")} searched${said}${excludedNote(met)}${foldersNote(met)}`];
    if (this.args.glob !== undefined && this.#searched === 0 && this.#passed.files_unreadable === 0) {
      rows.push(
        this.#matched === 0
          ? "the glob matched no file"
          : `the glob matched ${plural(this.#matched, "file")}, none of them text`,
      );
    }
    return rows.join("\n");
  }
}

function plural(n: number, noun: string): string {
  return `${n} ${n === 1 ? noun : noun + "s"}`;
}
