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

/** Acts before the so many-th entry is gone to: entries are judged first, and then copied. */
function meddling(side: EngineSide, acts: Readonly<Record<number, () => void>>): EngineSide {
  let pulses = 0;
  return { ...side, call: { ...side.call, pulse: () => acts[++pulses]?.() } };
}

both(
  "what is refused is the same whether or not something hidden is there",
  { "app/file/hf": "f", "app/dir/hf/x": "x", "app/both/aa": "f", "app/both/hf": "f", "app/deep/s/hf/x": "x" },
  { work: { scopes: { "g/hf": [], "g/ro": LR, "g/s/hf": [], "h/s/hf/x": [] } } },
  async ({ side, top, tree }) => {
    const there: [string, () => void][] = [
      ["nothing", () => {}],
      ["a file", () => Deno.writeTextFileSync(`${top}/app/g/hf`, "secret")],
      ["a folder", () => Deno.mkdirSync(`${top}/app/g/hf/in`, { recursive: true })],
      ["a link", () => Deno.symlinkSync("/etc", `${top}/app/g/hf`)],
    ];
    for (const from of ["file", "dir", "both", "deep"]) {
      const answers = new Set<string>();
      for (const [what, put] of there) {
        Deno.mkdirSync(`${top}/app/g/s`, { recursive: true });
        // Of another kind than what would land there, and before the hidden one in order.
        if (from === "both") Deno.mkdirSync(`${top}/app/g/aa`);
        put();
        if (from === "deep" && what !== "nothing") Deno.renameSync(`${top}/app/g/hf`, `${top}/app/g/s/hf`);
        const before = tree();
        for (const dry_run of [true, false]) {
          const { json } = await call(side, "copy", { from, to: "g", ...RO, dry_run });
          assert.match(json.message, /rules of its own/, `${from} ${what}`);
          answers.add(JSON.stringify(json));
        }
        assert.deepEqual(tree(), before);
        Deno.removeSync(`${top}/app/g`, { recursive: true });
      }
      assert.equal(answers.size, 1, from);
      assert.doesNotMatch([...answers][0], /path|hf/);
    }
    // The hidden place would lie below a file that stands in the way.
    Deno.mkdirSync(`${top}/app/h`);
    Deno.writeTextFileSync(`${top}/app/h/s`, "a file");
    const { json } = await call(side, "copy", { from: "deep", to: "h", ...RO });
    assert.deepEqual([json.outcome, json.path], ["refused", undefined]);
  },
);

both("what may not be written is refused before kinds are looked at", { "app/d/ro/x": "x", "app/g/ro": "a file" }, {
  work: { scopes: { "g/ro": LR } },
}, async ({ answer }) => {
  const { outcome, path, message } = await answer("d", "g", RO);
  assert.deepEqual([outcome, path], ["refused", undefined]);
  assert.match(message, /rules of its own/);
});

both("a link is left out where it would land in a hidden place", { "app/d/hf": { link: "x" }, "app/g/hf": "secret" }, {
  work: { scopes: { "g/hf": [] } },
}, async ({ answer, tree }) => {
  assert.deepEqual((await answer("d", "g", RO)).links_skipped, ["d/hf"]);
  assert.ok(tree().includes("g/hf=secret"));
});

