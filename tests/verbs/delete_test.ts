/** `delete`, on both disk implementations. Spec 2-verbs §2.18; 1-boundary §1.5, §1.9, §1.11. */
import assert from "node:assert/strict";
import { both } from "./changing_support.ts";

both(
  "delete: a file, a link, folders, in text and JSON",
  {
    "app/a": "a",
    "app/real/f": "f",
    "app/l": { link: "real" },
    "app/gone": { link: "never" },
    "app/out": { link: "/etc" },
    "app/empty": null,
    "app/full/in/x": "x",
    "app/full/l": { link: "../real/f" },
  },
  {},
  async ({ text, json, does, tree }) => {
    assert.equal(await text("delete", { path: "a" }), "deleted a\n");
    assert.deepEqual(await json("delete", { path: "l" }), {
      ok: true,
      outcome: "ok",
      path: "l",
      files: 1,
      directories: 0,
      dry_run: false,
    });
    assert.equal(await does("delete", { path: "gone", recursive: true }), "ok");
    assert.equal(await does("delete", { path: "out" }), "ok");
    assert.match(await text("delete", { path: "empty" }), /^deleted empty {2}0 files {2}1 folder\n$/);
    assert.equal(await does("delete", { path: "full" }), "refused");
    const dry = await json("delete", { path: "full", recursive: true, dry_run: true });
    assert.deepEqual([dry.files, dry.directories, dry.dry_run], [2, 2, true]);
    assert.match(await text("delete", { path: "full", recursive: true }), /^deleted full {2}2 files {2}2 folders\n$/);
    assert.deepEqual(tree(), ["real/", "real/f=f"]);
  },
);

both(
  "delete: what is refused, a dry run alike, with nothing changed",
  {
    "app/a": "a",
    "app/hid/h": "h",
    "app/ro/r": "r",
    "app/over/hid2/x": "x",
    "app/.mcp.json": "{}",
    "app/.claude/settings.json": "{}",
    "app/deep/.vscode/mcp.json": "{}",
    "app/link-gov": { link: ".mcp.json" },
    "app/way-hid": { link: "hid" },
  },
  { scopes: { hid: [], ro: ["list", "read", "create", "update", "rename"], "over/hid2": [], "vast/never": [] } },
  async (
    { does, json, tree },
  ) => {
    const before = tree();
    for (const dry_run of [true, false]) {
      const del = (path: string, recursive = true) => does("delete", { path, recursive, dry_run });
      assert.equal(await del("never"), "not-found");
      assert.equal(await del("never/in"), "not-found");
      assert.equal(await del("a/in"), "not-found");
      assert.equal(await del("*"), "refused");
      assert.equal(await del("a?"), "refused");
      assert.equal(await del("hid/h"), "outside-root");
      assert.equal(await del("hid"), "outside-root");
      assert.equal(await del("way-hid/h"), "outside-root");
      assert.equal(await del("../app"), "outside-root");
      assert.equal(await del(".."), "outside-root");
      assert.equal(await del("."), "refused");
      assert.equal(await del("ro/r"), "refused");
      assert.equal(await del("ro"), "refused");
      assert.equal(await del("over"), "refused");
      assert.equal(await del(".mcp.json"), "governed");
      assert.equal(await del(".claude"), "governed");
      assert.equal(await del("deep"), "governed");
      assert.equal(await del("ro/.mcp.json"), "governed");
      assert.equal(await del("deep", false), "refused");
    }
    assert.ok(!JSON.stringify(await json("delete", { path: "over", recursive: true })).includes("hid2"));
    assert.deepEqual(tree(), before);
    assert.equal(await does("delete", { path: "link-gov" }), "ok");
    assert.equal(await does("delete", { path: "way-hid" }), "ok");
  },
);

both("delete: a name with a wildcard in it, exactly", { "app/a*": "s", "app/ab": "b" }, {}, async ({ does, tree }) => {
  assert.equal(await does("delete", { path: "a*" }), "ok");
  assert.equal(await does("delete", { path: "a*" }), "refused");
  assert.deepEqual(tree(), ["ab=b"]);
});

both(
  "delete: force lifts nothing else",
  { "app/a": "a", "app/d/x": "x" },
  { can: ["list", "read"] },
  async ({ does }) => {
    assert.equal(await does("delete", { path: "a", force: true }), "refused");
    assert.equal(await does("delete", { path: "d", force: true, recursive: true }), "refused");
  },
);

both(
  "delete: a folder with staging that a killed process left",
  { [`app/d/.fettle-${"0".repeat(32)}.tmp`]: "half", "app/d/a": "a" },
  {},
  async ({ does, tree }) => {
    assert.equal(await does("delete", { path: "d", recursive: true }), "ok");
    assert.deepEqual(tree(), []);
  },
);
