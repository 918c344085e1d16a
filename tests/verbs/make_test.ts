/** `new`, `mkdir` and `exec`, on both disk implementations. Spec 2-verbs §2.15, §2.19; 1-boundary §1.5, §1.9, §1.11. */
import assert from "node:assert/strict";
import { call } from "../support/side.ts";
import { mount, mountable } from "../support/system.ts";
import { put } from "../support/tree.ts";
import { both, type World } from "./changing_support.ts";

const WORLD = {
  "app/a": "a",
  "app/dir/x": "x",
  "app/hid/h": "h",
  "app/ro/r": "r",
  "app/gone": { link: "never" },
  "app/way": { link: "dir" },
  "app/to-a": { link: "a" },
  "app/to-hid": { link: "hid" },
};
const SCOPES = { hid: [], ro: ["list", "read"], "later/shut": [] } as const;

both("new: an empty file, and what is refused", WORLD, { scopes: SCOPES }, async ({ text, json, does, tree }) => {
  const before = tree();
  assert.equal(await text("new", { path: "n", dry_run: true }), "would create n\n");
  for (const dry_run of [true, false]) {
    const make = (path: string) => does("new", { path, dry_run });
    for (const path of ["a", "dir", "to-a", "way"]) assert.equal(await make(path), "target-exists", path);
    for (const path of ["never/n", "a/n"]) assert.equal(await make(path), "not-found", path);
    assert.equal(await make("n".repeat(300)), "denied");
    for (const path of ["ro/n", "gone", `.fettle-${"a".repeat(32)}.tmp`]) {
      assert.equal(await make(path), "refused", path);
    }
    for (const path of ["hid/n", "hid/h", "to-hid/h", "../n"]) assert.equal(await make(path), "outside-root", path);
    for (const path of [".mcp.json", "never/.fettler.json"]) assert.equal(await make(path), "governed", path);
  }
  assert.deepEqual(tree(), before);
  assert.equal(await text("new", { path: "n" }), "created n\n");
  assert.deepEqual(await json("new", { path: "way/m" }), {
    ok: true,
    outcome: "ok",
    path: "way/m",
    created: true,
    detail: "created",
    dry_run: false,
  });
  assert.ok(tree().includes("n=") && tree().includes("dir/m="));
});

both("mkdir: folders, and what is refused", WORLD, { scopes: SCOPES }, async ({ text, json, does, tree }) => {
  const before = tree();
  assert.equal(await text("mkdir", { path: "x/y", dry_run: true }), "would create x/y\n");
  for (const dry_run of [true, false]) {
    const make = (path: string) => does("mkdir", { path, dry_run });
    for (const path of ["a", "to-a"]) assert.equal(await make(path), "target-exists", path);
    for (const path of ["ro/n", "ro/n/m", "gone", "gone/n"]) assert.equal(await make(path), "refused", path);
    assert.equal(await make("a/n"), "not-found");
    assert.equal(await make("x/" + "n".repeat(300)), "denied");
    for (const path of ["hid", "hid/n", "later/shut", "later/shut/x", "to-hid/n", "../n"]) {
      assert.equal(await make(path), "outside-root", path);
    }
    for (const path of [".mcp.json", "x/.fettler.json/y", "new/.claude/settings.json"]) {
      assert.equal(await make(path), "governed", path);
    }
    for (const path of ["dir", ".", "way"]) assert.equal(await make(path), "ok", path);
  }
  assert.deepEqual(tree(), before);
  assert.equal(await text("mkdir", { path: "x/y/z" }), "created x/y/z\n");
  assert.equal(await text("mkdir", { path: "x/y" }), "x/y was already there\n");
  assert.deepEqual(await json("mkdir", { path: "way/in" }), {
    ok: true,
    outcome: "ok",
    path: "way/in",
    created: true,
    detail: "created",
    dry_run: false,
  });
  assert.equal((await json("mkdir", { path: "way/in" })).created, false);
  assert.equal(await does("mkdir", { path: "later" }), "ok");
  assert.ok(["dir/in/", "x/y/z/", "later/"].every((path) => tree().includes(path)));
});

both("exec: the three bits and nothing else", WORLD, { scopes: SCOPES }, async ({ text, json, does, top }) => {
  const mode = () => Deno.statSync(`${top}/app/a`).mode! & 0o7777;
  Deno.chmodSync(`${top}/app/a`, 0o640);
  assert.equal(await text("exec", { path: "a", executable: true, dry_run: true }), "a would be executable: yes\n");
  assert.equal(mode(), 0o640);
  assert.equal(await text("exec", { path: "a", executable: true }), "a executable: yes\n");
  assert.equal(mode(), 0o751);
  assert.deepEqual(await json("exec", { path: "a", executable: true }), {
    ok: true,
    outcome: "ok",
    path: "a",
    executable: true,
    supported: true,
    changed: false,
    dry_run: false,
  });
  assert.equal(await text("exec", { path: "a", executable: true }), "a executable: yes  (unchanged)\n");
  assert.equal(await text("exec", { path: "to-a", executable: false }), "to-a executable: no\n");
  assert.equal(mode(), 0o640);
  for (const dry_run of [true, false]) {
    const set = (path: string) => does("exec", { path, executable: true, dry_run });
    for (const path of ["dir", "way", "ro/r", "."]) assert.equal(await set(path), "refused", path);
    for (const path of ["never", "never/n", "gone"]) assert.equal(await set(path), "not-found", path);
    for (const path of ["hid/h", "to-hid/h"]) assert.equal(await set(path), "outside-root", path);
    assert.equal(await set(".mcp.json"), "governed");
  }
});

