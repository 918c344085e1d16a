/**
 * What a defect of ours, or somebody who drives it, could try against the kernel fence, and what the plan must still allow.
 *
 * Runs in a child process, on its main thread or in a worker. The world: `work` may be changed, `ref` may be read, `out` is outside.
 */
import fs from "node:fs/promises";

/** Where to try, and what is there to be reached. */
export interface Target {
  top: string;
  libc: string;
  /** A TCP port of the parent that accepts. */
  port: number;
  /** The parent process. */
  parent: number;
  /** A listening socket of this process with this abstract name, made before the fence. */
  abstractName: string;
  root: boolean;
}

export interface Try {
  /** Succeeds by returning; a number below zero or a throw is a refusal. */
  act: () => unknown;
  /** The first ABI that forbids it. */
  since?: number;
}
type Tries = Record<string, Try | Try["act"]>;

const AT_FDCWD = -100;
const [O_DIRECTORY, O_NOFOLLOW] = Deno.build.arch === "aarch64" ? [0x4000, 0x8000] : [0x10000, 0x20000];
const O = { RDONLY: 0, WRONLY: 1, RDWR: 2, CREAT: 0o100, TRUNC: 0o1000, NONBLOCK: 0o4000, PATH: 0x200000 };
const S_IFCHR = 0o020000;
const AF = { UNIX: 1, INET: 2 };
const SIGURG = 23;

export const RAW_SYMBOLS = {
  open: { parameters: ["buffer", "i32", "u32"], result: "i32" },
  openat: { parameters: ["i32", "buffer", "i32", "u32"], result: "i32" },
  openLater: { name: "openat", parameters: ["i32", "buffer", "i32", "u32"], result: "i32", nonblocking: true },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  chdir: { parameters: ["buffer"], result: "i32" },
  truncate: { parameters: ["buffer", "i64"], result: "i32" },
  unlink: { parameters: ["buffer"], result: "i32" },
  rmdir: { parameters: ["buffer"], result: "i32" },
  mkdir: { parameters: ["buffer", "u32"], result: "i32" },
  mknod: { parameters: ["buffer", "u32", "u64"], result: "i32" },
  mkfifo: { parameters: ["buffer", "u32"], result: "i32" },
  rename: { parameters: ["buffer", "buffer"], result: "i32" },
  link: { parameters: ["buffer", "buffer"], result: "i32" },
  linkat: { parameters: ["i32", "buffer", "i32", "buffer", "i32"], result: "i32" },
  symlink: { parameters: ["buffer", "buffer"], result: "i32" },
  kill: { parameters: ["i32", "i32"], result: "i32" },
  posix_spawn: { parameters: ["buffer", "buffer", "pointer", "pointer", "buffer", "buffer"], result: "i32" },
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
} as const;

/** A C string. */
const c = (text: string) => new TextEncoder().encode(text + "\0");

/** The address of an abstract socket. */
export function abstractAddress(name: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.of(AF.UNIX, 0, 0, ...new TextEncoder().encode(name));
}

function tcpAddress(port: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.of(AF.INET, 0, port >> 8, port & 0xff, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);
}

/** The entries of the world. Each kind of call has victims of its own, so that one attack does not spoil the next. */
export function worldEntries(): Record<string, string | null | { link: string }> {
  const entries: Record<string, string | null | { link: string }> = {
    "work/a.txt": "inside",
    "work/sub": null,
    "work/link": { link: "../out/s.txt" },
    "work/folder-link": { link: "../out" },
    "work/run.sh": "#!/bin/sh\n",
    "ref/r.txt": "reference",
    "ref/link": { link: "../out/s.txt" },
    "out/s.txt": "outside",
    "out/data.json": "{}",
  };
  for (const by of ["raw", "deno", "later"]) {
    for (const where of ["work", "ref", "out"]) {
      for (const what of ["cut", "gone", "moved", "moved-in", "linked"]) entries[`${where}/${by}-${what}`] = "victim";
      entries[`${where}/${by}-empty`] = null;
      entries[`${where}/${by}-a-link`] = { link: "nowhere" };
    }
  }
  return entries;
}

