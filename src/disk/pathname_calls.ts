/** What both halves of the path-name disk share: looking at a path, and what the system's errors mean. */
import fs from "node:fs";
import { DiskError, type EntryKind, type Facts, systemError } from "./disk.ts";

/** Non-blocking and through no link, where the system knows that: a FIFO or link put here since the last look must not hold or lead us. */
export const NO_TRAP = (fs.constants.O_NONBLOCK ?? 0) | (fs.constants.O_NOFOLLOW ?? 0);

/** Facts of the entry at a path, a link not followed; `undefined` when there is none. */
export function factsAt(path: string): Facts | undefined {
  try {
    return factsFrom(attempt(() => Deno.lstatSync(path)));
  } catch (error) {
    if (error instanceof DiskError && error.fault === "missing") return undefined;
    throw error;
  }
}

export function factsFrom(info: Deno.FileInfo): Facts {
  const kind: EntryKind = info.isSymlink ? "link" : info.isDirectory ? "dir" : info.isFile ? "file" : "other";
  return {
    kind,
    size: info.size,
    modified: info.mtime?.getTime() ?? 0,
    mode: info.mode === null ? undefined : info.mode & 0o7777,
    dev: info.dev,
    ino: info.ino ?? 0,
  };
}

/** Facts of an opened file. */
export function factsOfNumber(fd: number): Facts {
  const info = attempt(() => fs.fstatSync(fd));
  return {
    kind: info.isFile() ? "file" : info.isDirectory() ? "dir" : "other",
    size: info.size,
    modified: Math.floor(info.mtimeMs),
    mode: Deno.build.os === "windows" ? undefined : info.mode & 0o7777,
    dev: info.dev,
    ino: info.ino,
  };
}

/** What tells an entry from others. */
export type Identity = Pick<Facts, "dev" | "ino" | "kind">;

/** Whether both are of one entry. */
export function isSame(a: Identity | undefined, b: Identity): boolean {
  return a?.dev === b.dev && a.ino === b.ino && a.kind === b.kind;
}

/** Numbers of the system's errors that the runtime gives no code, or not everywhere; they stand in its message. */
const NUMBERS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  linux: { 5: "EIO", 27: "EFBIG", 122: "EDQUOT" },
  darwin: { 5: "EIO", 27: "EFBIG", 45: "ENOTSUP", 69: "EDQUOT" },
  windows: {
    17: "EXDEV",
    19: "EROFS",
    32: "EBUSY",
    33: "EBUSY",
    39: "ENOSPC",
    112: "ENOSPC",
    145: "ENOTEMPTY",
    206: "ENAMETOOLONG",
    1295: "EDQUOT",
  },
};

/** Classes of errors that may come without a code. */
const CODES: readonly [new (message: string) => Error, string][] = [
  [Deno.errors.NotFound, "ENOENT"],
  [Deno.errors.NotADirectory, "ENOTDIR"],
  [Deno.errors.IsADirectory, "EISDIR"],
  [Deno.errors.PermissionDenied, "EACCES"],
  [Deno.errors.NotCapable, "EACCES"],
  [Deno.errors.AlreadyExists, "EEXIST"],
  [Deno.errors.FilesystemLoop, "ELOOP"],
  [Deno.errors.Busy, "EBUSY"],
];

/** Makes a call of the runtime's. @throws {DiskError} for what the system says against it. */
export function attempt<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = codeOf(error);
    // What has no folder on its way is in none; a link or socket was a file a moment ago.
    throw systemError(code, code === "ENOTDIR" ? "not-folder" : "not-file");
  }
}

function codeOf(error: Error & { code?: string }): string {
  const number = Number(/\(os error (\d+)\)/.exec(error.message)?.[1]);
  return error.code ?? NUMBERS[Deno.build.os]?.[number] ?? CODES.find(([of]) => error instanceof of)?.[1] ??
    `error ${number || error.name}`;
}
