/**
 * What `move` and `copy` share: whether two paths may stand to each other so, what every entry of a folder needs where it lands, and
 * copying a tree file by file.
 *
 * A tree is gone through twice, by the same code: first everything is judged, then everything is judged again and copied. One handle
 * a level is open on either side. Spec: 1-boundary §1.5, §1.9, §1.11; 2-verbs §2.8, §2.16, §2.17; 6-screens §6.11.
 */
import { governedBy, governedRefusal, isStaging } from "../boundary/governed.ts";
import { absoluteOf, type Location } from "../boundary/locate.ts";
import { keyOf } from "../boundary/names.ts";
import { printLocation } from "../boundary/print.ts";
import { isListed, type Place, type Survey } from "../boundary/survey.ts";
import type { Permission } from "../boundary/types.ts";
import type { Deed, NotKept } from "../disk/changes.ts";
import {
  DiskError,
  type EntryKind,
  type Facts,
  type Folder,
  isSame,
  kindOfEntry,
  nameOf,
  type OpenFile,
} from "../disk/disk.ts";
import { DEEPEST, demandLeave, type Door } from "../disk/mutate.ts";
import { type Found, recognise, refusalOf } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { cancelled } from "./answer.ts";
import { changing, type Finder, piecesOf } from "./change.ts";
import type { EngineSide } from "./verb.ts";

export interface CarryOptions {
  /** Whether the place of an entry below the source grants what is asked of it. */
  allows(source: Place, destination: Place): boolean;
  /**
   * `files`: files and folders are copied, links and special files left out. `all`: every entry lands; nothing is opened. `no links`: as
   * `files`, but links and special files refuse the whole.
   */
  carries: "files" | "all" | "no links";
  /** Below the path itself, too, files are replaced and folders merged into. */
  overwrite: boolean;
  /** Files keep their times. */
  times: boolean;
}

/** What was met, or copied. */
export interface Carried {
  files: number;
  directories: number;
  bytes: number;
  replaced: number;
  links: string[];
  others: string[];
  /** What was not carried over, of any entry. */
  notKept: NotKept[];
}

/** An entry of either side. */
interface Spot {
  /** As the caller spells it. */
  written: Location;
  real: Location;
}

/** From so many files on, the file system is flushed once instead of each file. Spec: 2-verbs §2.8. */
const MANY = 16;
/** So many paths are named in a sentence. */
const NAMED = 10;
/** The bits by which a file lends the rights of its owner and group. They do not pass to a copy. */
const LENDING = 0o6000;
/** In the order in which they are told. */
const NOT_KEPT: readonly NotKept[] = ["mode", "owner", "acl", "xattrs", "streams", "attributes", "hard-links"];

export class Carriage {
  #carried = nothing();
  #acts = false;
  #screened = false;
  /** The first thing that does not go because of what there is. */
  #unfit: Refusal | undefined;
  /** The first thing that the system does not let happen. */
  #declined: Refusal | undefined;
  #flushOnce = false;
  /** Printed paths of what is in place. */
  readonly #done: string[] = [];
  /** Facts of the source files that were copied, by path. */
  readonly #copied = new Map<string, Facts>();

  constructor(
    readonly side: EngineSide,
    readonly door: Door,
    readonly from: Found,
    readonly to: Found,
    readonly options: CarryOptions,
  ) {}

