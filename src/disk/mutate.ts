/**
 * The one door through which anything in a tree is changed: it asks whether names are governed and what the place grants, takes the
 * locks, and only then acts, on the handles that were judged. Nothing else can make a `Warrant`, without which no folder changes.
 *
 * A door is opened for one call. Spec: design, "Race-free paths"; 1-boundary §1.5, §1.6, §1.11; 2-verbs §2.8; decisions 10, 39, 44, 55.
 */
import { governedBy, governedInside, governedRefusal, isGovernedEntry, isStaging } from "../boundary/governed.ts";
import { absoluteOf, type Location } from "../boundary/locate.ts";
import { keyOf, slashed } from "../boundary/names.ts";
import { demand, grantsChange } from "../boundary/permission.ts";
import { printLocation } from "../boundary/print.ts";
import type { Survey } from "../boundary/survey.ts";
import type { Identity, Permission } from "../boundary/types.ts";
import { Refusal } from "../refusal.ts";
import { type Deed, type NewFile, type NotKept, Warrant } from "./changes.ts";
import {
  type Disk,
  DiskError,
  type Folder,
  isFolderEntry,
  isSame,
  kindOfEntry,
  nameOf,
  type OpenFile,
} from "./disk.ts";
import { FolderLocks } from "./locks.ts";
import { type Found, refusalOf } from "./resolve.ts";

/** What a door tells its caller. */
export interface DoorKeeper {
  /** A safe point, passed often; what it throws ends the call, never in the middle of a publication. */
  pulse(): void;
  /** Before the first change, and of each entry that has been changed. */
  changed(path?: string): void;
}

/** Content of a file, in pieces. */
export type Content = Uint8Array | Iterable<Uint8Array>;

export interface StageOptions {
  /** What the place has to grant. */
  needs: readonly Permission[];
  /** The file whose content this is, where it is copied as it is. */
  source?: OpenFile;
  /** The old file, where one is replaced: its mode and attributes are carried over. It has to be open until the file is staged. */
  old?: OpenFile;
  /** Whole mode of a file that replaces nothing, or must not look like the old one. Else a new file has the process's own. */
  mode?: number;
  /** Milliseconds since 1970; else the time of the change. */
  modified?: number;
  /** Without it the file is not flushed: the caller flushes the file system at its end. Only for one that replaces nothing. */
  flush?: false;
  /** The file is closed as soon as it is flushed, for a call that stages many. Its folder's lock keeps clean-up away from it. */
  shut?: true;
}

/** A file that is written and flushed, and not yet in its place. */
export interface Staged {
  at: Found;
  /** Bytes. */
  size: number;
  /** What of the old file is not carried over. */
  notKept: readonly NotKept[];
}

interface Pending extends Staged {
  staging: string;
  file: NewFile;
}

/** What lies below a folder. */
export interface Below {
  files: number;
  directories: number;
  links: string[];
  others: string[];
}

/** What is met, and asked, on the way through a folder. */
interface Scan extends Below {
  readonly governed: "refuse" | "allow";
  /** What then happens to every entry. */
  readonly deed: Deed | undefined;
  /** The first that the system does not let happen. */
  declined?: Refusal;
}

const TOP_STAYS = "the top folder of an open tree, or a folder that holds one, stays where it is";

/** Another process that changes the same folder is waited for so long, in milliseconds. Spec: 2-verbs §2.7. */
const PATIENCE = 30_000;

/** What a call that was cancelled says where it had not begun. */
const NOTHING_CHANGED = /; nothing was changed$/;

/** How deep folders may lie in one that is changed as a whole: each level has a handle open. */
export const DEEPEST = 500;

/** Folders that this process has cleaned, by device and number. Decision 55. */
const cleaned = new Set<string>();

export class Door {
  readonly #warrant = new Warrant();
  readonly #locks: FolderLocks;
  readonly #pending: Pending[] = [];
  #began = false;

  /** @param patience Tests make it shorter. */
  constructor(disk: Disk, readonly survey: Survey, readonly keeper: DoorKeeper, patience = PATIENCE) {
    this.#locks = new FolderLocks(disk, () => keeper.pulse(), patience);
  }

