/** A call that is cancelled says what it has done, and only where it has done nothing, that. Spec: 2-verbs §2.5, §2.18, §2.23. */
import assert from "node:assert/strict";
import { cancelled } from "../../src/verbs/answer.ts";
import type { Call, EngineSide } from "../../src/verbs/verb.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";
import { both } from "./changing_support.ts";
import { treeOf } from "./support.ts";

/** A side whose calls are cancelled at the first safe point for which `now` holds. */
function cancelling(side: EngineSide, now: () => boolean): EngineSide {
  let changed = false;
  const told: Call = {
    ...side.call,
    pulse() {
      if (now()) throw cancelled(changed);
    },
    changed(path) {
      changed ||= path !== undefined;
    },
  };
  return { ...side, call: told };
}

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);

const MANY = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [`app/d/${name}`, name]));

both("delete: cancelled in the middle, and before it began", MANY, {}, async ({ side, top, tree }) => {
  for (const [left, said, files] of [[4, "1 file and 0 folders", 1], [2, "2 files and 0 folders", 2]] as const) {
    const stopping = cancelling(side, () => names(`${top}/app/d`).length <= left);
    const { json } = await call(stopping, "delete", { path: "d", recursive: true });
    assert.equal(json.message, `cancelled before it was done; by then ${said} in it had gone`);
    assert.deepEqual([json.outcome, json.files, json.directories], ["refused", files, 0]);
    assert.equal(names(`${top}/app/d`).length, left);
  }
  const before = tree();
  const { json } = await call(cancelling(side, () => true), "delete", { path: "d", recursive: true });
  assert.equal(json.message, "cancelled before it was done; nothing was changed");
  assert.deepEqual(tree(), before);
});

both("batch: cancelled between two operations, and in one", { ...MANY, "app/x": "x" }, {}, async ({ side, top }) => {
  const there = (name: string) => names(`${top}/app`).includes(name);
  const run = async (now: () => boolean, ...operations: unknown[]) =>
    (await call(cancelling(side, now), "batch", { script: { operations } })).json;
  const made = await run(() => there("n"), { op: "mkdir", path: "n" }, { op: "mkdir", path: "m" });
  assert.deepEqual([made.ok, made.outcome, made.completed, made.stopped_early], [false, "refused", 1, true]);
  assert.equal(made.message, "stopped at 1: cancelled before it was done");
  assert.deepEqual([made.operations[0].outcome, there("n"), there("m")], ["ok", true, false]);
  const cut = await run(
    () => names(`${top}/app/d`).length < 4,
    { op: "delete", path: "x" },
    { op: "delete", path: "d", recursive: true },
  );
  assert.equal(
    cut.message,
    "stopped at 1: cancelled before it was done; by then 2 files and 0 folders in it had gone (d)",
  );
  const none = await run(() => true, { op: "mkdir", path: "m" });
  assert.deepEqual([none.message, none.completed], [
    "stopped at 0: cancelled before it was done; nothing was changed",
    0,
  ]);
  assert.deepEqual([there("x"), there("m")], [false, false]);
});

/** Whether the tests' own folders lie on another file system than this one. */
function isElsewhere(path: string): boolean {
  const here = makeFolder({});
  try {
    return Deno.statSync(path).dev !== Deno.statSync(here).dev;
  } catch {
    return false;
  } finally {
    Deno.removeSync(here);
  }
}

for (const [kind, library] of DISKS) {
  Deno.test(
    `${kind}: move across file systems: cancelled while it copies, and while it removes`,
    { ignore: !isElsewhere("/dev/shm") },
    async () => {
      const far = Deno.makeTempDirSync({ dir: "/dev/shm", prefix: "fettle-test-" });
      const top = makeFolder({ "d/a": "a", "d/b": "b", "d/c": "c" });
      const side = sideOf(boundaryOf({ work: top, far }), library);
      const move = async (to: string, now: () => boolean) =>
        (await call(cancelling(side, now), "move", { from: "work:d", to })).json;
      const said = /^cancelled before it was done; /;
      try {
        const copying = await move("far:n", () => treeOf(far).includes("n/a=a"));
        assert.match(copying.message, said);
        assert.deepEqual(copying.changed, ["far:n", "far:n/a"]);
        assert.deepEqual([treeOf(far), names(`${top}/d`).length], [["n/", "n/a=a"], 3]);
        const removing = await move("far:m", () => names(`${top}/d`).length < 3);
        assert.match(removing.message, said);
        assert.match(removing.message, /everything had been copied.*not all of the old could be removed$/);
        for (const { message } of [copying, removing]) assert.doesNotMatch(message, /nothing was changed/);
        assert.deepEqual(removing.changed, ["far:m", "far:m/a", "far:m/b", "far:m/c"]);
        assert.equal(names(`${top}/d`).length, 2);
      } finally {
        side.disk.close();
        for (const path of [far, top]) Deno.removeSync(path, { recursive: true });
      }
    },
  );
}