/** Attacks by calls of the C library, which no permission of Deno sees. */
export function rawAttacks(target: Target): Tries {
  const { top, port, parent, abstractName, root } = target;
  const x = Deno.dlopen(target.libc, RAW_SYMBOLS).symbols;
  /** Opens and reads: the bytes count, not the handle. */
  const reads = (fd: number) => fd < 0 ? fd : Number(x.read(fd, new Uint8Array(8), 8n)) > 0 ? 1 : -1;
  const opens = (path: string, flags = O.RDONLY) => x.open(c(path), flags, 0o600);
  const at = (path: string) => c(`${top}/${path}`);
  return {
    "a link out of the tree": () => reads(opens(`${top}/work/link`)),
    "a link out of the reading tree": () => reads(opens(`${top}/ref/link`)),
    "below a linked folder": () => reads(opens(`${top}/work/folder-link/s.txt`)),
    "two dots": () => reads(opens(`${top}/work/../out/s.txt`)),
    "two dots from a handle": () =>
      reads(x.openat(opens(`${top}/work`, O.PATH | O_DIRECTORY), c("../out/s.txt"), 0, 0)),
    "an absolute path": () => reads(opens(`${top}/out/s.txt`)),
    "an absolute path from a handle": () =>
      reads(x.openat(opens(`${top}/work`, O.PATH | O_DIRECTORY), at("out/s.txt"), 0, 0)),
    "/proc/self/root": () => reads(opens(`/proc/self/root${top}/out/s.txt`)),
    "/proc/self/cwd": () => {
      x.chdir(at("out"));
      const got = reads(opens("/proc/self/cwd/s.txt"));
      x.chdir(c("/"));
      return got;
    },
    "a relative path after chdir": () => {
      x.chdir(at("out"));
      const got = reads(opens("s.txt"));
      x.chdir(c("/"));
      return got;
    },
    "/proc/self/fd of a handle without rights": () =>
      reads(opens(`/proc/self/fd/${opens(`${top}/out/s.txt`, O.PATH)}`)),
    "/proc/self/fd of a link's handle": () =>
      reads(opens(`/proc/self/fd/${opens(`${top}/out`, O.PATH | O_NOFOLLOW | O_DIRECTORY)}/s.txt`)),
    "from a handle of the outer folder": () =>
      reads(x.openat(opens(`${top}/out`, O.PATH | O_DIRECTORY), c("s.txt"), 0, 0)),
    "list outside": () => opens(`${top}/out`, O_DIRECTORY),
    "list above": () => opens(top, O_DIRECTORY),
    "the parent's environment": () => reads(opens(`/proc/${parent}/environ`)),
    "write outside": () => opens(`${top}/out/s.txt`, O.WRONLY),
    "write through a link": () => opens(`${top}/work/link`, O.WRONLY),
    "write in the reading tree": () => opens(`${top}/ref/r.txt`, O.RDWR),
    "create outside": () => opens(`${top}/out/raw-new`, O.WRONLY | O.CREAT),
    "create in the reading tree": () => opens(`${top}/ref/raw-new`, O.WRONLY | O.CREAT),
    "open cutting outside": () => opens(`${top}/out/raw-cut`, O.RDONLY | O.TRUNC),
    "open cutting in the reading tree": { act: () => opens(`${top}/ref/raw-cut`, O.RDONLY | O.TRUNC), since: 3 },
    "truncate outside": { act: () => x.truncate(at("out/raw-cut"), 1n), since: 3 },
    "truncate in the reading tree": { act: () => x.truncate(at("ref/raw-cut"), 1n), since: 3 },
    "unlink outside": () => x.unlink(at("out/raw-gone")),
    "unlink in the reading tree": () => x.unlink(at("ref/raw-gone")),
    "rmdir outside": () => x.rmdir(at("out/raw-empty")),
    "rmdir in the reading tree": () => x.rmdir(at("ref/raw-empty")),
    "mkdir outside": () => x.mkdir(at("out/raw-dir"), 0o700),
    "mkdir in the reading tree": () => x.mkdir(at("ref/raw-dir"), 0o700),
    "symlink in the reading tree": () => x.symlink(c("x"), at("ref/raw-symlink")),
    "rename outside": () => x.rename(at("out/raw-moved"), at("out/raw-renamed")),
    "rename out of the tree": () => x.rename(at("work/raw-moved"), at("out/raw-from-work")),
    "rename into the tree": () => x.rename(at("out/raw-moved-in"), at("work/raw-from-out")),
    "rename from the reading tree": () => x.rename(at("ref/raw-moved"), at("work/raw-from-ref")),
    "hard link into the tree": () => x.link(at("out/raw-linked"), at("work/raw-link-out")),
    "hard link from a handle without rights": () =>
      x.linkat(
        AT_FDCWD,
        c(`/proc/self/fd/${opens(`${top}/out/raw-linked`, O.PATH)}`),
        AT_FDCWD,
        at("work/raw-link-fd"),
        0x400,
      ),
    "hard link out of the tree": () => x.link(at("work/raw-linked"), at("out/raw-link-work")),
    // It would let the file be changed through its name in `work`.
    "hard link from the reading tree": () => x.link(at("ref/raw-linked"), at("work/raw-link-ref")),
    "a FIFO outside": () => opens(`${top}/out/fifo`, O.RDONLY | O.NONBLOCK),
    "a device": () => opens("/dev/zero"),
    "the memory device of the process": () => opens("/proc/self/mem", O.RDWR),
    "make a FIFO": () => x.mkfifo(at("work/raw-fifo"), 0o600),
    ...root ? { "make a device": () => x.mknod(at("work/raw-null"), S_IFCHR | 0o600, 0x103n) } : {},
    "start a program": () => spawns(x, "/bin/true"),
    "start a program of the tree": () => spawns(x, `${top}/work/run.sh`),
    "connect by TCP": { act: () => x.connect(x.socket(AF.INET, 1, 0), tcpAddress(port), 16), since: 4 },
    "bind a TCP port": { act: () => x.bind(x.socket(AF.INET, 1, 0), tcpAddress(0), 16), since: 4 },
    "signal the parent": { act: () => x.kill(parent, SIGURG), since: 6 },
    "connect to an abstract socket": {
      act: () => x.connect(x.socket(AF.UNIX, 1, 0), abstractAddress(abstractName), 3 + abstractName.length),
      since: 6,
    },
  };
}

