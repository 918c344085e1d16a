/** One contract, both implementations. */
import assert from "node:assert/strict";
import type { Boundary } from "../../src/boundary/types.ts";
import { openDescriptorDisk } from "../../src/disk/descriptor_linux.ts";
import { type Disk, DiskError, type Folder, kindOfEntry, nameOf } from "../../src/disk/disk.ts";
import { openPathnameDisk } from "../../src/disk/pathname.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";

const IMPLEMENTATIONS: [string, (boundary: Boundary) => Disk][] = [["pathname", openPathnameDisk]];
const libc = findLibc();
if (libc) IMPLEMENTATIONS.push(["descriptor", (boundary) => openDescriptorDisk(boundary, libc)]);

/** One test for each implementation, over a folder of its own. */
function contract(name: string, act: (top: Folder, path: string, disk: Disk) => void) {
  for (const [kind, open] of IMPLEMENTATIONS) {
    Deno.test(`${kind} disk: ${name}`, () => {
      const path = makeFolder({
        "a.txt": "hello",
        "sub/b.txt": "in sub",
        "sub/deep/c.txt": "",
        "to-file": { link: "a.txt" },
        "to-sub": { link: "sub" },
        "out": { link: "/etc" },
        "dangling": { link: "nowhere" },
        ".hidden": "h",
        "naïve – 文.txt": "n",
      });
      assert.ok(new Deno.Command("mkfifo", { args: [`${path}/fifo`] }).outputSync().success);
      const boundary = boundaryOf({ work: path });
      const disk = open(boundary);
      const top = disk.top(boundary.trees[0]);
      try {
        assert.equal(disk.kind, kind);
        act(top, path, disk);
      } finally {
        top.close();
        disk.close();
        Deno.removeSync(path, { recursive: true });
      }
    });
  }
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

contract("a folder can be listed again, and from any place of a file be read", (top, path) => {
  const names = () => top.list().entries.sort();
  const before = names();
  Deno.writeTextFileSync(`${path}/new.txt`, "0123456789");
  assert.deepEqual(names(), [...before, "new.txt"].sort());
  const file = top.file("new.txt");
  const read = (length: number, offset: number) => {
    const buffer = new Uint8Array(length);
    return new TextDecoder().decode(buffer.subarray(0, file.readAt(buffer, offset)));
  };
  assert.deepEqual([read(3, 0), read(3, 3), read(2, 1), read(20, 6), read(4, 0), read(1, 10)], [
    "012",
    "345",
    "12",
    "6789",
    "0123",
    "",
  ]);
  file.close();
});

contract("a listing names every entry with its kind", (top) => {
  const { entries, undecodable } = top.list();
  assert.deepEqual(Object.fromEntries(entries.map((entry) => [nameOf(entry), kindOfEntry(entry)])), {
    "a.txt": "file",
    "sub": "dir",
    "to-file": "link",
    "to-sub": "link",
    "out": "link",
    "dangling": "link",
    ".hidden": "file",
    "naïve – 文.txt": "file",
    "fifo": "other",
  });
  assert.equal(undecodable, 0);
});

contract("a second listing of one handle is the same", (top) => {
  assert.deepEqual(top.list().entries.sort(), top.list().entries.sort());
});

contract("facts are of the entry itself, as the system tells them", (top, path) => {
  for (const name of ["a.txt", "sub", "to-file", "dangling", "fifo"]) {
    const info = Deno.lstatSync(`${path}/${name}`);
    const facts = top.look(name)!;
    assert.equal(facts.size, info.size, name);
    assert.equal(Math.floor(facts.modified), info.mtime!.getTime(), name);
    assert.equal(facts.mode, info.mode! & 0o7777, name);
    assert.equal(facts.dev, info.dev, name);
    assert.equal(facts.ino, info.ino, name);
    assert.equal(facts.kind, info.isSymlink ? "link" : info.isDirectory ? "dir" : info.isFile ? "file" : "other", name);
  }
  assert.equal(top.look("never"), undefined);
  assert.equal(top.facts().kind, "dir");
});

contract("times before 1970 and after 2038 are told", (top, path) => {
  for (const seconds of [-1, -86400 * 365, 2 ** 32 + 5]) {
    Deno.utimeSync(`${path}/a.txt`, seconds, seconds);
    assert.equal(top.look("a.txt")!.modified, seconds * 1000);
  }
});

contract("a folder opens a folder, and nothing else", (top) => {
  const sub = top.folder("sub");
  const deep = sub.folder("deep");
  assert.equal(deep.look("c.txt")!.size, 0);
  deep.close();
  sub.close();
  for (const name of ["a.txt", "to-sub", "out", "dangling", "fifo"]) {
    assert.equal(faultOf(() => top.folder(name)), "not-folder", name);
  }
  assert.equal(faultOf(() => top.folder("never")), "missing");
});

contract("a file opens a regular file, and nothing else", (top) => {
  const file = top.file("a.txt");
  assert.equal(file.facts().size, 5);
  const buffer = new Uint8Array(3);
  assert.equal(file.readAt(buffer, 0), 3);
  assert.equal(new TextDecoder().decode(buffer), "hel");
  assert.equal(file.readAt(buffer, 3), 2);
  assert.equal(new TextDecoder().decode(buffer.subarray(0, 2)), "lo");
  assert.equal(file.readAt(buffer, 1), 3);
  assert.equal(new TextDecoder().decode(buffer), "ell");
  assert.equal(file.readAt(buffer, 99), 0);
  file.close();
  for (const name of ["to-file", "out", "dangling", "fifo", "sub"]) {
    assert.equal(faultOf(() => top.file(name)), "not-file", name);
  }
  assert.equal(faultOf(() => top.file("never")), "missing");
});

contract("links tell their text and are no other entries", (top) => {
  assert.equal(top.link("to-file"), "a.txt");
  assert.equal(top.link("out"), "/etc");
  assert.equal(top.link("a.txt"), undefined);
  assert.equal(top.link("sub"), undefined);
});

contract("a name longer than the system allows is no crash", (top) => {
  assert.equal(faultOf(() => top.file("x".repeat(300))), "name-too-long");
  assert.equal(faultOf(() => top.file("x".repeat(20_000))), "name-too-long");
});

contract("a folder of many entries is listed whole", (top, path) => {
  Deno.mkdirSync(`${path}/many`);
  const names = Array.from({ length: 5000 }, (_, i) => `a rather long name for a file number ${i}`);
  for (const name of names) Deno.writeTextFileSync(`${path}/many/${name}`, "");
  const many = top.folder("many");
  assert.deepEqual(many.list().entries.sort(), names.sort());
  many.close();
});

contract("a folder that was replaced at the tree's path is not taken for it", (_top, path, disk) => {
  const boundary = boundaryOf({ work: path });
  Deno.renameSync(path, `${path}-old`);
  Deno.mkdirSync(path);
  const open = IMPLEMENTATIONS.find(([kind]) => kind === disk.kind)![1];
  try {
    assert.equal(faultOf(() => open(boundary)), "replaced");
    Deno.removeSync(path);
    assert.equal(faultOf(() => open(boundary)), "replaced");
  } finally {
    Deno.renameSync(`${path}-old`, path);
  }
});

Deno.test("names that are not Unicode are left out and counted, where the system tells", { ignore: !libc }, () => {
  const path = makeFolder({ "good": "" });
  const made = new Deno.Command("bash", { args: ["-c", `touch "$0"/$'bad\\xff' "$0"/$'\\xc3\\x28'`, path] })
    .outputSync();
  assert.ok(made.success);
  const boundary = boundaryOf({ work: path });
  const disk = openDescriptorDisk(boundary, libc!);
  const top = disk.top(boundary.trees[0]);
  assert.deepEqual(top.list(), { entries: ["good"], undecodable: 2 });
  top.close();
  disk.close();
  Deno.removeSync(path, { recursive: true });
});

Deno.test("the descriptor disk leaks no descriptor", { ignore: !libc }, () => {
  const path = makeFolder({ "a/b/c.txt": "x", "l": { link: "a" } });
  const boundary = boundaryOf({ work: path });
  const count = () => [...Deno.readDirSync("/proc/self/fd")].length;
  const before = count();
  const disk = openDescriptorDisk(boundary, libc!);
  for (let i = 0; i < 50; i++) {
    const top = disk.top(boundary.trees[0]);
    top.list();
    top.folder("a").close();
    faultOf(() => top.folder("l"));
    faultOf(() => top.file("a"));
    top.close();
  }
  disk.close();
  assert.equal(count(), before);
  Deno.removeSync(path, { recursive: true });
});
