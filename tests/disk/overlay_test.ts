/** The disk of rehearsals, over both implementations: it behaves as the disk below would, which stays as it is. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Boundary } from "../../src/boundary/types.ts";
import { type Deed, Warrant } from "../../src/disk/changes.ts";
import { openDescriptorDisk } from "../../src/disk/descriptor_linux.ts";
import { type Disk, DiskError, entryOf, type Folder, isSame, kindOfEntry, nameOf } from "../../src/disk/disk.ts";
import { Overlay } from "../../src/disk/overlay.ts";
import { openPathnameDisk } from "../../src/disk/pathname.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { asNobody, ROOT } from "../support/system.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";

const WINDOWS = Deno.build.os === "windows";
const libc = findLibc();
const IMPLEMENTATIONS: [Disk["kind"], (boundary: Boundary) => Disk][] = [["pathname", openPathnameDisk]];
if (libc) IMPLEMENTATIONS.push(["descriptor", (boundary) => openDescriptorDisk(boundary, libc)]);

const warrant = new Warrant();
const encoder = new TextEncoder();

interface Place {
  top: Folder;
  /** The real path of `top`. */
  path: string;
  disk: Overlay;
  boundary: Boundary;
}

/** One test for each implementation, over a folder of its own, which has to be as it was at the end; no handle may be left. */
function over(name: string, act: (place: Place) => void, ignoreCase = false) {
  for (const [kind, open] of IMPLEMENTATIONS) {
    Deno.test(`overlay of the ${kind} disk: ${name}`, { ignore: WINDOWS }, () => {
      const path = world();
      const boundary = boundaryOf({ work: path });
      const below = open(boundary);
      const handles = handlesOpen();
      const before = snapshot(path);
      const disk = new Overlay(below, { windows: false, ignoreCase });
      const top = disk.top(boundary.trees[0]);
      try {
        assert.equal(disk.kind, kind);
        act({ top, path, disk, boundary });
        assert.deepEqual(snapshot(path), before);
      } finally {
        top.close();
        assert.equal(handlesOpen(), handles, "a handle is left");
        below.close();
        Deno.removeSync(path, { recursive: true });
      }
    });
  }
}

function world(): string {
  const path = makeFolder({
    "a": "a",
    "b": "b",
    "sub/in": "in sub",
    "sub/deep/x": "x",
    "empty": null,
    "to-a": { link: "a" },
    "to-sub": { link: "sub" },
  });
  Deno.linkSync(`${path}/a`, `${path}/twin`);
  if (!WINDOWS) assert.ok(new Deno.Command("mkfifo", { args: [`${path}/fifo`] }).outputSync().success);
  return path;
}

function handlesOpen(): number {
  return Deno.build.os === "linux" ? [...Deno.readDirSync("/proc/self/fd")].length : 0;
}

/** All that can be seen of what lies below a folder, times and numbers included. */
function snapshot(top: string): unknown[] {
  return [...Deno.readDirSync(top)].sort((a, b) => a.name < b.name ? -1 : 1).flatMap(({ name }) => {
    const at = `${top}/${name}`;
    const { mtime, mode, ino, size, nlink, isDirectory } = Deno.lstatSync(at);
    return [[at, mtime, mode, ino, size, nlink], ...isDirectory ? snapshot(at) : []];
  });
}

function faultOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof DiskError, `${error}`);
    return error.fault;
  }
  return "none";
}

function make(folder: Folder, name: string, text: string) {
  const file = folder.create(warrant, name, 0o600);
  for (const half of [text.slice(0, 1), text.slice(1)]) file.write(encoder.encode(half));
  assert.ok(file.setMode(0o640));
  file.sync();
  file.close();
}

function read(folder: Folder, name: string): string {
  const file = folder.file(name);
  try {
    const bytes = new Uint8Array(file.facts().size + 1);
    return new TextDecoder().decode(bytes.subarray(0, file.readAt(bytes, 0)));
  } finally {
    file.close();
  }
}

/** Everything in a folder, as the disk tells it: content and mode of files, texts of links; of others the kind. */
function contentOf(folder: Folder, prefix = ""): string[] {
  return folder.list().entries.sort().flatMap((entry) => {
    const [name, kind] = [nameOf(entry), kindOfEntry(entry)];
    const facts = folder.look(name)!;
    assert.equal(facts.kind, kind);
    if (kind === "link") return [`${prefix}${name} -> ${folder.link(name)}`];
    if (kind === "file") return [`${prefix}${name} ${facts.mode!.toString(8)} ${facts.size} ${read(folder, name)}`];
    if (kind !== "dir") return [`${prefix}${name} special`];
    return [`${prefix}${name}/`, ...inside(folder, name, (inner) => contentOf(inner, `${prefix}${name}/`))];
  });
}

function inside<T>(folder: Folder, name: string, act: (inner: Folder) => T): T {
  const inner = folder.folder(name);
  try {
    return act(inner);
  } finally {
    inner.close();
  }
}

