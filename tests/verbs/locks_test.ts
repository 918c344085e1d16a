/**
 * What another process does between judging and acting: two sides stand for two processes, and the second acts when the first is about
 * to take its locks. Spec: 2-verbs §2.8, §2.17; 1-boundary §1.5, §1.11.
 */
import assert from "node:assert/strict";
import type { Folder } from "../../src/disk/disk.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";
import { workOf } from "../../src/verbs/work.ts";
import { treeOf } from "./support.ts";

/** A folder that lets something happen before a lock of it, or of one below it, is tried. */
function hooked(folder: Folder, before: () => void): Folder {
  return new Proxy(folder, {
    get(target, key) {
      if (key === "tryLock") {
        return (shared?: boolean) => {
          before();
          return target.tryLock(shared);
        };
      }
      if (key === "folder") return (name: string) => hooked(target.folder(name), before);
      // As an argument of the one below it has to be what that knows.
      if (key === "rename") {
        return (...[warrant, name, , toName, replace]: Parameters<Folder["rename"]>) => {
          target.rename(warrant, name, target, toName, replace);
        };
      }
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

interface Race {
  name: string;
  entries: Record<string, string | null>;
  scopes?: Record<string, []>;
  /** What the first process is asked for, and by the time it locks the second has done. */
  first: [string, Record<string, unknown>];
  second: [string, Record<string, unknown>][];
  outcome: string;
  /** Of what may be there then. */
  left: string[];
}

const RACES: Race[] = [
  {
    name: "a folder gets the name of a governed file's under a new file",
    entries: { "x/a": "a" },
    first: ["new", { path: "x/settings.json" }],
    second: [["move", { from: "x", to: ".claude" }]],
    outcome: "stale",
    left: [".claude/", ".claude/a=a"],
  },
  {
    name: "a folder goes where a scope lies, and a file in it would be that",
    entries: { "x/a": "a" },
    scopes: { "y/h": [] },
    first: ["write", { path: "x/h", text: "planted" }],
    second: [["move", { from: "x", to: "y" }]],
    outcome: "stale",
    left: ["y/", "y/a=a"],
  },
  {
    name: "a folder above the one that is changed is moved",
    entries: { "x/b/c/a": "a" },
    first: ["edit", { path: "x/b/c/a", replace: "a", with: "b" }],
    second: [["move", { from: "x", to: ".claude" }]],
    outcome: "stale",
    left: [".claude/", ".claude/b/", ".claude/b/c/", ".claude/b/c/a=a"],
  },
  {
    name: "somebody else's copy is there",
    entries: { "s/f": "s", "t/f": "t" },
    first: ["copy", { from: "s", to: "K", recursive: true }],
    second: [["copy", { from: "t", to: "K", recursive: true }]],
    outcome: "target-exists",
    left: ["K/", "K/f=t", "s/", "s/f=s", "t/", "t/f=t"],
  },
  {
    name: "somebody else's file is there",
    entries: { "s": "s" },
    first: ["copy", { from: "s", to: "K" }],
    second: [["write", { path: "K", text: "mine" }]],
    outcome: "target-exists",
    left: ["K=mine", "s=s"],
  },
  {
    name: "what is moved has another kind",
    entries: { "s": "s", "d/f": "f" },
    first: ["move", { from: "s", to: "K" }],
    second: [["delete", { path: "s" }], ["move", { from: "d", to: "s" }]],
    outcome: "stale",
    left: ["s/", "s/f=f"],
  },
  {
    name: "where it is moved to something is by now",
    entries: { "s": "s" },
    first: ["move", { from: "s", to: "K" }],
    second: [["new", { path: "K" }]],
    outcome: "target-exists",
    left: ["K=", "s=s"],
  },
  {
    name: "the same, and it might be replaced",
    entries: { "s": "s" },
    first: ["move", { from: "s", to: "K", overwrite: true }],
    second: [["new", { path: "K" }]],
    outcome: "stale",
    left: ["K=", "s=s"],
  },
];

for (const [kind, library] of DISKS) {
  for (const { name, entries, scopes, first, second, outcome, left } of RACES) {
    Deno.test(`${kind}: between judging and acting: ${name}`, async () => {
      const top = makeFolder({
        app: null,
        ...Object.fromEntries(Object.entries(entries).map(([at, of]) => [`app/${at}`, of])),
      });
      const boundary = boundaryOf({ work: { path: `${top}/app`, scopes } });
      const [mine, other] = [sideOf(boundary, library), sideOf(boundary, library)];
      const { disk } = mine;
      const works = await Promise.all(second.map(async ([verb, args]) => ({ ...await workOf(verb)!, args })));
      let hooks = 0;
      mine.disk = {
        kind: disk.kind,
        close: () => disk.close(),
        // What is asked for here is done when it returns.
        top: (tree) =>
          hooked(disk.top(tree), () => hooks++ === 0 && works.forEach(({ run, args }) => run!(args, other))),
      };
      const answer = await call(mine, ...first);
      assert.ok(hooks > 0);
      assert.equal(answer.outcome, outcome, answer.text);
      assert.deepEqual(treeOf(`${top}/app`), left);
      for (const side of [mine, other]) side.disk.close();
      Deno.removeSync(top, { recursive: true });
    });
  }
}
