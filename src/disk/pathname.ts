/**
 * Disk access by path name, for systems without pinned handles: checks, then acts through `Deno.*`.
 *
 * Between check and use a path can be swapped by another process; what is opened is compared with what was checked, which leaves
 * the folders above it. `doctor` and the README say so.
 */
import fs from "node:fs";
import type { Boundary } from "../boundary/types.ts";
import { type Disk, DiskError, entryOf, type Facts, type Folder, type Listing, type OpenFile } from "./disk.ts";
import { attempt, factsAt, factsOfNumber, isSame, NO_TRAP } from "./pathname_calls.ts";
import { ChangingFolder } from "./pathname_changes.ts";

/** @throws {DiskError} `replaced` when another folder is at a tree's path than the boundary says. */
export function openPathnameDisk(boundary: Boundary): Disk {
  for (const tree of boundary.trees) {
    const { dev, ino, kind } = factsAt(tree.real) ?? { kind: "other" as const, dev: 0, ino: 0 };
    if (kind !== "dir" || dev !== tree.identity.dev || ino !== tree.identity.ino) {
      throw new DiskError("replaced", `the folder of the tree '${tree.name}' is not the one that was declared`);
    }
  }
  return { kind: "pathname", top: (tree) => new NamedFolder(tree.real, tree.identity), close() {} };
}

class NamedFolder extends ChangingFolder implements Folder {
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
    return factsAt(this.at(name));
  }

  folder(name: string): Folder {
    const path = this.at(name);
    const facts = factsAt(path);
    if (!facts) throw new DiskError("missing", "there is nothing here");
    if (facts.kind !== "dir") throw new DiskError("not-folder", "the entry is of another kind");
    return new NamedFolder(path, facts);
  }

  file(name: string): OpenFile {
    const path = this.at(name);
    const checked = factsAt(path);
    if (!checked) throw new DiskError("missing", "there is nothing here");
    if (checked.kind !== "file") throw new DiskError("not-file", "the entry is of another kind");
    const fd = attempt(() => fs.openSync(path, fs.constants.O_RDONLY | NO_TRAP));
    const opened = factsOfNumber(fd);
    if (!isSame(opened, checked)) {
      fs.closeSync(fd);
      throw new DiskError("not-file", "the entry was replaced while it was opened");
    }
    return new NamedFile(fd, opened);
  }

  link(name: string): string | undefined {
    const path = this.at(name);
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
}

class NamedFile implements OpenFile {
  #open = true;

  constructor(readonly number: number, readonly opened: Facts) {}

  facts(): Facts {
    return this.opened;
  }

  readAt(buffer: Uint8Array, offset: number): number {
    return attempt(() => {
      let filled = 0;
      while (filled < buffer.length) {
        const n = fs.readSync(this.number, buffer, filled, buffer.length - filled, offset + filled);
        if (!n) break;
        filled += n;
      }
      return filled;
    });
  }

  close() {
    if (this.#open) fs.closeSync(this.number);
    this.#open = false;
  }
}