both(
  "a folder keeps its mode, and is never more open than that",
  { "app/d/in/x": "x", "app/d/open/y": "y", "app/m/in/z": "z" },
  {},
  async ({ copy, answer, side, top }) => {
    const mode = (path: string) => Deno.statSync(`${top}/app/${path}`).mode! & 0o7777;
    const modes: [string, number][] = [["", 0o700], ["/in", 0o2570], ["/open", 0o777]];
    for (const [path, mode] of modes) Deno.chmodSync(`${top}/app/d${path}`, mode);
    Deno.chmodSync(`${top}/app/m`, 0o755);
    Deno.chmodSync(`${top}/app/m/in`, 0o751);
    const seen: string[] = [];
    const look = () => {
      for (const [path, most] of modes) {
        const now = Deno.lstatSync(`${top}/app/n${path}`).mode! & 0o777;
        // The owner has to fill it.
        if ((now & ~(most | 0o700)) !== 0) seen.push(`n${path} ${now.toString(8)}`);
      }
    };
    const lenient = () => {
      try {
        look();
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    };
    const watched = { ...side, call: { ...side.call, pulse: lenient, changed: lenient } };
    const { json } = await call(watched, "copy", { from: "d", to: "n", ...R });
    assert.deepEqual([json.ok, json.metadata_not_preserved], [true, ["mode"]]);
    assert.deepEqual(seen, []);
    assert.deepEqual(modes.map(([path]) => mode(`n${path}`)), [0o700, 0o570, 0o777]);
    // A folder that is merged into keeps its own.
    const merged = await answer("d", "m", RO);
    assert.equal(merged.ok, true);
    assert.deepEqual(["m", "m/in", "m/open"].map(mode), [0o755, 0o751, 0o777]);
    // Its group is handed down where the folder above says so.
    Deno.mkdirSync(`${top}/app/shared`);
    Deno.chmodSync(`${top}/app/shared`, 0o2775);
    assert.equal(await copy("d", "shared/n", R), "ok");
    assert.deepEqual(["shared/n", "shared/n/in", "shared/n/open"].map(mode), [0o2700, 0o2570, 0o2777]);
    for (const path of ["d/in", "n/in", "shared/n/in"]) Deno.chmodSync(`${top}/app/${path}`, 0o700);
  },
);

both(
  "what replaces a file is read by nobody who might not read that one",
  {},
  {},
  async ({ copy, top }) => {
    const mode = async (source: number, old: number) => {
      Deno.writeTextFileSync(`${top}/app/s`, "s");
      Deno.writeTextFileSync(`${top}/app/t`, "t");
      Deno.chmodSync(`${top}/app/s`, source);
      Deno.chmodSync(`${top}/app/t`, old);
      assert.equal(await copy("s", "t", { overwrite: true }), "ok");
      return Deno.statSync(`${top}/app/t`).mode! & 0o7777;
    };
    assert.equal(await mode(0o644, 0o640), 0o640);
    assert.equal(await mode(0o755, 0o640), 0o750);
    assert.equal(await mode(0o755, 0o600), 0o700);
    assert.equal(await mode(0o644, 0o755), 0o644);
    assert.equal(await mode(0o755, 0o644), 0o755);
    assert.equal(await mode(0o4755, 0o600), 0o700);
  },
);

both(
  "what a copy does not keep is said",
  { "app/d/a": "a", "app/d/b": "b", "app/plain": "p", "app/old": "old" },
  {},
  async ({ answer, text, top }) => {
    assert.equal((await answer("plain", "n")).metadata_not_preserved, undefined);
    Deno.chmodSync(`${top}/app/d/a`, 0o4755);
    Deno.linkSync(`${top}/app/d/b`, `${top}/app/other`);
    Deno.linkSync(`${top}/app/old`, `${top}/app/old2`);
    const all = await answer("d", "n2", R);
    // Owner and other names are the source's own, and it keeps them.
    assert.deepEqual(all.metadata_not_preserved, ["mode"]);
    assert.equal(Deno.statSync(`${top}/app/n2/a`).mode! & 0o7777, 0o755);
    assert.equal(await text("d/a", "n3"), "copied d/a -> n3  1 file\n   not kept: mode\n");
    // Of a file that is replaced.
    assert.deepEqual((await answer("plain", "old", { overwrite: true })).metadata_not_preserved, ["hard-links"]);
    assert.equal((await answer("d", "n4", { ...R, dry_run: true })).metadata_not_preserved, undefined);
    if (Deno.uid() !== 0) return;
    Deno.chownSync(`${top}/app/plain`, 12345, 12345);
    assert.equal((await answer("plain", "n5")).metadata_not_preserved, undefined);
    Deno.chownSync(`${top}/app/n5`, 12345, 12345);
    assert.deepEqual((await answer("d/b", "n5", { overwrite: true })).metadata_not_preserved, ["owner"]);
  },
);

const STAGING = `.fettle-${"a".repeat(32)}.tmp`;

both(
  "names of files in the making are not copied from",
  { [`app/${STAGING}`]: "x", [`app/d/${STAGING}/x`]: "x", "app/d/y": "y", "app/l": { link: STAGING } },
  {},
  async ({ copy, tree }) => {
    const before = tree();
    for (const from of [STAGING, "l", `d/${STAGING}`, `d/../${STAGING}`]) {
      assert.equal(await copy(from, "n", RO), "refused", from);
    }
    assert.deepEqual(tree(), before);
    assert.equal(await copy("d", "n", R), "ok");
    assert.deepEqual(tree().filter((row) => row.startsWith("n")), ["n/", "n/y=y"]);
  },
);

both(
  "without overwrite nothing is merged into or replaced that came meanwhile",
  { "app/d/x": "x", "app/e/sub/x": "x" },
  {},
  async ({ side, top, tree }) => {
    const app = `${top}/app`;
    const makes = (path: string) => () => Deno.mkdirSync(`${app}/${path}`);
    const writes = (path: string) => () => Deno.writeTextFileSync(`${app}/${path}`, "theirs");
    const cases: [string, Record<number, () => void>, string, string[]][] = [
      // Between judging and copying.
      ["d", { 1: makes("n") }, "n", ["n/"]],
      ["d", { 1: writes("n") }, "n", ["n=theirs"]],
      ["e", { 1: makes("n") }, "n", ["n/"]],
      // In what is being copied.
      ["d", { 2: writes("n/x") }, "n/x", ["n/", "n/x=theirs"]],
      ["e", { 3: makes("n/sub") }, "n/sub", ["n/", "n/sub/"]],
      ["e", { 4: writes("n/sub/x") }, "n/sub/x", ["n/", "n/sub/", "n/sub/x=theirs"]],
    ];
    for (const [from, acts, path, left] of cases) {
      const { json } = await call(meddling(side, acts), "copy", { from, to: "n", ...R });
      assert.deepEqual([json.outcome, json.path], ["target-exists", path]);
      assert.deepEqual(tree().filter((row) => row.startsWith("n")), left);
      Deno.removeSync(`${app}/n`, { recursive: true });
    }
  },
);

both(
  "with overwrite nothing is replaced at the path itself that came meanwhile",
  { "app/d/x": "x", "app/m/x": "old", "app/k/x": "old", "app/k/y": "y" },
  {},
  async ({ side, top, tree }) => {
    const app = `${top}/app`;
    const side1 = meddling(side, { 1: () => Deno.mkdirSync(`${app}/n`) });
    const { json } = await call(side1, "copy", { from: "d", to: "n", ...RO });
    assert.deepEqual([json.outcome, json.path], ["target-exists", "n"]);
    // What is merged into is gone.
    const side2 = meddling(side, { 1: () => Deno.removeSync(`${app}/m`, { recursive: true }) });
    const gone = await call(side2, "copy", { from: "d", to: "m", ...RO });
    assert.equal(gone.json.outcome, "not-found");
    assert.match(gone.json.path, /^m/);
    // A file below is replaced when that was allowed for what is there now.
    const side3 = meddling(side, { 1: () => Deno.writeTextFileSync(`${app}/k/x`, "newer") });
    assert.equal((await call(side3, "copy", { from: "d", to: "k", ...RO })).outcome, "ok");
    assert.ok(tree().includes("k/x=x"));
  },
);

both(
  "a folder where the file system knows no modes is copied, and that is said",
  { "app/d/x": "x" },
  {},
  async ({ side, top, tree }) => {
    const modeless = (folder: Folder): Folder =>
      new Proxy(folder, {
        get(target, property) {
          const value = Reflect.get(target, property, target);
          if (property === "folder") return (name: string) => modeless(target.folder(name));
          if (property === "setMode") {
            return () => {
              throw new DiskError("denied", "this account has no right to do that");
            };
          }
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    if (side.disk.kind !== "descriptor") return;
    Deno.chmodSync(`${top}/app/d`, 0o777);
    const disk = { ...side.disk, top: (tree: Parameters<typeof side.disk.top>[0]) => modeless(side.disk.top(tree)) };
    const { json } = await call({ ...side, disk }, "copy", { from: "d", to: "n", ...R });
    assert.deepEqual([json.ok, json.metadata_not_preserved], [true, ["mode"]]);
    assert.ok(tree().includes("n/x=x"));
  },
);

both("a file that cannot be opened is not replaced", { "app/d/a": "a", "app/d/z": "z", "app/t/z": "old" }, {}, async (
  { answer, top, tree },
) => {
  Deno.chmodSync(`${top}/app/t/z`, 0o200);
  // Nothing is shut to root.
  if (Deno.uid() === 0) return;
  for (const dry_run of [true, false]) {
    const { outcome, path } = await answer("d", "t", { ...RO, dry_run });
    assert.deepEqual([outcome, path], ["denied", "t/z"]);
  }
  Deno.chmodSync(`${top}/app/t/z`, 0o600);
  assert.deepEqual(tree().filter((row) => row.startsWith("t")), ["t/", "t/z=old"]);
});
