/**
 * The only interface to files in trees. Two implementations, held to one contract suite:
 *
 * - `descriptor` (Linux): every call is relative to a handle that was pinned before, so a path that is swapped between check and
 *   use cannot lead anywhere else;
 * - `pathname` (anywhere): checks, then acts on the path name.
 *
 * Nothing here knows permissions: what may be opened is judged by the callers in this room (`resolve.ts`, `walk.ts`).
 * Handles are closed by whoever opened them. Spec: design, "Race-free paths"; decisions 40, 54.
 */
import type { Tree } from "../boundary/types.ts";
import type { Changing } from "./changes.ts";

export type EntryKind = "file" | "dir" | "link" | "other";

/** What the system tells of an entry, links not followed. */
export interface Facts {
  kind: EntryKind;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970, with fractions where the system has them. */
  modified: number;
  /** POSIX mode bits without the type; `undefined` on Windows. */
  mode?: number;
  dev: number;
  ino: number;
}

/**
 * The entries of a folder in no order. Each is a name with a mark behind it that tells its kind, and the mark is chosen so that
 * sorting the strings gives the order of whole paths: `name` a regular file, `name/` a folder, `name\0l` a link, `name\0o` any
 * other. A string an entry, since a walk meets hundreds of thousands.
 */
export interface Listing {
  entries: string[];
  /** Names that are not Unicode: left out. 0 where the system does not tell. */
  undecodable: number;
}

/** An opened folder. Names are single segments, never `.` or `..`. */
export interface Folder extends Changing {
  /** @throws {DiskError} `denied` when the folder may be passed through but not listed. */
  list(): Listing;
  /** Facts of an entry; `undefined` when there is none of that name. */
  look(name: string): Facts | undefined;
  /** Opens a folder in this one. @throws {DiskError} `not-folder` for anything else, a link included. */
  folder(name: string): Folder;
  /** Opens a regular file for reading. @throws {DiskError} `not-file` for anything else, a link included. */
  file(name: string): OpenFile;
  /** The text of a link; `undefined` when the entry is none. @throws {DiskError} `no-unicode` for a text that is not. */
  link(name: string): string | undefined;
  /** Facts of this folder itself. */
  facts(): Facts;
  close(): void;
}

/** A regular file, open for reading. */
export interface OpenFile {
  /** As they were when it was opened. */
  facts(): Facts;
  /** Fills a buffer from an offset; fewer bytes than asked for only at the end. Returns their number. */
  readAt(buffer: Uint8Array, offset: number): number;
  close(): void;
}

export interface Disk {
  readonly kind: "descriptor" | "pathname";
  /** The top folder of a tree, freshly opened; to be closed like any other. */
  top(tree: Tree): Folder;
  close(): void;
}

export type DiskFault =
  | "missing"
  | "denied"
  | "not-folder"
  | "not-file"
  | "name-too-long"
  | "replaced"
  | "no-unicode"
  | "exists"
  | "not-empty"
  | "cross-device"
  | "read-only"
  | "no-space"
  | "busy"
  | "failed";

/** What the system, or this room, says against an access. Never carries a path: callers add it where it may be named. */
export class DiskError extends Error {
  override readonly name = "DiskError";
  constructor(readonly fault: DiskFault, message: string) {
    super(message);
  }
}

/** What the codes of the system's errors mean; those of another kind of entry are in `systemError`. */
const FAULTS: Readonly<Record<string, readonly [DiskFault, string]>> = {
  ENOENT: ["missing", "there is nothing here"],
  ESTALE: ["missing", "there is nothing here"],
  EACCES: ["denied", "this account has no right to do that"],
  EPERM: ["denied", "this account has no right to do that"],
  EISDIR: ["not-file", "the entry is of another kind"],
  ENAMETOOLONG: ["name-too-long", "the name is longer than the system allows"],
  EEXIST: ["exists", "there is something of that name"],
  ENOTEMPTY: ["not-empty", "the folder is not empty"],
  EXDEV: ["cross-device", "the two places are on different file systems"],
  EROFS: ["read-only", "the file system is mounted read-only"],
  ENOSPC: ["no-space", "the disk is full"],
  EDQUOT: ["no-space", "this account's share of the disk is used up"],
  EFBIG: ["no-space", "the file would be larger than the system allows"],
  EMLINK: ["no-space", "the folder holds as many folders as the file system allows"],
  EBUSY: ["busy", "another program or a mount holds the entry"],
  ETXTBSY: ["busy", "the file is a program that runs"],
};

/** By these the system says that an entry is not what a call works on: a file, a link or a socket where a folder is due, or the like. */
const OF_ANOTHER_KIND = ["ENOTDIR", "ELOOP", "ENXIO"];

/** An error of the system. `otherwise` is what it means that an entry is of another kind. */
export function systemError(code: string, otherwise: DiskFault = "not-folder"): DiskError {
  if (OF_ANOTHER_KIND.includes(code)) return new DiskError(otherwise, "the entry is of another kind");
  const [fault, message] = FAULTS[code] ?? ["failed", `the system says ${code}`];
  return new DiskError(fault, message);
}

/** Whether an entry of a listing is a folder; `nameOf` takes the mark off. */
export function isFolderEntry(entry: string): boolean {
  return entry.charCodeAt(entry.length - 1) === 0x2f;
}

/** The kind of an entry of a listing. */
export function kindOfEntry(entry: string): EntryKind {
  if (isFolderEntry(entry)) return "dir";
  const cut = entry.length - 2;
  if (cut < 0 || entry.charCodeAt(cut) !== 0) return "file";
  const mark = entry[cut + 1];
  return mark === "l" ? "link" : mark === "d" ? "dir" : "other";
}

/** The name of an entry of a listing. */
export function nameOf(entry: string): string {
  if (isFolderEntry(entry)) return entry.slice(0, -1);
  const cut = entry.length - 2;
  return cut >= 0 && entry.charCodeAt(cut) === 0 ? entry.slice(0, cut) : entry;
}

/** A name as an entry of a listing. */
export function entryOf(name: string, kind: EntryKind): string {
  switch (kind) {
    case "file":
      return name;
    case "dir":
      return name + "/";
    case "link":
      return name + "\0l";
    case "other":
      return name + "\0o";
  }
}

/** Facts of an entry; `undefined` also when the system keeps them back, for walks, which pass over what they may not see. */
export function lookIfAllowed(folder: Folder, name: string): Facts | undefined {
  try {
    return folder.look(name);
  } catch (error) {
    if (error instanceof DiskError) return undefined;
    throw error;
  }
}

/** Whether these are facts of one entry: by device and number. */
export function isSame(a: Facts, b: Facts): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
