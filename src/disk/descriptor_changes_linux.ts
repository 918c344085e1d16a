/**
 * The changes of the descriptor disk: every call is relative to the handle of its folder.
 *
 * The kernel fence does not hold mode and times (`landlock_linux.ts`): they are set only on a handle that was compared with what
 * was judged. Spec: design, "Race-free paths"; 2-verbs §2.8; decision 55.
 */
import { type Changing, type Deed, type NewFile, type NotKept, Warrant } from "./changes.ts";
import {
  accessError,
  account,
  AT_EMPTY_PATH,
  AT_NO_AUTOMOUNT,
  AT_SYMLINK_NOFOLLOW,
  code,
  cString,
  E,
  empty,
  encode,
  factsOf,
  failure,
  failureOf,
  type Guards,
  guardsOf,
  handleOf,
  holdersOf,
  isReadOnly,
  libc,
  libraryPath,
  O_CLOEXEC,
  O_CREAT,
  O_EXCL,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_PATH,
  O_RDONLY,
  O_WRONLY,
  open,
} from "./descriptor_libc_linux.ts";
import { DiskError, type Facts, type Folder, isSame, type OpenFile, systemError } from "./disk.ts";

const AT_REMOVEDIR = 0x200;
const RENAME_NOREPLACE = 1;
const [LOCK_SHARED_OR_FAIL, LOCK_EXCLUSIVE_OR_FAIL, LOCK_NONE] = [1 | 4, 2 | 4, 8];
const UTIME_OMIT = 0x3fff_fffe;
const SIGXFSZ = 25;
const SIG_IGN = 1n;
const W_OK = 2;
const X_OK = 1;
/** The right to act as every file's owner, and the form in which the system tells of rights. */
const [CAP_FOWNER, CAPABILITY_VERSION] = [3, 0x2008_0522];
const [SYS_RENAMEAT2, SYS_FCHMODAT2] = Deno.build.arch === "aarch64" ? [276, 452] : [316, 452];
/** The longest value of an attribute, and the longest list of names, that the system has. */
const LONGEST_ATTRIBUTE = 65536;
/** Older than this, in milliseconds, staging goes where nobody can say whether it is in use. */
const ABANDONED_AFTER = 3_600_000;

const SYMBOLS = {
  write: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  fsync: { parameters: ["i32"], result: "i32" },
  syncfs: { parameters: ["i32"], result: "i32" },
  flock: { parameters: ["i32", "i32"], result: "i32" },
  fchmod: { parameters: ["i32", "u32"], result: "i32" },
  futimens: { parameters: ["i32", "buffer"], result: "i32" },
  mkdirat: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  unlinkat: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  linkat: { parameters: ["i32", "buffer", "i32", "buffer", "i32"], result: "i32" },
  renameat: { parameters: ["i32", "buffer", "i32", "buffer"], result: "i32" },
  renameat2: { name: "syscall", parameters: ["u32", "i32", "buffer", "i32", "buffer", "u32"], result: "i32" },
  fchmodat2: { name: "syscall", parameters: ["u32", "i32", "buffer", "u32", "u32"], result: "i32" },
  flistxattr: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  fgetxattr: { parameters: ["i32", "buffer", "buffer", "u32"], result: "i32" },
  fsetxattr: { parameters: ["i32", "buffer", "buffer", "u32", "i32"], result: "i32" },
  fremovexattr: { parameters: ["i32", "buffer"], result: "i32" },
  signal: { parameters: ["i32", "usize"], result: "pointer" },
} as const;

let loaded: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"] | undefined;

/** The calls for changes, loaded by the first of them: most processes only read. */
function calls() {
  if (!loaded) {
    loaded = Deno.dlopen(libraryPath, SYMBOLS).symbols;
    // Where a limit on the length of files is set, the system would kill the process; so it answers the writer instead.
    loaded.signal(SIGXFSZ, SIG_IGN);
  }
  return loaded;
}

/** The half of a folder that changes it. */
export abstract class ChangingFolder implements Changing {
  /** For listing where the system allows that; else one that only leads to entries. */
  abstract readonly handle: number;
  /** Of the folder, once the system has let its entries be changed. A handle is held for one call. */
  #guards: Guards | undefined;

