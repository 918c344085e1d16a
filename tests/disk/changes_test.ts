/** One contract for changes, both implementations. */
import assert from "node:assert/strict";
import type { Boundary } from "../../src/boundary/types.ts";
import { type Deed, Warrant } from "../../src/disk/changes.ts";
import { renameWithoutFlag, setModeOpened } from "../../src/disk/descriptor_changes_linux.ts";
import { handleOf } from "../../src/disk/descriptor_libc_linux.ts";
import { openDescriptorDisk } from "../../src/disk/descriptor_linux.ts";
import { type Disk, DiskError, type Folder } from "../../src/disk/disk.ts";
import { openPathnameDisk } from "../../src/disk/pathname.ts";
import { refusalOf } from "../../src/disk/resolve.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { asNobody, markable, marked, mount, mountable, NOBODY, ROOT } from "../support/system.ts";
import { boundaryOf, makeFolder, put } from "../support/tree.ts";

const WINDOWS = Deno.build.os === "windows";
const LINUX = Deno.build.os === "linux";
const libc = findLibc();
const IMPLEMENTATIONS: [Disk["kind"], (boundary: Boundary) => Disk][] = [["pathname", openPathnameDisk]];
if (libc) IMPLEMENTATIONS.push(["descriptor", (boundary) => openDescriptorDisk(boundary, libc)]);

const warrant = new Warrant();

interface Place {
  top: Folder;
  /** The real path of `top`. */
  path: string;
  kind: Disk["kind"];
  /** Opens another folder as a tree. */
  open(path: string): Folder;
  /** The fault of an act that fails. */
  fault(act: () => unknown): string;
}

/** One test for each implementation, over a folder of its own; no handle may be left. */
function contract(name: string, act: (place: Place) => void | Promise<void>, options: { ignore?: boolean } = {}) {
  for (const [kind, openDisk] of IMPLEMENTATIONS) {
    Deno.test(`${kind} disk: ${name}`, { ignore: WINDOWS, ...options }, async () => {
      const path = makeFolder({
        "a.txt": "old",
        "b.txt": "other",
        "sub/in.txt": "in sub",
        "empty": null,
        "to-a": { link: "a.txt" },
        "to-sub": { link: "sub" },
        "dangling": { link: "nowhere" },
      });
      assert.ok(new Deno.Command("mkfifo", { args: [`${path}/fifo`] }).outputSync().success);
      const opened: { close(): void }[] = [];
      const open = (path: string) => {
        const boundary = boundaryOf({ work: path });
        const disk = openDisk(boundary);
        opened.unshift(disk);
        const top = disk.top(boundary.trees[0]);
        opened.unshift(top);
        return top;
      };
      open(path).sync();
      const before = handles();
      const top = open(path);
      try {
        await act({ top, path, kind, open, fault: faultOf });
      } finally {
        for (const each of opened.splice(0)) each.close();
        Deno.removeSync(path, { recursive: true });
      }
      assert.ok(handles() <= before, "a handle is left");
    });
  }
}

function handles(): number {
  return LINUX ? [...Deno.readDirSync("/proc/self/fd")].length : 0;
}

function faultOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof DiskError, `${error}`);
    return error.fault;
  }
  throw new Error("it did not fail");
}

/** Everything in a folder, as a listing to compare: content of files, `/` for folders, `-> TEXT` for links, `|` for others. */
function contentOf(path: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (at: string, prefix: string) => {
    for (const { name, ...entry } of Deno.readDirSync(at)) {
      const here = `${at}/${name}`;
      if (entry.isSymlink) found[prefix + name] = `-> ${Deno.readLinkSync(here)}`;
      else if (entry.isFile) found[prefix + name] = Deno.readTextFileSync(here);
      else if (entry.isDirectory) {
        found[prefix + name] = "/";
        visit(here, `${prefix}${name}/`);
      } else found[prefix + name] = "|";
    }
  };
  visit(path, "");
  return found;
}

const INITIAL = {
  "a.txt": "old",
  "b.txt": "other",
  "sub": "/",
  "sub/in.txt": "in sub",
  "empty": "/",
  "to-a": "-> a.txt",
  "to-sub": "-> sub",
  "dangling": "-> nowhere",
  "fifo": "|",
};

function without(...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(INITIAL).filter(([name]) => !names.includes(name)));
}

function modeOf(path: string): number {
  return Deno.lstatSync(path).mode! & 0o7777;
}

function make(folder: Folder, name: string, text: string, mode = 0o644) {
  const file = folder.create(warrant, name, mode);
  file.write(new TextEncoder().encode(text));
  file.sync();
  file.close();
}

contract("nothing changes without a genuine warrant, or by what is no name", ({ top, path }) => {
  const facts = top.look("a.txt")!;
  const calls: ((warrant: Warrant, name: string) => void)[] = [
    (warrant, name) => top.create(warrant, name, 0o644),
    (warrant, name) => top.rename(warrant, name, top, "c.txt", false),
    (warrant, name) => top.rename(warrant, "a.txt", top, name, true),
    (warrant, name) => top.makeFolder(warrant, name, 0o755),
    (warrant, name) => top.remove(warrant, name),
    (warrant, name) => top.removeFolder(warrant, name),
    (warrant, name) => top.removeAbandoned(warrant, name),
    (warrant, name) => top.setMode(warrant, name, facts, 0o600),
    (warrant, name) => top.makeWritable(warrant, name),
  ];
  for (const call of calls) {
    for (const forged of [{}, undefined, Object.create(Warrant.prototype)]) {
      for (const name of ["a.txt", "new"]) assert.throws(() => call(forged as Warrant, name), TypeError, `${call}`);
    }
    for (const name of ["", ".", "..", "sub/in.txt", "a.txt\0", "/"]) {
      assert.throws(() => call(warrant, name), TypeError, `${call} ${name}`);
    }
  }
  assert.deepEqual(contentOf(path), INITIAL);
});

