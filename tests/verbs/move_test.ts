/** `move`, on both disk implementations. Spec 2-verbs §2.16; 1-boundary §1.5, §1.9, §1.11; scenarios 23–25, 29, 34, 35, 86–88, 208. */
import assert from "node:assert/strict";
import type { Permission } from "../../src/boundary/types.ts";
import { type Disk, type Folder, nameOf } from "../../src/disk/disk.ts";
import type { EngineSide } from "../../src/verbs/verb.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, type Entry, makeFolder, put, type TreeOptions } from "../support/tree.ts";
import { treeOf } from "./support.ts";

const LR: Permission[] = ["list", "read"];
const LRC: Permission[] = [...LR, "create"];
const LRCN: Permission[] = [...LRC, "rename"];
const ALL: Permission[] = [...LRC, "update", "rename", "delete"];

interface World {
  top: string;
  side: EngineSide;
  /** The outcome of a move. */
  move(from: string, to: string, more?: Record<string, unknown>): Promise<string>;
  // deno-lint-ignore no-explicit-any
  answer(from: string, to: string, more?: Record<string, unknown>): Promise<any>;
  text(from: string, to: string, more?: Record<string, unknown>): Promise<string>;
  /** Every path below the world; a link with its text, a file with its content. */
  tree(): string[];
}

/** One test for each implementation, over a world of its own; the tree `work` is the folder `app`. */
function both(
  name: string,
  entries: Record<string, Entry>,
  trees: Record<string, Partial<TreeOptions> & { path?: string }>,
  act: (world: World) => Promise<void>,
) {
  for (const [kind, library] of DISKS) {
    Deno.test(`${kind}: move: ${name}`, async () => {
      const top = makeFolder({ app: null, ...entries });
      const side = sideOf(
        boundaryOf(
          Object.fromEntries(
            Object.entries({ work: {}, ...trees }).map(([tree, of]) => [
              tree,
              { ...of, path: `${top}/${(of as { path?: string }).path ?? "app"}` },
            ]),
          ),
        ),
        library,
      );
      const run = (from: string, to: string, more = {}, form: "json" | "text" = "json") =>
        call(side, "move", { from, to, ...more }, form);
      try {
        await act({
          top,
          side,
          move: async (...args) => (await run(...args)).outcome,
          answer: async (...args) => (await run(...args)).json,
          text: async (from, to, more) => (await run(from, to, more, "text")).text,
          tree: () => treeOf(top),
        });
      } finally {
        side.disk.close();
        Deno.removeSync(top, { recursive: true });
      }
    });
  }
}

both(
  "a file, a folder and a link, as entries",
  {
    "app/a.txt": "a",
    "app/dir/in.txt": "in",
    "app/link": { link: "a.txt" },
    "app/out": { link: "/nowhere" },
    "app/sub/s.txt": "s",
  },
  {},
  async ({ text, answer, tree }) => {
    assert.equal(await text("a.txt", "sub/b.txt"), "moved a.txt -> sub/b.txt  atomic: yes\n");
    assert.deepEqual(await answer("dir", "sub/dir"), {
      ok: true,
      outcome: "ok",
      from: "dir",
      to: "sub/dir",
      atomic: true,
      case_only: false,
      crossed_root: false,
      directory: true,
      replaced: false,
      dry_run: false,
    });
    assert.equal((await answer("link", "sub/link")).directory, false);
    assert.equal((await answer("out", "out2")).ok, true);
    assert.deepEqual(tree(), [
      "app/",
      "app/out2 -> /nowhere",
      "app/sub/",
      "app/sub/b.txt=a",
      "app/sub/dir/",
      "app/sub/dir/in.txt=in",
      "app/sub/link -> a.txt",
      "app/sub/s.txt=s",
    ]);
  },
);

