/**
 * A search with helpers: they look which files hold anything at all, this thread puts the answer together, in order.
 *
 * A job is some files of one folder, its result a byte for each. Files that hold something are searched once more, here, since only here
 * limits and budget are known; where that turns out to be every third, helpers do not pay and are left alone.
 * Measured over 20,000 files of 12 KB on two cores, start-up of 57 ms included: 270 ms with one thread, 255 with a helper. What
 * keeps it from more is the helper's own start (35 ms) and its cold code; larger trees gain more.
 */
import type { Location } from "../boundary/locate.ts";
import type { Identity } from "../boundary/types.ts";
import { DiskError, type Folder, type OpenFile } from "../disk/disk.ts";
import { namedEncoding } from "../text/encoding.ts";
import type { Matcher } from "../text/patterns.ts";
import { linearFinder } from "./search_finders.ts";
import { FileText } from "./search_text.ts";
import type { Assist, Crew } from "./crew.ts";
import type { EngineSide } from "./verb.ts";

/** What a search tells its helpers. */
export interface SearchTask {
  matcher: Matcher;
  encoding?: string;
}

/** Files by folder, and the folder's tree by its place in the boundary. An empty name stands for a file that is known already. */
type Job = readonly { tree: number; segments: readonly string[]; identity: Identity; names: readonly string[] }[];

/**
 * What is known of a file. `LATER`: it has to be searched by whoever knows the answer. `CLOSED` and `NO_TEXT` are known without a look:
 * it may not be read, or is of a kind that has no text.
 */
export const SEEN = { NOTHING: 1, BINARY: 2, UNDECODABLE: 3, UNREADABLE: 4, GONE: 5, LATER: 6, CLOSED: 7, NO_TEXT: 8 };

/** Larger files are left to the searching thread: a job has to end soon. */
const LARGE = 4 * 1024 * 1024;

/** Looks whether files hold anything. */
export class Examiner {
  readonly #text: FileText;
  #found = false;
  readonly #onText: (text: string) => boolean;

  constructor({ matcher, encoding }: SearchTask, readonly side: EngineSide) {
    const named = encoding === undefined ? undefined : namedEncoding(encoding);
    const pulse = () => side.call.pulse();
    this.#text = new FileText(named, pulse, matcher.plan?.windows);
    const find = linearFinder(matcher, pulse);
    this.#onText = (text) => {
      find(text, () => {
        this.#found = true;
        return false;
      });
      return !this.#found;
    };
  }

  /** What is to be seen of one file. */
  look(folder: Folder, name: string): number {
    if (name === "") return SEEN.GONE;
    let file: OpenFile | undefined;
    try {
      file = folder.file(name);
      if (file.facts().size > LARGE) return SEEN.LATER;
      this.#found = false;
      const verdict = this.#text.read(file, this.#onText, () => this.#found = true);
      if (verdict === "binary") return SEEN.BINARY;
      if (verdict === "undecodable") return SEEN.UNDECODABLE;
      return this.#found ? SEEN.LATER : SEEN.NOTHING;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      return file || error.fault === "denied" || error.fault === "failed" ? SEEN.UNREADABLE : SEEN.GONE;
    } finally {
      file?.close();
    }
  }
}

/** The work of a helper. */
export function assistSearch(task: SearchTask, side: EngineSide): Assist {
  const examiner = new Examiner(task, side);
  return (given) => {
    const job = given as Job;
    const seen = new Uint8Array(job.reduce((sum, { names }) => sum + names.length, 0));
    let at = 0;
    for (const { tree, segments, identity, names } of job) {
      const folder = reopen(side, { tree: side.survey.boundary.trees[tree], segments }, identity);
      try {
        for (const name of names) seen[at++] = folder ? examiner.look(folder, name) : SEEN.GONE;
      } finally {
        folder?.close();
      }
    }
    return seen;
  };
}

/**
 * A folder that the walk judged and was in, opened anew from the top of its tree, each step relative to the one before and never through
 * a link; `undefined` when another one, or none, is there by now.
 */
export function reopen({ disk }: EngineSide, at: Location, { dev, ino }: Identity): Folder | undefined {
  let folder: Folder;
  try {
    folder = disk.top(at.tree);
  } catch (error) {
    if (error instanceof DiskError) return undefined;
    throw error;
  }
  try {
    for (const name of at.segments) {
      const next: Folder = folder.folder(name);
      folder.close();
      folder = next;
    }
    const now = folder.facts();
    if (now.ino === ino && now.dev === dev) return folder;
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
  }
  folder.close();
  return undefined;
}

/** Files that wait for their turn in the answer. */
interface Batch {
  parts: Part[];
  /** Files in all parts. */
  files: number;
  /** Looked at here, file by file as the walk meets them: their folder is open then, which a helper has to open anew. */
  own: boolean;
  ticket?: number;
}