contract("a file is made, written in pieces and flushed", ({ top, path }) => {
  const file = top.create(warrant, "naïve – 文", 0o644);
  const large = new Uint8Array(3_000_000).map((_, i) => i % 251);
  file.write(new Uint8Array(0));
  file.write(new Uint8Array([65, 66]));
  file.write(large);
  file.write(large.subarray(7, 9));
  assert.equal(file.facts().size, 3_000_004);
  assert.equal(file.facts().ino, top.look("naïve – 文")!.ino);
  file.sync();
  file.close();
  file.close();
  top.sync();
  const written = Deno.readFileSync(`${path}/naïve – 文`);
  assert.deepEqual([...written.subarray(0, 4)], [65, 66, 0, 1]);
  assert.deepEqual(written.subarray(2, -2), large);
  assert.deepEqual([...written.subarray(-2)], [7, 8]);
});

contract("a file is only made where nothing is, and no link is followed", ({ top, path, fault }) => {
  for (const name of Object.keys(INITIAL).filter((name) => !name.includes("/"))) {
    assert.equal(fault(() => top.create(warrant, name, 0o644)), "exists", name);
    assert.equal(fault(() => top.makeFolder(warrant, name, 0o755)), "exists", name);
  }
  assert.deepEqual(contentOf(path), INITIAL);
});

contract("the process's mask is taken from new modes, and not from one that is set", ({ top, path }) => {
  const mask = Deno.umask(0o027);
  try {
    const file = top.create(warrant, "new", 0o666);
    assert.equal(modeOf(`${path}/new`), 0o640);
    top.makeFolder(warrant, "folder", 0o777);
    assert.equal(modeOf(`${path}/folder`), 0o750);
    for (const mode of [0o4755, 0o2777, 0o600, 0o444, 0o200, 0o000]) {
      assert.equal(file.setMode(mode), true, mode.toString(8));
      assert.equal(modeOf(`${path}/new`), mode);
    }
    file.close();
  } finally {
    Deno.umask(mask);
  }
});

contract("a file that its maker may not read can be written, and its mode be set", ({ top, path }) => {
  asNobody([path], () => {
    for (const mode of [0o200, 0o000, 0o444]) {
      const file = top.create(warrant, `m${mode}`, mode);
      file.write(new Uint8Array(2));
      assert.equal(file.setMode(mode), true);
      file.sync();
      file.close();
      assert.equal(modeOf(`${path}/m${mode}`), mode);
    }
  });
});

contract("a new file's time is set and that of access stays", ({ top, path }) => {
  const file = top.create(warrant, "new", 0o644);
  const accessed = Deno.statSync(`${path}/new`).atime!.getTime();
  for (const time of [0, 1, -1, -86_400_500, 1_700_000_000_123, 1_700_000_000_999, (2 ** 32 + 5) * 1000]) {
    file.setModified(time);
    assert.equal(file.facts().modified, time);
    assert.equal(top.look("new")!.modified, time);
  }
  file.setModified(1_700_000_000_123.5);
  assert.equal(Math.floor(top.look("new")!.modified), 1_700_000_000_123);
  assert.equal(Deno.statSync(`${path}/new`).atime!.getTime(), accessed);
  file.close();
});

contract("entries of every kind are renamed, within a folder and into another", ({ top, path, fault }) => {
  const sub = top.folder("sub");
  for (const replace of [false, true]) {
    for (const name of ["a.txt", "empty", "to-a", "dangling", "fifo"]) {
      top.rename(warrant, name, top, "x", replace);
      top.rename(warrant, "x", sub, name, replace);
      sub.rename(warrant, name, top, name, replace);
    }
    assert.deepEqual(contentOf(path), INITIAL);
    assert.equal(fault(() => top.rename(warrant, "never", sub, "x", replace)), "missing");
    assert.equal(fault(() => top.rename(warrant, "sub", sub, "x", replace)), "failed");
  }
  top.rename(warrant, "sub", top, "moved", false);
  assert.deepEqual(contentOf(path), { ...without("sub", "sub/in.txt"), "moved": "/", "moved/in.txt": "in sub" });
  sub.close();
});

contract("what is there is not replaced without being told", ({ top, path, fault }) => {
  for (const name of ["b.txt", "sub", "to-a", "to-sub"]) {
    for (const target of ["a.txt", "empty", "dangling", "fifo", "to-a", name]) {
      assert.equal(fault(() => top.rename(warrant, name, top, target, false)), "exists", `${name} ${target}`);
    }
  }
  assert.deepEqual(contentOf(path), INITIAL);
});