both(
  "what is missing, occupied or of another kind",
  {
    "app/a": "a",
    "app/b": "b",
    "app/l": { link: "a" },
    "app/dir/x": "x",
    "app/empty": null,
    "app/full/y": "y",
  },
  {},
  async ({ move, answer, tree }) => {
    const before = tree();
    assert.equal(await move("never", "n"), "not-found");
    assert.equal(await move("a", "never/n"), "not-found");
    assert.equal(await move("a", "b"), "target-exists");
    assert.equal(await move("a", "dir", { overwrite: true }), "refused");
    assert.equal(await move("dir", "a", { overwrite: true }), "refused");
    assert.equal(await move("dir", "full", { overwrite: true }), "refused");
    assert.equal(await move("dir", "l", { overwrite: true }), "refused");
    assert.equal(await move("a", "a"), "invalid");
    assert.equal(await move("a", "./a", { overwrite: true }), "invalid");
    assert.equal(await move("dir", "dir/in"), "invalid");
    assert.equal(await move("dir", "dir/in/deeper"), "not-found");
    assert.equal(await move("a*", "n"), "refused");
    assert.equal(await move("a", "n?"), "refused");
    assert.equal(await move("*/a", "n"), "refused");
    assert.equal(await move("../a", "n"), "outside-root");
    assert.equal(await move("a", `.fettle-${"0".repeat(32)}.tmp`), "refused");
    assert.deepEqual(tree(), before);
    assert.equal((await answer("a", "l", { overwrite: true })).replaced, true);
    assert.equal(await move("l", "b", { overwrite: true }), "ok");
    assert.equal((await answer("dir", "empty", { overwrite: true })).replaced, true);
    assert.deepEqual(tree(), ["app/", "app/b=a", "app/empty/", "app/empty/x=x", "app/full/", "app/full/y=y"]);
  },
);

both(
  "a name with a wildcard in it can be moved away, and only onto itself",
  { "app/a*": "star", "app/w?/x": "x" },
  {},
  async ({ move, tree }) => {
    assert.equal(await move("a*", "w?/y"), "refused");
    assert.equal(await move("w?/x", "x"), "ok");
    assert.equal(await move("x", "a*", { overwrite: true }), "ok");
    assert.equal(await move("a*", "a"), "ok");
    assert.deepEqual(tree(), ["app/", "app/a=x", "app/w?/"]);
  },
);

both(
  "a dry run gives the same answers and changes nothing",
  { "app/a": "a", "app/b": "b", "app/.mcp.json": "{}" },
  {},
  async ({ move, answer, text, tree }) => {
    const before = tree();
    assert.equal(await text("a", "c", { dry_run: true }), "would move a -> c  atomic: yes\n");
    assert.equal((await answer("a", "b", { dry_run: true, overwrite: true })).dry_run, true);
    assert.equal(await move("a", "b", { dry_run: true }), "target-exists");
    assert.equal(await move("a", ".mcp.json", { dry_run: true, overwrite: true }), "governed");
    assert.equal(await move("never", "c", { dry_run: true }), "not-found");
    assert.deepEqual(tree(), before);
  },
);

both(
  "a link on the way is followed, and the real place counts",
  {
    "app/real/f": "f",
    "app/way": { link: "real" },
    "app/out": { link: "../outside" },
    "outside/o": "o",
  },
  {},
  async ({ move, tree }) => {
    assert.equal(await move("way/f", "way/g"), "ok");
    assert.equal(await move("real/g", "out/g"), "outside-root");
    assert.equal(await move("out/o", "o"), "outside-root");
    assert.equal(await move("real", "way/in"), "invalid");
    assert.ok(tree().includes("app/real/g=f") && tree().includes("outside/o=o"));
  },
);

both(
  "within its place rename does, out of it delete is asked too",
  {
    "app/s/a": "a",
    "app/s/deep/d": "d",
    "app/free/f": "f",
    "app/sib/x": "x",
  },
  { work: { scopes: { s: LRCN, "s/deep": ALL, free: ALL, sib: LRC } } },
  async ({ move, answer, tree }) => {
    assert.equal(await move("s/a", "s/b"), "ok");
    assert.equal(await move("s/b", "s/deep/b"), "ok");
    assert.equal(await move("s/deep/b", "s/b"), "ok");
    const out = await answer("s/b", "b");
    assert.equal(out.outcome, "refused");
    assert.match(out.message, /this needs delete, and the scope 's' of the tree 'work' grants list read create rename/);
    assert.equal(out.path, "s/b");
    assert.equal(await move("s/b", "free/b"), "refused");
    assert.equal(await move("free/f", "s/f"), "ok");
    assert.equal(await move("sib/x", "sib/y"), "refused");
    // A folder that holds a scope: list read delete in all of them.
    assert.equal(await move("s", "t"), "refused");
    assert.equal(await move("sib", "t"), "refused");
    assert.equal(await move("free", "t"), "ok");
    assert.ok(tree().includes("app/s/f=f"));
  },
);