both(
  "what looks like the name of a tree makes nothing; a governed name behind a link to nothing is governed",
  { "app/.mcp.json": { link: "never" } },
  {},
  async ({ does, tree }) => {
    const before = tree();
    for (const verb of ["new", "mkdir"]) assert.equal(await does(verb, { path: "nosuch:x" }), "invalid", verb);
    assert.equal(await does("write", { path: "nosuch:x", text: "x" }), "invalid");
    assert.equal(await does("copy", { from: "nosuch:x", to: "nosuch:y" }), "invalid");
    assert.equal(await does("mkdir", { path: ".mcp.json" }), "governed");
    assert.deepEqual(tree(), before);
  },
);

/** `mkdir` while somebody else is at work: `meanwhile` is told before the first change and of each folder once it is there. */
async function mkdirBeside({ side }: World, path: string, meanwhile: (made?: string) => void) {
  return (await call({ ...side, call: { ...side.call, changed: meanwhile } }, "mkdir", { path })).json;
}

both("mkdir: only who makes a folder says so", {}, {}, async (world) => {
  const { top } = world;
  const lost = await mkdirBeside(world, "a/b", (made) => made ?? Deno.mkdirSync(`${top}/app/a/b`, { recursive: true }));
  assert.deepEqual([lost.ok, lost.created, lost.detail], [true, false, "was already there"]);
  const partly = await mkdirBeside(world, "c/d", (made) => made ?? Deno.mkdirSync(`${top}/app/c`));
  assert.deepEqual([partly.ok, partly.created, partly.detail], [true, true, "created"]);
});

both("mkdir: stopped in the middle, it names what it has made", {}, {}, async (world) => {
  const { json, tree, top } = world;
  const stopped = await mkdirBeside(world, "a/b/c", (made) => made === "a/b" && put(top, { "app/a/b/c": "mine" }));
  assert.deepEqual([stopped.outcome, stopped.changed], ["target-exists", ["a", "a/b"]]);
  assert.match(stopped.message, /; made by then: a, a\/b$/);
  assert.deepEqual(tree(), ["a/", "a/b/", "a/b/c=mine"]);
  assert.equal((await json("mkdir", { path: "a/b/c" })).changed, undefined);
});

both("mkdir: on a disk that is full in the middle", { "app/m/": null }, {}, async ({ json, top }) => {
  using _full = mount(`${top}/app/m`, ["-t", "tmpfs", "-o", "nr_inodes=3", "tmpfs"]);
  const { outcome, message, changed } = await json("mkdir", { path: "m/a/b/c/d" });
  assert.deepEqual([outcome, changed], ["denied", ["m/a", "m/a/b"]]);
  assert.match(message, /the disk is full; made by then: m\/a, m\/a\/b$/);
}, !mountable());

both(
  "a name that the system does not take: declined where something is to be made, else not there",
  { "app/a": "a", "app/d/x": "x" },
  {},
  async ({ json }) => {
    const long = "n".repeat(300);
    const calls: readonly [outcome: string, verb: string, args: Record<string, unknown>][] = [
      ["denied", "new", { path: long }],
      ["denied", "new", { path: `${long}/n` }],
      ["denied", "mkdir", { path: `n/${long}` }],
      ["denied", "write", { path: long, text: "x" }],
      ["denied", "copy", { from: "a", to: long }],
      ["denied", "copy", { from: "d", to: `d/${long}`, recursive: true, overwrite: true }],
      ["denied", "move", { from: "a", to: long }],
      ["denied", "move", { from: "d", to: long, overwrite: true }],
      ["not-found", "move", { from: long, to: "n" }],
      ["not-found", "copy", { from: long, to: "n" }],
      ["not-found", "delete", { path: long }],
      ["not-found", "exec", { path: long, executable: true }],
      ["not-found", "edit", { path: long, script: { edits: [{ replace: "a", with: "b" }] } }],
      ["not-found", "read", { paths: [long] }],
    ];
    for (const [outcome, verb, args] of calls) {
      for (const dry of verb === "read" ? [{}] : [{ dry_run: true }, {}]) {
        const said = await json(verb, { ...args, ...dry });
        assert.equal(said.outcome, outcome, `${verb} ${JSON.stringify(said)}`);
        if (outcome === "denied") assert.match(said.message, /declines: a name in the path is longer than it allows/);
      }
    }
  },
);