contract("a file replaces a file, a link or a special file, and no link is followed", ({ top, path }) => {
  top.rename(warrant, "b.txt", top, "a.txt", true);
  assert.deepEqual(contentOf(path), { ...without("b.txt"), "a.txt": "other" });
  top.rename(warrant, "a.txt", top, "dangling", true);
  make(top, "c.txt", "new");
  top.rename(warrant, "c.txt", top, "to-sub", true);
  top.rename(warrant, "to-a", top, "fifo", true);
  assert.deepEqual(contentOf(path), {
    "dangling": "other",
    "to-sub": "new",
    "fifo": "-> a.txt",
    "sub": "/",
    "sub/in.txt": "in sub",
    "empty": "/",
  });
  top.rename(warrant, "fifo", top, "dangling", true);
  assert.equal(Deno.readLinkSync(`${path}/dangling`), "a.txt");
});

contract("a folder replaces an empty folder, and nothing replaces what is of another kind", ({ top, path, fault }) => {
  assert.equal(fault(() => top.rename(warrant, "empty", top, "sub", true)), "not-empty");
  for (const target of ["a.txt", "to-sub", "fifo"]) {
    assert.equal(fault(() => top.rename(warrant, "sub", top, target, true)), "not-folder", target);
  }
  for (const name of ["a.txt", "to-sub", "fifo"]) {
    assert.equal(fault(() => top.rename(warrant, name, top, "empty", true)), "not-file", name);
  }
  assert.deepEqual(contentOf(path), INITIAL);
  top.rename(warrant, "sub", top, "empty", true);
  assert.deepEqual(contentOf(path), { ...without("sub", "sub/in.txt"), "empty/in.txt": "in sub" });
});

contract("where both names are names of one file, the old one goes", ({ top, path, fault }) => {
  Deno.linkSync(`${path}/a.txt`, `${path}/sub/a.txt`);
  Deno.linkSync(`${path}/a.txt`, `${path}/A.TXT`);
  const sub = top.folder("sub");
  assert.equal(fault(() => top.rename(warrant, "a.txt", sub, "a.txt", false)), "exists");
  top.rename(warrant, "a.txt", sub, "a.txt", true);
  assert.deepEqual(contentOf(path), { ...without("a.txt"), "A.TXT": "old", "sub/a.txt": "old" });
  // One name, no other: nothing to do.
  sub.rename(warrant, "a.txt", sub, "a.txt", true);
  assert.equal(Deno.readTextFileSync(`${path}/sub/a.txt`), "old");
  sub.close();
});

contract("files, links and special files are removed, folders only empty", ({ top, path, fault }) => {
  assert.equal(fault(() => top.remove(warrant, "empty")), "not-file");
  assert.equal(fault(() => top.remove(warrant, "never")), "missing");
  assert.equal(fault(() => top.removeFolder(warrant, "sub")), "not-empty");
  assert.equal(fault(() => top.removeFolder(warrant, "never")), "missing");
  for (const name of ["a.txt", "to-sub", "fifo"]) {
    assert.equal(fault(() => top.removeFolder(warrant, name)), "not-folder", name);
  }
  assert.deepEqual(contentOf(path), INITIAL);
  for (const name of ["b.txt", "to-a", "to-sub", "dangling", "fifo"]) top.remove(warrant, name);
  top.removeFolder(warrant, "empty");
  assert.deepEqual(contentOf(path), { "a.txt": "old", "sub": "/", "sub/in.txt": "in sub" });
});

contract("the mode is set of what was judged, and of nothing else", ({ top, path, kind, fault }) => {
  for (const name of ["a.txt", "empty"]) {
    // By path names an account does not get behind a mode that lets even itself do nothing.
    for (const mode of [0o4751, 0o700, kind === "descriptor" || ROOT ? 0o000 : 0o400, 0o640]) {
      top.setMode(warrant, name, top.look(name)!, mode);
      assert.equal(modeOf(`${path}/${name}`), mode);
    }
  }
  const facts = top.look("a.txt")!;
  for (const put of ["b.txt", "to-a", "fifo", "sub"]) {
    Deno.renameSync(`${path}/a.txt`, `${path}/away`);
    Deno.renameSync(`${path}/${put}`, `${path}/a.txt`);
    const before = modeOf(`${path}/a.txt`);
    assert.equal(fault(() => top.setMode(warrant, "a.txt", facts, 0o777)), "replaced", put);
    assert.equal(modeOf(`${path}/a.txt`), before, put);
    assert.equal(modeOf(`${path}/away`), 0o640, put);
    Deno.renameSync(`${path}/a.txt`, `${path}/${put}`);
    Deno.renameSync(`${path}/away`, `${path}/a.txt`);
  }
  for (const name of ["to-a", "dangling", "fifo"]) {
    assert.equal(fault(() => top.setMode(warrant, name, top.look(name)!, 0o777)), "not-file", name);
  }
  Deno.removeSync(`${path}/a.txt`);
  assert.equal(fault(() => top.setMode(warrant, "a.txt", facts, 0o777)), "missing");
});

contract("the owner sets the mode of a file that lets nobody read it", ({ top, path, fault }) => {
  asNobody([path, `${path}/a.txt`, `${path}/empty`], () => {
    for (const name of ["a.txt", "empty"]) {
      top.setMode(warrant, name, top.look(name)!, name === "empty" ? 0o555 : 0o200);
      top.setMode(warrant, name, top.look(name)!, 0o640);
      assert.equal(modeOf(`${path}/${name}`), 0o640);
    }
  });
  if (ROOT) {
    asNobody(
      [path],
      () => assert.equal(fault(() => top.setMode(warrant, "b.txt", top.look("b.txt")!, 0o777)), "denied"),
    );
  }
});