both(
  "a folder with a scope inside that does not allow it stays, and nothing is named",
  {
    "app/d/secret/x": "x",
    "app/e/x": "x",
    "app/lands/x": "x",
  },
  { work: { scopes: { "d/secret": [], "e/never": LR, "target/x": [], "other/y": LR } } },
  async ({ move, answer, tree }) => {
    const before = tree();
    for (const folder of ["d", "e"]) {
      const { outcome, message } = await answer(folder, "moved");
      assert.equal(outcome, "refused");
      assert.doesNotMatch(message, /secret|never/);
    }
    const landing = await answer("lands", "target");
    assert.equal(landing.outcome, "refused");
    assert.equal(landing.path, undefined);
    assert.doesNotMatch(landing.message, /target/);
    assert.deepEqual(tree(), before);
    assert.equal(await move("lands", "other"), "ok");
  },
);

both(
  "nothing becomes readable by being moved",
  {
    "app/blind/f": "f",
    "app/blind/d/in": "in",
  },
  { work: { scopes: { blind: ["list", "create", "rename", "delete"] } } },
  async ({ move, tree }) => {
    const before = tree();
    assert.equal(await move("blind/f", "f"), "refused");
    assert.equal(await move("blind/d", "d"), "refused");
    assert.deepEqual(tree(), before);
    assert.equal(await move("blind/f", "blind/g"), "ok");
  },
);

both("a folder lands where part of it would become readable", { "app/b/d/in": "in" }, {
  work: { can: ["list", "create", "rename", "delete"], scopes: { "t/in": ALL } },
}, async ({ move }) => {
  assert.equal(await move("b/d", "t"), "refused");
  assert.equal(await move("b/d", "u"), "ok");
});

both("tops of trees stay, and so do folders that hold one", { "app/in/nest/n": "n", "app/a/x": "x", "note/y": "y" }, {
  nest: { path: "app/in/nest" },
  note: { path: "note" },
}, async ({ move, tree }) => {
  const before = tree();
  for (
    const [from, to] of [["work:", "note:w"], ["nest:", "note:n"], ["work:in/nest", "work:n"], ["work:in", "work:i"], [
      "note:",
      "work:n",
    ]]
  ) {
    assert.equal(await move(from, to), "refused", from);
  }
  assert.equal(await move("work:a", "note:", { overwrite: true }), "refused");
  assert.deepEqual(tree(), before);
});

both("between trees", { "app/a": "a", "note/n": null }, { note: { path: "note" } }, async ({ text, answer, tree }) => {
  assert.equal(await text("a", "note:n/a"), "moved work:a -> note:n/a  atomic: yes  crossed trees\n");
  assert.equal((await answer("note:n/a", "a")).crossed_root, true);
  assert.deepEqual(tree(), ["app/", "app/a=a", "note/", "note/n/"]);
});

both(
  "a governed name is not moved, moved onto or carried along",
  {
    "app/.mcp.json": "{}",
    "app/a": "a",
    "app/holds/deep/.fettler.json": "{}",
    "app/x/settings.json": "{}",
    "app/v/mcp.json": "{}",
    "app/plain/notes.md": "",
    "app/.claude/settings.json": "{}",
    "app/lnk": { link: "plain" },
    "app/.github/workflows/w": "w",
  },
  {},
  async ({ move, tree }) => {
    const before = tree();
    for (
      const [from, to] of [
        [".mcp.json", "b"],
        ["a", ".mcp.json"],
        ["a", "new/.MCP.json"],
        ["a", ".claude/Settings.json"],
        [".claude/settings.json", "b"],
        [".claude", "c"],
        ["holds", "h"],
        ["holds/deep", "h"],
        ["x", ".claude2/../.cLaude"],
        ["x", "plain/.claude"],
        ["x", ".gemini"],
        ["v", ".vscode"],
        ["v", ".cursor"],
        ["lnk", ".vscode"],
        ["a", "plain/.m\u00adcp.json"],
      ]
    ) {
      assert.equal(await move(from, to, { overwrite: true }), "governed", `${from} ${to}`);
    }
    // A folder that may not hold it does not stand in the way of others.
    assert.deepEqual(tree(), before);
    assert.equal(await move("x", ".vscode"), "ok");
    assert.equal(await move("plain", ".gemini"), "ok");
    assert.equal(await move("a", ".mcp.json.bak"), "ok");
    assert.equal(await move(".github", "g"), "ok");
  },
);

