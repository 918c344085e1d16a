/**
 * No changing verb gets at a governed file, however it is spelled and whichever way round is taken; reading is ordinary.
 *
 * Spec: 1-boundary §1.11; decisions 10 and 39; scenarios 29–36.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { GOVERNED_NAMES } from "../../src/boundary/governed.ts";
import { VERBS } from "../../src/verbs/mod.ts";
import type { EngineSide } from "../../src/verbs/verb.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, type Entry, makeFolder } from "../support/tree.ts";
import { treeOf } from "./support.ts";

const TEXT = '{"governed": "as it was"}\n';
/** Characters that a file system may ignore, and so do governed names. */
const IGNORABLE = ["\u00ad", "\u200b", "\u200c", "\u2060", "\ufe0f", "\u034f", "\u{e0001}"];
const RUNS = 300;

/** Two-segment names, parted. */
const PAIRS = GOVERNED_NAMES.filter((name) => name.includes("/")).map((name) => name.split("/") as [string, string]);

function entries(): Record<string, Entry> {
  const all: Record<string, Entry> = {
    "ordinary.txt": "ordinary",
    "folder/in.txt": "in",
    "b\u00e4r/x": "x",
    "to-d": { link: "d" },
    "d/back": { link: ".." },
    ".not-yet": null,
  };
  for (const name of GOVERNED_NAMES) {
    const word = name.replace(/\W/g, "");
    for (const at of ["", "d/", "d/e/", "b\u00e4r/", `holds-${word}/`, `holds-${word}/deep/er/`]) all[at + name] = TEXT;
    all[`link-${word}.txt`] = { link: name };
  }
  for (const [folder, name] of PAIRS) {
    all[`to-${folder.slice(1)}`] = { link: folder };
    // What would be governed in a folder of another name.
    all[`half-${folder.slice(1)}/${name}`] = TEXT;
  }
  return all;
}

type Arguments = Record<string, unknown>;

/** Every change that can be tried at a path. */
const CHANGES: readonly (readonly [verb: string, args: (path: string) => Arguments])[] = [
  ["write", (path) => ({ path, text: "mine" })],
  ["write", (path) => ({ path, text: "mine", overwrite: true })],
  ["edit", (path) => ({ path, script: { edits: [{ replace: "governed", with: "mine" }] } })],
  ["edit", (path) => ({ script: { files: [{ path, edits: [{ insertAfter: 0, text: "mine" }] }] } })],
  ["exec", (path) => ({ path, executable: true })],
  ["new", (path) => ({ path })],
  ["mkdir", (path) => ({ path })],
  ["mkdir", (path) => ({ path: `${path}/below` })],
  ["delete", (path) => ({ path })],
  ["delete", (path) => ({ path, recursive: true, force: true })],
  ["move", (path) => ({ from: path, to: "elsewhere" })],
  ["move", (path) => ({ from: path, to: "ordinary.txt", overwrite: true })],
  ["move", (path) => ({ from: "ordinary.txt", to: path })],
  ["move", (path) => ({ from: "ordinary.txt", to: path, overwrite: true })],
  ["move", (path) => ({ from: "folder", to: path, overwrite: true })],
  ["move", (path) => ({ from: "link-mcpjson.txt", to: path, overwrite: true })],
  ["copy", (path) => ({ from: "ordinary.txt", to: path })],
  ["copy", (path) => ({ from: "ordinary.txt", to: path, overwrite: true })],
  ["copy", (path) => ({ from: path, to: path, overwrite: true })],
  ["copy", (path) => ({ from: "folder", to: path, recursive: true, overwrite: true })],
  ["batch", (path) => ({ script: { operations: [{ op: "write", path, text: "mine", overwrite: true }] } })],
  ["batch", (path) => ({ script: { operations: [{ op: "move", path: "ordinary.txt", to: path, overwrite: true }] } })],
  ["batch", (path) => ({ script: { operations: [{ op: "delete", path, recursive: true }] } })],
];

/** Those that follow a link at the end of their path. */
const FOLLOWING: typeof CHANGES = CHANGES.filter(([verb], i) => ["write", "edit", "exec"].includes(verb) && i > 0);

const registered = <T extends readonly [string, ...unknown[]]>(all: readonly T[]) =>
  all.filter(([verb]) => VERBS.some(({ name }) => name === verb));

/** A name written so that a mounted file system might take it for the same. */
function spelling(name: string): fc.Arbitrary<string> {
  const letter = fc.record({ up: fc.boolean(), ignorable: fc.option(fc.constantFrom(...IGNORABLE), { freq: 12 }) });
  return fc.array(letter, { minLength: name.length, maxLength: name.length }).map((letters) =>
    [...name].map((c, i) => (letters[i].up ? c.toUpperCase() : c) + (c === "/" ? "" : letters[i].ignorable ?? "")).join(
      "",
    )
  );
}

const spelled = fc.constantFrom(...GOVERNED_NAMES).chain((name) => fc.oneof(fc.constant(name), spelling(name)));

/** A way to a folder that holds governed files, or could, and back up again. */
const way = fc.constantFrom(
  "",
  "./",
  "d/",
  "d//e/./",
  "d/e/../",
  "folder/../",
  "never/../d/",
  "to-d/",
  "to-d/e/",
  "d/back/",
  "to-d/back/d/e/",
  "folder/",
  "b\u00e4r/",
  "ba\u0308r/",
  ".not-yet/",
);

/** How a path begins. */
const start = fc.constantFrom<(path: string, top: string) => string>(
  (path) => path,
  (path) => `work:${path}`,
  (path, top) => `${top}/${path}`,
  (path, top) => `work:${top}/${path}`,
  (path, top) => `${top}/folder/../${path}`,
  (path) => path.replaceAll("/", "\\"),
);

