/**
 * What a folder can be asked to change: the low half of the door in `mutate.ts`, the same for both implementations.
 *
 * Every call demands a `Warrant`, and only the door makes one: so nothing is changed that was not judged. Names are single
 * segments, never `.` or `..`; no call follows a link at a name. Spec: design, "Race-free paths"; 2-verbs §2.8; decisions 44, 55.
 */
import type { Facts, Folder, OpenFile } from "./disk.ts";

/** Says that an operation was judged. Made in `mutate.ts` alone, which `build/imports.ts` holds it to. */
export class Warrant {
  readonly #genuine = true;

  /** The first line of every change. @throws {TypeError} for anything that is no warrant, and for a name that is no single segment. */
  static demand(warrant: Warrant, ...names: readonly string[]): void {
    if (!(#genuine in Object(warrant)) || !warrant.#genuine) throw new TypeError("a change without a warrant");
    for (const name of names) {
      if (name === "" || name === "." || name === ".." || /[/\0]/.test(name)) {
        throw new TypeError("no name of an entry");
      }
    }
  }
}

/** Words for what a replacement did not carry over. Spec: 2-verbs §2.8. */
export type NotKept = "mode" | "owner" | "acl" | "xattrs" | "streams" | "attributes" | "hard-links";

/**
 * What the system is asked for before an entry is changed:
 *
 * - `make`: a folder is made there, or an entry moved to there, where nothing is;
 * - `put`: a file is staged in the folder and then given the name;
 * - `go`: the entry goes away from its name: it is removed, moved, or something else takes its place;
 * - `write`: the entry itself is written to: a file gets other content, a folder another folder above it;
 * - `mode`: its mode is set.
 */
export type Deed = "make" | "put" | "go" | "write" | "mode";

/**
 * The changes that a folder's entries can undergo. Each throws `DiskError`, and a change that fails has not happened: `missing`,
 * `denied`, `read-only`, `no-space`, `busy`, `name-too-long` and `failed` any of them, others as stated. `replaced` says that the
 * folder itself is not the one any more that was opened; only path names can meet that.
 */
export interface Changing {
  /** Set where changes are kept in memory alone: staging that others left is not looked for there. */
  readonly rehearses?: true;
  /**
   * Asks the system for its leave beforehand: rights of the account, mounts, attributes. Nothing is tried, and nothing opened; what
   * only shows when it is tried, such as a full disk, is not foreseen. A folder may be asked once for all its entries.
   *
   * Where rights cannot be asked for (path names), only what is certain is refused: the change itself is the answer.
   * @param name Of an entry that is there, but for `make` and `put`.
   * @throws {DiskError} `denied`, `read-only`, `busy` for what something is mounted on.
   */
  demandLeave(deed: Deed, name: string): void;
  /**
   * Makes a regular file that was not there, open for writing. It is held under an advisory lock until it is closed, so that
   * clean-up by another process can tell that somebody is at it. Nothing is left when it fails.
   * @param mode Bits that the process's mask may take away.
   * @throws {DiskError} `exists`, also for a link, wherever it leads.
   */
  create(warrant: Warrant, name: string, mode: number): NewFile;
  /**
   * Renames an entry into `to`, which may be this folder. Without `replace` nothing that is there is replaced, without a moment
   * between looking and acting where the system allows. With it a file, link or special file replaces any of those, and a folder an
   * empty folder. Where both names are already names of one file, the old one goes away; where they are one and the same, nothing
   * happens.
   * @throws {DiskError} `exists`, `not-empty`, `cross-device`, never where `exists` holds; `not-file` for a folder at `toName` and no folder here, `not-folder` for
   * the reverse.
   */
  rename(warrant: Warrant, name: string, to: Folder, toName: string, replace: boolean): void;
  /**
   * Makes a folder.
   * @param mode Bits that the process's mask may take away.
   * @throws {DiskError} `exists`.
   */
  makeFolder(warrant: Warrant, name: string, mode: number): void;
  /** Removes a file, link or special file. @throws {DiskError} `not-file` for a folder. */
  remove(warrant: Warrant, name: string): void;
  /** Removes an empty folder. @throws {DiskError} `not-empty`, `not-folder`, `busy` for one that something is mounted on. */
  removeFolder(warrant: Warrant, name: string): void;
  /**
   * Removes a file that `create` made and whose maker is gone: one that can be locked. Returns whether it was removed; one that
   * somebody is at stays, and so does anything but a regular file that can be opened. Where the system has no such locks it goes
   * when it is older than an hour. Decision 55.
   */
  removeAbandoned(warrant: Warrant, name: string): boolean;
  /**
   * Sets the POSIX mode of the regular file or folder that was judged: by the handle, and only when that is still the entry of these
   * `facts` (device and number). On Windows nothing.
   * @throws {DiskError} `replaced` for another entry, `not-file` for one that has no mode of its own, such as a link. By path names
   * `denied` also for one that this account can neither read nor write.
   */
  setMode(warrant: Warrant, name: string, facts: Facts, mode: number): void;
  /** Clears Windows' read-only attribute; elsewhere nothing. */
  makeWritable(warrant: Warrant, name: string): void;
  /** Flushes the folder's entries to disk. A system that cannot is silent. */
  sync(): void;
  /** Flushes the whole file system that this folder lies on. Returns false where that cannot be asked for: then files are flushed one by one. */
  syncAll(): boolean;
  /**
   * Takes the advisory lock of this folder for as long as it is open, or makes the one it has another. Returns false when another process
   * has one that excludes it, or another handle of this one; it then has none. Answers true where there are no such locks: on some file
   * systems, for a folder that may not be listed, on Windows.
   * @param shared Beside others that share it.
   */
  tryLock(shared?: boolean): boolean;
  /** Lets go of that lock. */
  unlock(): void;
}

/** A file that is being made. */
export interface NewFile {
  /** Writes all of it at the end of what was written. @throws {DiskError} `no-space`, `failed`. */
  write(bytes: Uint8Array): void;
  /** Takes an opened file's content over by reference, where nothing is really written. Returns whether it did; else it is written. */
  borrow?(from: OpenFile): boolean;
  /** Its whole mode, set on the handle. Returns whether it has that now: a file system may know no modes, the kernel may keep bits back. */
  setMode(mode: number): boolean;
  /** Its modified time, in milliseconds since 1970. */
  setModified(modified: number): void;
  /**
   * Carries over what a replacement keeps beside its content and mode: extended attributes, access control lists where they are
   * attributes. What the folder gave the new file instead of the old one's list is taken away. To be called before `setMode`.
   * Owner and hard links are never kept, nor what vouches for the old content (`security.capability`, `.ima`, `.evm`). Returns what
   * was there and was not kept: `owner` when it differs, `hard-links` when the old file had several names, and so on. Path names
   * see only these two.
   */
  carry(from: OpenFile): NotKept[];
  /** Flushes content and mode to disk. */
  sync(): void;
  facts(): Facts;
  close(): void;
}