  /** 0.7 µs for the first of a folder's entries, then 0.5 for each that goes, 0.4 for each that is written to (measured). */
  demandLeave(deed: Deed, name: string): void {
    if (deed === "write") return demandWritable(this.handle, name);
    if (deed === "mode") return demandModeSettable(this.handle, name);
    const guards = this.#guards ??= demandEntriesChangeable(this.handle);
    if (deed === "make") return;
    if (guards.isAppendOnly) {
      throw declined("the folder is set append-only, so no name in it can be given or taken away");
    }
    if (deed === "go") demandRemovable(guards, guardsOf(this.handle, encode(name)));
  }

  create(warrant: Warrant, name: string, mode: number): NewFile {
    Warrant.demand(warrant, name);
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    calls();
    const fd = retried(() => libc.openat(this.handle, encode(name), flags, mode));
    if (fd < 0) throw failure();
    try {
      if (lock(fd) && isEntry(this.handle, name, fd)) return new DescriptorNewFile(fd);
      // Clean-up by another process has come between: the file is gone, or about to go.
      if (isEntry(this.handle, name, fd)) unlink(this.handle, cString(name));
      throw new DiskError("busy", "another process is changing this folder at the same moment");
    } catch (error) {
      libc.close(fd);
      throw error;
    }
  }

  rename(warrant: Warrant, name: string, to: Folder, toName: string, replace: boolean): void {
    Warrant.demand(warrant, name, toName);
    const [from, into] = [this.handle, handleOf(to)];
    const [old, new_] = [cString(name), cString(toName)];
    if (!replace) {
      if (retried(() => calls().renameat2(SYS_RENAMEAT2, from, old, into, new_, RENAME_NOREPLACE)) >= 0) return;
      const number = code();
      // The other device comes first with the kernel, what is there with us.
      if (number === E.XDEV && lookAt(into, toName)) throw systemError("EEXIST");
      if (number !== E.INVAL && number !== E.NOSYS) throw failureOf(number);
      // Also the answer to a folder that is moved into itself; the plain call says so again.
      return renameWithoutFlag(from, old, into, new_);
    }
    const names = namesOf(from, name, into, toName);
    if (names === "one name") return;
    if (names === "one file") return unlink(from, old);
    if (retried(() => calls().renameat(from, old, into, new_)) < 0) throw renameFailure(code());
  }

  makeFolder(warrant: Warrant, name: string, mode: number): void {
    Warrant.demand(warrant, name);
    if (retried(() => calls().mkdirat(this.handle, encode(name), mode)) < 0) throw failure();
  }

  remove(warrant: Warrant, name: string): void {
    Warrant.demand(warrant, name);
    unlink(this.handle, cString(name));
  }

  removeFolder(warrant: Warrant, name: string): void {
    Warrant.demand(warrant, name);
    if (retried(() => calls().unlinkat(this.handle, encode(name), AT_REMOVEDIR)) >= 0) return;
    const number = code();
    throw number === E.EXIST ? systemError("ENOTEMPTY") : failureOf(number);
  }

  removeAbandoned(warrant: Warrant, name: string): boolean {
    Warrant.demand(warrant, name);
    const facts = lookAt(this.handle, name);
    if (facts?.kind !== "file") return false;
    // Some file systems lock only handles for writing.
    const fd = openAny(this.handle, name, [O_WRONLY, O_RDONLY]);
    if (fd < 0) return false;
    try {
      const locked = calls().flock(fd, LOCK_EXCLUSIVE_OR_FAIL) >= 0;
      if (!locked && (code() === E.AGAIN || Date.now() - facts.modified < ABANDONED_AFTER)) return false;
      // Its maker may have put it into place before letting go.
      if (!isSame(facts, factsOf(fd, empty, AT_EMPTY_PATH)!) || !isEntry(this.handle, name, fd)) return false;
      unlink(this.handle, cString(name));
      return true;
    } finally {
      libc.close(fd);
    }
  }