contract("a name longer than the system allows changes nothing", ({ top, path, fault }) => {
  for (const name of ["x".repeat(256), "文".repeat(90), "x".repeat(20_000)]) {
    for (
      const act of [
        () => top.create(warrant, name, 0o644),
        () => top.makeFolder(warrant, name, 0o755),
        () => top.rename(warrant, "a.txt", top, name, false),
        () => top.rename(warrant, "a.txt", top, name, true),
        () => top.remove(warrant, name),
      ]
    ) assert.equal(fault(act), "name-too-long", `${act}`);
  }
  assert.deepEqual(contentOf(path), INITIAL);
});

contract("a folder's lock is had by one handle, until that is closed", async ({ top, path, kind, open }) => {
  const other = open(path);
  assert.equal(top.tryLock(), true);
  assert.equal(other.tryLock(), false);
  const sub = top.folder("sub");
  assert.equal(sub.tryLock(), true);
  sub.close();
  await using child = await Child.start(kind, path, "lock");
  assert.equal(child.said, "false");
  // Both implementations heed each other.
  const otherKind = IMPLEMENTATIONS.at(kind === "pathname" ? -1 : 0)![0];
  await using stranger = await Child.start(otherKind, path, "lock");
  assert.equal(stranger.said, "false");
  top.close();
  assert.equal(other.tryLock(), true);
  other.close();
  await using second = await Child.start(kind, path, "lock");
  assert.equal(second.said, "true");
  const third = open(path);
  assert.equal(third.tryLock(), false);
  second.process.kill("SIGKILL");
  await second.process.status;
  assert.equal(third.tryLock(), true);
});

contract("a folder's lock can be shared, changed and let go", ({ top, path, open }) => {
  const [other, third] = [open(path), open(path)];
  assert.deepEqual([top.tryLock(true), other.tryLock(true), third.tryLock()], [true, true, false]);
  other.unlock();
  assert.deepEqual([top.tryLock(), other.tryLock(true)], [true, false]);
  assert.deepEqual([top.tryLock(true), other.tryLock(true), other.tryLock()], [true, true, false]);
  // What failed to become another lock is none any more.
  assert.equal(top.tryLock(), true);
  top.unlock();
  top.unlock();
  assert.equal(third.tryLock(), true);
  for (const folder of [other, third]) folder.close();
});

contract("staging goes when its maker is gone, and stays while it lives", async ({ top, path, kind, fault }) => {
  const child = await Child.start(kind, path, "stage");
  try {
    assert.equal(top.removeAbandoned(warrant, "staged"), false);
    assert.equal(Deno.readFileSync(`${path}/staged`).length, 3);
  } finally {
    await child.kill();
  }
  assert.equal(top.removeAbandoned(warrant, "staged"), true);
  assert.equal(top.removeAbandoned(warrant, "staged"), false);
  for (const name of ["to-a", "to-sub", "dangling", "empty", "fifo"]) {
    assert.equal(top.removeAbandoned(warrant, name), false, name);
  }
  assert.deepEqual(contentOf(path), INITIAL);
  // One that this process is at.
  const file = top.create(warrant, "mine", 0o600);
  assert.equal(top.removeAbandoned(warrant, "mine"), false);
  file.close();
  assert.equal(fault(() => top.create(warrant, "mine", 0o600)), "exists");
  assert.equal(top.removeAbandoned(warrant, "mine"), true);
});

contract("a limit on the length of files is an answer and no death", async ({ path, kind }) => {
  await using child = await Child.start(kind, path, "limit");
  assert.equal(child.said, "no-space");
}, { ignore: !libc });

contract("what is not carried over is told", ({ top, path }) => {
  const carried = (name: string) => {
    const [old, file] = [top.file(name), top.create(warrant, "new", 0o644)];
    try {
      return file.carry(old);
    } finally {
      old.close();
      file.close();
      top.remove(warrant, "new");
    }
  };
  assert.deepEqual(carried("a.txt"), []);
  Deno.linkSync(`${path}/a.txt`, `${path}/another`);
  assert.deepEqual(carried("a.txt"), ["hard-links"]);
  if (ROOT) {
    Deno.chownSync(`${path}/a.txt`, NOBODY, null);
    assert.deepEqual(carried("a.txt"), ["owner", "hard-links"]);
    Deno.chownSync(`${path}/b.txt`, null, NOBODY);
    assert.deepEqual(carried("b.txt"), ["owner"]);
  }
});

contract("the folder that was opened is the one that is changed, or none", ({ top, path, kind, fault }) => {
  const sub = top.folder("sub");
  Deno.renameSync(`${path}/sub`, `${path}/away`);
  put(path, { "sub/in.txt": "theirs" });
  const acts = [
    () => make(sub, "new", "mine"),
    () => sub.makeFolder(warrant, "folder", 0o755),
    () => sub.rename(warrant, "in.txt", sub, "x", false),
    () => top.rename(warrant, "a.txt", sub, "x", true),
    () => sub.remove(warrant, "x"),
  ];
  if (kind === "descriptor") { for (const act of acts) act(); }
  else for (const act of acts) assert.equal(fault(act), "replaced", `${act}`);
  const away: Record<string, string> = kind === "descriptor"
    ? { "away/new": "mine", "away/folder": "/" }
    : { "away/in.txt": "in sub", "a.txt": "old" };
  assert.deepEqual(contentOf(path), {
    ...without("sub", "sub/in.txt", "a.txt"),
    "sub": "/",
    "sub/in.txt": "theirs",
    "away": "/",
    ...away,
  });
  sub.close();
});