function spawns(x: Deno.DynamicLibrary<typeof RAW_SYMBOLS>["symbols"], path: string): number {
  const name = c(path);
  const args = BigUint64Array.of(BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(name))), 0n);
  return -x.posix_spawn(new Int32Array(1), name, null, null, args, BigUint64Array.of(0n));
}

/** Attacks by Deno's own synchronous calls. */
export function denoAttacks({ top, root }: Target): Tries {
  return {
    "Deno: a link": () => Deno.readTextFileSync(`${top}/work/link`),
    "Deno: a link in the reading tree": () => Deno.readFileSync(`${top}/ref/link`),
    "Deno: below a linked folder": () => Deno.openSync(`${top}/work/folder-link/s.txt`),
    "Deno: two dots": () => Deno.readTextFileSync(`${top}/work/../out/s.txt`),
    "Deno: an absolute path": () => Deno.readTextFileSync(`${top}/out/s.txt`),
    "Deno: /proc/self/root": () => Deno.readTextFileSync(`/proc/self/root${top}/out/s.txt`),
    "Deno: list outside": () => [...Deno.readDirSync(`${top}/out`)],
    "Deno: write outside": () => Deno.writeTextFileSync(`${top}/out/deno-new`, "x"),
    "Deno: write through a link": () => Deno.writeTextFileSync(`${top}/work/folder-link/deno-new-2`, "x"),
    "Deno: write in the reading tree": () => Deno.writeTextFileSync(`${top}/ref/deno-new`, "x"),
    "Deno: truncate in the reading tree": () => Deno.truncateSync(`${top}/ref/deno-cut`),
    "Deno: remove outside": () => Deno.removeSync(`${top}/out/deno-gone`),
    "Deno: remove in the reading tree": () => Deno.removeSync(`${top}/ref/deno-empty`),
    "Deno: mkdir outside": () => Deno.mkdirSync(`${top}/out/deno-dir`),
    "Deno: mkdir in the reading tree": () => Deno.mkdirSync(`${top}/ref/deno-dir`),
    "Deno: rename out": () => Deno.renameSync(`${top}/work/deno-moved`, `${top}/out/deno-from-work`),
    "Deno: rename in": () => Deno.renameSync(`${top}/out/deno-moved-in`, `${top}/work/deno-from-out`),
    "Deno: hard link in": () => Deno.linkSync(`${top}/out/deno-linked`, `${top}/work/deno-link-out`),
    "Deno: hard link out": () => Deno.linkSync(`${top}/work/deno-linked`, `${top}/out/deno-link-work`),
    "Deno: copy in": () => Deno.copyFileSync(`${top}/out/s.txt`, `${top}/work/deno-copied`),
    "Deno: a device": () => Deno.openSync("/dev/zero"),
    "Deno: start a program": () => new Deno.Command("/bin/true").outputSync(),
    "Deno: bind a TCP port": { act: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(), since: 4 },
    ...root ? { "Deno: the machine's secrets": () => Deno.readTextFileSync("/etc/shadow") } : {},
  };
}