  setMode(warrant: Warrant, name: string, facts: Facts, mode: number): void {
    Warrant.demand(warrant, name);
    if (facts.kind !== "file" && facts.kind !== "dir") throw new DiskError("not-file", "it has no mode of its own");
    // Such a handle opens nothing: no right is needed, and a device or FIFO that was put here notices nothing.
    const pin = open(this.handle, encode(name), O_PATH);
    try {
      demandSame(pin, facts);
      // Linux 6.6; before it the mode is only set on a handle for reading or writing.
      if (calls().fchmodat2(SYS_FCHMODAT2, pin, empty, mode, AT_EMPTY_PATH) >= 0) return;
      setModeOpened(this.handle, name, facts, mode);
    } finally {
      libc.close(pin);
    }
  }

  /** Windows alone has something to clear. */
  makeWritable(warrant: Warrant, name: string): void {
    Warrant.demand(warrant, name);
  }

  /** A handle that only leads to entries cannot be flushed or locked. */
  sync(): void {
    if (retried(() => calls().fsync(this.handle)) >= 0) return;
    const number = code();
    if (number === E.IO || number === E.NOSPC || number === E.DQUOT) throw failureOf(number);
  }

  syncAll(): boolean {
    if (retried(() => calls().syncfs(this.handle)) >= 0) return true;
    const number = code();
    if (number === E.IO || number === E.NOSPC || number === E.DQUOT) throw failureOf(number);
    return false;
  }

  tryLock(shared = false): boolean {
    return lock(this.handle, shared ? LOCK_SHARED_OR_FAIL : LOCK_EXCLUSIVE_OR_FAIL);
  }

  unlock(): void {
    lock(this.handle, LOCK_NONE);
  }
}

const dot = cString(".");

/** @returns What else decides for entries of the folder. */
function demandEntriesChangeable(folder: number): Guards {
  const guards = guardsOf(folder, empty);
  const number = accessError(folder, dot, W_OK | X_OK);
  if (number === 0) return guards;
  if (guards.isImmutable) throw declined("the folder is set immutable");
  throw refused(number, "this account may not change what is in the folder");
}

/** An entry may be removed, moved, or replaced as a name. */
function demandRemovable(folder: Guards, entry: Guards) {
  if (entry.isMount) throw new DiskError("busy", "something is mounted on it");
  demandAttributesFree(entry);
  if (folder.isSticky && folder.uid !== account() && !isOwner(entry)) {
    throw declined("in a sticky folder only its owner takes an entry away or replaces it");
  }
}

function demandAttributesFree({ isImmutable, isAppendOnly }: Guards) {
  if (isImmutable) throw declined("it is set immutable");
  if (isAppendOnly) throw declined("it is set append-only");
}

function demandWritable(folder: number, name: string) {
  const number = accessError(folder, encode(name), W_OK);
  if (number !== 0) throw refused(number, "this account may not write to it");
}

function demandModeSettable(folder: number, name: string) {
  const entry = guardsOf(folder, encode(name));
  demandAttributesFree(entry);
  if (!isOwner(entry)) throw declined("only its owner may set its mode");
  if (isReadOnly(folder)) throw failureOf(E.ROFS);
}

/** Whether this process may act as the owner of an entry. */
function isOwner({ uid }: Guards): boolean {
  return uid === account() || mayActAsOwner();
}

/** Asked only about what is another account's, so the call is loaded when it is. */
function mayActAsOwner(): boolean {
  const library = Deno.dlopen(libraryPath, { capget: { parameters: ["buffer", "buffer"], result: "i32" } });
  try {
    const rights = new Uint32Array(6);
    if (library.symbols.capget(Uint32Array.of(CAPABILITY_VERSION, 0), rights) < 0) throw failure();
    return (rights[0] & 1 << CAP_FOWNER) !== 0;
  } finally {
    library.close();
  }
}

/** Why a right is not given: where it is for want of one, with what is said of that. */
function refused(number: number, denied: string): DiskError {
  return number === E.ACCES || number === E.PERM ? declined(denied) : failureOf(number);
}

function declined(message: string): DiskError {
  return new DiskError("denied", message);
}

