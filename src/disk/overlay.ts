/**
 * A disk for rehearsals: what is changed is kept in memory, all else is read through to the disk below, which is never changed.
 *
 * What was changed in a folder is kept by the folder's device and number, so it stays with the folder when that is moved. What is
 * made has made-up numbers below zero. An entry that gets another name or place is still opened where it really lies. The system is asked
 * for its leave where there is something to ask about; not foreseen is what only shows when it is tried, such as room on the disk.
 * Spec: 2-verbs §2.23.
 */
import { keyOf } from "../boundary/names.ts";
import type { Identity, NameRules, Tree } from "../boundary/types.ts";
import { type Deed, type NewFile, type NotKept, Warrant } from "./changes.ts";
import {
  type Disk,
  DiskError,
  entryOf,
  type Facts,
  type Folder,
  isSame,
  type Listing,
  nameOf,
  type OpenFile,
  systemError,
} from "./disk.ts";

/** Where something lies on the disk below, and what it is there. */
interface Source extends Identity {
  tree: Tree;
  /** From the top of the tree. */
  names: readonly string[];
}

/** An entry that was made here, or that got its name or place here. */
interface Entry {
  name: string;
  facts: Facts;
  /** The entry below that it is, or the file below whose content it has. */
  source?: Source;
  /** Content of a file that has no source. */
  pieces: readonly Uint8Array[];
}

/** By the form in which names are compared; `null` stands for one that is gone. */
type Changes = Map<string, Entry | null>;

/** Bytes of the longest name on nearly every file system. In a folder that was made none can be asked. */
const LONGEST_NAME = 255;
/** What the usual mask takes from the mode of what is made. */
const USUAL_MASK = 0o022;

const encoder = new TextEncoder();

/** Reads through to a disk, which stays its owner's to close. */
export class Overlay implements Disk {
  readonly #changes = new Map<string, Changes>();
  readonly #modes = new Map<string, number>();
  #made = 0;

  constructor(readonly below: Disk, readonly names: NameRules) {}

  get kind(): Disk["kind"] {
    return this.below.kind;
  }

  top(tree: Tree): Folder {
    return this.opened(this.below.top(tree), tree, [], []);
  }

  close(): void {}

  /** A folder of the disk below. It is closed when it cannot be looked at. */
  opened(real: Folder, tree: Tree, names: readonly string[], above: readonly string[]): OverlayFolder {
    try {
      const facts = real.facts();
      return new OverlayFolder(this, facts, above, { real, source: { tree, names, dev: facts.dev, ino: facts.ino } });
    } catch (error) {
      real.close();
      throw error;
    }
  }

  /** What was changed in a folder, if anything was. */
  changesIn(folder: Identity): Changes | undefined {
    return this.#changes.get(identityKey(folder));
  }

  put(folder: Identity, name: string, entry: Entry | null): void {
    const key = identityKey(folder);
    const changes = this.#changes.get(key) ?? new Map();
    this.#changes.set(key, changes.set(this.keyOf(name), entry));
  }

  /** Facts of an entry, with the mode that it was given. */
  factsOf(facts: Facts): Facts {
    const mode = this.#modes.get(identityKey(facts));
    return { ...facts, ...mode === undefined ? {} : { mode } };
  }

  setMode(of: Identity, mode: number): void {
    this.#modes.set(identityKey(of), mode);
  }

  /** Facts of something new in a folder. */
  factsOfNew(kind: "file" | "dir", folder: Facts, mode: number): Facts {
    return {
      kind,
      size: 0,
      modified: Date.now(),
      ...folder.mode === undefined ? {} : { mode: mode & ~USUAL_MASK },
      dev: folder.dev,
      ino: --this.#made,
    };
  }

  /** The form in which names of one folder are compared. */
  keyOf(name: string): string {
    return this.names.ignoreCase ? keyOf(this.names, name) : name;
  }

  /** Does something in the folder below that really holds an entry. */
  within<T>({ tree, names }: Source, act: (folder: Folder, name: string) => T): T {
    let folder = this.below.top(tree);
    try {
      for (const name of names.slice(0, -1)) {
        const next = folder.folder(name);
        folder.close();
        folder = next;
      }
      return act(folder, names[names.length - 1]);
    } finally {
      folder.close();
    }
  }
}

class OverlayFolder implements Folder {
  readonly rehearses = true;
  /** The folder below; one that was made has none. */
  readonly #below: { real: Folder; source: Source } | undefined;
  readonly #facts: Facts;
  /** Of the folders that were gone through, and of this one. */
  readonly #way: readonly string[];

  constructor(
    readonly overlay: Overlay,
    facts: Facts,
    above: readonly string[],
    below?: { real: Folder; source: Source },
  ) {
    this.#facts = facts;
    this.#way = [...above, identityKey(facts)];
    this.#below = below;
  }

