/** Rights that are granted to a scope hold in spite of the fences, and where they cannot, nothing is begun. Spec: 1-boundary §1.3, §1.5. */
import assert from "node:assert/strict";
import { fettle } from "../support/program.ts";
import { makeFolder, put } from "../support/tree.ts";
import { treeOf } from "../verbs/support.ts";

const ALL = ["list", "read", "create", "update", "rename", "delete"];

for (const can of [["list", "read"], []]) {
  Deno.test(`a scope that is a file, or not there yet, in a tree that grants [${can}]`, async () => {
    const top = makeFolder({ "one.txt": "one\n", "beside.txt": "b\n", "d/two.txt": "two\n", "src/a": "a" });
    const scopes = Object.fromEntries(
      ["one.txt", "d/two.txt", "d/later.txt", "gen", "src"].map((path) => [path, { can: ALL }]),
    );
    put(top, { ".fettler.json": JSON.stringify({ guardrails: { trees: { work: { path: ".", can, scopes } } } }) });
    const does = async (...args: string[]) => {
      const dry = await fettle([...args, "--dry-run", "--json"], { cwd: top });
      const real = await fettle([...args, "--json"], { cwd: top });
      assert.equal(dry.json.outcome, real.json.outcome, `${args}: ${dry.out}${real.out}`);
      return real.json.outcome;
    };
    const ok: string[][] = [
      ["edit", "one.txt", "--replace", "one", "--with", "1"],
      ["write", "d/two.txt", "--overwrite", "--text", "2\n"],
      ["new", "d/later.txt"],
      ["delete", "d/later.txt"],
      ["copy", "one.txt", "d/later.txt"],
      ["move", "d/later.txt", "d/two.txt", "--overwrite"],
      ["mkdir", "gen"],
      ["new", "gen/x"],
      ["delete", "one.txt"],
    ];
    for (const args of ok) assert.equal(await does(...args), "ok", `${args}`);
    for (const path of ["src", "gen"]) assert.equal(await does("delete", path, "--recursive"), "denied", path);
    assert.equal(await does("move", "src", "gen/src"), "denied");
    const beside = await does("write", "beside.txt", "--overwrite", "--text", "x");
    assert.equal(beside, can.length > 0 ? "refused" : "outside-root");
    assert.deepEqual(treeOf(top).filter((entry) => !entry.startsWith(".fettler")), [
      "beside.txt=b\n",
      "d/",
      "d/two.txt=1\n",
      "gen/",
      "gen/x=",
      "src/",
      "src/a=a",
    ]);
    Deno.removeSync(top, { recursive: true });
  });
}