/** Those of one folder. */
interface Part {
  real: Location;
  identity: Identity;
  names: string[];
  paths: string[];
  /** What of `SEEN` is known of each; 0 is nothing yet. */
  seen: number[];
}

/** How a file is put into the answer. Returns false when no more is wanted. */
export interface Settle {
  /** A file of which everything is known. */
  seen(what: number, name: string): boolean;
  /** A file that has to be searched; `folder` is `undefined` when it is not there any more. */
  search(folder: Folder | undefined, real: Location, name: string, path: string): boolean;
}

/** Files in a batch: few enough that nobody waits long for the last one, and enough that handing them over costs little. */
const MOST = 64;
/** Helpers are given up when more than one file in so many had to be searched again. */
const TOO_MANY = 3;
const AFTER = 200;

/** Hands the files of a walk to helpers and to itself, and settles them in the order of the walk. */
export class CrewedSearch {
  readonly #examiner: Examiner;
  readonly #waiting: Batch[] = [];
  #batch: Batch | undefined;
  #settled = 0;
  #again = 0;
  #ended = false;

  constructor(readonly crew: Crew, task: SearchTask, readonly side: EngineSide, readonly settle: Settle) {
    this.#examiner = new Examiner(task, side);
  }

  /** Whether too many files hold something for helpers to be of use. */
  get needless(): boolean {
    return this.#settled > AFTER && this.#again * TOO_MANY > this.#settled;
  }

  /** The next file of the walk, in an open folder, and what is known of it. Returns false when no more is wanted. */
  take(
    { folder, real }: { folder: Folder; real: Location },
    name: string,
    path: string,
    known: number | undefined,
  ): boolean {
    if (this.#batch?.files === MOST) this.#send();
    const batch: Batch = this.#batch ??= { parts: [], files: 0, own: !this.crew.room() };
    let part = batch.parts.at(-1);
    if (part?.real !== real) {
      const { dev, ino } = folder.facts();
      batch.parts.push(part = { real, identity: { dev, ino }, names: [], paths: [], seen: [] });
    }
    part.names.push(name);
    part.paths.push(path);
    part.seen.push(known ?? (batch.own ? this.#examiner.look(folder, name) : 0));
    batch.files++;
    return !this.#ended;
  }

  /** Settles all that was taken. Returns false when no more is wanted. */
  finish(): boolean {
    if (this.#batch) this.#send();
    this.#settleWaiting(true);
    return !this.#ended;
  }

  #send() {
    const batch = this.#batch!;
    this.#batch = undefined;
    if (this.#ended) return;
    if (!batch.own) batch.ticket = this.crew.give(this.#jobOf(batch));
    this.#waiting.push(batch);
    this.#settleWaiting(false);
  }

  #jobOf({ parts }: Batch): Job {
    const { trees } = this.side.survey.boundary;
    return parts.map(({ real, identity, names, seen }) => ({
      tree: trees.indexOf(real.tree),
      segments: real.segments,
      identity,
      names: names.map((name, i) => seen[i] === 0 ? name : ""),
    }));
  }

  #settleWaiting(wait: boolean) {
    while (this.#waiting.length > 0 && !this.#ended) {
      const batch = this.#waiting[0];
      if (!batch.own) {
        this.side.call.pulse();
        const result = batch.ticket === undefined ? undefined : this.crew.result(batch.ticket, wait);
        if (!result && !wait && batch.ticket !== undefined) return;
        if (result?.length === batch.files) takeIn(batch, result);
      }
      this.#waiting.shift();
      for (const part of batch.parts) this.#settle(part);
    }
  }

  /** Puts the files of a folder into the answer; those of which nothing came are looked at first. */
  #settle({ real, identity, names, paths, seen }: Part) {
    let folder: Folder | undefined;
    let opened = false;
    const open = () => {
      if (!opened) [folder, opened] = [reopen(this.side, real, identity), true];
      return folder;
    };
    try {
      for (let i = 0; i < names.length && !this.#ended; i++) {
        this.#settled++;
        if (seen[i] === 0) {
          const there = open();
          seen[i] = there ? this.#examiner.look(there, names[i]) : SEEN.GONE;
        }
        if (seen[i] !== SEEN.LATER) this.#ended = !this.settle.seen(seen[i], names[i]);
        else {
          this.#again++;
          this.#ended = !this.settle.search(open(), real, names[i], paths[i]);
        }
      }
    } finally {
      folder?.close();
    }
  }
}

function takeIn({ parts }: Batch, result: Uint8Array) {
  let at = 0;
  for (const { seen } of parts) {
    for (let i = 0; i < seen.length; i++, at++) if (seen[i] === 0) seen[i] = result[at];
  }
}