  /**
   * Judges every entry where it is and where it would land. Changes nothing.
   * @param askLeave Asks the system for more, after permissions and before screens.
   * @throws {Refusal}
   */
  judge(askLeave?: () => void): Carried {
    const carried = this.#run(false);
    if (this.#unfit) throw this.#unfit;
    askLeave?.();
    if (this.#declined) throw this.#declined;
    if (this.#screened) throw screened();
    return carried;
  }

  /** Copies what was judged. @throws {Refusal} with `changed`: what was in place by then. */
  copy(): Carried {
    this.#flushOnce = this.side.disk.kind === "descriptor" && this.#carried.files >= MANY;
    try {
      const carried = this.#run(true);
      if (this.#flushOnce) this.to.folder.syncAll();
      return carried;
    } catch (error) {
      throw this.#stopped(error, "copied");
    }
  }

  /** Removes from the source what was copied, and nothing else. @throws {Refusal} */
  removeSource(): void {
    try {
      this.#removeEntry(this.from, this.from.folder, this.from.name, this.from.facts!);
      this.from.folder.sync();
    } catch (error) {
      const refusal = this.#refusal(error, this.from);
      if (!(refusal instanceof Refusal)) throw refusal;
      const { outcome, message, path, fields } = refusal;
      throw new Refusal(
        outcome,
        `${message}; everything had been copied to the new place by then, and not all of the old could be removed`,
        path,
        { ...fields, changed: this.#done },
      );
    }
  }

  #run(acts: boolean): Carried {
    this.#acts = acts;
    this.#carried = nothing();
    const { from, to } = this;
    // What is moved whole lands where nothing is, or in place of an empty folder.
    const into = this.options.carries === "all" ? undefined : to.folder;
    try {
      const kind = from.facts!.kind;
      if (kind === "dir") this.#folder(from, from.folder, from.name, to, into, to.name);
      else this.#entry(kind, from, from.folder, from.name, to, into, to.name);
    } catch (error) {
      throw this.#refusal(error, from);
    }
    return this.#carried;
  }

  /** A folder that lands at a name, and all that it holds. `into` is absent while the folder it lands in is not made yet. */
  #folder(source: Spot, parent: Folder, name: string, target: Spot, into: Folder | undefined, toName: string) {
    const folder = name === "" ? parent : parent.folder(name);
    let below: Folder | undefined;
    try {
      const facts = folder.facts();
      if (isSame(facts, this.to.folder.facts()) && facts.ino !== 0) throw intoItself(this.#print(this.to.written));
      source = { ...source, real: recognise(this.side.survey, source.real, facts) };
      this.#demandDepth(source);
      let place = this.#judgeOne(source, target, []);
      const there = this.#there(target, into, toName);
      const merges = there?.kind === "dir";
      if (there) {
        target = { ...target, real: recognise(this.side.survey, target.real, there) };
        place = this.#judgeOne(source, target, merges ? [] : ["create"]);
        this.#demandFit(merges, target);
      } else this.#demandGrants(place, ["create"]);
      this.#carried.directories++;
      const found = (facts: Facts | undefined) => foundAt(target, place, into!, toName, facts);
      this.#askGoing(foundAt(source, place, parent, name, facts));
      if (into && !there) this.#ask(found(undefined), "make");
      const mode = facts.mode === undefined ? undefined : facts.mode & 0o777;
      if (this.#acts && !there) {
        // It has to be filled first.
        const options = mode === undefined ? {} : { mode: mode | 0o700 };
        this.door.makeFolder(found(undefined), { ...options, ...this.#flushOnce ? { flush: false } : {} });
        this.#done.push(this.#print(target.written));
      }
      if (toName === "") below = into;
      else if (into && (merges || this.#acts)) below = this.#of(target, () => into.folder(toName));
      // Others may be changing the files of a folder that is merged into.
      if (this.#acts && there) this.door.lock([{ ...found(there), folder: below!, name: "" }]);
      this.#entries(folder, source, target, below);
      if (this.#acts && !there && mode !== undefined) this.#finish(found(below!.facts()), facts.mode!);
      if (this.#acts && !this.#flushOnce) this.#of(target, () => below?.sync());
    } catch (error) {
      throw this.#refusal(error, source);
    } finally {
      if (folder !== parent) folder.close();
      if (below !== into) below?.close();
    }
  }

  #entries(folder: Folder, source: Spot, target: Spot, below: Folder | undefined) {
    const listing = folder.list();
    if (listing.undecodable > 0) {
      throw new Refusal(
        "refused",
        "a name in this folder is not Unicode, so it cannot be carried; nothing was done",
        this.#print(source.written),
      );
    }
    for (const entry of listing.entries.sort()) {
      this.side.call.pulse();
      const [kind, name] = [kindOfEntry(entry), nameOf(entry)];
      // Staging of another call is nobody's yet.
      if (this.options.carries !== "all" && isStaging(name)) continue;
      const [from, to] = [spotBelow(source, name), spotBelow(target, name)];
      if (kind === "dir") this.#folder(from, folder, name, to, below, name);
      else this.#entry(kind, from, folder, name, to, below, name);
    }
  }

  /** Anything but a folder. */
  #entry(
    kind: EntryKind,
    source: Spot,
    folder: Folder,
    name: string,
    target: Spot,
    into: Folder | undefined,
    toName: string,
  ) {
    const { carries } = this.options;
    if (carries === "files" && kind !== "file") {
      // What a hidden place holds is not told, a link in it neither.
      this.#judgeOne(source, undefined, []);
      (kind === "link" ? this.#carried.links : this.#carried.others).push(this.#print(source.written));
      return;
    }
    let needs: Permission[] = ["create"];
    let place = this.#judgeOne(source, target, needs);
    if (carries === "no links" && kind !== "file") {
      const what = kind === "link" ? "link" : "special file";
      return this.#isUnfit(
        new Refusal(
          "refused",
          `the two places are on different file systems, and a ${what} is not carried across; nothing was done`,
          this.#print(source.written),
        ),
      );
    }
    const there = this.#there(target, into, toName);
    const replaces = there?.kind === "file" || there?.kind === "link";
    if (there) {
      target = { ...target, real: recognise(this.side.survey, target.real, there) };
      if (replaces) needs = ["create", "delete"];
      place = this.#judgeOne(source, target, needs);
      this.#demandFit(replaces, target);
    }
    this.#screen(source, target);
    this.#carried.files++;
    if (replaces) this.#carried.replaced++;
    if (carries === "all") return;
    this.#askGoing(foundAt(source, place, folder, name, undefined));
    if (into) {
      const at = foundAt(target, place, into, toName, there);
      const renews = carries === "files" && there?.kind === "file";
      this.#ask(at, !there ? "put" : renews ? "replace" : "go");
      if (renews) this.#declines(() => this.#old(at)?.close());
    }
    this.#file(source, folder, name, (file) => {
      const facts = file.facts();
      this.#carried.bytes += facts.size;
      if (this.#acts) this.#copyFile(source, file, foundAt(target, place, into!, toName, there), needs);
    });
  }

  #file(source: Spot, folder: Folder, name: string, act: (file: OpenFile) => void) {
    try {
      const file = folder.file(name);
      try {
        act(file);
      } finally {
        file.close();
      }
    } catch (error) {
      throw this.#refusal(error, source);
    }
  }

  #copyFile(source: Spot, file: OpenFile, at: Found, needs: readonly Permission[]) {
    const facts = file.facts();
    // What is copied over a file is that file with other content; what is moved is itself once more, and takes along what it can.
    const replaced = this.options.carries === "files" ? this.#old(at) : undefined;
    const old = this.options.carries === "files" ? replaced : file;
    try {
      const { notKept } = this.door.stage(at, piecesOf(file), {
        needs,
        source: file,
        ...old ? { old } : {},
        ...facts.mode === undefined ? {} : { mode: modeOf(facts.mode, replaced?.facts().mode) },
        ...this.options.times ? { modified: facts.modified } : {},
        ...this.#flushOnce ? { flush: false } : {},
      });
      this.door.publish(this.#flushOnce && at.facts === undefined ? { flush: false } : {});
      this.#lose(notKept);
      if ((facts.mode ?? 0) & LENDING) this.#lose(["mode"]);
    } catch (error) {
      // While the folder is open.
      this.door.close();
      throw error;
    } finally {
      replaced?.close();
    }
    this.#done.push(this.#print(at.written));
    this.side.call.progress(this.#done.length);
    this.#copied.set(absoluteOf(this.side.survey.boundary, source.real), facts);
  }

  /** The file that is replaced, open, since it keeps its mode and attributes. */
  #old(at: Found): OpenFile | undefined {
    return at.facts?.kind === "file" ? this.#of(at, () => at.folder.file(at.name)) : undefined;
  }

  /** A folder that was made gets its mode when it is filled. A group that the folder above handed down stays. */
  #finish(made: Found, mode: number) {
    const whole = mode & 0o777 | made.facts!.mode! & 0o7000;
    try {
      if (made.facts!.mode !== whole) this.door.finishFolder(made, whole);
    } catch (error) {
      // Some file systems know no modes.
      if (!(error instanceof Refusal) || error.outcome !== "denied") throw error;
    }
    const has = made.folder.look(made.name)?.mode ?? mode;
    if ((has & 0o777) !== (mode & 0o777) || (mode & 0o7000 & ~has) !== 0) this.#lose(["mode"]);
  }

  /**
   * What is at a place already. Where nothing may be replaced or merged into, only what was found where the path itself leads counts:
   * whatever else is there when something is made has come meanwhile, and refuses it.
   */
  #there(target: Spot, into: Folder | undefined, name: string): Facts | undefined {
    if (!into) return undefined;
    if (target === this.to) return this.to.facts;
    return this.options.overwrite ? this.#of(target, () => into.look(name)) : undefined;
  }

  /**
   * Stages 4 and 5 for one entry, on both sides, before anything is looked at where it lands; what is refused below the paths
   * that were named names no path of a place. Returns the place it lands in.
   */
  #judgeOne(source: Spot, target: Spot | undefined, needs: readonly Permission[]): Place {
    const { survey } = this.side;
    const { boundary } = survey;
    if (target) {
      for (const at of [target.written, target.real]) {
        if (governedBy(boundary, absoluteOf(boundary, at)) !== undefined) {
          throw governedRefusal(this.#print(target.written));
        }
      }
    }
    const here = survey.place(absoluteOf(boundary, source.real));
    const there = survey.place(absoluteOf(boundary, (target ?? this.to).real));
    if (!isListed(here) || !isListed(there)) throw inside();
    if (!this.options.allows(here, there)) throw inside();
    this.#demandGrants(there, needs);
    return there;
  }

  #demandGrants(place: Place, needs: readonly Permission[]) {
    if (needs.some((word) => !place.can.has(word))) throw inside();
  }

  #screen(source: Spot, target: Spot) {
    if (screensLess(this.side.survey, source.real, target.real)) this.#screened = true;
  }

  /** Kinds are looked at when all permissions have been. */
  #demandFit(fits: boolean, target: Spot) {
    if (!fits) this.#isUnfit(kindsDiffer(this.#print(target.written)));
  }

  #isUnfit(refusal: Refusal) {
    if (this.#acts) throw refusal;
    this.#unfit ??= refusal;
  }

  #demandDepth({ real, written }: Spot) {
    if (real.segments.length - this.from.real.segments.length <= DEEPEST) return;
    throw new Refusal("refused", `folders lie more than ${DEEPEST} deep in each other here`, this.#print(written));
  }

  #lose(notKept: readonly NotKept[]) {
    const lost = new Set([...this.#carried.notKept, ...notKept]);
    this.#carried.notKept = NOT_KEPT.filter((word) => lost.has(word));
  }

  /** What is carried to another file system is removed here. */
  #askGoing(at: Found) {
    if (this.options.carries === "no links") this.#ask(at, "go");
  }

  /** Asks the system for its leave while all is judged. That it declines is said when nothing else is refused. */
  #ask(at: Found, deed: Deed | "replace") {
    this.#declines(() => demandLeave(at, deed, this.#print(at.written)));
  }

  #declines(ask: () => void) {
    if (this.#acts || this.#declined) return;
    try {
      ask();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#declined = error;
    }
  }

  #removeEntry(spot: Spot, parent: Folder, name: string, facts: Facts) {
    const place = this.from.place;
    if (facts.kind === "dir") {
      const folder = parent.folder(name);
      try {
        for (const entry of folder.list().entries) {
          this.side.call.pulse();
          const inner = nameOf(entry);
          const below = spotBelow(spot, inner);
          if (kindOfEntry(entry) === "dir") this.#removeEntry(below, folder, inner, folder.look(inner)!);
          else this.#removeFile(below, folder, inner);
        }
      } finally {
        folder.close();
      }
      this.door.remove(foundAt(spot, place, parent, name, facts), { needs: [], flush: false });
    } else this.#removeFile(spot, parent, name);
  }