contract("what the system does not allow changes nothing", ({ top, path, fault }) => {
  Deno.chmodSync(path, 0o755);
  Deno.chmodSync(`${path}/sub`, 0o755);
  const sub = top.folder("sub");
  const run = ROOT ? (act: () => void) => asNobody([], act) : (act: () => void) => {
    Deno.chmodSync(path, 0o555);
    try {
      act();
    } finally {
      Deno.chmodSync(path, 0o755);
    }
  };
  run(() => {
    for (
      const act of [
        () => top.create(warrant, "new", 0o644),
        () => top.makeFolder(warrant, "new", 0o755),
        () => top.rename(warrant, "a.txt", top, "new", false),
        () => top.rename(warrant, "a.txt", top, "b.txt", true),
        () => top.remove(warrant, "a.txt"),
        () => top.removeFolder(warrant, "empty"),
      ]
    ) assert.equal(fault(act), "denied", `${act}`);
  });
  sub.close();
  assert.deepEqual(contentOf(path), INITIAL);
});

contract("a folder that may be written to and not be listed is changed like others", ({ top, path }) => {
  Deno.chmodSync(`${path}/sub`, 0o333);
  asNobody([path, `${path}/sub`, `${path}/sub/in.txt`], () => {
    const sub = top.folder("sub");
    assert.equal(sub.tryLock(), true);
    make(sub, "new", "x");
    sub.rename(warrant, "new", sub, "newer", false);
    sub.rename(warrant, "newer", sub, "in.txt", true);
    sub.sync();
    sub.close();
  });
  Deno.chmodSync(`${path}/sub`, 0o755);
  assert.equal(Deno.readTextFileSync(`${path}/sub/in.txt`), "x");
});

contract("another file system is another device", ({ top, path, fault }) => {
  using _mounted = mount(`${path}/empty`, ["-t", "tmpfs", "tmpfs"]);
  const other = top.folder("empty");
  for (const replace of [false, true]) {
    for (const name of ["a.txt", "sub", "to-a"]) {
      assert.equal(fault(() => top.rename(warrant, name, other, "x", replace)), "cross-device", name);
    }
  }
  put(path, { "empty/there": "theirs" });
  assert.equal(fault(() => top.rename(warrant, "a.txt", other, "there", false)), "exists");
  assert.equal(fault(() => top.rename(warrant, "a.txt", other, "there", true)), "cross-device");
  other.remove(warrant, "there");
  assert.deepEqual(contentOf(path), INITIAL);
  assert.equal(fault(() => top.removeFolder(warrant, "empty")), "busy");
  assert.equal(fault(() => top.rename(warrant, "empty", top, "x", false)), "busy");
  other.close();
}, { ignore: !mountable() });

contract("a folder that is mounted a second time is still one folder", ({ top, path, fault }) => {
  using _mounted = mount(`${path}/empty`, ["--bind", `${path}/sub`]);
  const [sub, again] = [top.folder("sub"), top.folder("empty")];
  assert.equal(fault(() => sub.rename(warrant, "in.txt", again, "in.txt", false)), "exists");
  sub.rename(warrant, "in.txt", again, "in.txt", true);
  assert.deepEqual(contentOf(path), { ...INITIAL, "empty/in.txt": "in sub" });
  Deno.linkSync(`${path}/sub/in.txt`, `${path}/sub/other`);
  sub.rename(warrant, "other", again, "in.txt", true);
  assert.deepEqual(contentOf(path), { ...INITIAL, "empty/in.txt": "in sub" });
  sub.close();
  again.close();
}, { ignore: !mountable() });

contract("a file system mounted read-only is not changed", ({ path, open, fault }) => {
  using _mounted = mount(path, ["--bind", path], ["-o", "remount,ro,bind"]);
  const top = open(path);
  for (
    const act of [
      () => top.create(warrant, "new", 0o644),
      () => top.makeFolder(warrant, "new", 0o755),
      () => top.rename(warrant, "a.txt", top, "new", false),
      () => top.rename(warrant, "a.txt", top, "b.txt", true),
      () => top.remove(warrant, "a.txt"),
      () => top.removeFolder(warrant, "empty"),
      () => top.setMode(warrant, "a.txt", top.look("a.txt")!, 0o777),
    ]
  ) assert.equal(fault(act), "read-only", `${act}`);
  top.sync();
  top.close();
  assert.deepEqual(contentOf(path), INITIAL);
}, { ignore: !mountable() });

contract("a full disk says so and keeps nothing half made", ({ top, path, fault }) => {
  using _mounted = mount(`${path}/empty`, ["-t", "tmpfs", "-o", "size=64k,nr_inodes=4", "tmpfs"]);
  const full = top.folder("empty");
  make(full, "old", "kept");
  const file = full.create(warrant, "staged", 0o644);
  assert.equal(fault(() => file.write(new Uint8Array(200_000))), "no-space");
  file.close();
  full.remove(warrant, "staged");
  make(full, "one", "");
  make(full, "two", "");
  assert.equal(fault(() => full.create(warrant, "three", 0o644)), "no-space");
  assert.equal(fault(() => full.makeFolder(warrant, "three", 0o755)), "no-space");
  assert.deepEqual(contentOf(`${path}/empty`), { "old": "kept", "one": "", "two": "" });
  full.close();
}, { ignore: !mountable() });