both(
  "the very files in force, and where one would be",
  { "app/policy/x.ini": "", "app/d/p.ini": "" },
  {},
  async (world) => {
    const boundary = {
      ...world.side.survey.boundary,
      inForce: [`${world.top}/app/policy/x.ini`, `${world.top}/app/e/p.ini`],
    };
    for (const [, library] of DISKS) {
      const side = sideOf(boundary, library);
      for (const [from, to] of [["policy/x.ini", "y"], ["policy", "q"], ["d", "e"]]) {
        assert.equal((await call(side, "move", { from, to })).outcome, "governed", `${from} ${to}`);
      }
      side.disk.close();
    }
  },
);

both("leaving a screen", { "app/s/f": "f", "app/s/d/g": "g", "app/t": null }, {}, async (world) => {
  const { boundary } = world.side.survey;
  const [tree] = boundary.trees;
  const screened = {
    ...boundary,
    trees: [{
      ...tree,
      scopes: [
        { path: "s", screen: ["identifiers"], declared: "" },
        { path: "t", screen: ["identifiers", "names"], declared: "" },
      ],
    }],
  };
  for (const [, library] of DISKS) {
    const side = sideOf(screened, library);
    const move = async (from: string, to: string) => (await call(side, "move", { from, to })).outcome;
    assert.equal(await move("s/f", "f"), "screened");
    assert.equal(await move("s/d", "d"), "screened");
    assert.equal(await move("s/f", "never/f"), "not-found");
    assert.equal(await move("s/f", "t/f"), "ok");
    assert.equal(await move("t/f", "s/f"), "screened");
    Deno.renameSync(`${world.top}/app/t/f`, `${world.top}/app/s/f`);
    side.disk.close();
  }
});

both(
  "case alone",
  { "app/A.txt": "a", "app/b": "b", "app/B": "B", "app/Dir/x": "x" },
  {},
  async ({ answer, move, tree, top }) => {
    assert.equal((await answer("A.txt", "a.TXT")).case_only, false);
    assert.equal(await move("b", "B"), "target-exists");
    Deno.linkSync(`${top}/app/b`, `${top}/app/h`);
    Deno.linkSync(`${top}/app/b`, `${top}/app/H`);
    // Two names of one file are two entries.
    assert.equal(await move("h", "H"), "target-exists");
    assert.equal(await move("h", "H", { overwrite: true }), "ok");
    assert.deepEqual(tree(), ["app/", "app/B=B", "app/Dir/", "app/Dir/x=x", "app/H=b", "app/a.TXT=a", "app/b=b"]);
  },
);

both("special files", { "app/d/x": "x" }, {}, async ({ move, top, tree }) => {
  assert.ok(new Deno.Command("mkfifo", { args: [`${top}/app/fifo`, `${top}/app/d/fifo`] }).outputSync().success);
  assert.equal(await move("fifo", "f"), "refused");
  assert.equal(await move("d", "e"), "ok");
  assert.ok(tree().includes("app/e/fifo special"));
});

