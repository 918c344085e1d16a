/**
 * Walking a tree: every entry below a folder in the order of whole paths, as far as the boundary lists it.
 *
 * Links are never followed, hidden places are neither entered nor counted, folders are resolved once while descending and opened
 * relative to the one above. One string an entry, no object. Spec: 2-verbs §2.6; 1-boundary §1.3 rules 6 and 7; decision 38.
 */
import { absoluteOf, type Location } from "../boundary/locate.ts";
import { isStaging } from "../boundary/governed.ts";
import { join, segmentsOf } from "../boundary/names.ts";
import { isListed, type Place, type Survey } from "../boundary/survey.ts";
import {
  DiskError,
  type EntryKind,
  entryOf,
  type Facts,
  type Folder,
  isFolderEntry,
  kindOfEntry,
  type Listing,
  lookIfAllowed,
  nameOf,
} from "./disk.ts";
import { recognise } from "./resolve.ts";

/** Counting of what was left out stops here. Spec: 2-verbs §2.6. */
const MOST_EXCLUDED = 1000;

export interface WalkOptions {
  /** Where the walk starts: an opened folder, closed by the walk, and its real location. */
  start: Folder;
  real: Location;
  /** The start folder's path as rows spell it, below its tree; empty for the top. */
  written: string;
  /** Levels below the start folder; 1 is its direct entries. */
  depth: number;
  /** Folder names, in lower case, that are skipped and counted. */
  skip: ReadonlySet<string>;
  /** Whether an entry's path is left out, with everything below it, and counted. Without it none is. */
  excludes?(path: string): boolean;
  /** Whether folders are visited too. */
  folders: boolean;
  /** Whether a folder can hold anything that is wanted; one that cannot is not entered, nor counted. Without it all can. */
  enters?(path: string): boolean;
  /** A safe point, passed for every entry; what it throws ends the walk. */
  pulse(): void;
  /**
   * Called for every entry in path order, folders before what they hold. `at.folder` is open during the call only.
   * Returns false to end the walk.
   */
  visit: Visit;
}

/**
 * `at` is the folder that holds the entry, `path` the entry's as rows spell it, `place` the one that decides it. A folder comes with
 * the `facts` by which it was judged: a second look could meet another one, and only these may be told.
 */
export type Visit = (
  at: { readonly folder: Folder; readonly real: Location },
  name: string,
  path: string,
  kind: EntryKind,
  place: Place,
  facts?: Facts,
) => boolean;

/** What a walk met beside the entries it handed on. */
export interface WalkCounts {
  /** Files in skipped folders and those left out; at most 1,000. */
  excluded: number;
  /** Counting stopped at 1,000. */
  excludedAtLeast: boolean;
  /** Names of the skipped folders, as they are on disk, sorted. */
  skipped: string[];
  foldersUnreadable: number;
  namesUndecodable: number;
  /** `visit` ended it. */
  ended: boolean;
}

/** One folder of the descent. */
interface Level {
  folder: Folder;
  real: Location;
  /** Absolute, for asking places. */
  absolute: string;
  /** As rows spell it, with a `/` behind it unless it is the top. */
  prefix: string;
  place: Place;
  /** Sorted; walked from the front. */
  entries: string[];
  next: number;
  /** Some entry leads to a declaration, so places are asked entry by entry. */
  mixed: boolean;
}

/** The counts of a walk that met nothing. */
export function nothingMet(): WalkCounts {
  return {
    excluded: 0,
    excludedAtLeast: false,
    skipped: [],
    foldersUnreadable: 0,
    namesUndecodable: 0,
    ended: false,
  };
}

/** Walks. Never throws for what lies below the start: folders that cannot be opened are counted. */
export function walk(survey: Survey, options: WalkOptions): WalkCounts {
  return new Walk(survey, options).run();
}

class Walk {
  readonly #counts = nothingMet();
  readonly #skipped = new Set<string>();
  readonly #levels: Level[] = [];

  constructor(readonly survey: Survey, readonly options: WalkOptions) {}

  run(): WalkCounts {
    const { start, real, written } = this.options;
    try {
      this.#enter(start, real, absoluteOf(this.survey.boundary, real), written === "" ? "" : written + "/");
      while (this.#levels.length > 0 && !this.#counts.ended) {
        this.options.pulse();
        this.#step(this.#levels[this.#levels.length - 1]);
      }
    } finally {
      for (const level of this.#levels) level.folder.close();
    }
    this.#counts.skipped = [...this.#skipped].sort();
    return this.#counts;
  }

  /** Takes the next entry of the deepest folder. */
  #step(level: Level) {
    if (level.next === level.entries.length) {
      level.folder.close();
      this.#levels.pop();
      return;
    }
    const entry = level.entries[level.next++];
    if (isFolderEntry(entry)) return this.#descend(level, entry.slice(0, -1));
    const kind = kindOfEntry(entry);
    this.#meet(level, kind === "file" ? entry : nameOf(entry), kind);
  }

  #meet(level: Level, name: string, kind: EntryKind) {
    if (isStaging(name) || kind === "dir" && this.options.skip.has(name.toLowerCase())) return;
    const place = this.#placeOf(level, name);
    if (!isListed(place)) return;
    const facts = kind === "dir" ? lookIfAllowed(level.folder, name) : undefined;
    if (kind === "dir" && this.#hides(level, name, facts)) return;
    const path = level.prefix + name;
    if (this.options.excludes?.(path)) {
      if (kind === "file" || kind === "link") this.#count(1);
      return;
    }
    if (!this.options.visit(level, name, path, kind, place, facts)) this.#counts.ended = true;
  }

  /** Whether a folder's own entry is that of a hidden place under another spelling, as for `#decide`. */
  #hides(level: Level, name: string, facts: Facts | undefined): boolean {
    if (facts?.kind !== "dir") return true;
    return !isListed(this.#decide(inside(level.real, name), join(level.absolute, name), facts).place);
  }