contract("a folder that something was mounted over is told from it", ({ top, path, kind, fault }) => {
  const sub = top.folder("sub");
  using _mounted = mount(`${path}/sub`, ["-t", "tmpfs", "tmpfs"]);
  if (kind === "descriptor") sub.makeFolder(warrant, "below", 0o755);
  else assert.equal(fault(() => sub.makeFolder(warrant, "below", 0o755)), "replaced");
  assert.deepEqual(contentOf(`${path}/sub`), {});
  sub.close();
}, { ignore: !mountable() });

/** What the system says beforehand, and what it says when the same is done: `asked`, or `asked/done` where they differ. */
function leave(top: Folder, path: string, deed: Deed, name: string): string {
  const acts: Record<Deed, () => void> = {
    make: () => {
      top.makeFolder(warrant, name, 0o755);
      top.removeFolder(warrant, name);
    },
    put: () => {
      make(top, "staged", "x");
      top.rename(warrant, "staged", top, name, false);
      top.remove(warrant, name);
    },
    go: () => {
      top.rename(warrant, name, top, "gone", true);
      top.rename(warrant, "gone", top, name, true);
    },
    write: () => {
      try {
        Deno.openSync(`${path}/${name}`, { append: true }).close();
      } catch (error) {
        throw new DiskError(/os error 30/.test(`${error}`) ? "read-only" : "denied", "");
      }
    },
    mode: () => top.setMode(warrant, name, top.look(name)!, top.look(name)!.mode! ^ 0o100),
  };
  const said = (act: () => void) => {
    try {
      act();
      return "may";
    } catch (error) {
      assert.ok(error instanceof DiskError, `${error}`);
      return error.fault;
    }
  };
  const asked = said(() => top.demandLeave(deed, name));
  const done = said(acts[deed]);
  return asked === done ? asked : `${asked}/${done}`;
}

contract("where all may be changed, the system gives leave", ({ top, path }) => {
  for (const act of [(act: () => void) => act(), (act: () => void) => asNobody([path, `${path}/a.txt`], act)]) {
    act(() => {
      assert.equal(leave(top, path, "make", "new"), "may");
      assert.equal(leave(top, path, "put", "new"), "may");
      for (const name of ["a.txt", "empty", "to-a", "dangling", "fifo"]) {
        assert.equal(leave(top, path, "go", name), "may", name);
      }
      for (const deed of ["write", "mode"] as const) assert.equal(leave(top, path, deed, "a.txt"), "may");
    });
  }
});

contract("what the account may not is known beforehand", ({ top, path, open }) => {
  // A folder that its owner shut, one of another's, and a sticky one.
  put(path, { "own/f": "f", "other/f": "f", "sticky/f": "f", "sticky/mine": "m", "sticky/shut": "s" });
  const at = (name: string) => `${path}/${name}`;
  Deno.chmodSync(path, 0o755);
  for (const name of ["sticky", "sticky/f", "other", "other/f"]) if (ROOT) Deno.chownSync(at(name), 1, 1);
  Deno.chmodSync(at("other"), 0o755);
  Deno.chmodSync(at("sticky"), 0o1777);
  Deno.chmodSync(at("sticky/shut"), 0o444);
  for (const name of ["own/f", "other/f", "sticky/f"]) Deno.chmodSync(at(name), 0o644);
  const said = (folder: string, name = "f") => {
    const top = open(at(folder));
    return [
      ["make", "new"],
      ["put", "new"],
      ["go", name],
      ["write", name],
      ["mode", name],
    ].map(([deed, name]) => leave(top, at(folder), deed as Deed, name)).join(" ");
  };
  // Somebody made it so that nobody else could be tried with where the tests have only one account.
  const others = ROOT ? "denied denied denied denied denied" : "may may may may may";
  asNobody([at("own"), at("own/f"), at("sticky/mine"), at("sticky/shut")], () => {
    Deno.chmodSync(at("own"), 0o555);
    try {
      assert.equal(said("own"), "denied denied denied may may");
    } finally {
      Deno.chmodSync(at("own"), 0o755);
    }
    assert.equal(said("other"), others);
    assert.equal(said("sticky"), ROOT ? "may may denied denied denied" : others);
    assert.equal(said("sticky", "mine"), "may may may may may");
    assert.equal(said("sticky", "shut"), "may may may denied may");
  });
  // The folder's owner may take anything away; a folder that gets another above it is written to itself.
  asNobody([at("sticky")], () => assert.equal(said("sticky").split(" ")[2], "may"));
  Deno.chmodSync(at("empty"), 0o555);
  asNobody([path, at("empty")], () => {
    assert.throws(() => top.demandLeave("write", "empty"), { fault: "denied" });
    top.demandLeave("go", "empty");
  });
  if (ROOT) assert.equal(said("other"), "may may may may may");
});

