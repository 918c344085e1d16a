/** What the verbs do is found by their names. */
import assert from "node:assert/strict";
import { VERBS } from "../../src/verbs/mod.ts";
import { workOf } from "../../src/verbs/work.ts";

Deno.test("every verb of the engine has its work, and no other", async () => {
  for (const { name, where } of VERBS) {
    const work = await workOf(name);
    assert.equal(typeof work?.run, where === "engine" ? "function" : "undefined", name);
  }
  for (const name of ["", "constructor", "__proto__", "Find"]) assert.equal(await workOf(name), undefined);
});
