/** The locks between processes, on both disk implementations: two doors stand for two processes. Spec 2-verbs §2.8; decision 55. */
import assert from "node:assert/strict";
import { DiskError } from "../../src/disk/disk.ts";
import { FolderLocks } from "../../src/disk/locks.ts";
import { find } from "../../src/disk/resolve.ts";
import { Refusal } from "../../src/refusal.ts";
import { DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";

for (const [kind, library] of DISKS) {
  const test = (name: string, act: (world: ReturnType<typeof open>) => void) =>
    Deno.test(`${kind}: locks: ${name}`, () => {
      const world = open();
      try {
        act(world);
      } finally {
        world.close();
      }
    });
  const open = () => {
    const top = makeFolder({ "app/a/b/c/x": "", "app/a/d/x": "", "app/x": "", "app/e/x": "" });
    const side = sideOf(boundaryOf({ work: `${top}/app` }), library);
    const opened: { close(): void }[] = [];
    return {
      top,
      /** Locks of one process: the call is refused at once where another has one. */
      locks: () => {
        const locks = new FolderLocks(side.disk, () => {}, 0);
        opened.unshift(locks);
        return locks;
      },
      found: (path: string) => {
        const found = find(side.disk, side.survey, path, { follow: false });
        opened.push(found);
        return found;
      },
      close: () => {
        for (const one of opened) one.close();
        side.disk.close();
        Deno.removeSync(top, { recursive: true });
      },
    };
  };
  const isBusy = (act: () => void) => {
    try {
      act();
      return false;
    } catch (error) {
      assert.ok(error instanceof Refusal && error.outcome === "denied", `${error}`);
      return true;
    }
  };

  test("a folder is had by one call, those above it are shared", ({ locks, found }) => {
    locks().lock([found("a/b/c/x")]);
    assert.ok(isBusy(() => locks().lock([found("a/b/c/y")])));
    locks().lock([found("a/d/x")]);
    locks().lock([found("e/x")]);
    // To move `a`, `b` or `c`, or to change what is beside them, takes a folder that is shared.
    for (const path of ["a", "x", "a/b", "a/b/c"]) assert.ok(isBusy(() => locks().lock([found(path)])), path);
  });

  test("and the other way round", ({ locks, found }) => {
    const first = locks();
    first.lock([found("a/b")]);
    for (const path of ["a/b/c/x", "a/d/x", "a/x"]) assert.ok(isBusy(() => locks().lock([found(path)])), path);
    locks().lock([found("e/x")]);
  });

  test("one call may have folders that lie in each other, and more of them later", ({ locks, found }) => {
    const first = locks();
    first.lock([found("a/b/c/x"), found("x"), found("a/b"), found("x")]);
    first.lock([found("a/d/x")]);
    first.lock([found("a/d")]);
    for (const path of ["a/b/c/x", "x", "a/d/x", "a", "e/x"]) {
      assert.ok(isBusy(() => locks().lock([found(path)])), path);
    }
  });

  test("whoever cannot have all has none", ({ locks, found }) => {
    const one = locks();
    one.lock([found("e/x")]);
    assert.ok(isBusy(() => locks().lock([found("a/b/c/x"), found("e/x"), found("a/d/x")])));
    locks().lock([found("a/b/c/x"), found("a/d/x")]);
  });

  test("what is closed is free; with the last folder go those above it", ({ locks, found }) => {
    const one = locks();
    const inner = found("a/b/c/x");
    one.lock([inner]);
    one.release(inner.folder.facts());
    inner.close();
    const above = found("a");
    const next = locks();
    next.lock([above]);
    next.close();
    above.close();

    const two = locks();
    const outer = found("e/x");
    two.lock([outer]);
    two.close();
    outer.close();
    locks().lock([found("e/x")]);
  });

  test("a folder that was moved on the way is noticed, at whatever height", ({ top, locks, found }) => {
    for (const [from, to] of [["a", "f"], ["f/b", "f/g"], ["f/g/c", "e/c"]]) {
      const path = from.startsWith("a") ? "a/b/c/x" : from.startsWith("f/b") ? "f/b/c/x" : "f/g/c/x";
      const entry = found(path);
      Deno.renameSync(`${top}/app/${from}`, `${top}/app/${to}`);
      const moved = (error: unknown) => error instanceof DiskError && error.fault === "replaced";
      assert.throws(() => locks().lock([entry]), moved, path);
    }
  });
}