  /** One that was copied, and is still what was copied. */
  #removeFile(spot: Spot, parent: Folder, name: string) {
    const facts = this.#copied.get(absoluteOf(this.side.survey.boundary, spot.real));
    if (!facts) return;
    this.door.remove(foundAt(spot, this.from.place, parent, name, facts), { needs: [], flush: false });
  }

  /** What the disk says against something names the entry that it is said of. */
  #of<T>(at: Spot, act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw this.#refusal(error, at);
    }
  }

  #refusal(error: unknown, at: Spot): unknown {
    if (error instanceof DiskError) return refusalOf(error, this.#print(at.written));
    return error;
  }

  #stopped(error: unknown, what: string): unknown {
    const refusal = this.#refusal(error, this.from);
    const n = this.#done.length;
    if (n === 0 || !(refusal instanceof Refusal)) return refusal;
    const said = refusal.message === cancelled().message ? "cancelled before it was done" : refusal.message;
    const rest = n > NAMED ? ` and ${n - NAMED} more` : "";
    return new Refusal(
      refusal.outcome,
      `${said}; by then ${what}: ${this.#done.slice(0, NAMED).join(", ")}${rest}`,
      refusal.path,
      { ...refusal.fields, changed: this.#done },
    );
  }

  #print(at: Location): string {
    return printLocation(this.side.survey.boundary, at);
  }
}

