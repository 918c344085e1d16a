/**
 * Disk access by path name, for systems without pinned handles: checks, then acts through `Deno.*`.
 *
 * Between check and use a path can be swapped by another process; what is opened is compared with what was checked, which leaves
 * the folders above it. `doctor` and the README say so.
 */
import fs from "node:fs";
import type { Boundary } from "../boundary/types.ts";
import {
  type Disk,
  DiskError,
  type EntryKind,
  entryOf,
  type Facts,
  type Folder,
  type Listing,
  type OpenFile,
} from "./disk.ts";

/** @throws {DiskError} `replaced` when another folder is at a tree's path than the boundary says. */
export function openPathnameDisk(boundary: Boundary): Disk {
  for (const tree of boundary.trees) {
    const { dev, ino, kind } = factsAt(tree.real) ?? { kind: "other" as const, dev: 0, ino: 0 };
    if (kind !== "dir" || dev !== tree.identity.dev || ino !== tree.identity.ino) {
      throw new DiskError("replaced", `the folder of the tree '${tree.name}' is not the one that was declared`);
    }
  }
  return { kind: "pathname", top: (tree) => new NamedFolder(tree.real), close() {} };
}

class NamedFolder implements Folder {
  constructor(readonly path: string) {}

  list(): Listing {
    const entries: string[] = [];
    for (const entry of attempt(() => [...Deno.readDirSync(this.path)])) {
      entries.push(
        entryOf(entry.name, entry.isSymlink ? "link" : entry.isDirectory ? "dir" : entry.isFile ? "file" : "other"),
      );
    }
    return { entries, undecodable: 0 };
  }

  look(name: string): Facts | undefined {
    return factsAt(this.#at(name));
  }

  folder(name: string): Folder {
    const path = this.#at(name);
    const facts = factsAt(path);
    if (!facts) throw new DiskError("missing", "there is nothing here");
    if (facts.kind !== "dir") throw new DiskError("not-folder", "the entry is of another kind");
    return new NamedFolder(path);
  }

  file(name: string): OpenFile {
    const path = this.#at(name);
    const checked = factsAt(path);
    if (!checked) throw new DiskError("missing", "there is nothing here");
    if (checked.kind !== "file") throw new DiskError("not-file", "the entry is of another kind");
    // Non-blocking and through no link, where the system knows that: a FIFO put here since the look must not hold us.
    const fd = attempt(() => fs.openSync(path, fs.constants.O_RDONLY | NONBLOCK | NOFOLLOW));
    const file = new NumberedFile(fd);
    const opened = factsFrom(attempt(() => file.statSync()));
    if (opened.dev !== checked.dev || opened.ino !== checked.ino || opened.kind !== "file") {
      file.close();
      throw new DiskError("not-file", "the entry was replaced while it was opened");
    }
    return new NamedFile(file, opened);
  }

  link(name: string): string | undefined {
    const path = this.#at(name);
    if (factsAt(path)?.kind !== "link") return undefined;
    try {
      return attempt(() => Deno.readLinkSync(path));
    } catch (error) {
      // A link a moment ago.
      if (factsAt(path)?.kind !== "link") return undefined;
      throw error;
    }
  }

  facts(): Facts {
    const facts = factsAt(this.path);
    if (!facts) throw new DiskError("missing", "there is nothing here");
    return facts;
  }

  close() {}

  #at(name: string): string {
    return this.path.endsWith("/") ? this.path + name : `${this.path}/${name}`;
  }
}

const NONBLOCK = fs.constants.O_NONBLOCK ?? 0;
const NOFOLLOW = fs.constants.O_NOFOLLOW ?? 0;

class NumberedFile {
  constructor(readonly fd: number) {}
  statSync() {
    const s = fs.fstatSync(this.fd);
    return {
      isSymlink: false,
      isDirectory: s.isDirectory(),
      isFile: s.isFile(),
      size: s.size,
      mtime: s.mtime,
      mode: s.mode,
      dev: s.dev,
      ino: s.ino,
    } as Deno.FileInfo;
  }
  close() {
    fs.closeSync(this.fd);
  }
}

class NamedFile implements OpenFile {
  #file: NumberedFile;
  #open = true;

  constructor(file: NumberedFile, readonly opened: Facts) {
    this.#file = file;
  }

  facts(): Facts {
    return this.opened;
  }

  readAt(buffer: Uint8Array, offset: number): number {
    return attempt(() => {
      let filled = 0;
      while (filled < buffer.length) {
        const n = fs.readSync(this.#file.fd, buffer, filled, buffer.length - filled, offset + filled);
        if (!n) break;
        filled += n;
      }
      return filled;
    });
  }

  close() {
    if (this.#open) this.#file.close();
    this.#open = false;
  }
}

function factsAt(path: string): Facts | undefined {
  try {
    return factsFrom(attempt(() => Deno.lstatSync(path)));
  } catch (error) {
    if (error instanceof DiskError && error.fault === "missing") return undefined;
    throw error;
  }
}

function factsFrom(info: Deno.FileInfo): Facts {
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

function attempt<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new DiskError("missing", "there is nothing here");
    if (error instanceof Deno.errors.NotADirectory) throw new DiskError("not-folder", "the entry is of another kind");
    if (error instanceof Deno.errors.IsADirectory) throw new DiskError("not-file", "the entry is of another kind");
    if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
      throw new DiskError("denied", "the system does not allow it");
    }
    const code = (error as { code?: string }).code;
    // What `node:fs` throws has a code and no class of its own.
    if (code === "ENOENT") throw new DiskError("missing", "there is nothing here");
    if (code === "EACCES" || code === "EPERM") throw new DiskError("denied", "the system does not allow it");
    // A link, a folder or a socket where a file was a moment ago.
    if (code === "ELOOP" || code === "EISDIR" || code === "ENXIO") {
      throw new DiskError("not-file", "the entry is of another kind");
    }
    if (code === "ENAMETOOLONG") throw new DiskError("name-too-long", "the name is longer than the system allows");
    // `readDirSync` and friends report a file on the way as ENOTDIR without a class of its own on some systems.
    if (code === "ENOTDIR") throw new DiskError("not-folder", "the entry is of another kind");
    if (error instanceof Error) throw new DiskError("failed", `the system says: ${code ?? error.name}`);
    throw error;
  }
}
