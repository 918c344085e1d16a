/** What `replace` does. Spec: 2-verbs §2.14; decisions 14, 58. */
import { demand, grants } from "../boundary/permission.ts";
import { printable, printer } from "../boundary/print.ts";
import type { Place } from "../boundary/survey.ts";
import type { Tree } from "../boundary/types.ts";
import { DiskError, type Folder, type OpenFile } from "../disk/disk.ts";
import type { Door } from "../disk/mutate.ts";
import { isArchive, isImage, isTextual, kindOf } from "../documents/kinds.ts";
import { Refusal } from "../refusal.ts";
import { credentialRefusal } from "../screens/credential_refusal.ts";
import { addedCredentials, type Finding } from "../screens/credentials.ts";
import { decodeSwept } from "../text/decoder.ts";
import { searchFor } from "../text/edit_match.ts";
import { type Encoding, namedEncoding } from "../text/encoding.ts";
import { compilePatterns, type Matcher } from "../text/patterns.ts";
import { substitute } from "../text/substitute.ts";
import { changing, demandTextName, LARGEST, notKeptFields, notKeptRows, readWhole } from "./change.ts";
import {
  boundsOf,
  demandSame,
  hashOfWhole,
  NEEDS,
  type Outcome,
  outcomeOf,
  type ReadText,
  stage,
  withFile,
} from "./edit_files.ts";
import { excludedNote, foldersNote } from "./find_run.ts";
import { type Target, TargetFolders } from "./replace_folders.ts";
import { FileText } from "./search_text.ts";
import { type Sweep, sweep } from "./sweep.ts";
import { plural } from "./answer.ts";
import type { Answer, EngineSide } from "./verb.ts";
import type { ReplaceArguments } from "./replace.ts";

export async function run(args: ReplaceArguments, side: EngineSide): Promise<Answer> {
  // Every match holds the longest stretch within one line, and that can be looked for in bytes.
  const stretch = args.find.split(/[\r\n]+/).reduce((best, part) => part.length > best.length ? part : best);
  const matcher = stretch === "" ? undefined : await compilePatterns([stretch], { literal: true, caseSensitive: true });
  return changing(side, (door) => new Replacing(args, matcher, side, door).answer());
}

/** A file that holds the text, and what becomes of it. */
interface Holder extends Target {
  occurrences: number;
  hash?: string;
  notKept: readonly string[];
}

/** What is judged of a file, in the order in which refusals are told: of any file one before of any other the next. */
const STAGES = ["permission", "kind", "content"] as const;
type Stage = typeof STAGES[number];

/** Findings of credentials that are kept: one more than is named. */
const FINDINGS = 4;

