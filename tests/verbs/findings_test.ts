/** What a stranger found by trying, one test for each kind. Spec: 1-boundary §1.5, §1.9–1.11; 2-verbs §2.4, §2.8, §2.15–2.19. */
import assert from "node:assert/strict";
import { put } from "../support/tree.ts";
import { both, type World } from "./changing_support.ts";

/** What a call says, with and without something on the disk. */
async function alike(world: World, there: string, entry: string | null, verb: string, args: Record<string, unknown>) {
  const said: unknown[] = [];
  for (const dry_run of [true, false]) {
    for (const present of [false, true]) {
      if (present) put(world.top, { [`app/${there}`]: entry });
      said.push(await world.json(verb, { ...args, dry_run }));
      if (present) Deno.removeSync(`${world.top}/app/${there}`, { recursive: true });
    }
  }
  for (const other of said) assert.deepEqual(other, said[0], `${verb} ${there}`);
  assert.equal((said[0] as { ok: boolean }).ok, false);
  return JSON.stringify(said[0]);
}

both(
  "what is hidden is not told by what is refused, whether or not it is there",
  { "app/s/hid": "s", "app/s2/hid/x": "s", "app/e/": null, "app/p/": null },
  { scopes: { "p/hid": [] } },
  async (world) => {
    const all = { recursive: true, overwrite: true };
    for (const from of ["s", "s2"]) {
      for (const entry of ["a file", null]) {
        assert.ok(!(await alike(world, "p/hid", entry, "copy", { from, to: "p", ...all })).includes("hid"), from);
      }
    }
    assert.ok(!(await alike(world, "p/hid", "x", "delete", { path: "p" })).includes("hid"));
    assert.ok(!(await alike(world, "p/hid", "x", "delete", { path: "p", recursive: true })).includes("hid"));
    assert.ok(!(await alike(world, "p/hid", "x", "move", { from: "e", to: "p", overwrite: true })).includes("hid"));
  },
);

both(
  "a copied folder has the mode of its source, a replaced file its own with the source's execute bits",
  { "app/d/e/x": "x", "app/r": "r", "app/own": "o" },
  {},
  async ({ does, top }) => {
    const mode = (path: string) => Deno.statSync(`${top}/app/${path}`).mode! & 0o7777;
    const set = (path: string, bits: number) => Deno.chmodSync(`${top}/app/${path}`, bits);
    set("d", 0o700);
    set("d/e", 0o2555);
    assert.equal(await does("copy", { from: "d", to: "c", recursive: true }), "ok");
    assert.deepEqual([mode("c"), mode("c/e")], [0o700, 0o555]);
    set("r", 0o755);
    set("own", 0o640);
    assert.equal(await does("copy", { from: "r", to: "own", overwrite: true }), "ok");
    assert.equal(mode("own"), 0o750);
    for (const path of ["d/e", "c/e"]) set(path, 0o755);
  },
  Deno.build.os === "windows",
);

both("a copy says what it did not carry over", { "app/a": "a", "app/b": "b" }, {}, async ({ json, text, top }) => {
  Deno.chmodSync(`${top}/app/a`, 0o4755);
  Deno.linkSync(`${top}/app/b`, `${top}/app/b2`);
  assert.deepEqual((await json("copy", { from: "a", to: "c" })).metadata_not_preserved, ["mode"]);
  const { metadata_not_preserved: lost } = await json("copy", { from: "a", to: "b", overwrite: true });
  assert.deepEqual([...lost].sort(), ["hard-links", "mode"]);
  assert.match(await text("copy", { from: "a", to: "c", overwrite: true }), /\n {3}not kept: mode\n$/);
}, Deno.build.os === "windows");

both("names of our own staging are nobody's to copy", { "app/d/x": "x" }, {}, async ({ does, top, tree }) => {
  const staging = `.fettle-${"0".repeat(32)}.tmp`;
  put(top, { [`app/${staging}`]: "half" });
  assert.equal(await does("copy", { from: staging, to: "k" }), "refused");
  assert.equal(await does("move", { from: staging, to: "k" }), "refused");
  assert.ok(!tree().includes("k=half"));
});

