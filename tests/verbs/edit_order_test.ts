/** `edit`: which refusal comes first, and what comes between reading and writing. Spec 1-boundary §1.6; 2-verbs §2.8, §2.13; 6-screens §6.11. */
import assert from "node:assert/strict";
import { put } from "../support/tree.ts";
import { call } from "../support/side.ts";
import { both, sha } from "./changing_support.ts";

const first = { edits: [{ deleteFrom: 1 }] };
const unfit = { edits: [{ deleteFrom: 9 }] };

both(
  "edit: the earlier stage counts, whatever the order of the files",
  {
    "app/a": "a\n",
    "app/d": "d\n",
    "app/link": { link: "a" },
    "app/out": { link: "/etc/hostname" },
    "app/.mcp.json": "{}",
    "app/governed": { link: ".mcp.json" },
    "app/ro/x": "x\n",
    "app/hidden/x": "x\n",
    "app/texts": "x",
  },
  { scopes: { ro: ["list", "read"], hidden: [] } },
  async ({ does, tree }) => {
    const before = tree();
    const stale = { ...unfit, expect: "0" };
    const pairs: [string, Record<string, unknown>, Record<string, unknown>][] = [
      ["outside-root", { path: ".mcp.json", ...first }, { path: "../x", ...first }],
      ["outside-root", { path: ".mcp.json", ...first }, { path: "out", ...first }],
      ["outside-root", { path: ".mcp.json", ...first }, { path: "a", edits: [{ replace: "a", withFile: "hidden/x" }] }],
      ["governed", { path: "ro/x", ...first }, { path: "governed", ...first }],
      ["refused", { path: "none", ...first }, { path: "ro/x", ...first }],
      ["refused", { path: "a", edits: [{ replace: "a", withFile: "no/where" }] }, { path: "ro/x", ...first }],
      ["not-found", { path: "d", ...stale }, { path: "none", ...first }],
      ["stale", { path: "d", ...stale }, { path: "a", ...unfit }],
      ["stale", { path: "d", ...stale }, { path: "d", ...first }],
      ["conflict", { path: "a", ...unfit }, { path: "link", ...first }],
      ["invalid", { path: "a", ...unfit }, { path: "d", ...first }],
    ];
    for (const [outcome, one, other] of pairs) {
      for (const files of [[one, other], [other, one]]) {
        for (const dry_run of [true, false]) {
          assert.equal(await does("edit", { script: { files }, dry_run }), outcome, JSON.stringify(files));
        }
      }
    }
    // A document's name comes before what is missing.
    for (const path of ["none.pdf", "no/where.pdf"]) {
      assert.equal(await does("edit", { path, replace: "a", with: "b" }), "refused");
    }
    assert.deepEqual(tree(), before);
  },
);

both(
  "edit: a refusal names file, edit and field of a text",
  { "app/a": "a\n", "app/b": "b\n" },
  {},
  async ({ json }) => {
    const text = (path: string, textFile: string) => ({
      path,
      edits: [{ deleteFrom: 1 }, { insertAfter: 1, textFile }],
    });
    for (const [file, outcome] of [["../x", "outside-root"], ["none", "not-found"], ["no/where", "not-found"]]) {
      const said = await json("edit", { script: { files: [text("a", "b"), text("b", file)] } });
      assert.equal(said.outcome, outcome);
      assert.match(said.message, /^file 2, edit 2, textFile: /);
    }
    const of = await json("edit", { script: { files: [text("a", "b"), { ...first, path: "../x" }] } });
    assert.match(of.message, /\(path 2 of 2\)/);
  },
);

both(
  "edit: a screened place is edited, never quoted, and no text is taken from it",
  {
    "app/a": "if x:\n\treturn 1\n",
    "app/s": "{}",
  },
  { screen: ["identifiers"] },
  async ({ json, does, tree }) => {
    const said = await json("edit", { path: "a", replace: "if x:\n    return 1", with: "" });
    assert.equal(said.outcome, "not-found");
    assert.doesNotMatch(said.message, /return/);
    assert.equal(await does("edit", { path: "a", script_path: "s" }), "screened");
    assert.equal(await does("edit", { path: "a", script: { edits: [{ replace: "x", withFile: "s" }] } }), "screened");
    assert.equal(await does("edit", { path: "a", replace: "x", with: "y" }), "ok");
    assert.deepEqual(tree(), ["a=if y:\n\treturn 1\n", "s={}"]);
  },
);