  /**
   * Stage 4: no governed name, by the written path and by the real one, and no staging name.
   * @throws {Refusal} `governed`, or `refused` for a name of our own staging.
   */
  demandOrdinary({ written, real }: { written: Location; real: Location }): void {
    const { boundary } = this.survey;
    const path = printLocation(boundary, written);
    for (const at of [written, real]) {
      if (governedBy(boundary, absoluteOf(boundary, at)) !== undefined) throw governedRefusal(path);
      if (isStaging(at.segments.at(-1) ?? "")) {
        throw new Refusal("refused", "names of this form are reserved for Fettler's own files in the making", path);
      }
    }
  }

  /** Stages 4 and 5 for one entry. @throws {Refusal} `governed`, `refused`. */
  judge(at: Found, needs: readonly Permission[]): void {
    this.demandOrdinary(at);
    demand(at.place, needs, this.#print(at));
  }

  /**
   * Locks the folders that hold these entries, waiting for other processes, as long as the entries are open; then removes what killed
   * processes left there. What of an entry was seen before has to be looked at again.
   *
   * @throws {Refusal} `denied` when another process does not end its change, `stale` when it has moved a folder.
   */
  lock(entries: readonly Found[]): void {
    if (entries.every(({ folder }) => folder.rehearses)) return;
    try {
      this.#locks.lock(entries);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      const path = this.#print(entries[0]);
      if (error.fault !== "replaced") throw refusalOf(error, path);
      throw new Refusal(
        "stale",
        "a folder on the way was moved or replaced while this call was at it; try again",
        path,
      );
    }
    for (const { folder } of entries) this.#clean(folder);
  }

  /** A folder is about to be closed, and its lock goes with it: opened anew, it can be locked again. */
  release(folder: Identity): void {
    this.#locks.release(folder);
  }

  /** Removes staging that no living process is at, once in a folder. Failing to is no fault of the call. */
  #clean(folder: Folder) {
    if (folder.rehearses) return;
    const { dev, ino } = folder.facts();
    const key = `${dev}:${ino}`;
    if (cleaned.has(key)) return;
    cleaned.add(key);
    try {
      for (const entry of folder.list().entries) {
        if (isStaging(entry)) folder.removeAbandoned(this.#warrant, entry);
      }
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
    }
  }

  /**
   * Writes a file beside its place and flushes it. Nothing that is there changes before `publish`.
   * @throws {Refusal} `governed`, `refused`, `denied`, … and then nothing of it is left.
   */
  stage(at: Found, content: Content, { needs, source, old, mode, modified, flush, shut }: StageOptions): Staged {
    this.judge(at, needs);
    return this.#try(at, () => {
      this.#begin();
      const staging = `.fettle-${randomHex()}.tmp`;
      const replaced = at.facts;
      // Nobody but the owner sees into it before it has the old file's lists and mode.
      const file = at.folder.create(this.#warrant, staging, replaced ? 0o600 : mode ?? 0o666);
      const pending: Pending = { at, staging, file, size: 0, notKept: [] };
      this.#pending.push(pending);
      if (source && file.borrow?.(source)) pending.size = source.facts().size;
      else {
        for (const piece of content instanceof Uint8Array ? [content] : content) {
          this.keeper.pulse();
          file.write(piece);
          pending.size += piece.length;
        }
      }
      if (old) pending.notKept = file.carry(old);
      const whole = mode ?? replaced?.mode;
      // As with any other write, the bits that lend a file its owner's rights do not pass to new content.
      if (whole !== undefined && (!file.setMode(whole & 0o1777) || (whole & 0o6000) !== 0)) {
        pending.notKept = [...new Set<NotKept>(["mode", ...pending.notKept])];
      }
      if (modified !== undefined) file.setModified(modified);
      if (flush !== false || replaced) file.sync();
      if (shut) file.close();
      return pending;
    });
  }