/**
 * Renames without replacing on file systems that have no such call. A file is linked under its new name, which replaces nothing. A
 * folder is looked for and then renamed: between the two only an empty folder could appear and be replaced. So could a file where
 * there are no links either. Exported for its test.
 */
export function renameWithoutFlag(
  from: number,
  old: Uint8Array<ArrayBuffer>,
  to: number,
  new_: Uint8Array<ArrayBuffer>,
): void {
  const facts = factsOf(from, old, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT);
  if (!facts) throw systemError("ENOENT");
  if (facts.kind !== "dir") {
    if (retried(() => calls().linkat(from, old, to, new_, 0)) >= 0) {
      try {
        return unlink(from, old);
      } catch (error) {
        calls().unlinkat(to, new_, 0);
        throw error;
      }
    }
    const number = code();
    if (number !== E.PERM && number !== E.OPNOTSUPP && number !== E.NOSYS && number !== E.MLINK) {
      throw failureOf(number);
    }
  }
  if (factsOf(to, new_, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)) throw systemError("EEXIST");
  if (retried(() => calls().renameat(from, old, to, new_)) < 0) throw renameFailure(code());
}

function renameFailure(number: number): DiskError {
  // Either is said of a folder that is not empty.
  if (number === E.EXIST) return systemError("ENOTEMPTY");
  if (number === E.INVAL) return new DiskError("failed", "a folder cannot be moved into itself");
  return failureOf(number);
}

/**
 * How two names stand to each other. Renaming one name of a file to another of its names does nothing, by the letter of POSIX; and
 * through two mounts one folder would look like two devices.
 */
function namesOf(from: number, name: string, to: number, toName: string): "one name" | "one file" | "others" {
  const [old, new_] = [lookAt(from, name), lookAt(to, toName)];
  if (!old || !new_ || !isSame(old, new_)) return "others";
  const inOneFolder = isSame(factsOf(from, empty, AT_EMPTY_PATH)!, factsOf(to, empty, AT_EMPTY_PATH)!);
  if (inOneFolder && name === toName) return "one name";
  // In a folder that ignores case they may be one name; renaming changes how it is written.
  if (old.kind === "dir" || inOneFolder && fold(name) === fold(toName)) return "others";
  return "one file";
}

function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function unlink(folder: number, name: Uint8Array<ArrayBuffer>): void {
  if (retried(() => calls().unlinkat(folder, name, 0)) < 0) throw failure();
}

/** Sets the mode on a handle that was opened for it. Exported for its test. */
export function setModeOpened(folder: number, name: string, facts: Facts, mode: number): void {
  const fd = openAny(folder, name, [O_RDONLY, O_WRONLY]);
  if (fd < 0) throw systemError("EACCES");
  try {
    demandSame(fd, facts);
    if (calls().fchmod(fd, mode) < 0) throw failure();
  } finally {
    libc.close(fd);
  }
}

function demandSame(fd: number, facts: Facts) {
  const now = factsOf(fd, empty, AT_EMPTY_PATH)!;
  if (!isSame(now, facts) || now.kind !== facts.kind) {
    throw new DiskError("replaced", "the entry is not the one any more that was looked at");
  }
}

/** Whether a file or folder is locked so now, or cannot be on this file system. */
function lock(fd: number, how = LOCK_EXCLUSIVE_OR_FAIL): boolean {
  return retried(() => calls().flock(fd, how)) >= 0 || code() !== E.AGAIN;
}

class DescriptorNewFile implements NewFile {
  #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      const rest = done === 0 ? bytes : bytes.subarray(done);
      const n = retried(() => calls().write(this.#fd, rest, Math.min(rest.length, 0x4000_0000)));
      if (n < 0) throw failure();
      done += n;
    }
  }

