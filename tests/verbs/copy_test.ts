/** `copy`, on both disk implementations. Spec 2-verbs §2.17; 1-boundary §1.5, §1.9, §1.11; scenarios 20, 22, 25, 29, 35, 89, 90, 93, 208. */
import assert from "node:assert/strict";
import type { Permission } from "../../src/boundary/types.ts";
import { DiskError, type Folder } from "../../src/disk/disk.ts";
import { Refusal } from "../../src/refusal.ts";
import type { EngineSide } from "../../src/verbs/verb.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, type Entry, makeFolder, type TreeOptions } from "../support/tree.ts";
import { treeOf } from "./support.ts";

const LR: Permission[] = ["list", "read"];
const LRC: Permission[] = [...LR, "create"];

interface World {
  top: string;
  side: EngineSide;
  /** The outcome of a copy. */
  copy(from: string, to: string, more?: Record<string, unknown>): Promise<string>;
  // deno-lint-ignore no-explicit-any
  answer(from: string, to: string, more?: Record<string, unknown>): Promise<any>;
  text(from: string, to: string, more?: Record<string, unknown>): Promise<string>;
  /** What is in the tree `work`. */
  tree(): string[];
}

const R = { recursive: true };
const RO = { recursive: true, overwrite: true };

/** One test for each implementation, over a world of its own; the tree `work` is the folder `app`. */
function both(
  name: string,
  entries: Record<string, Entry>,
  trees: Record<string, Partial<TreeOptions> & { path?: string }>,
  act: (world: World) => Promise<void>,
) {
  for (const [kind, library] of DISKS) {
    Deno.test(`${kind}: copy: ${name}`, async () => {
      const top = makeFolder({ app: null, ...entries });
      const of = Object.entries({ work: {}, ...trees }).map(([tree, of]) => {
        const { path = "app", ...rest } = of as { path?: string };
        return [tree, { ...rest, path: `${top}/${path}` }];
      });
      const side = sideOf(boundaryOf(Object.fromEntries(of)), library);
      const run = (from: string, to: string, more = {}, form: "json" | "text" = "json") =>
        call(side, "copy", { from, to, ...more }, form);
      try {
        await act({
          top,
          side,
          copy: async (...args) => (await run(...args)).outcome,
          answer: async (...args) => (await run(...args)).json,
          text: async (from, to, more) => (await run(from, to, more, "text")).text,
          tree: () => treeOf(`${top}/app`),
        });
      } finally {
        side.disk.close();
        Deno.removeSync(top, { recursive: true });
      }
    });
  }
}

const TREE: Record<string, Entry> = {
  "app/d/a": "aa",
  "app/d/e/b": "b",
  "app/d/empty": null,
  "app/d/link": { link: "a" },
  "app/d/e/out": { link: "/etc" },
};

both(
  "a file, through a link too",
  { "app/a": "abc", "app/l": { link: "a" }, "app/gone": { link: "never" } },
  {},
  async ({ answer, copy, text, tree }) => {
    assert.equal(await text("a", "b"), "copied a -> b  1 file\n");
    assert.deepEqual(await answer("l", "c"), {
      ok: true,
      outcome: "ok",
      from: "l",
      to: "c",
      files: 1,
      directories: 0,
      bytes: 3,
      replaced: 0,
      crossed_root: false,
      links_skipped: [],
      dry_run: false,
    });
    assert.equal(await copy("gone", "d"), "not-found");
    assert.deepEqual(tree(), ["a=abc", "b=abc", "c=abc", "gone -> never", "l -> a"]);
  },
);