  /**
   * Puts all that was staged into place, in the order in which it was staged; a file appears whole or not at all.
   *
   * @throws {Refusal} `stale` when an entry is not the one that was judged any more; `target-exists` when one has appeared; `denied`
   * when the disk fails. With `changed`: those that were in place by then.
   * @param options Without `flush` the folders are not flushed: the caller does that.
   */
  publish(options: { flush?: false } = {}): void {
    const waiting = [...this.#pending];
    const folders = new Map<string, Found>();
    // Somebody else's change that is seen before the first rename leaves all as it was.
    if (waiting.length > 1) { for (const { at } of waiting) this.#try(at, () => this.#demandSame(at)); }
    let done = 0;
    for (const pending of waiting) {
      const { at } = pending;
      try {
        this.#demandSame(at);
        at.folder.rename(this.#warrant, pending.staging, at.folder, at.name, at.facts !== undefined);
      } catch (error) {
        throw this.#stopped(at, error, waiting.slice(0, done), waiting.length);
      }
      this.#pending.shift();
      pending.file.close();
      done++;
      this.keeper.changed(this.#print(at));
      if (options.flush === false) continue;
      const { dev, ino } = at.folder.facts();
      folders.set(`${dev}:${ino}`, at);
    }
    for (const at of folders.values()) this.#try(at, () => at.folder.sync());
  }

  /** The entry is still the one that was judged. @throws {Refusal} `stale`, `target-exists`. */
  #demandSame(at: Found) {
    const now = at.folder.look(at.name);
    const before = at.facts;
    if (!before) {
      if (now) throw new Refusal("target-exists", "something has appeared there meanwhile", this.#print(at));
      return;
    }
    const same = now?.ino === before.ino && now.dev === before.dev && now.kind === before.kind &&
      (now.kind !== "file" || now.size === before.size && now.modified === before.modified);
    if (!same) {
      throw new Refusal(
        "stale",
        "it was changed by somebody else while this call was at it; read it again",
        this.#print(at),
      );
    }
  }

  #stopped(at: Found, error: unknown, done: readonly Pending[], of: number): unknown {
    const refusal = error instanceof DiskError ? declinedChange(error, this.#print(at)) : error;
    if (done.length === 0 || !(refusal instanceof Refusal)) return refusal;
    const changed = done.map((pending) => this.#print(pending.at));
    return new Refusal(
      refusal.outcome,
      `${refusal.message}; by then ${done.length} of ${of} files were in place: ${
        changed.join(", ")
      }. The others are as they were`,
      refusal.path,
      { ...refusal.fields, changed },
    );
  }

  /**
   * Makes a folder. Without `flush` the folder that holds it is not flushed: the caller does that.
   * @throws {Refusal} `governed`, `refused`, `target-exists`, `denied`.
   */
  makeFolder(at: Found, options: { mode?: number; flush?: false } = {}): void {
    this.judge(at, ["create"]);
    this.#act(at, () => {
      at.folder.makeFolder(this.#warrant, at.name, options.mode ?? 0o777);
      if (options.flush !== false) at.folder.sync();
    });
  }

  /**
   * Renames an entry, within a folder or from one to another. What the two places have to grant depends on both, so it is stated.
   * A folder is looked through for governed names first, its own new name counted.
   *
   * @throws {Refusal} `governed`, `refused`, `target-exists`, `stale`, `denied`.
   * @throws {DiskError} `cross-device`: nothing has happened; the caller copies and removes.
   */
  rename(
    from: Found,
    to: Found,
    needs: { from: readonly Permission[]; to: readonly Permission[] },
    replace: boolean,
  ): void {
    this.judge(from, needs.from);
    this.judge(to, needs.to);
    if (from.facts?.kind === "dir") this.#demandOrdinaryInside(from, to.name);
    this.#act(from, () => {
      this.#demandSame(from);
      if (isOneEntry(from, to)) this.#respell(from, to.name);
      else if (!replace || to.facts === undefined) {
        from.folder.rename(this.#warrant, from.name, to.folder, to.name, false);
      } else {
        this.#demandSame(to);
        // Two names of one file: by the letter of POSIX renaming one to the other does nothing.
        if (isSame(from.facts!, to.facts) && from.facts!.kind !== "dir") from.folder.remove(this.#warrant, from.name);
        else from.folder.rename(this.#warrant, from.name, to.folder, to.name, true);
      }
      to.folder.sync();
      from.folder.sync();
    });
  }

  /**
   * Writes an entry's name otherwise where the folder takes both spellings for one. Some systems do nothing when asked for that, so it
   * goes by a name between; not by one of staging, which clean-up would remove if this process were killed here.
   */
  #respell({ folder, name }: Found, spelled: string) {
    folder.rename(this.#warrant, name, folder, spelled, true);
    if (folder.list().entries.some((entry) => nameOf(entry) === spelled)) return;
    const between = `.fettle-${randomHex()}.renaming`;
    folder.rename(this.#warrant, name, folder, between, false);
    try {
      folder.rename(this.#warrant, between, folder, spelled, false);
    } catch (error) {
      folder.rename(this.#warrant, between, folder, name, false);
      throw error;
    }
  }

  /**
   * Removes a file, link, special file or empty folder.
   * @param options `needs` where the removal is the end of a move. Without `flush` the caller flushes the folder.
   * @throws {Refusal} `governed`, `refused`, `stale`, `denied`.
   */
  remove(at: Found, options: { force?: boolean; needs?: readonly Permission[]; flush?: false } = {}): void {
    this.judge(at, options.needs ?? ["delete"]);
    this.#act(at, () => {
      this.#demandSame(at);
      if (options.force) at.folder.makeWritable(this.#warrant, at.name);
      if (at.facts!.kind === "dir") at.folder.removeFolder(this.#warrant, at.name);
      else at.folder.remove(this.#warrant, at.name);
      if (options.flush !== false) at.folder.sync();
    });
  }

  /**
   * Removes what lies in a folder and the folder itself, deepest first. The caller has judged it by `judgeBelow`.
   * @throws {Refusal} `denied`, with how much had gone.
   */
  removeAll(at: Found): { files: number; directories: number } {
    this.judge(at, ["delete"]);
    const gone = { files: 0, directories: 0 };
    this.#act(at, () => {
      this.#demandSame(at);
      try {
        this.#removeBelow(at.folder, at.name, at.real, gone);
      } catch (error) {
        if (!(error instanceof DiskError || error instanceof Refusal)) throw error;
        const said = error instanceof DiskError ? declinedChange(error, this.#print(at)) : error;
        throw new Refusal(
          said.outcome,
          `${said.message.replace(NOTHING_CHANGED, "")}; by then ${counted(gone)} in it had gone`,
          said.path ?? this.#print(at),
          { ...said.fields, ...gone },
        );
      }
      at.folder.sync();
    });
    return gone;
  }

  /** One handle a level is open; entries are removed relative to it, so nothing swapped on the way leads elsewhere. */
  #removeBelow(parent: Folder, name: string, at: Location, gone: { files: number; directories: number }) {
    const folder = parent.folder(name);
    try {
      for (const entry of folder.list().entries) {
        this.keeper.pulse();
        const inner = nameOf(entry);
        const here = { tree: at.tree, segments: [...at.segments, inner] };
        // Ours are files; a folder of such a name is somebody's.
        if (isStaging(inner) && !isFolderEntry(entry)) {
          if (folder.removeAbandoned(this.#warrant, inner)) continue;
          const path = printLocation(this.survey.boundary, at);
          throw new Refusal("denied", "another process is changing files in this folder; try again", path);
        }
        if (!isStaging(inner)) this.demandOrdinary({ written: here, real: here });
        if (isFolderEntry(entry)) this.#removeBelow(folder, inner, here, gone);
        else {
          folder.remove(this.#warrant, inner);
          gone.files++;
        }
      }
    } finally {
      folder.close();
    }
    parent.removeFolder(this.#warrant, name);
    gone.directories++;
  }

  /** Gives a folder that was made here the mode that it is to have once it is filled. @throws {Refusal} `governed`, `refused`, `denied`. */
  finishFolder(at: Found, mode: number): void {
    this.judge(at, ["create"]);
    this.#act(at, () => at.folder.setMode(this.#warrant, at.name, at.facts!, mode));
  }

  /** Sets the mode of a file. @throws {Refusal} `governed`, `refused`, `denied`. */
  setMode(at: Found, mode: number): void {
    this.judge(at, ["update"]);
    this.#act(at, () => at.folder.setMode(this.#warrant, at.name, at.facts!, mode));
  }

  /**
   * The folders that stay where they are: tops of trees, and the folder of a scope in a place where nothing may be changed, which the
   * fences keep.
   * @throws {Refusal} `refused`; `denied` for a scope's.
   */
  demandNoTop({ real, written, name, facts }: Found): void {
    const { boundary } = this.survey;
    const path = printLocation(boundary, written);
    const key = keyOf(boundary.names, absoluteOf(boundary, real));
    const isTop = name === "" ||
      boundary.trees.some(({ real }) => keyOf(boundary.names, slashed(boundary.names, real)) === key);
    if (isTop) throw new Refusal("refused", TOP_STAYS, path);
    const holder = this.survey.place(absoluteOf(boundary, { tree: real.tree, segments: real.segments.slice(0, -1) }));
    if (facts?.kind !== "dir" || holder && grantsChange(holder)) return;
    throw new Refusal(
      "denied",
      "nothing may be changed in the folder that holds this one, so it stays where it is",
      path,
    );
  }

  /**
   * What a recursive change asks of everything below a folder: of every place that is declared there, whether or not it is there, and
   * that nothing in it is governed. Names no scope and no path that a scope hides. Spec: 1-boundary §1.5.
   *
   * @param deed What then happens to each entry below, when the system is to be asked for its leave.
   * @throws {Refusal} `refused`, `governed`; `denied` after those.
   */
  judgeBelow(at: Found, needs: readonly Permission[], governed: "refuse" | "allow", deed?: Deed): Below {
    this.demandNoTop(at);
    this.demandPlacesBelow(at, needs);
    const scan: Scan = { files: 0, directories: 0, links: [], others: [], governed, deed };
    this.#try(at, () => this.#scan(at.folder, at.name, at.real, scan), refusalOf);
    if (scan.declined) throw scan.declined;
    return scan;
  }

  /**
   * The part of it that follows from the declaration alone.
   * @throws {Refusal} `refused`.
   */
  demandPlacesBelow(at: Found, needs: readonly Permission[]): void {
    const path = this.#print(at);
    const places = this.survey.placesBelow(absoluteOf(this.survey.boundary, at.real));
    if (places.some((place) => place.scope === undefined)) {
      throw new Refusal("refused", TOP_STAYS, path);
    }
    if (places.some((place) => !["list" as const, ...needs].every((word) => place.can.has(word)))) {
      throw new Refusal(
        "refused",
        "something inside this folder has rules of its own that do not allow it, so nothing was done",
        path,
      );
    }
  }

  #scan(parent: Folder, name: string, at: Location, scan: Scan, depth = 1) {
    const { governed } = scan;
    if (depth > DEEPEST) {
      const path = printLocation(this.survey.boundary, at);
      throw new Refusal("refused", `folders lie more than ${DEEPEST} deep in each other here`, path);
    }
    const folder = parent.folder(name);
    try {
      const listing = folder.list();
      if (listing.undecodable > 0 && governed === "refuse") {
        const path = printLocation(this.survey.boundary, at);
        throw new Refusal("refused", "a name in this folder is not Unicode, so it cannot be judged", path);
      }
      for (const entry of listing.entries) {
        this.keeper.pulse();
        const inner = nameOf(entry);
        const here = { tree: at.tree, segments: [...at.segments, inner] };
        const path = printLocation(this.survey.boundary, here);
        if (governed === "refuse" && isGovernedEntry(name, inner)) throw governedRefusal(path);
        if (governed === "refuse") this.#demandNotInForce(here, path);
        this.#askLeave(folder, inner, path, scan);
        switch (kindOfEntry(entry)) {
          case "dir":
            scan.directories++;
            this.#scan(folder, inner, here, scan, depth + 1);
            break;
          case "file":
            if (!isStaging(inner)) scan.files++;
            break;
          case "link":
            scan.links.push(path);
            break;
          default:
            scan.others.push(path);
        }
      }
    } finally {
      folder.close();
    }
  }

  /** Staging of others goes by itself, or nothing does. */
  #askLeave(folder: Folder, name: string, path: string, scan: Scan) {
    if (!scan.deed || scan.declined || isStaging(name)) return;
    try {
      folder.demandLeave(scan.deed, name);
    } catch (error) {
      // What has gone meanwhile need not go.
      if (!(error instanceof DiskError)) throw error;
      if (error.fault !== "missing") scan.declined = declinedChange(error, path);
    }
  }

  #demandNotInForce(at: Location, path: string) {
    if (governedBy(this.survey.boundary, absoluteOf(this.survey.boundary, at)) !== undefined) {
      throw governedRefusal(path);
    }
  }

  /** A folder that is about to bear a name may hold none of the entries that would be governed by it. */
  #demandOrdinaryInside(at: Found, name: string) {
    if (governedInside(name).length === 0) return;
    this.#try(at, () => {
      const folder = at.folder.folder(at.name);
      try {
        for (const entry of folder.list().entries) {
          if (isGovernedEntry(name, nameOf(entry))) throw governedRefusal(this.#print(at));
        }
      } finally {
        folder.close();
      }
    }, refusalOf);
  }

  /** Removes what was staged and not published. To be called at the end of every call, whatever came of it. */
  close(): void {
    for (const pending of this.#pending.splice(0)) {
      pending.file.close();
      try {
        pending.at.folder.remove(this.#warrant, pending.staging);
      } catch (error) {
        if (!(error instanceof DiskError || error instanceof Refusal)) throw error;
      }
    }
    this.#locks.close();
  }

  #act(at: Found, act: () => void) {
    this.#begin();
    this.#try(at, act);
    this.keeper.changed(this.#print(at));
  }

  #begin() {
    if (this.#began) return;
    this.#began = true;
    this.keeper.changed();
  }

  /** A fault of the disk as the refusal of the spec; that two places lie on different file systems is the caller's business. */
  #try<T>(at: Found, act: () => T, refusal = declinedChange): T {
    try {
      return act();
    } catch (error) {
      if (error instanceof DiskError && error.fault !== "cross-device") throw refusal(error, this.#print(at));
      throw error;
    }
  }

  #print({ written }: Found): string {
    return printLocation(this.survey.boundary, written);
  }
}

/**
 * Stage 7: whether the system would let an entry be changed so, or be made; dry runs ask what real ones do. `replace` gives a file
 * other content. Spec: 1-boundary §1.6; 2-verbs §2.8.
 *
 * @throws {Refusal} `denied`.
 */
export function demandLeave(
  { folder, name, facts }: Pick<Found, "folder" | "name" | "facts">,
  deed: Deed | "replace",
  path: string,
): void {
  try {
    if (deed !== "replace") return folder.demandLeave(deed, name);
    // A new file takes the old one's place, for which its folder alone would decide.
    if (facts?.mode !== undefined && (facts.mode & 0o200) === 0) {
      throw new Refusal("denied", "the file is read-only, so its content is not replaced", path);
    }
    folder.demandLeave("go", name);
    folder.demandLeave("write", name);
  } catch (error) {
    if (error instanceof DiskError) throw declinedChange(error, path);
    throw error;
  }
}

/** A fault of the disk at a change, as the refusal of the spec. */
function declinedChange(error: DiskError, path: string): Refusal {
  if (error.fault !== "denied") return refusalOf(error, path);
  return new Refusal("denied", `the operating system declines: ${error.message}`, path);
}

/**
 * Whether two names lead to one entry of a folder that takes both for one, ignoring case or composition: then only one of them is
 * written there. Two hard links are two entries.
 */
export function isOneEntry(a: Found, b: Found): boolean {
  if (!a.facts || !b.facts || a.name === "" || b.name === "" || a.name === b.name) return false;
  if (!isSame(a.facts, b.facts) || !isSame(a.folder.facts(), b.folder.facts())) return false;
  const names = new Set(a.folder.list().entries.map(nameOf));
  return !(names.has(a.name) && names.has(b.name));
}

function randomHex(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function counted({ files, directories }: { files: number; directories: number }): string {
  const plural = (n: number, noun: string) => `${n} ${n === 1 ? noun : noun + "s"}`;
  return `${plural(files, "file")} and ${plural(directories, "folder")}`;
}