/** As `changing`; what the disk says of a folder between two looks is a refusal too. */
export function carrying<T>(side: EngineSide, path: string, act: (door: Door, find: Finder) => T): T {
  try {
    return changing(side, act);
  } catch (error) {
    if (error instanceof DiskError) throw refusalOf(error, path);
    throw error;
  }
}

function nothing(): Carried {
  return { files: 0, directories: 0, bytes: 0, replaced: 0, links: [], others: [], notKept: [] };
}

/**
 * The mode of a copy: the source's; in place of another file that one's, with the execute bits of the source for those who may read it.
 * Spec: 2-verbs §2.8, §2.17.
 */
function modeOf(source: number, replaced: number | undefined): number {
  if (replaced === undefined) return source & 0o1777;
  return replaced & ~0o111 | source & 0o111 & replaced >> 2;
}

function spotBelow({ written, real }: Spot, name: string): Spot {
  const below = (at: Location): Location => ({ tree: at.tree, segments: [...at.segments, name] });
  return { written: below(written), real: below(real) };
}

function foundAt({ written, real }: Spot, place: Place, folder: Folder, name: string, facts: Facts | undefined): Found {
  return { written, real, place, folder, name, facts, close() {} };
}

function inside(): Refusal {
  return new Refusal(
    "refused",
    "something in this folder, or a place where something of it would land, has rules of its own that do not allow it, so nothing was done",
  );
}

