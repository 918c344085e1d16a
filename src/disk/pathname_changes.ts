/**
 * The changes of the path-name disk: looks, then acts on the path name through `Deno.*`, and compares afterwards where it can.
 *
 * What another process swaps between the two can mislead a change: the folder is compared with the one that was opened right before
 * each, which leaves the moment after that. Modes are set on a handle that was compared. Extended attributes, access control lists,
 * NTFS streams and Windows' attributes are out of sight. Spec: design, "Race-free paths"; 2-verbs §2.8; decision 55.
 */
import fs from "node:fs";
import { type Changing, type Deed, type NewFile, type NotKept, Warrant } from "./changes.ts";
import { DiskError, type Facts, type Folder, type OpenFile, systemError } from "./disk.ts";
import { attempt, factsAt, factsFrom, factsOfNumber, type Identity, isSame, NO_TRAP } from "./pathname_calls.ts";

const WINDOWS = Deno.build.os === "windows";
/** Older than this, in milliseconds, staging goes where nobody can say whether it is in use. */
const ABANDONED_AFTER = 3_600_000;

let bearsLimits = WINDOWS;

/** Where a limit on the length of files is set, the system would kill the process; so it answers the writer instead. */
function bearLimits() {
  if (!bearsLimits) Deno.addSignalListener("SIGXFSZ", () => {});
  bearsLimits = true;
}

/** The half of a folder that changes it. */
export abstract class ChangingFolder implements Changing {
  readonly #opened: Identity;
  /** Holds the lock. */
  #lock: Deno.FsFile | undefined;

  /** @param opened Device and number of the folder when it was opened. */
  constructor(readonly path: string, { dev, ino }: Omit<Identity, "kind">) {
    this.#opened = { dev, ino, kind: "dir" };
  }

  /** The path of an entry. */
  protected at(name: string): string {
    return this.path.endsWith("/") ? this.path + name : `${this.path}/${name}`;
  }

  /**
   * The runtime has no call that asks for rights (its `access` reads the mode too): they are read off modes and owners. Attributes,
   * mounts and Windows' lists are out of sight.
   */
  demandLeave(deed: Deed, name: string): void {
    const uid = account();
    if (uid === undefined || uid === 0) return;
    if (deed === "make" || deed === "put" || deed === "go") {
      const folder = holderAt(this.path);
      if (isShut(folder, uid)) throw declined("this account may not change what is in the folder");
      if (deed !== "go" || (folder.mode & 0o1000) === 0 || folder.uid === uid) return;
      if (holderAt(this.at(name)).uid === uid) return;
      throw declined("in a sticky folder only its owner takes an entry away or replaces it");
    }
    const entry = holderAt(this.at(name));
    if (deed === "mode" && entry.uid !== uid) throw declined("only its owner may set its mode");
    if (deed === "write" && isShut(entry, uid)) throw declined("this account may not write to it");
  }