/** A folder that takes names that differ in case for one, and does nothing when asked to write one otherwise: as ext4 does so. */
function caseBlind(folder: Folder): Folder {
  const meant = (target: Folder, name: string) =>
    target.list().entries.map(nameOf).find((entry) => entry.toLowerCase() === name.toLowerCase()) ?? name;
  const blind = new Proxy(folder, {
    get(target, property) {
      // deno-lint-ignore no-explicit-any
      const value = Reflect.get(target, property, target) as any;
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (property === "folder") return caseBlind(target.folder(meant(target, args[0] as string)));
        if (["look", "file", "link"].includes(property as string)) args[0] = meant(target, args[0] as string);
        if (property === "demandLeave") args[1] = meant(target, args[1] as string);
        if (property === "rename") {
          const to = BLIND.get(args[2] as Folder)!;
          args[1] = meant(target, args[1] as string);
          const there = meant(to, args[3] as string);
          if (there === args[1] && to.facts().ino === target.facts().ino) return;
          [args[2], args[3]] = [to, there];
        }
        return value.apply(target, args);
      };
    },
  });
  BLIND.set(blind, folder);
  return blind;
}

const BLIND = new WeakMap<Folder, Folder>();

both("case alone, where both names are one entry", { "app/A.txt": "a", "app/b": "b", "app/Dir/x": "x" }, {
  work: { can: LRCN },
}, async (world) => {
  const { side } = world;
  if (side.disk.kind !== "descriptor") return;
  const disk: Disk = { kind: "descriptor", top: (tree) => caseBlind(side.disk.top(tree)), close() {} };
  const move = async (from: string, to: string, more = {}) =>
    (await call({ ...side, disk }, "move", { from, to, ...more })).json;
  assert.equal((await move("A.txt", "a.TXT", { dry_run: true })).case_only, true);
  const moved = await move("A.txt", "a.TXT");
  assert.deepEqual([moved.ok, moved.case_only, moved.replaced], [true, true, false]);
  assert.equal((await move("dir", "DIR")).case_only, true);
  assert.equal((await move("dir", "a.txt")).outcome, "target-exists");
  assert.equal((await move("a.txt", "A.txt/x")).outcome, "not-found");
  assert.deepEqual(world.tree(), ["app/", "app/DIR/", "app/DIR/x=x", "app/a.TXT=a", "app/b=b"]);
});

/** Where another file system is to be found. */
function elsewhere(): string | undefined {
  try {
    const made = Deno.makeTempDirSync({ dir: "/dev/shm", prefix: "fettle-test-" });
    const here = makeFolder({});
    const other = Deno.statSync(made).dev !== Deno.statSync(here).dev;
    Deno.removeSync(here);
    if (other) return made;
    Deno.removeSync(made);
  } catch {
    // There is none.
  }
}

for (const [kind, library] of DISKS) {
  const far = elsewhere();
  if (far) Deno.removeSync(far);
  Deno.test({
    name: `${kind}: move: across file systems, by copying and removing`,
    ignore: far === undefined,
    async fn() {
      const other = elsewhere()!;
      const top = makeFolder({
        "a": "a",
        "d/x": "x",
        "d/e/y": "y",
        "l": { link: "a" },
        "m/l": { link: "a" },
        "shut/x": "x",
      });
      put(other, { "old": "old", "empty": null });
      Deno.chmodSync(`${top}/a`, 0o751);
      Deno.chmodSync(`${top}/d`, 0o700);
      const when = new Date("2011-11-11T11:11:11Z");
      Deno.utimeSync(`${top}/a`, when, when);
      const side = sideOf(
        boundaryOf({ work: { path: top, scopes: { shut: LRCN } }, far: { path: other } }),
        library,
      );
      const run = async (from: string, to: string, more = {}) => (await call(side, "move", { from, to, ...more })).json;
      try {
        const before = treeOf(top);
        for (const from of ["l", "m"]) assert.equal((await run(from, "far:l")).outcome, "refused");
        assert.equal((await run("shut/x", "far:x")).outcome, "refused");
        assert.equal((await run("a", "far:a", { dry_run: true })).atomic, false);
        assert.deepEqual(treeOf(top), before);
        assert.deepEqual(treeOf(other), ["empty/", "old=old"]);
        const moved = await run("a", "far:a");
        assert.deepEqual([moved.ok, moved.atomic, moved.crossed_root], [true, false, true]);
        const facts = Deno.statSync(`${other}/a`);
        assert.deepEqual([facts.mode! & 0o7777, facts.mtime], [0o751, when]);
        assert.equal((await run("d", "far:empty", { overwrite: true })).replaced, true);
        assert.equal((await run("far:a", "far:old", { overwrite: true })).atomic, true);
        assert.deepEqual(treeOf(other), ["empty/", "empty/e/", "empty/e/y=y", "empty/x=x", "old=a"]);
        assert.equal((await run("far:empty", "back")).ok, true);
        assert.deepEqual(treeOf(top), [
          "back/",
          "back/e/",
          "back/e/y=y",
          "back/x=x",
          "l -> a",
          "m/",
          "m/l -> a",
          "shut/",
          "shut/x=x",
        ]);
        assert.deepEqual(treeOf(other), ["old=a"]);
      } finally {
        side.disk.close();
        Deno.removeSync(top, { recursive: true });
        Deno.removeSync(other, { recursive: true });
      }
    },
  });
}