both("a folder, without its links and special files", TREE, {}, async ({ answer, copy, text, tree, top }) => {
  assert.ok(new Deno.Command("mkfifo", { args: [`${top}/app/d/fifo`] }).outputSync().success);
  Deno.writeTextFileSync(`${top}/app/d/.fettle-${"0".repeat(32)}.tmp`, "of another call");
  assert.equal(await copy("d", "n"), "refused");
  assert.equal(await copy("d/fifo", "n"), "refused");
  assert.equal(
    await text("d", "n", { ...R, dry_run: true }),
    "would copy d -> n  2 files  3 folders\n   link left out: d/e/out\n   link left out: d/link\n   special file left out: d/fifo\n",
  );
  assert.equal(tree().some((row) => row.startsWith("n")), false);
  const copied = await answer("d", "n", R);
  assert.deepEqual([copied.files, copied.directories, copied.bytes, copied.replaced], [2, 3, 3, 0]);
  assert.deepEqual([copied.links_skipped, copied.others_skipped], [["d/e/out", "d/link"], ["d/fifo"]]);
  assert.deepEqual(tree().filter((row) => row.startsWith("n")), ["n/", "n/a=aa", "n/e/", "n/e/b=b", "n/empty/"]);
});

both(
  "what is missing, occupied, of another kind or the same",
  {
    ...TREE,
    "app/f": "f",
    "app/same/a": "old",
    "app/kinds/a/x": "x",
    "app/kinds2/e": "a file",
    "app/to-f": { link: "f" },
  },
  {},
  async ({ copy, answer, tree, top }) => {
    const before = tree();
    assert.equal(await copy("never", "n"), "not-found");
    assert.equal(await copy("f", "never/n"), "not-found");
    assert.equal(await copy("f", "same/a"), "target-exists");
    assert.equal(await copy("d", "same", R), "target-exists");
    assert.equal(await copy("f", "same", RO), "refused");
    assert.equal(await copy("d", "f", RO), "refused");
    assert.equal(await copy("d", "kinds", RO), "refused");
    assert.equal(await copy("d", "kinds2", RO), "refused");
    assert.equal(await copy("d", "to-f", RO), "refused");
    assert.equal(await copy("f", "f", RO), "invalid");
    assert.equal(await copy("to-f", "f", RO), "invalid");
    assert.equal(await copy("d", "d", RO), "invalid");
    assert.equal(await copy("d", "d/e/n", RO), "invalid");
    assert.equal(await copy(".", "n", R), "invalid");
    assert.equal(await copy("f", "n*"), "ok");
    Deno.removeSync(`${top}/app/n*`);
    assert.equal(await copy("f", "n*", { overwrite: true }), "refused");
    assert.equal(await copy("../f", "n"), "outside-root");
    assert.equal(await copy("f", `.fettle-${"0".repeat(32)}.tmp`), "refused");
    assert.deepEqual(tree(), before);
    const merged = await answer("d", "same", RO);
    assert.deepEqual([merged.files, merged.replaced], [2, 1]);
    // The link is replaced, not what it leads to.
    assert.equal(await copy("d/a", "to-f", { overwrite: true }), "ok");
    const rows = tree();
    for (const row of ["same/a=aa", "same/e/b=b", "same/empty/", "f=f", "to-f=aa"]) assert.ok(rows.includes(row), row);
  },
);

both("mode, execute bit and times", { "app/a": "a", "app/old": "old", "app/d/x": "x" }, {}, async ({ copy, top }) => {
  const when = new Date("2011-11-11T11:11:11Z");
  for (const path of ["a", "d/x"]) {
    Deno.chmodSync(`${top}/app/${path}`, 0o751);
    Deno.utimeSync(`${top}/app/${path}`, when, when);
  }
  Deno.chmodSync(`${top}/app/old`, 0o600);
  const facts = (path: string) => Deno.statSync(`${top}/app/${path}`);
  assert.equal(await copy("a", "b"), "ok");
  assert.equal(await copy("a", "old", { overwrite: true, preserve_times: true }), "ok");
  assert.equal(await copy("d", "e", R), "ok");
  assert.equal(await copy("d", "f", { ...R, preserve_times: true }), "ok");
  assert.deepEqual(["b", "old", "e/x", "f/x"].map((path) => facts(path).mode! & 0o7777), [0o751, 0o700, 0o751, 0o751]);
  assert.deepEqual(["old", "f/x"].map((path) => facts(path).mtime), [when, when]);
  for (const path of ["b", "e/x"]) assert.notDeepEqual(facts(path).mtime, when);
});