both(
  "a folder that bears a name of our staging is a folder",
  { [`app/d/.fettle-${"a".repeat(32)}.tmp/x`]: "x" },
  {},
  async (
    { does, tree },
  ) => {
    assert.equal(await does("delete", { path: "d", recursive: true }), "ok");
    assert.deepEqual(tree(), []);
  },
);

both(
  "through a link that leads nowhere nothing is made, however much of its target is missing",
  { "app/one": { link: "gone" }, "app/two": { link: "no/such" } },
  {},
  async ({ does, tree }) => {
    for (const path of ["one", "two"]) {
      for (const dry_run of [true, false]) {
        for (const [verb, more] of [["mkdir", {}], ["new", {}], ["write", { text: "x" }]] as const) {
          assert.equal(await does(verb, { path, dry_run, ...more }), "refused", `${verb} ${path}`);
        }
      }
    }
    assert.equal(await does("read", { paths: ["two"] }), "not-found");
    assert.equal(tree().length, 2);
  },
  Deno.build.os === "windows",
);

both(
  "the mode of a file in force is not changed by another of its names",
  { "app/c.json": "{}", "app/a": "" },
  {},
  async (
    { does, side, top },
  ) => {
    Deno.linkSync(`${top}/app/c.json`, `${top}/app/alias`);
    const { boundary } = side.survey;
    Object.assign(boundary, { inForce: [`${Deno.realPathSync(top)}/app/c.json`, "/nowhere/else.json"] });
    for (const dry_run of [true, false]) {
      assert.equal(await does("exec", { path: "alias", executable: true, dry_run }), "governed");
      assert.equal(await does("exec", { path: "a", executable: true, dry_run }), "ok");
    }
  },
  Deno.build.os === "windows",
);

both(
  "folders that lie too deep in each other are neither made nor carried",
  { "app/a": "a" },
  {},
  async ({ does, top }) => {
    assert.equal(await does("mkdir", { path: Array(501).fill("q").join("/") }), "refused");
    const deep = Array(600).fill("q").join("/");
    const made = new Deno.Command("mkdir", { args: ["-p", deep], cwd: `${top}/app` }).outputSync();
    assert.ok(made.success);
    for (const dry_run of [true, false]) {
      assert.equal(await does("delete", { path: "q", recursive: true, dry_run }), "refused");
      assert.equal(await does("copy", { from: "q", to: "r", recursive: true, dry_run }), "refused");
    }
  },
  Deno.build.os === "windows",
);

both(
  "the folder of a scope stays, where nothing may be changed round it",
  { "app/src/a": "a" },
  { can: ["list", "read"], scopes: { src: ["list", "read", "create", "update", "rename", "delete"] } },
  async ({ does, tree }) => {
    for (const dry_run of [true, false]) {
      assert.equal(await does("delete", { path: "src", recursive: true, dry_run }), "denied");
      assert.equal(await does("move", { from: "src", to: "src2", dry_run }), "refused");
    }
    assert.equal(await does("delete", { path: "src/a" }), "ok");
    assert.deepEqual(tree(), ["src/"]);
  },
);

both(
  "a hash is told to who may read",
  { "app/wo/a": "guess" },
  { scopes: { wo: ["list", "create", "update"] } },
  async ({ json, does, top }) => {
    const write = { path: "wo/a", text: "x", overwrite: true, expect: "0".repeat(64) };
    const { outcome, message } = await json("write", write);
    assert.equal(outcome, "stale");
    assert.ok(!/[0-9a-f]{64}/.test(message), message);
    put(top, { "app/b": "guess" });
    assert.match((await json("write", { ...write, path: "b" })).message, /[0-9a-f]{64}/);
    assert.equal(await does("write", { path: "wo/a", text: "x", overwrite: true }), "ok");
  },
);
