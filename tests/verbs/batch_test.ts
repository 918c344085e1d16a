/** `batch`, on both disk implementations. Spec 2-verbs §2.23; decision 17. */
import assert from "node:assert/strict";
import { value } from "../screens/samples.ts";
import { both } from "./changing_support.ts";

both(
  "batch: every operation, in order",
  { "app/old": "old", "app/gone/x": "x" },
  {},
  async ({ text, json, top, tree }) => {
    const operations = [
      { op: "mkdir", path: "d/e" },
      { op: "new", path: "d/n" },
      { op: "write", path: "d/w", text: "w\n", eol: "crlf" },
      { op: "move", path: "old", to: "d/moved" },
      { op: "copy", path: "d", to: "c", recursive: true, preserveTimes: true },
      { op: "delete", path: "gone", recursive: true },
      { op: "exec", path: "d/w", executable: true },
    ];
    const done = await json("batch", { script: { operations } });
    assert.deepEqual([done.ok, done.completed, done.count, done.stopped_early, done.dry_run], [
      true,
      7,
      7,
      false,
      false,
    ]);
    assert.deepEqual(done.operations[0], { index: 0, op: "mkdir", outcome: "ok", detail: "created d/e" });
    const inside = (at: string) => [`${at}/`, `${at}/e/`, `${at}/moved=old`, `${at}/n=`, `${at}/w=w\r\n`];
    assert.deepEqual(tree(), [...inside("c"), ...inside("d")]);
    assert.equal(Deno.statSync(`${top}/app/d/w`).mode! & 0o111, 0o111);
    assert.equal(
      await text("batch", { script: { operations: [{ op: "new", path: "z" }] } }),
      ` 0 new      ok             created z\n1 operation, 1 ok\n`,
    );
  },
);

both("batch: the first refusal stops, what was done stays", { "app/a": "a" }, {}, async ({ text, json, tree }) => {
  const operations = [{ op: "mkdir", path: "d" }, { op: "new", path: "a" }, { op: "new", path: "later" }];
  const stopped = await json("batch", { script: { operations } });
  assert.deepEqual([stopped.ok, stopped.outcome, stopped.completed, stopped.count, stopped.stopped_early], [
    false,
    "refused",
    1,
    3,
    true,
  ]);
  assert.match(stopped.message, /^stopped at 1: /);
  assert.deepEqual(stopped.operations.map((row: { outcome: string }) => row.outcome), ["ok", "target-exists"]);
  assert.deepEqual(tree(), ["a=a", "d/"]);
  assert.match(
    await text("batch", { script: { operations } }),
    /^ 0 mkdir {4}ok {13}d was already there\n 1 new {6}target-exists {2}.*\n3 operations, 1 ok\nstopped at 1: .*\n$/,
  );
});

both("batch: the whole shape is checked before anything runs", {}, {}, async ({ does, json, tree }) => {
  const good = { op: "new", path: "n" };
  const wrong: unknown[] = [
    {},
    { operations: [] },
    { operations: [good], more: 1 },
    { operations: "x" },
    { operations: [good, 1] },
    { operations: [good, { op: "edit", path: "x" }] },
    { operations: [good, { op: "toString", path: "x" }] },
    { operations: [good, { op: "new" }] },
    { operations: [good, { op: "new", path: "" }] },
    { operations: [good, { op: "new", path: "x", dry_run: true }] },
    { operations: [good, { op: "write", path: "x", text: "x", allow_credential: true }] },
    { operations: [good, { op: "write", path: "x", text: "x", expect: "00" }] },
    { operations: [good, { op: "copy", path: "x", to: "y", preserve_times: true }] },
    { operations: [good, { op: "move", from: "x", to: "y" }] },
    { operations: [good, { op: "exec", path: "x" }] },
    { operations: [good, { op: "delete", path: "x", recursive: "yes" }] },
  ];
  for (const script of wrong) {
    const { outcome, message } = await json("batch", { script });
    assert.equal(outcome, "invalid", JSON.stringify(script));
    if ((script as { operations?: unknown[] }).operations?.length === 2) assert.match(message, /operation 1/);
  }
  assert.equal(await does("batch", {}), "invalid");
  assert.equal(await does("batch", { script: { operations: [good] }, script_path: "x" }), "invalid");
  assert.deepEqual(tree(), []);
});

both(
  "batch: a script of the boundary; a credential; a governed name",
  {
    "app/s.json": '// made by hand\n{"operations": [{"op": "new", "path": "n"},]}',
    "app/hid/s.json": "{}",
  },
  { scopes: { hid: [] } },
  async ({ does, json, tree }) => {
    assert.equal(await does("batch", { script_path: "s.json" }), "ok");
    assert.equal(await does("batch", { script_path: "never.json" }), "not-found");
    assert.equal(await does("batch", { script_path: "hid/s.json" }), "outside-root");
    const one = async (operation: unknown) => await json("batch", { script: { operations: [operation] } });
    const text = `${["api", "key"].join("_")} = "${value()}"\n`;
    const credential = await one({ op: "write", path: "c", text });
    assert.equal(credential.operations[0].outcome, "credential");
    assert.ok(!JSON.stringify(credential).includes(value()));
    assert.doesNotMatch(JSON.stringify(credential), /allow-credential/);
    assert.equal((await one({ op: "new", path: ".mcp.json" })).operations[0].outcome, "governed");
    assert.equal((await one({ op: "delete", path: "hid/s.json" })).operations[0].outcome, "outside-root");
    assert.ok(tree().includes("n=") && !tree().some((entry) => entry.startsWith("c=")));
  },
);

// Not yet so: each operation is judged against the disk as it is.
both(
  "batch: a dry run sees the names that earlier operations would leave",
  { "app/a": "a" },
  {},
  async ({ json, tree }) => {
    const dry = async (...operations: unknown[]) => {
      const { operations: rows } = await json("batch", { script: { operations }, dry_run: true });
      return rows.map((row: { outcome: string }) => row.outcome);
    };
    assert.deepEqual(await dry({ op: "new", path: "n" }, { op: "new", path: "n" }), ["ok", "target-exists"]);
    assert.deepEqual(await dry({ op: "delete", path: "a" }, { op: "new", path: "a" }), ["ok", "ok"]);
    assert.deepEqual(await dry({ op: "mkdir", path: "d" }, { op: "new", path: "d/n" }), ["ok", "ok"]);
    assert.deepEqual(await dry({ op: "delete", path: "a" }, { op: "exec", path: "a", executable: true }), [
      "ok",
      "not-found",
    ]);
    assert.deepEqual(tree(), ["a=a"]);
  },
  true,
);