both(
  "a file that is replaced keeps its content under its other names",
  { "app/a": "new", "app/b": "old" },
  {},
  async ({ copy, top, tree }) => {
    Deno.linkSync(`${top}/app/b`, `${top}/app/other`);
    assert.equal(await copy("a", "b", { overwrite: true }), "ok");
    assert.deepEqual(tree(), ["a=new", "b=new", "other=old"]);
  },
);

both("permissions on either side, and in every scope below", {
  ...TREE,
  "app/blind/x": "x",
  "app/e/hidden/h": "h",
  "app/keeps/a": "old",
  "app/ro/x": "x",
}, {
  work: {
    scopes: {
      "blind": ["list", "create", "delete"],
      "e/hidden": [],
      "keeps": LRC,
      "ro": LR,
      "lands/e": LR,
      "hides/e/b": [],
      "d2/never": ["list"],
    },
  },
}, async ({ copy, answer, tree, top }) => {
  Deno.mkdirSync(`${top}/app/d2`);
  const before = tree();
  assert.equal(await copy("blind/x", "n"), "refused");
  assert.equal(await copy("d/a", "ro/n"), "refused");
  assert.equal(await copy("d/a", "keeps/a", { overwrite: true }), "refused");
  assert.equal(await copy("d", "keeps", RO), "refused");
  assert.equal(await copy("d2", "n", R), "refused");
  assert.equal(await copy("e/hidden/h", "n"), "outside-root");
  for (const [from, to] of [["e", "n"], ["d", "lands"], ["d", "hides"]]) {
    const { outcome, message } = await answer(from, to, R);
    assert.equal(outcome, "refused");
    assert.doesNotMatch(message, /hid|lands/);
  }
  assert.deepEqual(tree(), before);
  assert.equal(await copy("d", "keeps/d", R), "ok");
});

both(
  "tops of trees may be copied, and merged into",
  { ...TREE, "note/n": "n" },
  { note: { path: "note", can: LRC } },
  async ({ answer, text, tree }) => {
    assert.equal(await text("note:", "work:got", R), "copied note: -> work:got  1 file  1 folder  crossed trees\n");
    assert.equal((await answer("work:d/e", "note:", RO)).crossed_root, true);
    assert.equal((await answer("work:d", "note:", RO)).outcome, "ok");
    assert.equal((await answer("work:d", "note:", RO)).outcome, "refused");
    assert.ok(tree().includes("got/n=n"));
  },
);

both(
  "governed is judged where things land, and may be read",
  {
    "app/.mcp.json": "{}",
    "app/holds/.fettler.json": "{}",
    "app/x/settings.json": "{}",
    "app/v/deep/mcp.json": "{}",
    "app/a": "a",
    "app/way": { link: ".claude" },
    "app/.claude/notes.md": "",
  },
  {},
  async ({ copy, tree }) => {
    const before = tree();
    for (
      const [from, to] of [
        ["a", ".mcp.json"],
        ["a", ".claude/settings.json"],
        ["a", "way/settings.local.json"],
        ["holds", "h"],
        ["x", ".gemini"],
        ["x", ".Claude"],
        ["x", ".claude"],
        ["v", ".vscode/v"],
        ["v/deep", ".vscode"],
      ]
    ) {
      const outcome = from === "v" ? "not-found" : "governed";
      assert.equal(await copy(from, to, RO), outcome, `${from} ${to}`);
    }
    assert.deepEqual(tree(), before);
    assert.equal(await copy(".mcp.json", "copy-of-mcp.json"), "ok");
    assert.equal(await copy("x", "y", R), "ok");
  },
);