/** Acts before the so many-th entry is gone to: entries are judged first, and then copied. */
function meddling(side: EngineSide, acts: Readonly<Record<number, () => void>>): EngineSide {
  let pulses = 0;
  return { ...side, call: { ...side.call, pulse: () => acts[++pulses]?.() } };
}

/** One test for each implementation over two file systems: the trees `work` and `far`. */
function across(
  name: string,
  entries: Record<string, Entry>,
  scopes: TreeOptions["scopes"],
  act: (world: { side: EngineSide; top: string; other: string }) => Promise<void>,
) {
  for (const [kind, library] of DISKS) {
    const far = elsewhere();
    if (far) Deno.removeSync(far);
    Deno.test({
      name: `${kind}: move: across file systems, ${name}`,
      ignore: far === undefined,
      async fn() {
        const [top, other] = [makeFolder(entries), elsewhere()!];
        const side = sideOf(boundaryOf({ work: { path: top }, far: { path: other, scopes } }), library);
        try {
          await act({ side, top, other });
        } finally {
          side.disk.close();
          Deno.removeSync(top, { recursive: true });
          Deno.removeSync(other, { recursive: true });
        }
      },
    });
  }
}

across(
  "what is refused is the same whether or not something hidden is there",
  { "d/hf": "f", "links/hf": "f", "links/a": { link: "hf" } },
  { "g/hf": [], "n/hf": [] },
  async ({ side, top, other }) => {
    const run = async (from: string, to: string) => (await call(side, "move", { from, to, overwrite: true })).json;
    const before = treeOf(top);
    Deno.mkdirSync(`${other}/g`);
    for (const from of ["d", "links"]) {
      const answers = new Set<string>();
      for (const put of [() => {}, () => Deno.writeTextFileSync(`${other}/g/hf`, "secret")]) {
        put();
        answers.add(JSON.stringify(await run(from, "far:g")));
      }
      Deno.removeSync(`${other}/g/hf`);
      assert.equal(answers.size, 1);
      assert.doesNotMatch([...answers][0], /hf/);
      const { outcome, path } = await run(from, "far:n");
      assert.deepEqual([outcome, path], ["refused", undefined]);
    }
    assert.deepEqual(treeOf(top), before);
    assert.deepEqual(treeOf(other), ["g/"]);
  },
);

across(
  "modes are kept, and what is not is said",
  { "d/in/x": "x", "d/y": "y", "f": "new", "plain": "p" },
  {},
  async ({ side, top, other }) => {
    const run = async (from: string, to: string) => (await call(side, "move", { from, to, overwrite: true })).json;
    Deno.chmodSync(`${top}/d/in`, 0o2777);
    Deno.chmodSync(`${top}/d`, 0o700);
    Deno.chmodSync(`${top}/f`, 0o4750);
    Deno.linkSync(`${top}/d/y`, `${top}/y`);
    const mode = (path: string) => Deno.statSync(`${other}/${path}`).mode! & 0o7777;
    const moved = await run("d", "far:d");
    assert.deepEqual([moved.ok, moved.atomic, moved.metadata_not_preserved], [true, false, ["mode", "hard-links"]]);
    assert.deepEqual([mode("d"), mode("d/in")], [0o700, 0o777]);
    Deno.writeTextFileSync(`${other}/f`, "old");
    Deno.chmodSync(`${other}/f`, 0o644);
    const { text } = await call(side, "move", { from: "f", to: "far:f", overwrite: true }, "text");
    assert.equal(text, "moved work:f -> far:f  atomic: no  crossed trees\n   not kept: mode\n");
    // As where it is moved in one go.
    assert.equal(mode("f"), 0o750);
    assert.equal((await run("plain", "far:plain")).metadata_not_preserved, undefined);
    assert.equal((await run("far:plain", "far:p2")).metadata_not_preserved, undefined);
  },
);