both("edit: what puts back what is there writes nothing", { "app/a": "a\r\nb\n" }, {}, async ({ json, top }) => {
  const { ino, mtime } = Deno.statSync(`${top}/app/a`);
  const { files } = await json("edit", { path: "a", replace: "a\r\nb", with: "a\r\nb" });
  assert.equal(files[0].hash, await sha("a\r\nb\n"));
  const now = Deno.statSync(`${top}/app/a`);
  assert.deepEqual([now.ino, now.mtime], [ino, mtime]);
});

both("edit: two hard links are two files, and part", { "app/a": "1\n" }, {}, async ({ json, top, tree }) => {
  Deno.linkSync(`${top}/app/a`, `${top}/app/b`);
  const files = ["a", "b"].map((path) => ({ path, edits: [{ replace: "1", with: path }] }));
  const done = await json("edit", { script: { files } });
  assert.deepEqual(done.files[0].metadata_not_preserved, ["hard-links"]);
  assert.deepEqual(tree(), ["a=a\n", "b=b\n"]);
});

both(
  "edit: a file that somebody changes on the way is stale, and nothing is left",
  {
    "app/a": "a\n",
    "app/b": "b\n",
  },
  {},
  async ({ side, top, tree }) => {
    // The first change is told once both files have been judged.
    const changed = (path?: string) => path === undefined && put(`${top}/app`, { b: "other\n" });
    const files = ["a", "b"].map((path) => ({ path, edits: [{ replace: path, with: "!" }] }));
    const spoiled = { ...side, call: { ...side.call, changed } };
    const said = await call(spoiled, "edit", { script: { files } });
    assert.equal(said.outcome, "stale", said.text);
    assert.deepEqual(tree(), ["a=a\n", "b=other\n"]);
  },
);

both(
  "edit: what failed in the middle of the renames is told",
  {
    "app/a": "a\n",
    "app/b": "b\n",
    "app/c": "c\n",
  },
  {},
  async ({ side, top, tree }) => {
    const changed = (path?: string) => path === "a" && put(`${top}/app`, { b: "other\n" });
    const files = ["a", "b", "c"].map((path) => ({ path, edits: [{ replace: path, with: "!" }] }));
    const { json } = await call({ ...side, call: { ...side.call, changed } }, "edit", { script: { files } });
    assert.deepEqual([json.outcome, json.path, json.changed], ["stale", "b", ["a"]]);
    assert.match(json.message, /1 of 3 files/);
    assert.deepEqual(tree(), ["a=!\n", "b=other\n", "c=c\n"]);
  },
);

both("edit: who comes second under the lock counts on what the first wrote", { "app/a": "a\nb\n" }, {}, async (
  { side, does, tree },
) => {
  // Between finding the file and locking its folder another process puts a new one there.
  let looked = 0;
  const disk = new Proxy(side.disk, {
    get(of, name) {
      if (name !== "top") return Reflect.get(of, name, of);
      return (tree: Parameters<typeof of.top>[0]) => {
        const folder = of.top(tree);
        const { look } = folder;
        folder.look = function (name) {
          const facts = look.call(this, name);
          if (looked++ === 0) {
            const at = `${tree.real}/a`;
            Deno.writeTextFileSync(`${at}.new`, "a!\nb\n");
            Deno.renameSync(`${at}.new`, at);
          }
          return facts;
        };
        return folder;
      };
    },
  });
  assert.equal((await call({ ...side, disk }, "edit", { path: "a", replace: "b", with: "b!" })).outcome, "ok");
  assert.deepEqual(tree(), ["a=a!\nb!\n"]);
  assert.equal(await does("edit", { path: "a", replace: "b!", with: "b", expect: await sha("a\nb\n") }), "stale");
});