both("screens are compared", { "app/s/f": "f", "app/s/d/g": "g", "app/t": null, "app/d/x": "x" }, {}, async (world) => {
  const { boundary } = world.side.survey;
  const scopes = [
    { path: "s", screen: ["identifiers"], declared: "" },
    { path: "t", screen: ["identifiers", "names"], declared: "" },
  ];
  const screened = { ...boundary, trees: [{ ...boundary.trees[0], scopes }] };
  const side = sideOf(screened, world.side.disk.kind === "descriptor" ? DISKS.at(-1)![1] : undefined);
  const copy = async (from: string, to: string) => (await call(side, "copy", { from, to, ...R })).outcome;
  assert.equal(await copy("s/f", "f"), "screened");
  assert.equal(await copy("s/d", "n"), "screened");
  assert.equal(await copy("s/f", "t/f"), "ok");
  assert.equal(await copy("s/f", "s/g"), "ok");
  assert.equal(await copy("d", "t/d"), "ok");
  side.disk.close();
});

both("a tree of many files keeps few handles open", {}, {}, async ({ answer, top }) => {
  const handles = () => Deno.build.os === "linux" ? [...Deno.readDirSync("/proc/self/fd")].length : 0;
  for (let d = 0; d < 20; d++) {
    Deno.mkdirSync(`${top}/app/many/${d}`, { recursive: true });
    for (let f = 0; f < 60; f++) Deno.writeTextFileSync(`${top}/app/many/${d}/${f}`, `${d} ${f}`);
  }
  const before = handles();
  const copied = await answer("many", "n", R);
  assert.deepEqual([copied.files, copied.directories], [1200, 21]);
  assert.ok(handles() <= before + 4);
  assert.deepEqual(treeOf(`${top}/app/n`), treeOf(`${top}/app/many`));
});

both(
  "cut off in the middle, the answer says what was copied",
  { ...TREE, "app/d/z": "z" },
  {},
  async ({ side, tree }) => {
    let changes = 0;
    const pulse = () => {
      if (changes >= 3) throw new Refusal("refused", "cancelled before it was done; nothing was changed");
    };
    const changed = (path?: string) => {
      if (path !== undefined) changes++;
    };
    const { json } = await call({ ...side, call: { ...side.call, pulse, changed } }, "copy", {
      from: "d",
      to: "n",
      ...R,
    });
    assert.equal(json.outcome, "refused");
    assert.match(json.message, /^cancelled before it was done; by then copied: n, /);
    assert.equal(json.changed.length, 3);
    const there = tree().filter((row) => row.startsWith("n"));
    assert.equal(there.length, 3);
    assert.deepEqual(there.map((row) => row.replace(/\/?(=.*)?$/, "")).sort(), json.changed.toSorted());
  },
);

both("when the disk fails, no staging is left", { ...TREE }, {}, async ({ side, tree }) => {
  let files = 0;
  const failing = (folder: Folder): Folder =>
    new Proxy(folder, {
      get(target, property) {
        const value = Reflect.get(target, property, target);
        if (property === "folder") return (name: string) => failing(target.folder(name));
        if (property === "create") {
          return (...args: Parameters<Folder["create"]>) => {
            const file = target.create(...args);
            if (++files === 2) {
              file.write = () => {
                throw new DiskError("no-space", "the disk is full");
              };
            }
            return file;
          };
        }
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  if (side.disk.kind !== "descriptor") return;
  const disk = { ...side.disk, top: (tree: Parameters<typeof side.disk.top>[0]) => failing(side.disk.top(tree)) };
  const { json } = await call({ ...side, disk }, "copy", { from: "d", to: "n", ...R });
  assert.equal(json.outcome, "denied");
  assert.match(json.message, /the disk is full; by then copied: n/);
  assert.deepEqual(tree().filter((row) => /^n.*tmp/.test(row)), []);
});
