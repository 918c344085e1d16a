/** `batch`, on both disk implementations. Spec 2-verbs §2.23; decision 17. */
import assert from "node:assert/strict";
import { value } from "../screens/samples.ts";
import { both, sha, type World } from "./changing_support.ts";

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

/** Outcomes of the rows of a dry run. */
async function rehearse({ json }: World, ...operations: unknown[]): Promise<string[]> {
  const { operations: rows } = await json("batch", { script: { operations }, dry_run: true });
  return rows.map((row: { outcome: string }) => row.outcome);
}

both(
  "batch: a dry run sees the names that earlier operations would leave",
  { "app/a": "a", "app/d/x": "x" },
  {},
  async (world) => {
    const dry = (...operations: unknown[]) => rehearse(world, ...operations);
    assert.deepEqual(await dry({ op: "new", path: "n" }, { op: "new", path: "n" }), ["ok", "target-exists"]);
    assert.deepEqual(await dry({ op: "delete", path: "a" }, { op: "new", path: "a" }), ["ok", "ok"]);
    assert.deepEqual(await dry({ op: "mkdir", path: "e/f" }, { op: "write", path: "e/f/n", text: "n" }), ["ok", "ok"]);
    assert.deepEqual(await dry({ op: "move", path: "a", to: "b" }, { op: "delete", path: "a" }), ["ok", "not-found"]);
    const moved = [{ op: "move", path: "d", to: "e" }, { op: "delete", path: "e/x" }, { op: "delete", path: "e" }];
    assert.deepEqual(await dry(...moved), ["ok", "ok", "ok"]);
    const exec = { op: "exec", path: "a", executable: true };
    assert.deepEqual(await dry({ op: "delete", path: "a" }, exec), ["ok", "not-found"]);
    assert.deepEqual(await dry({ op: "delete", path: "a" }, { op: "new", path: "a" }, exec), ["ok", "ok", "ok"]);
    assert.deepEqual(world.tree(), ["a=a", "d/", "d/x=x"]);
  },
);

both(
  "batch: a dry run reads what earlier operations would leave",
  { "app/a": "a", "app/d/x": "x" },
  {},
  async (world) => {
    const dry = (...operations: unknown[]) => rehearse(world, ...operations);
    const replace = async (path: string, was: string) => ({
      op: "write",
      path,
      text: "new",
      overwrite: true,
      expect: await sha(was),
    });
    assert.deepEqual(await dry({ op: "move", path: "a", to: "b" }, await replace("b", "a")), ["ok", "ok"]);
    assert.deepEqual(
      await dry(await replace("a", "a"), await replace("a", "new"), await replace("a", "a")),
      ["ok", "ok", "stale"],
    );
    assert.deepEqual(
      await dry(
        { op: "mkdir", path: "d/made" },
        { op: "write", path: "d/made/w", text: "w" },
        { op: "copy", path: "d", to: "c", recursive: true },
        { op: "delete", path: "d", recursive: true },
        await replace("c/x", "x"),
        await replace("c/made/w", "w"),
        await replace("c/made/w", "w"),
      ),
      ["ok", "ok", "ok", "ok", "ok", "ok", "stale"],
    );
    assert.deepEqual(world.tree(), ["a=a", "d/", "d/x=x"]);
  },
);

both("batch: a dry run stops at the first refusal, as of the run itself", { "app/a": "a" }, {}, async (world) => {
  const script = {
    operations: [
      { op: "mkdir", path: "s" },
      { op: "new", path: "s/settings.json" },
      { op: "move", path: "s", to: ".claude" },
      { op: "new", path: "later" },
    ],
  };
  const { operations, message, completed, stopped_early, dry_run } = await world.json("batch", {
    script,
    dry_run: true,
  });
  assert.deepEqual(operations.map((row: { outcome: string }) => row.outcome), ["ok", "ok", "governed"]);
  assert.match(message, /^stopped at 2: /);
  assert.deepEqual([completed, stopped_early, dry_run], [2, true, true]);
  assert.equal(
    await world.text("batch", { script: { operations: script.operations.slice(0, 2) }, dry_run: true }),
    " 0 mkdir    ok             would create s\n 1 new      ok             would create s/settings.json\n2 operations, 2 ok\n",
  );
  assert.deepEqual(world.tree(), ["a=a"]);
});

both("batch: a dry run copies without reading", { "app/a": "a" }, {}, async (world) => {
  // It takes no room, but hours to read.
  Deno.truncateSync(`${world.top}/app/a`, 2 ** 40);
  const copies = [{ op: "copy", path: "a", to: "b" }, { op: "copy", path: "b", to: "c" }];
  assert.deepEqual(await rehearse(world, ...copies, ...copies), ["ok", "ok", "target-exists"]);
}, Deno.build.os !== "linux");

both(
  "batch: a script that is no text is not advised a flag that there is not",
  {
    "app/zero": "a\0b",
    "app/latin": new Uint8Array([0x61, 0xff, 0x62]),
    "app/mark": new Uint8Array([0xff, 0xfe, 0x61]),
  },
  {},
  async ({ json }) => {
    for (const path of ["zero", "latin", "mark"]) {
      const { outcome, message } = await json("batch", { script_path: path });
      assert.deepEqual([outcome, /--|;/.test(message)], ["refused", false], message);
    }
  },
);