/** A two-segment name through a link to its folder. */
const throughLink = fc.constantFrom(...PAIRS).map(([folder, name]) => `to-${folder.slice(1)}/${name}`);

/** The outcome of a change, and that nothing has changed. */
async function attempt(side: EngineSide, top: string, before: string, verb: string, args: Arguments, dry: boolean) {
  const { outcome, json } = await call(side, verb, dry ? { ...args, dry_run: true } : args);
  const said = `${verb} ${JSON.stringify(args)}: ${JSON.stringify(json)}`;
  assert.equal(print(top), before, said);
  return { outcome: verb === "batch" ? json.operations?.[0]?.outcome ?? outcome : outcome, said };
}

function print(top: string): string {
  return treeOf(top).join("\n");
}

for (const [kind, library] of DISKS) {
  const test = (name: string, act: (side: EngineSide, top: string, before: string) => Promise<void>) =>
    Deno.test(`${kind}: governed: ${name}`, async () => {
      const top = makeFolder(entries());
      const side = sideOf(boundaryOf({ work: top }), library);
      try {
        await act(side, top, print(top));
      } finally {
        side.disk.close();
        Deno.removeSync(top, { recursive: true });
      }
    });

  test("every verb, however the name is spelled and whichever way leads there", async (side, top, before) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...registered(CHANGES)),
        fc.oneof(
          { weight: 4, arbitrary: fc.tuple(way, spelled) },
          // The links stand at the top only; elsewhere such a path is an ordinary one.
          { weight: 1, arbitrary: fc.tuple(fc.constantFrom("", "./", "folder/../", "d/back/"), throughLink) },
        ),
        start,
        fc.boolean(),
        async ([verb, args], [way, name], start, dry) => {
          const path = start(way + name, top);
          const { outcome, said } = await attempt(side, top, before, verb, args(path), dry);
          // Below a governed name that is no folder nothing is found; the same entry twice makes no sense.
          assert.ok(outcome === "governed" || outcome === "invalid" || outcome === "not-found", said);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test("each name as it is: 11, and it can be read", async (side, top, before) => {
    for (const name of GOVERNED_NAMES) {
      for (const [verb, args] of registered(CHANGES)) {
        if (`${args("p").path}`.endsWith("/below")) continue;
        const { outcome, said } = await attempt(side, top, before, verb, args(name), false);
        assert.equal(outcome, "governed", said);
      }
      const read = await call(side, "read", { paths: [name] });
      assert.equal(read.outcome, "ok");
      assert.ok(read.text.includes("as it was"));
    }
  });

  test("through a link of another name", async (side, top, before) => {
    for (const name of GOVERNED_NAMES) {
      for (const [verb, args] of registered(FOLLOWING)) {
        if (verb === "write" && !args("p").overwrite) continue;
        const { outcome, said } = await attempt(
          side,
          top,
          before,
          verb,
          args(`link-${name.replace(/\W/g, "")}.txt`),
          false,
        );
        assert.equal(outcome, "governed", said);
      }
    }
  });

  test("text in all of them replaced", async (side, top, before) => {
    for (const glob of [undefined, "d/**", "**/*.json", ...GOVERNED_NAMES]) {
      for (const [verb, args] of registered([["replace", { find: "as it was", with: "mine" }]] as const)) {
        const { outcome, said } = await attempt(side, top, before, verb, glob ? { ...args, glob } : args, false);
        assert.equal(outcome, "governed", said);
      }
    }
  });

  test("in a folder that is moved, removed or copied, at any depth", async (side, top, before) => {
    const folders = GOVERNED_NAMES.map((name) => `holds-${name.replace(/\W/g, "")}`);
    const paths = folders.flatMap((folder) => [folder, `${folder}/deep`, `to-d/../${folder}`]);
    for (const path of [...paths, "d", ...PAIRS.map(([folder]) => folder)]) {
      const tries: [string, Arguments][] = [
        ["move", { from: path, to: "elsewhere" }],
        ["move", { from: path, to: ".not-yet", overwrite: true }],
        ["delete", { path, recursive: true }],
        ["delete", { path, recursive: true, force: true }],
        ["batch", { script: { operations: [{ op: "delete", path, recursive: true }] } }],
      ];
      // `.claude` copied to a plain name leaves nothing governed behind.
      if (!path.startsWith(".")) tries.push(["copy", { from: path, to: "elsewhere", recursive: true }]);
      for (const [verb, args] of registered(tries)) {
        const { outcome, said } = await attempt(side, top, before, verb, args, false);
        assert.equal(outcome, "governed", said);
      }
    }
  });

  test("a folder that would become one by its new name", async (side, top, before) => {
    const name = fc.constantFrom(...PAIRS).chain(([folder, name]) =>
      fc.tuple(fc.constantFrom(...PAIRS.filter(([, other]) => other === name)), spelling(folder), fc.constant(folder))
    );
    await fc.assert(
      fc.asyncProperty(
        name,
        fc.constantFrom("folder/", ".not-yet/", "to-d/../folder/", `${top}/folder/`),
        fc.constantFrom("move", "copy"),
        fc.boolean(),
        async ([[source], written], at, verb, dry) => {
          const from = `half-${source.slice(1)}`;
          const args = { from, to: at + written, ...verb === "copy" ? { recursive: true } : {} };
          const { outcome, said } = await attempt(side, top, before, verb, args, dry);
          assert.equal(outcome, "governed", said);
        },
      ),
      { numRuns: RUNS },
    );
  });
}