across(
  "nothing is merged into or replaced that came meanwhile",
  { "d/x": "x", "e/sub/x": "x" },
  {},
  async ({ side, top, other }) => {
    const before = treeOf(top);
    // A folder's entries are gone to when it is looked through, when it is judged, and when it is copied.
    const cases: [string, number, () => void, string][] = [
      ["d", 2, () => Deno.mkdirSync(`${other}/n`), "far:n"],
      ["d", 2, () => Deno.writeTextFileSync(`${other}/n`, "theirs"), "far:n"],
      ["d", 3, () => Deno.writeTextFileSync(`${other}/n/x`, "theirs"), "far:n/x"],
      ["e", 5, () => Deno.mkdirSync(`${other}/n/sub`), "far:n/sub"],
    ];
    for (const [from, at, act, path] of cases) {
      const { json } = await call(meddling(side, { [at]: act }), "move", { from, to: "far:n" });
      assert.deepEqual([json.outcome, json.path], ["target-exists", path]);
      assert.ok(treeOf(other).every((row) => !row.endsWith("=x")));
      Deno.removeSync(`${other}/n`, { recursive: true });
    }
    assert.deepEqual(treeOf(top), before);
  },
);

both(
  "a folder that is replaced tells nothing of what is hidden in it",
  { "app/d/x": "x", "app/g": null },
  { work: { scopes: { "g/hf": [] } } },
  async ({ side, top }) => {
    const answers = new Set<string>();
    for (const put of [() => {}, () => Deno.writeTextFileSync(`${top}/app/g/hf`, "secret")]) {
      put();
      for (const dry_run of [true, false]) {
        answers.add((await call(side, "move", { from: "d", to: "g", overwrite: true, dry_run })).text);
      }
    }
    assert.equal(answers.size, 1);
    assert.doesNotMatch([...answers][0], /hf/);
  },
);

both(
  "who comes second to a name is told of that name",
  { "app/d/x": "x", "app/f": "f" },
  {},
  async ({ side, top, tree }) => {
    for (const from of ["d", "f"]) {
      const put = () => Deno.mkdirSync(`${top}/app/n/theirs`, { recursive: true });
      // Before the first change, when all is judged.
      const raced = { ...side, call: { ...side.call, changed: (path?: string) => path === undefined && put() } };
      const { json } = await call(raced, "move", { from, to: "n" });
      assert.deepEqual([json.outcome, json.path], ["target-exists", "n"]);
      assert.ok(tree().includes("app/n/theirs/"));
      Deno.removeSync(`${top}/app/n`, { recursive: true });
    }
    // What was empty is not any more.
    Deno.mkdirSync(`${top}/app/n`);
    const put = () => Deno.writeTextFileSync(`${top}/app/n/theirs`, "theirs");
    const raced = { ...side, call: { ...side.call, changed: (path?: string) => path === undefined && put() } };
    const { json } = await call(raced, "move", { from: "d", to: "n", overwrite: true });
    assert.deepEqual([json.outcome, json.path], ["refused", "n"]);
    assert.ok(tree().includes("app/d/x=x") && tree().includes("app/n/theirs=theirs"));
  },
);

both(
  "names of files in the making are not moved",
  { [`app/.fettle-${"a".repeat(32)}.tmp`]: "x", [`app/.fettle-${"b".repeat(32)}.tmp/x`]: "x" },
  {},
  async ({ move, tree }) => {
    const before = tree();
    for (const digit of ["a", "b", "c"]) assert.equal(await move(`.fettle-${digit.repeat(32)}.tmp`, "n"), "refused");
    assert.deepEqual(tree(), before);
  },
);