  setMode(mode: number): boolean {
    calls().fchmod(this.#fd, mode);
    return this.facts().mode === (mode & 0o7777);
  }

  setModified(modified: number): void {
    const seconds = Math.floor(modified / 1000);
    const times = new DataView(new ArrayBuffer(32));
    times.setUint32(8, UTIME_OMIT, true);
    times.setUint32(16, seconds, true);
    times.setInt32(20, Math.floor(seconds / 2 ** 32), true);
    times.setUint32(24, Math.min(Math.round((modified - seconds * 1000) * 1e6), 999_999_999), true);
    if (calls().futimens(this.#fd, times) < 0) throw failure();
  }

  carry(from: OpenFile): NotKept[] {
    const source = handleOf(from);
    const lost = new Set<NotKept>();
    const [old, own] = [holdersOf(source), holdersOf(this.#fd)];
    if (old.uid !== own.uid || old.gid !== own.gid) lost.add("owner");
    if (old.links > 1) lost.add("hard-links");
    carryAttributes(source, this.#fd, lost);
    return [...lost];
  }

  sync(): void {
    if (retried(() => calls().fsync(this.#fd)) < 0) throw failure();
  }

  facts(): Facts {
    return factsOf(this.#fd, empty, AT_EMPTY_PATH)!;
  }

  close(): void {
    if (this.#fd >= 0) libc.close(this.#fd);
    this.#fd = -1;
  }
}

const ACCESS_LIST = "system.posix_acl_access";
/** Attributes that vouch for the content that was. The kernel itself takes the first away when a file is written to. */
const VOUCHING: readonly string[] = ["security.capability", "security.ima", "security.evm"];

function carryAttributes(from: number, to: number, lost: Set<NotKept>) {
  const [value, other] = [new Uint8Array(LONGEST_ATTRIBUTE), new Uint8Array(LONGEST_ATTRIBUTE)];
  const old = attributesOf(from, value);
  if (!old) lost.add("xattrs");
  for (const name of old ?? []) {
    const word = name.startsWith("system.") ? "acl" : "xattrs";
    const bytes = Uint8Array.from(name + "\0", (unit) => unit.charCodeAt(0));
    const length = calls().fgetxattr(from, bytes, value, value.length);
    if (length < 0) {
      if (code() !== E.NODATA) lost.add(word);
      continue;
    }
    // The system gives some, such as labels, by itself, and lets nobody set them.
    const has = calls().fgetxattr(to, bytes, other, other.length);
    if (has === length && value.subarray(0, length).every((byte, i) => byte === other[i])) continue;
    if (VOUCHING.includes(name) || calls().fsetxattr(to, bytes, value, length, 0) < 0) lost.add(word);
  }
  // From the folder's default list: it may let in whom the old file did not.
  if (old && !old.includes(ACCESS_LIST) && attributesOf(to, other)?.includes(ACCESS_LIST)) {
    if (calls().fremovexattr(to, cString(ACCESS_LIST)) < 0) lost.add("acl");
  }
}

/** Names of a file's extended attributes, a character a byte; `undefined` when they cannot be listed. */
function attributesOf(fd: number, buffer: Uint8Array<ArrayBuffer>): string[] | undefined {
  const n = calls().flistxattr(fd, buffer, buffer.length);
  if (n < 0) return code() === E.OPNOTSUPP ? [] : undefined;
  const names: string[] = [];
  for (let start = 0; start < n;) {
    const end = buffer.indexOf(0, start);
    names.push(String.fromCharCode(...buffer.subarray(start, end)));
    start = end + 1;
  }
  return names;
}

/** Opens an entry the first of these ways that the system allows; negative when none is. */
function openAny(folder: number, name: string, ways: readonly number[]): number {
  let fd = -1;
  for (const way of ways) {
    fd = retried(() => libc.openat(folder, encode(name), way | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0));
    if (fd >= 0) break;
  }
  return fd;
}

function lookAt(folder: number, name: string): Facts | undefined {
  return factsOf(folder, encode(name), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT);
}

/** Whether a name still leads to what was opened. */
function isEntry(folder: number, name: string, fd: number): boolean {
  const facts = lookAt(folder, name);
  return facts !== undefined && isSame(facts, factsOf(fd, empty, AT_EMPTY_PATH)!);
}

/** A call, again as long as a signal interrupts it. */
function retried(call: () => number): number {
  for (;;) {
    const n = call();
    if (n >= 0 || code() !== E.INTR) return n;
  }
}