/** @throws {Refusal} `invalid` for an entry that would land on or in itself. Spec: 2-verbs §2.16, §2.17. */
export function demandApart(survey: Survey, from: Found, to: Found): void {
  const path = printLocation(survey.boundary, to.written);
  const key = (at: Found) => keyOf(survey.boundary.names, absoluteOf(survey.boundary, at.real));
  if (isSame(from.folder.facts(), to.folder.facts()) && from.name === to.name) {
    throw new Refusal("invalid", "the two paths are one and the same entry", path);
  }
  if (from.facts?.kind === "dir" && key(to).startsWith(key(from) + "/")) throw intoItself(path);
}

function intoItself(path: string): Refusal {
  return new Refusal("invalid", "a folder cannot be put into itself", path);
}

/** What replaces what. */
export function kindsDiffer(path: string): Refusal {
  return new Refusal(
    "refused",
    "what is there is of another kind, or a folder that is not empty, and is not replaced",
    path,
  );
}

export function occupied(path: string): Refusal {
  return new Refusal("target-exists", "something is there already; pass --overwrite (overwrite) to replace it", path);
}

export function special(path: string): Refusal {
  return new Refusal("refused", "this is a FIFO, socket or device, which is neither moved nor copied", path);
}

/** Whether the screen at a destination lacks a category that is screened at the source. Spec: 6-screens §6.11. */
export function screensLess(survey: Survey, from: Location, to: Location): boolean {
  const there = survey.screen(absoluteOf(survey.boundary, to));
  return survey.screen(absoluteOf(survey.boundary, from)).some((word) => !there.includes(word));
}

export function screened(path?: string): Refusal {
  return new Refusal(
    "screened",
    "what lies there is screened, and the destination screens less, so it would become readable past the screen; its content was not " +
      "judged. A person can screen the destination alike in the configuration",
    path,
  );
}
