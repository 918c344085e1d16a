/** `find` makes times for many files at once: the same as one by one. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { timeJson } from "../../src/text/time.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder, put } from "../support/tree.ts";

for (const [kind, library] of DISKS) {
  Deno.test(`${kind}: times of any day, before 1970 too`, async () => {
    const top = makeFolder({});
    const side = sideOf(boundaryOf({ work: top }), library);
    try {
      const seconds = fc.integer({ min: -2_000_000_000, max: 4_000_000_000 });
      const [some] = fc.sample(fc.array(seconds, { minLength: 200, maxLength: 200 }), 1);
      const moments = [0, -1, 1, 86_399, 86_400, -86_400, -86_401, 951_782_399, 951_782_400, ...some]
        .map((second, i) => second * 1000 + i * 7 % 1000);
      moments.forEach((moment, i) => {
        put(top, { [`f${i}`]: "" });
        Deno.utimeSync(`${top}/f${i}`, new Date(moment), new Date(moment));
      });
      const { json } = await call(side, "find", { limit: 0 });
      assert.equal(json.count, moments.length);
      for (const { path, modified } of json.files) {
        assert.equal(modified, timeJson(Deno.statSync(`${top}/${path}`).mtime!.getTime()));
      }
    } finally {
      side.disk.close();
      Deno.removeSync(top, { recursive: true });
    }
  });
}
