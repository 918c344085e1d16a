/** Whatever puts new content under a name leaves the other names of the old file alone. Spec: 1-boundary §1.9 (hard links). */
import assert from "node:assert/strict";
import { VERBS } from "../../src/verbs/mod.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";

const CHANGES: readonly (readonly [verb: string, args: Record<string, unknown>])[] = [
  ["write", { path: "a", text: "new text\n", overwrite: true }],
  ["edit", { path: "a", script: { edits: [{ replace: "old", with: "new" }] } }],
  ["replace", { find: "old", with: "new", glob: "a" }],
  ["copy", { from: "b", to: "a", overwrite: true }],
  ["copy", { from: "d", to: ".", recursive: true, overwrite: true }],
  ["move", { from: "b", to: "a", overwrite: true }],
];

for (const [kind, library] of DISKS) {
  Deno.test(`${kind}: a file that is replaced keeps its content under its other names`, async () => {
    for (const [verb, args] of CHANGES) {
      if (!VERBS.some(({ name }) => name === verb)) continue;
      const top = makeFolder({ "tree/a": "old text\n", "tree/b": "new text\n", "tree2/d/a": "new text\n" });
      Deno.linkSync(`${top}/tree/a`, `${top}/other`);
      const side = sideOf(boundaryOf({ work: `${top}/tree`, more: `${top}/tree2` }), library);
      const at = args.from === "d" ? { ...args, from: "more:d", to: "work:" } : args;
      const prefixed = Object.fromEntries(
        Object.entries(at).map(([name, value]) =>
          ["path", "from", "to", "glob"].includes(name) && !`${value}`.includes(":")
            ? [name, `work:${value}`]
            : [name, value]
        ),
      );
      assert.equal((await call(side, verb, prefixed)).outcome, "ok", verb);
      assert.equal(Deno.readTextFileSync(`${top}/tree/a`), "new text\n", verb);
      assert.equal(Deno.readTextFileSync(`${top}/other`), "old text\n", verb);
      side.disk.close();
      Deno.removeSync(top, { recursive: true });
    }
  });
}
