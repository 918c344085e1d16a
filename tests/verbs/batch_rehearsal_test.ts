/** A dry run of `batch` against the same script run for real, on both disk implementations. Spec 2-verbs §2.23. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, type Entry, makeFolder, put } from "../support/tree.ts";
import { sha } from "./changing_support.ts";

interface Row {
  op: string;
  outcome: string;
  detail: string;
}

/** What scripts are run on. */
const WORLD: Record<string, Entry> = {
  "a": "a\n",
  "b": "b\r\nb\r\n",
  "d/x": "x\n",
  "d/e/f": "f\n",
  "d/e/g.pdf": "g",
  "set/settings.json": "{}",
  "empty": null,
  "to-a": { link: "a" },
  "to-d": { link: "d" },
  "d/up": { link: "../b" },
  "dangling": { link: "n" },
  "out": { link: "/etc" },
  "ro/r": "r",
  "hid/h": "h",
  ".mcp.json": "{}",
};
const SCOPES = { ro: ["list", "read"], hid: [] } as const;
/** Of a second tree, on another file system where there is one. */
const FAR: Record<string, Entry> = { "y": "y\n", "k/z": "z\n", "k/l": null };
const NAMES = "a b d e x f n m empty to-a to-d up dangling out ro set".split(" ");
const THERE = "a b d d/x d/m d/e d/e/f empty set to-a to-d far:y far:k far:k/z".split(" ");
const ODD = [
  ".claude",
  ".claude/settings.json",
  "set/settings.json",
  ".mcp.json",
  "d/e/g.pdf",
  "hid/h",
  "fifo",
  "a*",
  "work",
  "far:",
  "x".repeat(256),
  `n/${"x".repeat(256)}`,
];
/** More of them on request. */
const RUNS = Number(Deno.env.get("FETTLE_REHEARSALS") ?? 60);
const TEXTS = ["", "new\n", "one\ntwo", "b\r\nb\r\n", "a\n"];

const name = fc.constantFrom(...NAMES);
const path = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...THERE) },
  { weight: 4, arbitrary: name },
  { weight: 4, arbitrary: fc.tuple(name, name).map((names) => names.join("/")) },
  { weight: 2, arbitrary: fc.tuple(name, name, name).map((names) => names.join("/")) },
  { weight: 1, arbitrary: name.map((name) => `far:k/${name}`) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD) },
);
const yes = fc.boolean();

async function operations(): Promise<fc.Arbitrary<Record<string, unknown>>> {
  const hashes = await Promise.all([...TEXTS, "x\n", "f\n"].map(sha));
  const expected = fc.option(fc.constantFrom(...hashes), { nil: undefined, freq: 2 });
  return fc.oneof(
    fc.record({ op: fc.constantFrom("mkdir", "new"), path }),
    fc.record({ op: fc.constant("write"), path, text: fc.constantFrom(...TEXTS), overwrite: yes, expect: expected })
      .map((operation) => operation.overwrite ? operation : { ...operation, expect: undefined }),
    fc.record({ op: fc.constant("move"), path, to: path, overwrite: yes }),
    fc.record({ op: fc.constant("copy"), path, to: path, overwrite: yes, recursive: yes, preserveTimes: yes }),
    fc.record({ op: fc.constant("delete"), path, recursive: yes }),
    fc.record({ op: fc.constant("exec"), path, executable: yes }),
  ).map((operation) => JSON.parse(JSON.stringify(operation)));
}

function worldOf(library: string | undefined) {
  const top = makeFolder(WORLD);
  assert.ok(new Deno.Command("mkfifo", { args: [`${top}/fifo`] }).outputSync().success);
  Deno.linkSync(`${top}/d/x`, `${top}/d/m`);
  const far = makeElsewhere();
  put(far, FAR);
  const side = sideOf(boundaryOf({ work: { path: top, scopes: SCOPES }, far }), library);
  return {
    far,
    side,
    seen: () => [snapshot(top), snapshot(far)],
    rows: async (script: readonly unknown[], dry: boolean): Promise<Row[]> =>
      (await call(side, "batch", { script: { operations: script }, dry_run: dry })).json.operations,
    [Symbol.dispose]() {
      side.disk.close();
      for (const folder of [top, far]) Deno.removeSync(folder, { recursive: true });
    },
  };
}

/** A folder on another file system, where there is one. */
function makeElsewhere(): string {
  try {
    return Deno.makeTempDirSync({ dir: "/dev/shm", prefix: "fettle-test-" });
  } catch {
    return makeFolder({});
  }
}

/** A row of a dry run as it would read when it is done. */
function done({ op, outcome, detail }: Row): Row {
  const words: Record<string, string> = {
    "would create ": "created ",
    "would write ": "wrote ",
    "would replace ": "replaced ",
    "would move ": "moved ",
    "would copy ": "copied ",
    "would delete ": "deleted ",
    "would be executable": "executable",
  };
  return { op, outcome, detail: detail.replace(/would (be executable|[a-z]+ )/, (said) => words[said]) };
}

/** All that can be seen of what lies below a folder, times and numbers included. */
function snapshot(top: string): unknown[] {
  return [...Deno.readDirSync(top)].sort((a, b) => a.name < b.name ? -1 : 1).flatMap(({ name }) => {
    const at = `${top}/${name}`;
    const { mtime, ctime, mode, ino, size, nlink, isDirectory } = Deno.lstatSync(at);
    return [[at, mtime, ctime, mode, ino, size, nlink], ...isDirectory ? snapshot(at) : []];
  });
}

// The world holds links and a FIFO.
for (const [kind, library] of Deno.build.os === "windows" ? [] : DISKS) {
  Deno.test(`${kind}: batch: what a dry run says of each operation is what comes of it`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(await operations(), { minLength: 1, maxLength: 25 }), async (candidates) => {
        using still = worldOf(library);
        using real = worldOf(library);
        const before = still.seen();
        const script: unknown[] = [];
        for (const operation of candidates) {
          const [row] = await real.rows([operation], false);
          const rehearsed = await still.rows([...script, operation], true);
          const { op, outcome, detail } = row;
          assert.deepEqual(
            done(rehearsed[script.length]),
            { op, outcome, detail },
            JSON.stringify([...script, operation]),
          );
          if (outcome === "ok") script.push(operation);
        }
        assert.deepEqual(still.seen(), before);
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${kind}: batch: a dry run tells of no change, and leaves clean-up to the run itself`, async () => {
    using world = worldOf(library);
    // There no other folder has had its number: by that it is known whether a folder was cleaned.
    const staging = `${world.far}/.fettle-${"0".repeat(32)}.tmp`;
    Deno.writeTextFileSync(staging, "left by somebody");
    const told: (string | undefined)[] = [];
    world.side.call.changed = (path) => void told.push(path);
    const operations = [{ op: "write", path: "far:w", text: "w" }, { op: "delete", path: "far:y" }];
    const before = world.seen();
    assert.deepEqual((await world.rows(operations, true)).map(({ outcome }) => outcome), ["ok", "ok"]);
    assert.deepEqual([told, world.seen()], [[], before]);
    await world.rows(operations, false);
    assert.deepEqual(told.filter((path) => path !== undefined), ["far:w", "far:y"]);
    assert.deepEqual([...Deno.readDirSync(world.far)].map(({ name }) => name).sort(), ["k", "w"]);
  });
}
