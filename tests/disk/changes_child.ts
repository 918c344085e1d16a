/**
 * Another process that changes a tree, for `changes_test.ts`: `KIND PATH COMMAND`. Prints what came of it, then waits until its
 * standard input ends.
 */
import { Warrant } from "../../src/disk/changes.ts";
import { openDescriptorDisk } from "../../src/disk/descriptor_linux.ts";
import { DiskError } from "../../src/disk/disk.ts";
import { openPathnameDisk } from "../../src/disk/pathname.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { boundaryOf } from "../support/tree.ts";

const RLIMIT_FSIZE = 1;

const [kind, path, command] = Deno.args;
const boundary = boundaryOf({ work: path });
const disk = kind === "descriptor" ? openDescriptorDisk(boundary, findLibc()!) : openPathnameDisk(boundary);
const top = disk.top(boundary.trees[0]);
const warrant = new Warrant();

switch (command) {
  case "lock":
    console.log(top.tryLock());
    break;
  case "stage":
    top.create(warrant, "staged", 0o644).write(new Uint8Array(3));
    console.log("staged");
    break;
  case "limit": {
    const { symbols } = Deno.dlopen(findLibc()!, { setrlimit: { parameters: ["i32", "buffer"], result: "i32" } });
    const file = top.create(warrant, "limited", 0o644);
    symbols.setrlimit(RLIMIT_FSIZE, BigUint64Array.of(4096n, 4096n));
    try {
      file.write(new Uint8Array(64 * 1024));
      console.log("no limit");
    } catch (error) {
      console.log(error instanceof DiskError ? error.fault : `${error}`);
    }
  }
}
await Deno.stdin.read(new Uint8Array(1));
