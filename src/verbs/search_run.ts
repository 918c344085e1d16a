/** What `search` does. Spec: 2-verbs §2.10; 3-documents-and-archives §3.1, §3.3. */
import type { Location } from "../boundary/locate.ts";
import { printable } from "../boundary/print.ts";
import { DiskError, type Folder, type OpenFile } from "../disk/disk.ts";
import { isArchive, isImage, isTextual, kindOf } from "../documents/kinds.ts";
import { Refusal } from "../refusal.ts";
import { namedEncoding } from "../text/encoding.ts";
import { compilePatterns, type Matcher } from "../text/patterns.ts";
import { excludedNote, foldersNote } from "./find_run.ts";
import { grants } from "../boundary/permission.ts";
import { demandUnscreened } from "./screen.ts";
import { assistSearch, CrewedSearch, type SearchTask, SEEN } from "./search_crew.ts";
import { linearFinder, RISKY_PIECE, riskyFinder } from "./search_finders.ts";
import { type ContextLine, type Hit, HitCollector } from "./search_hits.ts";
import { FileText, type Verdict } from "./search_text.ts";
import { type Sweep, sweep } from "./sweep.ts";
import { plural } from "./answer.ts";
import type { Assist } from "./crew.ts";
import type { Answer, EngineSide } from "./verb.ts";
import { LIMIT, type SearchArguments } from "./search.ts";

export async function run(args: SearchArguments, side: EngineSide): Promise<Answer> {
  const matcher = await compilePatterns(args.patterns, {
    literal: args.literal ?? false,
    caseSensitive: args.case_sensitive ?? false,
  });
  try {
    return new Search(args, matcher, side).answer();
  } catch (error) {
    // V8 compiles an expression when it first runs, and says then that many patterns together are too large.
    if (error instanceof SyntaxError) {
      throw new Refusal(
        "invalid",
        "the patterns are too large to be searched for at once; give fewer, or shorter ones",
      );
    }
    throw error;
  }
}

export function assist(task: unknown, side: EngineSide): Assist {
  return assistSearch(task as SearchTask, side);
}

/** A search that is not done after so many milliseconds asks for helpers; it looks at the clock once in so many files. */
const ALONE = { milliseconds: 8, files: 64 };

/** Counters of what was not searched; only those above 0 are told. */
interface Passed {
  documents_skipped: number;
  archives_skipped: number;
  files_unreadable: number;
  files_binary: number;
  files_undecodable: number;
}

