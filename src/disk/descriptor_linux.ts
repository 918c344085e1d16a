/**
 * Disk access on Linux through libc: pinned handles, every call relative to one. What changes entries is in `descriptor_changes_linux.ts`.
 *
 * Offers nothing that takes an absolute path but `top`, which opens the trees of the boundary once, when the engine starts.
 * A name is one segment and is opened with `O_NOFOLLOW`, so no call can leave the folder it names.
 * Measured: open + close 2 µs, facts of an entry 1.1 µs and of an open file 0.3, reading 12 KB 2.4 µs.
 */
import type { Boundary, Tree } from "../boundary/types.ts";
import { ChangingFolder } from "./descriptor_changes_linux.ts";
import {
  AT_EMPTY_PATH,
  AT_FDCWD,
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
  libc,
  loadLibc,
  O_CLOEXEC,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_PATH,
  O_RDONLY,
  open,
  SYS_GETDENTS64,
} from "./descriptor_libc_linux.ts";
import { type Disk, DiskError, type Facts, type Folder, type Listing, type OpenFile } from "./disk.ts";

/** `d_type` of `getdents64`. */
const DT = { UNKNOWN: 0, DIR: 4, REG: 8, LNK: 10 } as const;

// One set of buffers for the thread: every call below is synchronous and done with them when it returns.
const names = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const linkText = new Uint8Array(4096 + 1);
const dirents = new Uint8Array(128 * 1024);
const direntsView = new DataView(dirents.buffer);