contract("what is mounted read-only, or mounted on, is known beforehand to pinned handles", ({ path, open, kind }) => {
  const known = (fault: string) => kind === "descriptor" ? fault : `may/${fault}`;
  {
    using _mounted = mount(`${path}/b.txt`, ["--bind", `${path}/a.txt`]);
    const top = open(path);
    assert.equal(leave(top, path, "go", "b.txt"), known("busy"));
    assert.equal(leave(top, path, "write", "b.txt"), "may");
  }
  using _mounted = mount(path, ["--bind", path], ["-o", "remount,ro,bind"]);
  const top = open(path);
  for (
    const [deed, name] of [
      ["make", "new"],
      ["put", "new"],
      ["go", "a.txt"],
      ["go", "sub"],
      ["write", "a.txt"],
      ["mode", "a.txt"],
    ] as const
  ) assert.equal(leave(top, path, deed, name), known("read-only"), `${deed} ${name}`);
}, { ignore: !mountable() });

contract("what is immutable or append-only is known beforehand to pinned handles", ({ path, open, kind }) => {
  const said = (...deeds: [Deed, string][]) => {
    const top = open(path);
    return deeds.map(([deed, name]) => leave(top, path, deed, name)).join(" ");
  };
  const known = (words: string) => kind === "descriptor" ? words : words.replaceAll("denied", "may/denied");
  for (const mark of ["i", "a"] as const) {
    using _marked = marked(`${path}/a.txt`, mark);
    // An append-only file is opened for appending.
    const written = mark === "i" ? "denied" : "may";
    assert.equal(
      said(["put", "new"], ["go", "a.txt"], ["write", "a.txt"], ["mode", "a.txt"], ["go", "b.txt"]),
      known(`may denied ${written} denied may`),
    );
  }
  {
    using _marked = marked(path, "i");
    assert.equal(
      said(["make", "new"], ["put", "new"], ["go", "a.txt"], ["write", "a.txt"], ["mode", "a.txt"]),
      known("denied denied denied may may"),
    );
  }
  const top = open(path);
  using _marked = marked(path, "a");
  top.demandLeave("make", "new");
  for (const [deed, name] of [["put", "new"], ["go", "a.txt"]] as const) {
    const ask = () => top.demandLeave(deed, name);
    if (kind === "descriptor") assert.throws(ask, { fault: "denied" });
    else ask();
  }
}, { ignore: !markable() });

Deno.test("every fault is a refusal of its own outcome", () => {
  const outcomes = (["exists", "not-empty", "cross-device", "read-only", "no-space", "busy"] as const)
    .map((fault) => refusalOf(new DiskError(fault, "so it is"), "work/a").outcome);
  assert.deepEqual(outcomes, ["target-exists", "refused", "denied", "denied", "denied", "denied"]);
});

/** One test of the descriptor disk alone. */
function descriptor(name: string, act: (top: Folder, path: string) => void) {
  Deno.test(`descriptor disk: ${name}`, { ignore: !libc }, () => {
    const path = makeFolder({ "a.txt": "old", "b.txt": "other", "sub/in.txt": "in sub", "empty": null });
    const boundary = boundaryOf({ work: path });
    const disk = openDescriptorDisk(boundary, libc!);
    const top = disk.top(boundary.trees[0]);
    try {
      act(top, path);
    } finally {
      top.close();
      disk.close();
      Deno.removeSync(path, { recursive: true });
    }
  });
}

descriptor("extended attributes and access lists are carried over, and none come from the folder", (top, path) => {
  const calls = attributes();
  const set = (name: string, attribute: string, value: Uint8Array<ArrayBuffer>) =>
    calls.set(`${path}/${name}`, attribute, value);
  const text = new TextEncoder();
  const large = new Uint8Array(2000).fill(0xff);
  assert.ok(set("a.txt", "user.one", text.encode("1")));
  assert.ok(set("a.txt", "user.empty", new Uint8Array()));
  assert.ok(set("a.txt", "user.naïve", large));
  const hasLists = set("a.txt", "system.posix_acl_access", aclFor(NOBODY));
  const mode = modeOf(`${path}/a.txt`);
  const [old, file] = [top.file("a.txt"), top.create(warrant, "new", 0o600)];
  assert.deepEqual(file.carry(old), []);
  assert.equal(file.setMode(mode), true);
  assert.deepEqual(calls.get(`${path}/new`, "user.one"), text.encode("1"));
  assert.deepEqual(calls.get(`${path}/new`, "user.empty"), new Uint8Array());
  assert.deepEqual(calls.get(`${path}/new`, "user.naïve"), large);
  assert.equal(modeOf(`${path}/new`), mode);
  file.close();
  old.close();
  if (hasLists) {
    const list = calls.get(`${path}/a.txt`, "system.posix_acl_access");
    assert.deepEqual(calls.get(`${path}/new`, "system.posix_acl_access"), list);
    // The folder gives new files a list that the old one has not.
    assert.ok(set("sub", "system.posix_acl_default", aclFor(NOBODY)));
    const sub = top.folder("sub");
    const [plain, made] = [sub.file("in.txt"), sub.create(warrant, "new", 0o660)];
    assert.ok(calls.get(`${path}/sub/new`, "system.posix_acl_access"));
    assert.deepEqual(made.carry(plain), []);
    assert.equal(made.setMode(0o640), true);
    assert.equal(calls.get(`${path}/sub/new`, "system.posix_acl_access"), undefined);
    assert.equal(modeOf(`${path}/sub/new`), 0o640);
    for (const each of [made, plain, sub]) each.close();
  }
});