  create(warrant: Warrant, name: string, mode: number): NewFile {
    this.#demand(warrant, name);
    bearLimits();
    const path = this.at(name);
    const file = attempt(() => Deno.openSync(path, { write: true, createNew: true, mode }));
    try {
      const created = factsFrom(attempt(() => file.statSync()));
      const mine = isSame(factsAt(path), created);
      if (mine && lock(file) && this.#isStill()) return new NamedNewFile(file, path, created);
      if (mine) attempt(() => Deno.removeSync(path));
      if (!this.#isStill()) throw replaced();
      throw new DiskError("busy", "another process is changing this folder at the same moment");
    } catch (error) {
      file.close();
      throw error;
    }
  }

  rename(warrant: Warrant, name: string, to: Folder, toName: string, replace: boolean): void {
    this.#demand(warrant, name);
    if (!(to instanceof ChangingFolder)) throw new TypeError("opened by another disk");
    to.#demand(warrant, toName);
    const [old, new_] = [this.at(name), to.at(toName)];
    const source = factsAt(old);
    if (!source) throw systemError("ENOENT");
    const target = factsAt(new_);
    if (!target) {
      if (replace) move(old, new_, source);
      else renameNew(old, new_, source);
      return;
    }
    if (!replace) throw systemError("EEXIST");
    if (source.kind === "dir" && target.kind !== "dir") throw systemError("ENOTDIR");
    if (source.kind !== "dir" && target.kind === "dir") throw systemError("EISDIR");
    if (isSame(source, target)) {
      // Renaming one name of a file to another of its names does nothing, by the letter of POSIX; and through two mounts one folder
      // would look like two devices. In a folder that ignores case they may be one name; renaming changes how it is written.
      const inOneFolder = isSame(this.#opened, to.#opened);
      if (inOneFolder && name === toName) return;
      if (source.kind !== "dir" && !(inOneFolder && fold(name) === fold(toName))) {
        return attempt(() => Deno.removeSync(old));
      }
    }
    if (WINDOWS && source.kind === "dir" && !isSame(source, target)) attempt(() => fs.rmdirSync(new_));
    move(old, new_, source);
  }

  makeFolder(warrant: Warrant, name: string, mode: number): void {
    this.#demand(warrant, name);
    attempt(() => Deno.mkdirSync(this.at(name), { mode }));
  }

  /** `Deno.removeSync` removes empty folders as well, so one that takes the file's place in this moment goes. */
  remove(warrant: Warrant, name: string): void {
    this.#demand(warrant, name);
    const path = this.at(name);
    const facts = factsAt(path);
    if (!facts) throw systemError("ENOENT");
    if (facts.kind === "dir") throw systemError("EISDIR");
    attempt(() => Deno.removeSync(path));
  }

  removeFolder(warrant: Warrant, name: string): void {
    this.#demand(warrant, name);
    const path = this.at(name);
    const facts = factsAt(path);
    if (!facts) throw systemError("ENOENT");
    if (facts.kind !== "dir") throw systemError("ENOTDIR");
    attempt(() => fs.rmdirSync(path));
  }

  removeAbandoned(warrant: Warrant, name: string): boolean {
    this.#demand(warrant, name);
    const path = this.at(name);
    const facts = factsAt(path);
    if (facts?.kind !== "file") return false;
    const file = openAny(path);
    if (!file) return false;
    try {
      if (!isSame(facts, factsFrom(attempt(() => file.statSync())))) return false;
      const locked = tryLock(file);
      if (locked === false || locked === undefined && Date.now() - facts.modified < ABANDONED_AFTER) return false;
      // Its maker may have put it into place before letting go.
      if (!isSame(factsAt(path), facts)) return false;
      attempt(() => Deno.removeSync(path));
      return true;
    } finally {
      file.close();
    }
  }

  setMode(warrant: Warrant, name: string, facts: Facts, mode: number): void {
    this.#demand(warrant, name);
    if (facts.kind !== "file" && facts.kind !== "dir") throw new DiskError("not-file", "it has no mode of its own");
    if (!WINDOWS) setModeAt(this.at(name), facts, mode);
  }

  makeWritable(warrant: Warrant, name: string): void {
    this.#demand(warrant, name);
    const path = this.at(name);
    // Elsewhere the call would follow a link that is put here now; on Windows making one takes a privilege.
    if (WINDOWS && factsAt(path)?.kind === "file") attempt(() => Deno.chmodSync(path, 0o666));
  }

  /** Windows opens no folders. */
  sync(): void {
    if (WINDOWS) return;
    try {
      using folder = attempt(() => Deno.openSync(this.path));
      attempt(() => folder.syncSync());
    } catch (error) {
      if (!(error instanceof DiskError) || error.fault === "no-space" || /EIO$/.test(error.message)) throw error;
    }
  }

  /** The runtime has no such call. */
  syncAll(): boolean {
    return false;
  }

  tryLock(shared = false): boolean {
    if (WINDOWS) return true;
    this.unlock();
    let folder: Deno.FsFile;
    try {
      folder = attempt(() => Deno.openSync(this.path));
    } catch (error) {
      if (error instanceof DiskError && error.fault === "denied") return true;
      throw error;
    }
    if (!isSame(factsFrom(folder.statSync()), this.#opened)) {
      folder.close();
      throw replaced();
    }
    if (lock(folder, shared)) {
      this.#lock = folder;
      return true;
    }
    folder.close();
    return false;
  }

  unlock(): void {
    this.#lock?.close();
    this.#lock = undefined;
  }

  close(): void {
    this.unlock();
  }

  #demand(warrant: Warrant, name: string) {
    Warrant.demand(warrant, name);
    if (!this.#isStill()) throw replaced();
  }

  /** Whether the path still leads to the folder that was opened. */
  #isStill(): boolean {
    return isSame(factsAt(this.path), this.#opened);
  }
}

let isAccountTold = !WINDOWS;

/** The account that this process acts for; `undefined` on Windows, and where the runtime is not let to tell. */
function account(): number | undefined {
  if (!isAccountTold) return undefined;
  try {
    return Deno.uid()!;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
    isAccountTold = false;
  }
}

function holderAt(path: string): { uid: number; mode: number } {
  const { uid, mode } = attempt(() => Deno.lstatSync(path));
  return { uid: uid!, mode: mode! };
}

/**
 * Whether the mode alone shuts an entry to an account. Which groups that is in is not known, so one of them may be let in; and so may
 * anybody by a list of macOS's, which the mode tells nothing of.
 */
function isShut({ uid, mode }: { uid: number; mode: number }, account: number): boolean {
  if (uid === account) return (mode & 0o200) === 0;
  return Deno.build.os === "linux" && (mode & 0o022) === 0;
}

function declined(message: string): DiskError {
  return new DiskError("denied", message);
}

/**
 * Puts an entry under a name that was not there a moment ago. A file is linked under its new name, which replaces nothing. A folder is
 * renamed, and so is a file where there are no links: in that moment an empty folder, or a file, could appear and be replaced.
 */
function renameNew(old: string, new_: string, source: Facts) {
  if (source.kind !== "dir") {
    try {
      attempt(() => Deno.linkSync(old, new_));
    } catch (error) {
      const fault = error instanceof DiskError ? error.fault : undefined;
      if (fault === "exists" || fault === "cross-device" || fault === "no-space" || fault === "read-only") throw error;
      return move(old, new_, source);
    }
    try {
      return attempt(() => Deno.removeSync(old));
    } catch (error) {
      attempt(() => Deno.removeSync(new_));
      throw error;
    }
  }
  move(old, new_, source);
}

function move(old: string, new_: string, source: Facts) {
  if (source.kind === "dir" && new_.startsWith(`${old}/`)) {
    throw new DiskError("failed", "a folder cannot be moved into itself");
  }
  attempt(() => Deno.renameSync(old, new_));
}

function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function replaced(): DiskError {
  return new DiskError("replaced", "the folder is not the one any more that was opened");
}

/** Whether a lock was taken; `undefined` where there is none to take. */
function tryLock(file: Deno.FsFile, shared = false): boolean | undefined {
  try {
    return file.tryLockSync(!shared);
  } catch {
    return undefined;
  }
}

function lock(file: Deno.FsFile, shared = false): boolean {
  return tryLock(file, shared) !== false;
}

/** Opens a file that was looked at, for writing or, where that is not allowed, for reading. */
function openAny(path: string): Deno.FsFile | undefined {
  for (const way of [{ write: true }, { read: true }]) {
    try {
      return Deno.openSync(path, way);
    } catch {
      // The other way may be allowed.
    }
  }
}

/** Sets the mode of what is at a path, on a handle that was compared. */
function setModeAt(path: string, facts: Identity, mode: number) {
  const now = factsAt(path);
  if (!now) throw systemError("ENOENT");
  if (!isSame(now, facts)) throw otherEntry();
  const { O_RDONLY, O_WRONLY } = fs.constants;
  let fd: number;
  try {
    fd = attempt(() => fs.openSync(path, O_RDONLY | NO_TRAP));
  } catch (error) {
    if (!(error instanceof DiskError) || error.fault !== "denied") throw error;
    fd = attempt(() => fs.openSync(path, O_WRONLY | NO_TRAP));
  }
  try {
    if (!isSame(factsOfNumber(fd), facts)) throw otherEntry();
    attempt(() => fs.fchmodSync(fd, mode));
  } finally {
    fs.closeSync(fd);
  }
}

function otherEntry(): DiskError {
  return new DiskError("replaced", "the entry is not the one any more that was looked at");
}

class NamedNewFile implements NewFile {
  #open = true;

  constructor(readonly file: Deno.FsFile, readonly path: string, readonly created: Identity) {}

  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      const rest = bytes.subarray(done);
      done += attempt(() => this.file.writeSync(rest));
    }
  }

  setMode(mode: number): boolean {
    if (WINDOWS) return true;
    try {
      setModeAt(this.path, this.created, mode);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
    }
    return this.facts().mode === (mode & 0o7777);
  }

  setModified(modified: number): void {
    const accessed = attempt(() => this.file.statSync()).atime ?? new Date();
    // As a date: a number of seconds would lose the last millisecond now and then.
    attempt(() => this.file.utimeSync(accessed, new Date(Math.floor(modified))));
  }

  carry(from: OpenFile): NotKept[] {
    const lost: NotKept[] = [];
    const old = attempt(() => fs.fstatSync(numberOf(from)));
    const own = attempt(() => this.file.statSync());
    if (!WINDOWS && (old.uid !== own.uid || old.gid !== own.gid)) lost.push("owner");
    if (old.nlink > 1) lost.push("hard-links");
    return lost;
  }

  sync(): void {
    try {
      attempt(() => this.file.syncSync());
    } catch (error) {
      // The runtime's way to flush on macOS is not known to file systems of the network.
      if (!(error instanceof DiskError) || !/ENOTSUP|EINVAL|ENOTTY/.test(error.message)) throw error;
    }
  }

  facts(): Facts {
    return factsFrom(attempt(() => this.file.statSync()));
  }

  close(): void {
    if (this.#open) this.file.close();
    this.#open = false;
  }
}

/** The number of an opened file of this disk. */
function numberOf(file: OpenFile): number {
  const { number } = file as OpenFile & { number?: number };
  if (number === undefined) throw new TypeError("opened by another disk");
  return number;
}
