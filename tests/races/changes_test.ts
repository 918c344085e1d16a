/**
 * Changes while paths are exchanged. Spec: 1-boundary §1.17; design, "Race-free paths".
 *
 * `FETTLE_RACE_SECONDS` is the time for all of it; longer runs and figures: `changes_attack.ts`.
 */
import assert from "node:assert/strict";
import { attack, table, total } from "./changes.ts";
import { canRace } from "./race.ts";

const SECONDS = Number(Deno.env.get("FETTLE_RACE_SECONDS") ?? 4);
/** Modules that are loaded late keep a few handles open. */
const FEW_HANDLES = 16;

Deno.test({
  name: "descriptor: nothing outside or hidden changes or is copied while the paths of changes are exchanged",
  ignore: !canRace(),
  async fn() {
    const result = await attack("descriptor", SECONDS * 3 / 4);
    const { changed, leaked, crashes, outcomes } = total(result);
    assert.ok(result.swaps > 0 && outcomes.ok > 0, table(result));
    assert.deepEqual({ changed, leaked, crashes }, { changed: 0, leaked: 0, crashes: 0 }, table(result));
    assert.ok(result.handlesLeft < FEW_HANDLES, table(result));
  },
});

Deno.test({
  name: "pathname: no crash while the paths of changes are exchanged; what leaks is measured",
  ignore: !canRace(),
  async fn() {
    const result = await attack("pathname", SECONDS / 4);
    const { calls, changed, leaked, crashes } = total(result);
    console.log(`pathname: ${changed} of ${calls} calls changed something outside, ${leaked} leaked`);
    assert.equal(crashes, 0, table(result));
  },
});