/** One search. `answer` is asked once. */
export class Search {
  readonly #collector: HitCollector;
  readonly #text: FileText;
  /** The file at hand. */
  #path = "";
  readonly #onText = (text: string, isLast: boolean) => this.#collector.search(this.#path, text, isLast);
  readonly #onLongLine = () => this.#collector.giveUp(this.#path);
  #matched = 0;
  #searched = 0;
  readonly #passed: Passed = {
    documents_skipped: 0,
    archives_skipped: 0,
    files_unreadable: 0,
    files_binary: 0,
    files_undecodable: 0,
  };

  /** Files are handed to helpers. */
  #crewed?: CrewedSearch;
  #asked = false;

  /** @param alone When helpers are asked for; tests ask at once. */
  constructor(
    readonly args: SearchArguments,
    readonly matcher: Matcher,
    readonly side: EngineSide,
    readonly alone = ALONE,
  ) {
    const named = args.encoding === undefined ? undefined : namedEncoding(args.encoding);
    const { call } = side;
    this.#text = new FileText(
      named,
      () => call.pulse(),
      matcher.plan?.windows,
      matcher.linear ? undefined : RISKY_PIECE,
    );
    const find = matcher.linear ? linearFinder(matcher, () => call.pulse()) : riskyFinder(matcher, call);
    this.#collector = new HitCollector(find, {
      mode: args.count ? "count" : args.files_only ? "files" : "hits",
      limit: args.limit ?? (args.count ? 0 : LIMIT),
      context: args.context ?? 0,
    });
  }

  answer(): Answer {
    const begun = performance.now();
    let sinceLook = 0;
    const met = sweep(this.side, this.args, {
      folders: false,
      visit: (at, name, path, kind, place) => {
        if (kind !== "file") return true;
        const known = !grants(place, "read") ? SEEN.CLOSED : isTextual(kindOf(name)) ? undefined : SEEN.NO_TEXT;
        if (this.#crewed) {
          if (!this.#crewed.take(at, name, path, known)) return false;
          if (this.#crewed.needless) this.#dismiss();
          return this.#wantsMore();
        }
        if (known !== undefined) return this.#settle(known, name);
        this.#file(at, name, path);
        if (++sinceLook % this.alone.files === 0 && performance.now() - begun >= this.alone.milliseconds) this.#hire();
        return this.#wantsMore();
      },
    });
    if (this.#wantsMore()) this.#dismiss();
    const collected = this.#collector;
    const undecided = collected.undecided.length > 0 || collected.stoppedAt !== undefined;
    const hits = collected.hits.map((hit) => ({ ...hit, path: met.print(hit.path) }));
    const message = "some lines could not be decided";
    return {
      ...undecided ? { outcome: "timed-out" as const, message } : {},
      json: {
        kind: this.args.literal ? "literal" : "regex",
        patterns: this.args.patterns,
        ...this.args.count ? {} : { hits: hits.map((hit) => jsonHit(hit)) },
        hits_count: collected.count,
        files: collected.files,
        files_matched: this.#matched,
        files_searched: this.#searched,
        truncated: collected.full !== undefined,
        ...collected.full === "budget" ? { budgeted: true } : {},
        excluded: met.excluded,
        ...met.excludedAtLeast ? { excluded_at_least: true } : {},
        ...aboveZero({
          ...this.#passed,
          folders_unreadable: met.foldersUnreadable,
          names_undecodable: met.namesUndecodable,
        }),
        ...undecided ? undecidedFields(collected, met) : {},
      },
      text: () => this.#answerText(hits),
      closing: () => this.#closing(met),
    };
  }

  #wantsMore(): boolean {
    return this.#collector.full === undefined && this.#collector.stoppedAt === undefined;
  }

  /** From now on helpers look at files too, where there are any; asked for once. */
  #hire() {
    if (this.#asked || !this.matcher.linear) return;
    this.#asked = true;
    const task: SearchTask = { matcher: this.matcher, encoding: this.args.encoding };
    const crew = this.side.call.crew?.(task);
    this.#crewed = crew && new CrewedSearch(crew, task, this.side, {
      seen: (what, name) => this.#settle(what, name),
      search: (folder, real, name, path) => {
        if (folder) this.#file({ folder, real }, name, path);
        return this.#wantsMore();
      },
    });
  }

  /** Takes in what helpers have found, and goes on without them. */
  #dismiss() {
    const crewed = this.#crewed;
    this.#crewed = undefined;
    crewed?.finish();
  }

  /** Counts a file of which all is known. Returns whether more is wanted. */
  #settle(what: number, name: string): boolean {
    if (what !== SEEN.GONE) this.side.call.progress(++this.#matched);
    switch (what) {
      case SEEN.NOTHING:
        this.#searched++;
        break;
      case SEEN.BINARY:
        this.#passed.files_binary++;
        break;
      case SEEN.UNDECODABLE:
        this.#passed.files_undecodable++;
        break;
      case SEEN.UNREADABLE:
      case SEEN.CLOSED:
        this.#passed.files_unreadable++;
        break;
      case SEEN.NO_TEXT: {
        const kind = kindOf(name);
        if (isArchive(kind)) this.#passed.archives_skipped++;
        else if (!isImage(kind)) this.#passed.documents_skipped++;
      }
    }
    return this.#wantsMore();
  }

  #file(at: { folder: Folder; real: Location }, name: string, path: string) {
    this.side.call.progress(++this.#matched);
    const file = this.#open(at.folder, name);
    if (!file) return;
    this.#path = path;
    const verdict = this.#examine(file);
    this.#tally(verdict);
    // Judged by what is to be answered: a file without a hit discloses nothing.
    if (verdict !== "without" && this.#collector.endFile(verdict === "text")) {
      demandUnscreened(this.side.survey, { tree: at.real.tree, segments: [...at.real.segments, name] });
    }
  }

  /** What a file is; its hits go to the collector. The file is closed. */
  #examine(file: OpenFile): Verdict | "unreadable" {
    try {
      return this.#text.read(file, this.#onText, this.#onLongLine);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      return "unreadable";
    } finally {
      file.close();
    }
  }

  #tally(verdict: Verdict | "unreadable") {
    if (verdict === "text" || verdict === "without") this.#searched++;
    else if (verdict === "binary") this.#passed.files_binary++;
    else if (verdict === "undecodable") this.#passed.files_undecodable++;
    else this.#passed.files_unreadable++;
  }

  /** A file of the listing, opened; `undefined` when it went away since, or when the system keeps it shut: then it is counted. */
  #open(folder: Folder, name: string): OpenFile | undefined {
    try {
      return folder.file(name);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      if (error.fault === "denied" || error.fault === "failed") this.#passed.files_unreadable++;
      else this.#matched--;
      return undefined;
    }
  }

  #answerText(hits: readonly Hit[]): string {
    const rows = this.args.files_only ? hits.map((hit) => printable(hit.path)) : hits.flatMap(textHit);
    return rows.join("\n");
  }

  /** The last lines: what was found in what, and what was not searched. */
  #closing(met: Sweep): string {
    const rows = [this.#footer(met)];
    if (this.args.glob !== undefined && this.#searched === 0 && this.#passed.files_unreadable === 0) {
      rows.push(
        this.#matched === 0
          ? "the glob matched no file"
          : `the glob matched ${plural(this.#matched, "file")}, none of them text`,
      );
    }
    const { undecided } = this.#collector;
    if (undecided.length > 0 || this.#collector.stoppedAt) {
      const places = undecided.slice(0, 20).map(({ path, line }) => `${printable(met.print(path))}:${line}`).join(", ");
      const more = undecided.length > 20 ? " and more" : "";
      rows.push(
        `timed-out: ${plural(undecided.length, "line")} undecided, too long or not decided in time: ${places}${more}`,
      );
      const at = this.#collector.stoppedAt;
      if (at) {
        rows.push(`the search gave up at ${printable(met.print(at.path))}:${at.line}; what follows was not searched`);
      }
    }
    return rows.join("\n");
  }

  #footer(met: Sweep): string {
    const { count, files, full } = this.#collector;
    const passed = this.#passed;
    const head = this.args.files_only ? plural(files, "file") : `${plural(count, "hit")} in ${plural(files, "file")}`;
    const notes = [
      [passed.documents_skipped, "document", "not searched"],
      [passed.archives_skipped, "archive", "not searched"],
      [passed.files_unreadable, "file", "unreadable"],
      [passed.files_undecodable, "file", "not text (try --encoding)"],
    ] as const;
    const said = notes.filter(([n]) => n > 0).map(([n, noun, what]) => `; ${plural(n, noun)} ${what}`).join("");
    const searched = count === 0 ? `; ${plural(this.#searched, "file")} searched` : "";
    const stopped = { limit: " (limit reached)", budget: " (stopped at 40,000 characters; narrow the search)" };
    return head + (full ? stopped[full] : "") + searched + said + excludedNote(met) + foldersNote(met);
  }
}

function aboveZero(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0));
}

function jsonHit({ path, line, column, text, cut, context }: Hit): Record<string, unknown> {
  return {
    path,
    line,
    column,
    ...text === undefined ? {} : { text },
    ...cut ? { cut } : {},
    ...context ? { context } : {},
  };
}

function textHit(hit: Hit): string[] {
  const rows: ContextLine[] = hit.context ?? [{ line: hit.line, text: hit.text!, cut: hit.cut }];
  return [
    `${printable(hit.path)}:${hit.line}:${hit.column}`,
    ...rows.flatMap(({ line, text, cut }) => [
      `${String(line).padStart(5)} | ${text}`,
      ...cut ? [`... line ${line} is longer than what is shown; read it with --from ${line} --to ${line}`] : [],
    ]),
  ];
}

function undecidedFields({ undecided, stoppedAt }: HitCollector, met: Sweep): Record<string, unknown> {
  return {
    undecided: undecided.slice(0, 20).map(({ path, line }) => ({ path: met.print(path), line })),
    undecided_count: undecided.length,
    ...stoppedAt ? { stopped_at: { path: met.print(stoppedAt.path), line: stoppedAt.line } } : {},
  };
}