  #descend(level: Level, name: string) {
    if (isStaging(name)) return;
    if (this.#levels.length >= this.options.depth) return;
    const path = level.prefix + name;
    const skip = this.options.skip.has(name.toLowerCase());
    const excluded = !skip && this.options.excludes?.(path) === true;
    if (skip || excluded) {
      if (skip && isListed(this.#placeOf(level, name))) this.#skipped.add(name);
      if (this.#counts.excludedAtLeast) return;
    } else if (this.options.enters?.(path) === false) return;

    const folder = this.#open(level.folder, name);
    if (!folder) return;
    const real = inside(level.real, name);
    const absolute = join(level.absolute, name);
    if (skip || excluded) this.#countBelow(folder, real, absolute);
    else this.#enter(folder, real, absolute, path + "/");
  }

  #enter(folder: Folder, at: Location, absolute: string, prefix: string) {
    const level = this.#levelOf(folder, at, absolute, prefix);
    if (level) this.#levels.push(level);
  }

  /** A folder made ready to be walked; `undefined` when it cannot be listed. Its handle is closed then. */
  #levelOf(folder: Folder, at: Location, path: string, prefix: string): Level | undefined {
    try {
      const { real, absolute, place } = this.#decide(at, path, folder.facts());
      const listed = isListed(place);
      const { entries, undecodable } = listed ? folder.list() : this.#named(folder, absolute);
      this.#counts.namesUndecodable += undecodable;
      order(entries, this.options.folders);
      const mixed = !listed || this.survey.leadsAnywhere(absolute);
      return { folder, real, absolute, prefix, place: place!, entries, next: 0, mixed };
    } catch (error) {
      folder.close();
      if (!(error instanceof DiskError)) throw error;
      this.#counts.foldersUnreadable++;
      return undefined;
    }
  }

  /** The place of a folder: by its path, and where that is listed by its identity too. Hidden by either is hidden. */
  #decide(
    at: Location,
    absolute: string,
    facts: Facts,
  ): { real: Location; absolute: string; place: Place | undefined } {
    const place = this.survey.place(absolute);
    const real = isListed(place) ? recognise(this.survey, at, facts) : at;
    if (real === at) return { real, absolute, place };
    const other = absoluteOf(this.survey.boundary, real);
    return { real, absolute: other, place: this.survey.place(other) };
  }

  /** A hidden folder is never enumerated: what leads to listed places below it is looked for by name. */
  #named(folder: Folder, absolute: string): Listing {
    const depth = segmentsOf(absolute).length;
    const names = new Set(this.survey.listedBelow(absolute).map((place) => segmentsOf(place.path)[depth]));
    const entries: string[] = [];
    for (const name of names) {
      const kind = folder.look(name)?.kind;
      if (kind) entries.push(entryOf(name, kind));
    }
    return { entries, undecodable: 0 };
  }

  #placeOf(level: Level, name: string): Place | undefined {
    if (!level.mixed || !this.survey.leads(level.absolute, name)) return level.place;
    return this.survey.place(join(level.absolute, name));
  }

  #open(parent: Folder, name: string): Folder | undefined {
    try {
      return parent.folder(name);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      // Gone, or no folder any more, since the listing: as if it had not been there.
      if (error.fault === "denied" || error.fault === "failed") this.#counts.foldersUnreadable++;
      return undefined;
    }
  }

  #count(files: number) {
    const { excluded } = this.#counts;
    this.#counts.excluded = Math.min(MOST_EXCLUDED, excluded + files);
    this.#counts.excludedAtLeast = excluded + files >= MOST_EXCLUDED;
  }

  /** Counts the files of a folder that is left out, until a thousand are counted in all. */
  #countBelow(start: Folder, at: Location, absolute: string) {
    const unreadable = this.#counts.foldersUnreadable;
    const undecodable = this.#counts.namesUndecodable;
    const stack: Level[] = [];
    const push = (folder: Folder, real: Location, absolute: string) => {
      const level = this.#levelOf(folder, real, absolute, "");
      if (level) stack.push(level);
    };
    push(start, at, absolute);
    while (stack.length > 0 && !this.#counts.excludedAtLeast) {
      this.options.pulse();
      const level = stack[stack.length - 1];
      if (level.next === level.entries.length) {
        stack.pop()!.folder.close();
        continue;
      }
      const entry = level.entries[level.next++];
      if (isFolderEntry(entry)) {
        const name = entry.slice(0, -1);
        if (isStaging(name)) continue;
        const folder = this.#open(level.folder, name);
        if (folder) push(folder, inside(level.real, name), join(level.absolute, name));
        continue;
      }
      const kind = kindOfEntry(entry);
      if (kind === "other" || kind === "dir" || isStaging(entry)) continue;
      if (isListed(this.#placeOf(level, nameOf(entry)))) this.#count(1);
    }
    for (const level of stack) level.folder.close();
    // What could not be opened in a folder that was left out anyway says nothing about the answer.
    this.#counts.foldersUnreadable = unreadable;
    this.#counts.namesUndecodable = undecodable;
  }
}

function inside(folder: Location, name: string): Location {
  return { tree: folder.tree, segments: [...folder.segments, name] };
}

/**
 * Sorts a listing into the order of whole paths. A folder that is visited too gets a second entry, marked `\0d`: its own path
 * comes before `name-b`, what it holds after.
 */
function order(entries: string[], folders: boolean) {
  if (folders) {
    for (let i = entries.length - 1; i >= 0; i--) {
      if (isFolderEntry(entries[i])) entries.push(entries[i].slice(0, -1) + "\0d");
    }
  }
  entries.sort();
}