  list(): Listing {
    const listing = this.#below?.real.list() ?? { entries: [], undecodable: 0 };
    const changes = this.overlay.changesIn(this.#facts);
    if (!changes) return listing;
    const unchanged = listing.entries.filter((entry) => !changes.has(this.overlay.keyOf(nameOf(entry))));
    const changed = [...changes.values()].flatMap((entry) => entry ? [entryOf(entry.name, entry.facts.kind)] : []);
    return { ...listing, entries: [...unchanged, ...changed] };
  }

  look(name: string): Facts | undefined {
    const entry = this.#entry(name);
    return entry && this.overlay.factsOf(entry.facts);
  }

  folder(name: string): Folder {
    const entry = this.#changed(name);
    if (entry === undefined) {
      const { real, source: { tree, names } } = this.#below!;
      return this.overlay.opened(real.folder(name), tree, [...names, name], this.#way);
    }
    const { facts, source } = demandThere(entry);
    if (facts.kind !== "dir") throw systemError("ENOTDIR");
    if (!source) return new OverlayFolder(this.overlay, facts, this.#way);
    const real = this.overlay.within(source, (folder, name) => folder.folder(name));
    return demandSource(this.overlay.opened(real, source.tree, source.names, this.#way), source);
  }

  file(name: string): OpenFile {
    const entry = this.#changed(name);
    if (entry === undefined) {
      const real = this.#below!.real.file(name);
      return new OverlayFile(this.#entryBelow(name, this.overlay.factsOf(real.facts())), real);
    }
    const there = demandThere(entry);
    if (there.facts.kind !== "file") throw systemError("EISDIR");
    const { source } = there;
    const real = source && demandSource(this.overlay.within(source, (folder, name) => folder.file(name)), source);
    return new OverlayFile({ ...there, facts: this.overlay.factsOf(there.facts) }, real);
  }

  link(name: string): string | undefined {
    const entry = this.#changed(name);
    if (entry === undefined) return this.#below!.real.link(name);
    const { facts, source } = demandThere(entry);
    return facts.kind === "link" ? this.overlay.within(source!, (folder, name) => folder.link(name)) : undefined;
  }

  facts(): Facts {
    return this.overlay.factsOf(this.#below?.real.facts() ?? this.#facts);
  }

  close(): void {
    this.#below?.real.close();
  }

  /** What is made here is this account's own. An entry that came from elsewhere was let go there, and asks for itself where it lies. */
  demandLeave(deed: Deed, name: string): void {
    const entry = this.#changed(name);
    if (entry === undefined) this.#below!.real.demandLeave(deed, name);
    else if (deed === "write" || deed === "mode") {
      const { source, facts } = demandThere(entry);
      if (source && identityKey(source) === identityKey(facts)) {
        this.overlay.within(source, (folder, name) => folder.demandLeave(deed, name));
      }
    } else this.#below?.real.demandLeave(deed === "go" ? "put" : deed, name);
  }

  create(warrant: Warrant, name: string, mode: number): NewFile {
    Warrant.demand(warrant, name);
    this.#demandFree(name);
    const file = new OverlayNewFile(name, this.overlay.factsOfNew("file", this.facts(), mode));
    this.#put(name, file.entry);
    return file;
  }

  rename(warrant: Warrant, name: string, to: Folder, toName: string, replace: boolean): void {
    Warrant.demand(warrant, name, toName);
    if (!(to instanceof OverlayFolder)) throw new TypeError("opened by another disk");
    const entry = demandThere(this.#entry(name));
    const target = to.#entry(toName);
    const oneName = isSame(this.#facts, to.#facts) && this.overlay.keyOf(name) === this.overlay.keyOf(toName);
    if (target && !replace) throw systemError("EEXIST");
    if (this.#facts.dev !== to.#facts.dev) throw systemError("EXDEV");
    const isFolder = entry.facts.kind === "dir";
    if (isFolder && to.#way.includes(identityKey(entry.facts))) {
      throw new DiskError("failed", "a folder cannot be moved into itself");
    }
    if (target && !oneName) {
      if (isFolder && target.facts.kind !== "dir") throw systemError("ENOTDIR");
      if (!isFolder && target.facts.kind === "dir") throw systemError("EISDIR");
      if (isFolder) to.#demandEmpty(toName);
      // Another name of the same file: the old one goes.
      else if (isSame(entry.facts, target.facts)) return this.#put(name, null);
    }
    this.#put(name, null);
    to.#put(toName, { ...entry, name: toName });
  }

  makeFolder(warrant: Warrant, name: string, mode: number): void {
    Warrant.demand(warrant, name);
    this.#demandFree(name);
    this.#put(name, { name, facts: this.overlay.factsOfNew("dir", this.facts(), mode), pieces: [] });
  }

  remove(warrant: Warrant, name: string): void {
    Warrant.demand(warrant, name);
    if (demandThere(this.#entry(name)).facts.kind === "dir") throw systemError("EISDIR");
    this.#put(name, null);
  }

  removeFolder(warrant: Warrant, name: string): void {
    Warrant.demand(warrant, name);
    if (demandThere(this.#entry(name)).facts.kind !== "dir") throw systemError("ENOTDIR");
    this.#demandEmpty(name);
    this.#put(name, null);
  }

  /** Whether somebody is at it is not tried. */
  removeAbandoned(warrant: Warrant, name: string): boolean {
    Warrant.demand(warrant, name);
    if (this.#entry(name)?.facts.kind !== "file") return false;
    this.#put(name, null);
    return true;
  }

  setMode(warrant: Warrant, name: string, facts: Facts, mode: number): void {
    Warrant.demand(warrant, name);
    if (facts.kind !== "file" && facts.kind !== "dir") throw new DiskError("not-file", "it has no mode of its own");
    const now = demandThere(this.#entry(name)).facts;
    if (!isSame(now, facts) || now.kind !== facts.kind) {
      throw new DiskError("replaced", "the entry is not the one any more that was looked at");
    }
    if (now.mode !== undefined) this.overlay.setMode(now, mode);
  }

  makeWritable(warrant: Warrant, name: string): void {
    Warrant.demand(warrant, name);
  }

  sync(): void {}

  syncAll(): boolean {
    return true;
  }

  tryLock(): boolean {
    return true;
  }

  unlock(): void {}

  #put(name: string, entry: Entry | null) {
    this.overlay.put(this.#facts, name, entry);
  }

  /** What became of a name: `null` when nothing is there any more, `undefined` when it is as it is below. */
  #changed(name: string): Entry | null | undefined {
    const entry = this.overlay.changesIn(this.#facts)?.get(this.overlay.keyOf(name));
    if (entry !== undefined || this.#below) return entry;
    if (encoder.encode(name).length > LONGEST_NAME) throw systemError("ENAMETOOLONG");
    return null;
  }

  #entry(name: string): Entry | undefined {
    const entry = this.#changed(name);
    if (entry !== undefined) return entry ?? undefined;
    const facts = this.#below!.real.look(name);
    return facts && this.#entryBelow(name, facts);
  }

  /** An entry of the folder below, as it is there. */
  #entryBelow(name: string, facts: Facts): Entry {
    const { tree, names } = this.#below!.source;
    return { name, facts, source: { tree, names: [...names, name], dev: facts.dev, ino: facts.ino }, pieces: [] };
  }

  #demandFree(name: string) {
    if (this.#entry(name)) throw systemError("EEXIST");
  }

  #demandEmpty(name: string) {
    const folder = this.folder(name);
    try {
      const { entries, undecodable } = folder.list();
      if (entries.length + undecodable > 0) throw systemError("ENOTEMPTY");
    } finally {
      folder.close();
    }
  }
}

class OverlayFile implements OpenFile {
  /** @param real The file below that has the content, where that is not kept here. */
  constructor(readonly entry: Entry, readonly real: OpenFile | undefined) {}

  facts(): Facts {
    return this.entry.facts;
  }

  readAt(buffer: Uint8Array, offset: number): number {
    if (this.real) return this.real.readAt(buffer, offset);
    let filled = 0;
    let start = 0;
    for (const piece of this.entry.pieces) {
      const from = offset + filled - start;
      const part = piece.subarray(from, from + buffer.length - filled);
      buffer.set(part, filled);
      filled += part.length;
      start += piece.length;
    }
    return filled;
  }

  close(): void {
    this.real?.close();
  }
}

class OverlayNewFile implements NewFile {
  readonly entry: Entry & { pieces: Uint8Array[] };

  constructor(name: string, facts: Facts) {
    this.entry = { name, facts, pieces: [] };
  }

  write(bytes: Uint8Array): void {
    this.entry.pieces.push(bytes.slice());
    this.entry.facts.size += bytes.length;
  }

  borrow(from: OpenFile): boolean {
    if (!(from instanceof OverlayFile)) throw new TypeError("opened by another disk");
    const { facts, source, pieces } = from.entry;
    this.entry.facts.size = facts.size;
    this.entry.source = source;
    this.entry.pieces = [...pieces];
    return true;
  }

  setMode(mode: number): boolean {
    if (this.entry.facts.mode !== undefined) this.entry.facts.mode = mode;
    return true;
  }

  setModified(modified: number): void {
    this.entry.facts.modified = modified;
  }

  carry(): NotKept[] {
    return [];
  }

  sync(): void {}

  facts(): Facts {
    return { ...this.entry.facts };
  }

  close(): void {}
}

function identityKey({ dev, ino }: Identity): string {
  return `${dev}:${ino}`;
}

function demandThere(entry: Entry | null | undefined): Entry {
  if (!entry) throw systemError("ENOENT");
  return entry;
}

/** What was opened below is what was there when its entry was first met. @throws {DiskError} `missing` */
function demandSource<T extends { facts(): Facts; close(): void }>(opened: T, source: Source): T {
  if (identityKey(opened.facts()) === identityKey(source)) return opened;
  opened.close();
  throw systemError("ESTALE");
}