const NAMES = ["a", "b", "twin", "sub", "empty", "to-a", "to-sub", "fifo", "n", "in", "deep", "x"];
const TOO_LONG = "x".repeat(256);
const WAYS = [[], [], ["sub"], ["sub", "deep"], ["empty"], ["n"], ["n", "n"], ["sub", "n"], ["to-sub"], ["x"]];

/** `at` and `to` are names of folders from the top. */
type Step = { act: string; at: string[]; name: string; to: string[]; toName: string; replace: boolean };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    act: fc.constantFrom(
      "create",
      "rename",
      "rename",
      "rename",
      "makeFolder",
      "remove",
      "removeFolder",
      "setMode",
      "look",
    ),
    at: fc.constantFrom(...WAYS),
    name: fc.constantFrom(...NAMES, TOO_LONG),
    to: fc.constantFrom(...WAYS),
    toName: fc.constantFrom(...NAMES),
    replace: fc.boolean(),
  }),
  { maxLength: 40 },
);

/** A folder put into itself, or replaced by what it holds: all decline, not all for the same reason. */
function turnsOnItself({ at, name, to, toName }: Step): boolean {
  const [from, onto] = [[...at, name], [...to, toName]];
  return onto.every((name, i) => at[i] === name) || from.every((name, i) => to[i] === name);
}

/** What comes of a step: a fault, or none. */
function take(top: Folder, { act, at, name, to, toName, replace }: Step): string {
  const opened: Folder[] = [];
  const go = (way: string[]) =>
    way.reduce((folder, name) => {
      opened.push(folder.folder(name));
      return opened.at(-1)!;
    }, top);
  try {
    return faultOf(() => {
      const folder = go(at);
      switch (act) {
        case "create":
          return make(folder, name, "new");
        case "rename":
          return folder.rename(warrant, name, go(to), toName, replace);
        case "makeFolder":
          return folder.makeFolder(warrant, name, 0o755);
        case "remove":
          return folder.remove(warrant, name);
        case "removeFolder":
          return folder.removeFolder(warrant, name);
        case "setMode": {
          const facts = folder.look(name);
          return facts && folder.setMode(warrant, name, facts, facts.kind === "dir" ? 0o755 : 0o700);
        }
        case "look":
          return folder.look(name)?.kind === "file" && folder.link(name);
      }
    });
  } finally {
    for (const folder of opened) folder.close();
  }
}

over("whatever is done, it tells what the disk itself would", ({ top, path, disk, boundary }) => {
  const [, open] = IMPLEMENTATIONS.find(([kind]) => kind === disk.kind)!;
  fc.assert(
    fc.property(steps, (steps) => {
      const other = world();
      const real = boundaryOf({ work: other });
      const realDisk = open(real);
      const realTop = realDisk.top(real.trees[0]);
      const overlayTop = new Overlay(disk.below, boundary.names).top(boundary.trees[0]);
      try {
        for (const step of steps.filter((step) => !turnsOnItself(step))) {
          assert.equal(take(overlayTop, step), take(realTop, step), JSON.stringify(step));
        }
        assert.deepEqual(contentOf(overlayTop), contentOf(realTop));
      } finally {
        for (const each of [overlayTop, realTop, realDisk]) each.close();
        Deno.removeSync(other, { recursive: true });
      }
    }),
    { numRuns: Number(Deno.env.get("FETTLE_REHEARSALS") ?? 100) },
  );
  assert.deepEqual(top.list().entries.length, [...Deno.readDirSync(path)].length);
});

over("a folder that is moved keeps what it is, what it holds and what was changed in it", ({ top }) => {
  inside(top, "sub", (sub) => {
    make(sub, "made", "made");
    sub.remove(warrant, "in");
  });
  const facts = top.look("sub")!;
  top.makeFolder(warrant, "n", 0o755);
  inside(top, "n", (n) => {
    top.rename(warrant, "sub", n, "moved", false);
    assert.ok(isSame(n.look("moved")!, facts));
    assert.deepEqual(inside(n, "moved", (moved) => contentOf(moved)), [
      "deep/",
      `deep/x ${(0o644).toString(8)} 1 x`,
      "made 640 4 made",
    ]);
    assert.deepEqual([n.facts().dev, n.facts().ino < 0], [facts.dev, true]);
    assert.ok(isSame(n.facts(), top.look("n")!));
    assert.equal(faultOf(() => n.look("é".repeat(128))), "name-too-long");
  });
  assert.equal(faultOf(() => top.folder("sub")), "missing");
  assert.equal(faultOf(() => inside(top, "n", (n) => top.rename(warrant, "n", n, "x", false))), "failed");
});