/** Opens and pins the trees. @throws {DiskError} `replaced` when another folder is at a tree's path than the boundary says. */
export function openDescriptorDisk(boundary: Boundary, libraryPath: string): Disk {
  loadLibc(libraryPath);
  const pinned = new Map<Tree, number>();
  try {
    for (const tree of boundary.trees) {
      const fd = libc.openat(AT_FDCWD, cString(tree.real), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
      if (fd < 0) throw failure("replaced");
      pinned.set(tree, fd);
      const { dev, ino } = factsOf(fd, empty, AT_EMPTY_PATH)!;
      if (dev !== tree.identity.dev || ino !== tree.identity.ino) {
        throw new DiskError("replaced", `the folder of the tree '${tree.name}' is not the one that was declared`);
      }
    }
  } catch (error) {
    for (const fd of pinned.values()) libc.close(fd);
    throw error;
  }
  return {
    kind: "descriptor",
    top: (tree) => openFolder(pinned.get(tree)!, "."),
    close() {
      for (const fd of pinned.values()) libc.close(fd);
      pinned.clear();
    },
  };
}

/**
 * Opens a folder so that it can be listed, since most are: a second handle for the listing takes 1.1 µs more, of 17 for an average
 * folder of a walk (measured). Where the system lets nobody list, the folder can still be passed through.
 */
function openFolder(parent: number, name: string): DescriptorFolder {
  const flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const fd = libc.openat(parent, encode(name), O_RDONLY | flags, 0);
  if (fd >= 0) return new DescriptorFolder(fd, true);
  const number = code();
  if (number !== E.ACCES && number !== E.PERM) throw failureOf(number, "not-folder");
  return new DescriptorFolder(open(parent, encode(name), O_PATH | O_DIRECTORY, "not-folder"), false);
}

class DescriptorFolder extends ChangingFolder implements Folder {
  #fd: number;
  /** The handle is one for listing, and stands at the first entry. */
  #listable: boolean;

  constructor(fd: number, listable: boolean) {
    super();
    this.#fd = fd;
    this.#listable = listable;
  }

  get handle(): number {
    return this.#fd;
  }

  list(): Listing {
    const entries: string[] = [];
    let undecodable = 0;
    const fd = this.#listable ? this.#fd : open(this.#fd, encode("."), O_RDONLY | O_DIRECTORY);
    this.#listable = false;
    try {
      for (;;) {
        const n = libc.getdents64(SYS_GETDENTS64, fd, dirents, dirents.length);
        if (n < 0) throw failure();
        if (n === 0) return { entries, undecodable };
        for (let at = 0; at < n;) {
          const length = direntsView.getUint16(at + 16, true);
          const type = dirents[at + 18];
          const start = at + 19;
          let end = start;
          let high = 0;
          for (let byte = dirents[end]; byte !== 0; byte = dirents[++end]) high |= byte;
          at += length;
          if (dirents[start] === 0x2e && (end - start === 1 || end - start === 2 && dirents[start + 1] === 0x2e)) {
            continue;
          }
          let name: string;
          // One call for each name, and strings that sort fast: with the sorting 6.5 ms for 21,000 names, 8.1 ms for slices of
          // the buffer decoded at once (measured).
          if (high < 0x80) name = String.fromCharCode.apply(null, dirents.subarray(start, end) as unknown as number[]);
          else {
            try {
              name = names.decode(dirents.subarray(start, end));
            } catch {
              undecodable++;
              continue;
            }
          }
          if (type === DT.REG) entries.push(name);
          else if (type === DT.DIR) entries.push(name + "/");
          else if (type === DT.LNK) entries.push(name + "\0l");
          else if (type !== DT.UNKNOWN) entries.push(name + "\0o");
          else this.#pushUnknown(entries, name);
        }
      }
    } finally {
      if (fd !== this.#fd) libc.close(fd);
    }
  }

  /** Some file systems do not tell kinds in listings. */
  #pushUnknown(entries: string[], name: string) {
    const kind = this.look(name)?.kind;
    if (kind) entries.push(name + { file: "", dir: "/", link: "\0l", other: "\0o" }[kind]);
  }

  look(name: string): Facts | undefined {
    return factsOf(this.#fd, encode(name), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT);
  }

  folder(name: string): Folder {
    return openFolder(this.#fd, name);
  }

  file(name: string): OpenFile {
    // Non-blocking: a FIFO that was put here since the last look must not hold us; it is refused by its facts.
    const fd = open(this.#fd, encode(name), O_RDONLY | O_NONBLOCK, "not-file");
    const facts = factsOf(fd, empty, AT_EMPTY_PATH)!;
    if (facts.kind !== "file") {
      libc.close(fd);
      throw new DiskError("not-file", "the entry is of another kind");
    }
    return new DescriptorFile(fd, facts);
  }

  link(name: string): string | undefined {
    const n = libc.readlinkat(this.#fd, encode(name), linkText, linkText.length);
    if (n < 0) {
      if (code() === E.INVAL) return undefined;
      throw failure();
    }
    try {
      return names.decode(linkText.subarray(0, n));
    } catch {
      throw new DiskError("no-unicode", "the link's target is no Unicode name");
    }
  }

  facts(): Facts {
    return factsOf(this.#fd, empty, AT_EMPTY_PATH)!;
  }

  close() {
    if (this.#fd >= 0) libc.close(this.#fd);
    this.#fd = -1;
  }
}

class DescriptorFile implements OpenFile {
  #fd: number;
  readonly #facts: Facts;
  /** Where the handle itself stands. */
  #position = 0;

  constructor(fd: number, facts: Facts) {
    this.#fd = fd;
    this.#facts = facts;
  }

  get handle(): number {
    return this.#fd;
  }

  facts(): Facts {
    return this.#facts;
  }

  readAt(buffer: Uint8Array, offset: number): number {
    let filled = 0;
    while (filled < buffer.length) {
      const rest = filled === 0 ? buffer : buffer.subarray(filled);
      const wanted = Math.min(rest.length, 0x4000_0000);
      const at = offset + filled;
      const n = at === this.#position
        ? libc.read(this.#fd, rest, wanted)
        : libc.pread(this.#fd, rest, wanted, BigInt(at));
      if (n < 0) throw failure();
      if (n === 0) break;
      if (at === this.#position) this.#position += n;
      filled += n;
    }
    return filled;
  }

  close() {
    if (this.#fd >= 0) libc.close(this.#fd);
    this.#fd = -1;
  }
}