class Replacing {
  readonly #named: Encoding | undefined;
  readonly #text: FileText;
  readonly #holders: Holder[] = [];
  /** What becomes of the only holder, as long as there is one alone: a large file is not gone through twice. */
  #only?: Pick<Outcome, "bytes" | "idle">;
  #tree!: Tree;
  #print!: (path: string) => string;
  /** The refusal of the call, as far as it is known: of the earliest stage, and the first there. */
  #refusal?: { stage: number; refusal: Refusal };
  readonly #findings: Finding[] = [];
  #matched = 0;
  #searched = 0;
  readonly #passed = {
    documents_skipped: 0,
    archives_skipped: 0,
    files_unreadable: 0,
    files_binary: 0,
    files_undecodable: 0,
  };

  constructor(
    readonly args: ReplaceArguments,
    matcher: Matcher | undefined,
    readonly side: EngineSide,
    readonly door: Door,
  ) {
    this.#named = args.encoding === undefined ? undefined : namedEncoding(args.encoding);
    this.#text = new FileText(this.#named, () => side.call.pulse(), matcher?.plan?.windows);
  }

  /**
   * Every file is judged, in the order of the walk, and nothing of it kept but its name and facts; then each is read again and written,
   * unless there is but one.
   */
  answer(): Answer {
    const met = sweep(this.side, this.args, {
      folders: false,
      starts: (tree) => {
        this.#tree = tree;
        this.#print = printer(this.side.survey.boundary, tree);
      },
      visit: (at, name, path, kind, place) => {
        if (kind !== "file") return true;
        this.side.call.progress(++this.#matched);
        if (grants(place, "read")) this.#look(at, name, path, place);
        else this.#passed.files_unreadable++;
        return true;
      },
    });
    if (this.#refusal) throw this.#refusal.refusal;
    if (this.#findings.length > 0) throw credentialRefusal(this.#findings, { override: false, printable });
    if (!this.args.dry_run) this.#write();
    return this.#answerOf(met);
  }

  /** Looks whether a file holds the text, and judges one that does. */
  #look(at: { folder: Folder; real: Target["real"] }, name: string, path: string, place: Place) {
    let file: OpenFile | undefined;
    try {
      file = at.folder.file(name);
      if (!this.#isHolder(file, name)) return;
      const { dev, ino } = at.folder.facts();
      const target = {
        written: { tree: this.#tree, segments: path.split("/") },
        real: { tree: at.real.tree, segments: [...at.real.segments, name] },
        place,
        name,
        path: this.#print(path),
        folder: { dev, ino },
        facts: file.facts(),
      };
      this.#judge(target, file, at.folder);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      if (file || error.fault === "denied" || error.fault === "failed") this.#passed.files_unreadable++;
      else this.#matched--;
    } finally {
      file?.close();
    }
  }

  /** Whether a file is text and holds what is looked for; it is counted as `search` counts it. */
  #isHolder(file: OpenFile, name: string): boolean {
    const { find } = this.args;
    let holds = false;
    let isLong = false;
    // A text over several lines may stand across two pieces of a large file.
    let tail = "";
    const verdict = this.#text.read(file, (text, isLast) => {
      const whole = tail + text;
      holds ||= searchFor(whole, find).next(0) !== undefined;
      if (!isLast) tail = /[\r\n]/.test(find) ? whole.slice(-2 * find.length) : "";
      return !holds;
    }, () => isLong = true);
    if (verdict === "text" && !holds && isLong) holds = this.#holdsWhole(file);
    if (verdict === "text" && holds) {
      this.#searched++;
      return true;
    }
    const kind = kindOf(name);
    if (isArchive(kind)) this.#passed.archives_skipped++;
    else if (!isTextual(kind)) { if (!isImage(kind)) this.#passed.documents_skipped++; }
    else if (verdict === "binary") this.#passed.files_binary++;
    else if (verdict === "undecodable") this.#passed.files_undecodable++;
    else this.#searched++;
    return false;
  }

  /** A file with a line that is too long for a sweep. One that is too large as well counts as a holder, since nobody can tell. */
  #holdsWhole(file: OpenFile): boolean {
    const { size } = file.facts();
    if (size > LARGEST) return true;
    const bytes = new Uint8Array(size);
    const swept = decodeSwept(bytes.subarray(0, file.readAt(bytes, 0)), this.#named);
    return typeof swept === "object" &&
      searchFor(swept.text, this.args.find, () => this.side.call.pulse()).next(0) !== undefined;
  }

  /** Every refusal of one file. Only a governed one is told at once, since nothing comes before it. */
  #judge(target: Target, file: OpenFile, folder: Folder) {
    this.door.demandOrdinary(target);
    if (!this.#passes("permission", () => demand(target.place, NEEDS, target.path))) return;
    if (!this.#passes("kind", () => demandTextName(target.name, target.path))) return;
    this.#passes("content", () => {
      const made = this.#made(target, file, folder);
      if (!made) {
        // Its beginning was text and held it; the rest is none.
        this.#searched--;
        this.#passed.files_undecodable++;
        return;
      }
      if (this.#findings.length < FINDINGS) {
        const found = addedCredentials(made.outcome.addition, { pulse: () => this.side.call.pulse() });
        this.#findings.push(...found.slice(0, FINDINGS - this.#findings.length));
      }
      this.#holders.push({ ...target, occurrences: made.occurrences, notKept: [] });
      const { bytes, idle } = made.outcome;
      this.#only = this.#holders.length === 1 ? { bytes, idle } : undefined;
    });
  }

  /** Whether nothing is refused by this stage; what is, is kept unless an earlier refusal is known. Later stages are then left out. */
  #passes(stage: Stage, judge: () => void): boolean {
    const at = STAGES.indexOf(stage);
    if (this.#refusal && this.#refusal.stage <= at) return false;
    try {
      judge();
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#refusal = { stage: at, refusal: error };
      return false;
    }
  }

  /** What becomes of a file; `undefined` when it does not hold the text any more. */
  #made(target: Target, file: OpenFile, folder: Folder): { occurrences: number; outcome: Outcome } | undefined {
    const read = this.#read(target, file, folder);
    if (!read) return undefined;
    const bounds = boundsOf(this.side, target.path);
    const { occurrences, changes } = substitute(read.text, this.args.find, this.args.with, bounds);
    return occurrences === 0 ? undefined : { occurrences, outcome: outcomeOf(read, changes, target.path, bounds) };
  }

  /** A function of its own, so that nothing but its result holds the bytes. */
  #read(target: Target, file: OpenFile, folder: Folder): ReadText | undefined {
    const bytes = readWhole(this.side, { ...target, folder, close() {} }, file);
    const swept = decodeSwept(bytes, this.#named);
    return typeof swept === "string" ? undefined : { bytes, ...swept };
  }

  #write() {
    const folders = new TargetFolders(this.side, this.door);
    try {
      folders.lock(this.#holders);
      for (const holder of byFolder(this.#holders)) {
        this.side.call.pulse();
        const found = folders.found(holder);
        withFile(this.side, found, (file) => {
          demandSame(holder.facts, file.facts(), holder.path);
          const made = this.#only ?? this.#made(holder, file, found.folder)?.outcome;
          if (!made) throw new Refusal("stale", "it was changed while this call was at it; try again", holder.path);
          holder.hash = hashOfWhole(this.side, made.bytes);
          if (!made.idle) holder.notKept = stage(this.side, this.door, found, made.bytes, file);
        });
      }
      this.door.publish();
    } finally {
      // What is staged goes before its folders are closed.
      this.door.close();
      folders.close();
    }
  }

  #answerOf(met: Sweep): Answer {
    const dry = this.args.dry_run === true;
    const files = this.#holders.map(({ path, occurrences, hash, notKept }) => ({
      path,
      occurrences,
      ...hash === undefined ? {} : { hash },
      ...notKeptFields(notKept),
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
          ...this.#holders.flatMap(({ path, occurrences, notKept }) => [
            `${`   ${printable(path)}`.padEnd(44)} ${occurrences}`,
            ...notKeptRows(notKept),
          ]),
        ].join("\n"),
      closing: () => this.#closing(met),
    };
  }

  #closing(met: Sweep): string {
    const notes = [
      [this.#passed.documents_skipped, "document", "passed over"],
      [this.#passed.archives_skipped, "archive", "passed over"],
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

/** The same files, those of a folder together. */
function byFolder(holders: readonly Holder[]): Holder[] {
  const folders = Map.groupBy(holders, ({ folder: { dev, ino } }) => `${dev}:${ino}`);
  return [...folders.values()].flat();
}