over(
  "a file that takes over another's content is read where that lies, and both go their own ways",
  ({ top, path }) => {
    const borrow = (from: string, name: string) => {
      const source = top.file(from);
      const file = top.create(warrant, name, 0o644);
      assert.ok(file.borrow!(source));
      file.setModified(1000);
      file.close();
      source.close();
    };
    borrow("b", "copy");
    make(top, "n", "made");
    borrow("n", "m");
    top.remove(warrant, "b");
    top.remove(warrant, "n");
    top.rename(warrant, "copy", top, "b", false);
    borrow("b", "again");
    assert.deepEqual(["b", "again", "m"].map((name) => read(top, name)), ["b", "b", "made"]);
    const { size, modified, ino } = top.look("again")!;
    assert.deepEqual([size, modified, ino < 0], [1, 1000, true]);
    // What lies there now is another file.
    Deno.renameSync(`${path}/b`, `${path}/away`);
    Deno.writeTextFileSync(`${path}/b`, "other");
    assert.equal(faultOf(() => top.file("again")), "missing");
    Deno.removeSync(`${path}/b`);
    Deno.renameSync(`${path}/away`, `${path}/b`);
  },
);

over("no change without a warrant, nor of another disk", ({ top, disk, boundary }) => {
  const facts = top.look("a")!;
  const calls: ((warrant: Warrant, name: string) => unknown)[] = [
    (warrant, name) => top.create(warrant, name, 0o644),
    (warrant, name) => top.rename(warrant, name, top, "c", false),
    (warrant, name) => top.rename(warrant, "a", top, name, true),
    (warrant, name) => top.makeFolder(warrant, name, 0o755),
    (warrant, name) => top.remove(warrant, name),
    (warrant, name) => top.removeFolder(warrant, name),
    (warrant, name) => top.removeAbandoned(warrant, name),
    (warrant, name) => top.setMode(warrant, name, facts, 0o600),
    (warrant, name) => top.makeWritable(warrant, name),
  ];
  for (const call of calls) {
    assert.throws(() => call({} as Warrant, "a"), TypeError);
    for (const name of ["", ".", "..", "x/y", "x\0"]) assert.throws(() => call(warrant, name), TypeError);
  }
  const below = disk.below.top(boundary.trees[0]);
  assert.throws(() => top.rename(warrant, "a", below, "c", false), TypeError);
  below.close();
});

over("what is set, locked, flushed or cleaned up stays in memory", ({ top }) => {
  assert.ok(top.tryLock() && top.tryLock() && top.syncAll());
  top.sync();
  assert.equal(top.removeAbandoned(warrant, "sub"), false);
  assert.equal(top.removeAbandoned(warrant, "never"), false);
  assert.equal(top.removeAbandoned(warrant, "b"), true);
  assert.equal(top.look("b"), undefined);
  const facts = top.look("a")!;
  top.setMode(warrant, "a", facts, 0o711);
  assert.deepEqual([top.look("a")!.mode, top.look("twin")!.mode], [0o711, 0o711]);
  assert.equal(faultOf(() => top.setMode(warrant, "sub", facts, 0o700)), "replaced");
  assert.equal(faultOf(() => top.setMode(warrant, "to-a", top.look("to-a")!, 0o700)), "not-file");
  assert.equal(faultOf(() => top.setMode(warrant, "never", facts, 0o700)), "missing");
});

over("where the system ignores case, a name is one however it is written", ({ top }) => {
  top.rename(warrant, "a", top, "A", true);
  assert.deepEqual(top.list().entries.filter((entry) => entry.toLowerCase() === "a"), [entryOf("A", "file")]);
  assert.ok(isSame(top.look("a")!, top.look("A")!));
  assert.equal(faultOf(() => top.create(warrant, "a", 0o644)), "exists");
  top.remove(warrant, "a");
  assert.equal(top.look("A"), undefined);
}, true);

over("the system is asked for its leave where there is something to ask about", ({ top, disk, boundary }) => {
  const leave = (folder: Folder) =>
    [["make", "n"], ["put", "n"], ["go", "b"], ["write", "b"], ["mode", "b"]].map(([deed, name]) =>
      faultOf(() => folder.demandLeave(deed as Deed, name))
    );
  const all = (fault: string) => Array(5).fill(fault);
  const other = disk.top(boundary.trees[0]);
  assert.deepEqual(leave(other), all("none"));
  other.close();
  top.makeFolder(warrant, "m", 0o755);
  inside(top, "m", (made) => {
    make(made, "b", "made");
    if (ROOT) asNobody([], () => assert.deepEqual([leave(top), leave(made)], [all("denied"), all("none")]));
    // One that came from elsewhere is asked about where it lies; its place here is this account's.
    made.remove(warrant, "b");
    top.rename(warrant, "b", made, "b", false);
    if (ROOT) asNobody([], () => assert.deepEqual(leave(made), ["none", "none", "none", "denied", "denied"]));
    make(top, "b", "new");
    if (ROOT) asNobody([], () => assert.deepEqual(leave(top), ["denied", "denied", "denied", "none", "none"]));
  });
});