descriptor("attributes that cannot be set, or vouch for the old content, are told", (top, path) => {
  if (!ROOT) return;
  const calls = attributes();
  const carried = (name: string) => {
    const [old, file] = [top.file(name), top.create(warrant, "new", 0o600)];
    try {
      return file.carry(old);
    } finally {
      top.remove(warrant, "new");
      file.close();
      old.close();
    }
  };
  // A capability to bind low ports, version 2.
  assert.ok(
    calls.set(`${path}/a.txt`, "security.capability", Uint8Array.from([1, 0, 0, 2, 0, 4, ...Array(14).fill(0)])),
  );
  assert.deepEqual(carried("a.txt"), ["xattrs"]);
  assert.ok(calls.set(`${path}/b.txt`, "trusted.one", new Uint8Array(3)));
  assert.deepEqual(carried("b.txt"), []);
});

descriptor("what a file system cannot hold of attributes is told", (top, path) => {
  if (!mountable()) return;
  using _mounted = mount(`${path}/empty`, ["-t", "ramfs", "ramfs"]);
  const calls = attributes();
  assert.ok(calls.set(`${path}/a.txt`, "user.one", new Uint8Array(3)));
  const hasLists = calls.set(`${path}/a.txt`, "system.posix_acl_access", aclFor(NOBODY));
  const other = top.folder("empty");
  const [old, file] = [top.file("a.txt"), other.create(warrant, "new", 0o600)];
  assert.deepEqual(file.carry(old).sort(), hasLists ? ["acl", "xattrs"] : ["xattrs"]);
  for (const each of [old, file, other]) each.close();
});

descriptor("without the system's own call nothing is replaced either", (top, path) => {
  const name = (text: string) => new TextEncoder().encode(text + "\0");
  const fd = handleOf(top);
  Deno.symlinkSync("nowhere", `${path}/link`);
  for (const target of ["b.txt", "empty", "link", "a.txt"]) {
    assert.equal(faultOf(() => renameWithoutFlag(fd, name("a.txt"), fd, name(target))), "exists");
    assert.equal(faultOf(() => renameWithoutFlag(fd, name("sub"), fd, name(target))), "exists");
  }
  assert.equal(faultOf(() => renameWithoutFlag(fd, name("never"), fd, name("x"))), "missing");
  const sub = top.folder("sub");
  assert.equal(faultOf(() => renameWithoutFlag(fd, name("sub"), handleOf(sub), name("x"))), "failed");
  for (const entry of ["a.txt", "link", "empty"]) renameWithoutFlag(fd, name(entry), handleOf(sub), name(entry));
  sub.close();
  assert.deepEqual(contentOf(path), {
    "b.txt": "other",
    "sub": "/",
    "sub/in.txt": "in sub",
    "sub/a.txt": "old",
    "sub/link": "-> nowhere",
    "sub/empty": "/",
  });
});

descriptor("before Linux 6.6 the mode is set on an opened handle, compared as well", (top, path) => {
  for (const entry of ["a.txt", "sub"]) {
    setModeOpened(handleOf(top), entry, top.look(entry)!, 0o700);
    assert.equal(modeOf(`${path}/${entry}`), 0o700);
  }
  assert.equal(faultOf(() => setModeOpened(handleOf(top), "b.txt", top.look("a.txt")!, 0o777)), "replaced");
  assert.notEqual(modeOf(`${path}/b.txt`), 0o777);
});

// -- what the tests need of the system

function attributes() {
  const { symbols } = Deno.dlopen(libc!, {
    setxattr: { parameters: ["buffer", "buffer", "buffer", "usize", "i32"], result: "i32" },
    getxattr: { parameters: ["buffer", "buffer", "buffer", "usize"], result: "isize" },
  });
  const text = (value: string) => new TextEncoder().encode(value + "\0");
  return {
    set: (path: string, name: string, value: Uint8Array<ArrayBuffer>) =>
      symbols.setxattr(text(path), text(name), value, BigInt(value.length), 0) === 0,
    get: (path: string, name: string) => {
      const buffer = new Uint8Array(65536);
      const n = Number(symbols.getxattr(text(path), text(name), buffer, BigInt(buffer.length)));
      return n < 0 ? undefined : buffer.slice(0, n);
    },
  };
}

/** An access list, version 2, that lets one account besides the owner read and write. */
function aclFor(uid: number): Uint8Array<ArrayBuffer> {
  const NONE = 0xffff_ffff;
  const entries = [[0x01, 6, NONE], [0x02, 6, uid], [0x04, 4, NONE], [0x10, 6, NONE], [0x20, 0, NONE]];
  const list = new DataView(new ArrayBuffer(4 + entries.length * 8));
  list.setUint32(0, 2, true);
  entries.forEach(([tag, rights, id], i) => {
    list.setUint16(4 + i * 8, tag, true);
    list.setUint16(6 + i * 8, rights, true);
    list.setUint32(8 + i * 8, id, true);
  });
  return new Uint8Array(list.buffer);
}

/** A process that runs `changes_child.ts`. */
class Child {
  private constructor(readonly process: Deno.ChildProcess, readonly said: string) {}

  static async start(kind: string, path: string, command: string): Promise<Child> {
    const module = new URL("changes_child.ts", import.meta.url).pathname;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--no-check", "--allow-all", module, kind, path, command],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const reader = process.stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    return new Child(process, new TextDecoder().decode(value).trim());
  }

  async kill() {
    this.process.kill("SIGKILL");
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose]() {
    await this.process.stdin.close().catch(() => {});
    await this.process.stdout.cancel();
    await this.process.status;
  }
}