/** Attacks by calls that the runtime hands to other threads. Bound only in a worker that was started inside. */
export function laterAttacks(target: Target): Tries {
  const { top, port, parent } = target;
  const x = Deno.dlopen(target.libc, RAW_SYMBOLS).symbols;
  return {
    "later: a link": () => Deno.readTextFile(`${top}/work/link`),
    "later: open": () => Deno.open(`${top}/work/folder-link/s.txt`),
    "later: an absolute path": () => Deno.readFile(`${top}/out/s.txt`),
    "later: list outside": () => Array.fromAsync(Deno.readDir(`${top}/out`)),
    "later: write outside": () => Deno.writeTextFile(`${top}/out/later-new`, "x"),
    "later: remove outside": () => Deno.remove(`${top}/out/later-gone`),
    "later: remove in the reading tree": () => Deno.remove(`${top}/ref/later-gone`),
    "later: mkdir in the reading tree": () => Deno.mkdir(`${top}/ref/later-dir`),
    "later: truncate in the reading tree": () => Deno.truncate(`${top}/ref/later-cut`),
    "later: rename in": () => Deno.rename(`${top}/out/later-moved-in`, `${top}/work/later-from-out`),
    "later: hard link in": () => Deno.link(`${top}/out/later-linked`, `${top}/work/later-link-out`),
    "later: copy in": () => Deno.copyFile(`${top}/out/s.txt`, `${top}/work/later-copied`),
    "later: node": () => fs.readFile(`${top}/out/s.txt`),
    "later: fetch a file": async () => await (await fetch(`file://${top}/out/s.txt`)).text(),
    "later: import a file": () => import(`${top}/out/data.json`, { with: { type: "json" } }),
    "later: a library's call": async () => await x.openLater(AT_FDCWD, c(`${top}/out/s.txt`), 0, 0),
    "later: start a program": () => new Deno.Command("/bin/true").output(),
    "later: connect by TCP": {
      act: async () => (await Deno.connect({ hostname: "127.0.0.1", port })).close(),
      since: 4,
    },
    "later: a worker of the worker": () => nested(`${top}/out/s.txt`),
    "later: signal the parent": { act: () => Deno.kill(parent, "SIGURG"), since: 6 },
  };
}

/** A worker started by this thread, which reads a file. */
function nested(path: string): Promise<unknown> {
  const code = `try { self.postMessage(Deno.readTextFileSync(${
    JSON.stringify(path)
  })) } catch { self.postMessage(-1) }`;
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(code)}`, { type: "module" });
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => {
      worker.terminate();
      resolve(data);
    };
  });
}

/** What the plan allows and what must therefore still work, by the C library and by Deno. */
export function rights(target: Target): Tries {
  const { top } = target;
  const x = Deno.dlopen(target.libc, RAW_SYMBOLS).symbols;
  const at = (path: string) => c(`${top}/${path}`);
  const folder = `${top}/work`;
  return {
    "read": () => Deno.readTextFileSync(`${folder}/a.txt`),
    "read later": () => Deno.readTextFile(`${folder}/a.txt`),
    "list": () => [...Deno.readDirSync(folder)],
    "read the reading tree": () => Deno.readTextFileSync(`${top}/ref/r.txt`),
    "list the reading tree": () => x.open(at("ref"), O_DIRECTORY, 0),
    "create": () => x.open(at("work/new"), O.RDWR | O.CREAT, 0o600),
    "write later": () => Deno.writeTextFile(`${folder}/new-2`, "x"),
    "open cutting": () => x.open(at("work/raw-cut"), O.WRONLY | O.TRUNC, 0),
    "truncate": () => x.truncate(at("work/deno-cut"), 1n),
    "mkdir": () => x.mkdir(at("work/folder"), 0o700),
    "rename": () => x.rename(at("work/new"), at("work/renamed")),
    "rename into another folder": { act: () => x.rename(at("work/renamed"), at("work/sub/renamed")), since: 2 },
    "move a folder": { act: () => x.rename(at("work/folder"), at("work/sub/folder")), since: 2 },
    "move a link": { act: () => x.rename(at("work/raw-a-link"), at("work/sub/a-link")), since: 2 },
    "hard link inside": { act: () => x.link(at("work/a.txt"), at("work/sub/a.txt")), since: 2 },
    "copy": () => Deno.copyFileSync(`${top}/ref/r.txt`, `${folder}/copied`),
    "unlink": () => x.unlink(at("work/raw-gone")),
    "rmdir": () => x.rmdir(at("work/raw-empty")),
  };
}

/** Tries them one after another; the names of those that get through, and what an ABI must forbid. */
export async function tryAll(tries: Tries): Promise<{ name: string; since: number; through: boolean }[]> {
  const results = [];
  for (const [name, value] of Object.entries(tries)) {
    const { act, since = 1 } = typeof value === "function" ? { act: value } : value;
    let through = true;
    try {
      const answer = await act();
      if (typeof answer === "number" && answer < 0) through = false;
    } catch {
      through = false;
    }
    results.push({ name, since, through });
  }
  return results;
}
