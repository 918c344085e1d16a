/**
 * Paths that are exchanged between check and use. Spec: 1-boundary §1.9, §1.17; design, "Race-free paths"; bugs 12 and 13.
 *
 * `FETTLE_RACE_SECONDS` is the time for all of it; longer runs and figures: `attack.ts`.
 */
import assert from "node:assert/strict";
import { canRace, type Race, race, total } from "./race.ts";

const SECONDS = Number(Deno.env.get("FETTLE_RACE_SECONDS") ?? 4);
/** So many times the victim that checks and then uses gets, each twice as long as the one before, until it leaks. */
const TRIES = 4;
/** Modules that are loaded late keep a few handles open. */
const FEW_HANDLES = 16;

const ignore = !canRace();

function figures(name: string, result: Race) {
  const { calls, violations, hangs, swaps } = total(result);
  const rate = result.swapsPerSecond.toLocaleString("en");
  console.log(`${name}: ${violations} of ${calls} calls leaked, ${hangs} hung; ${swaps} swaps, ${rate} a second`);
}

/** Calls were answered, every scenario had its turn, and nothing broke. */
function demandSound(result: Race) {
  const { crashes, hangs, outcomes, samples } = total(result);
  assert.equal(result.swapsFailed, 0);
  for (const { name, swaps, calls } of result.rows) assert.ok(swaps > 0 && calls > 0, `${name} was never in turn`);
  assert.ok(outcomes.ok > 0 && outcomes["outside-root"] > 0, JSON.stringify(outcomes));
  assert.deepEqual({ crashes, hangs }, { crashes: 0, hangs: 0 }, samples.join("\n"));
  assert.ok(result.handlesLeft! < FEW_HANDLES, `${result.handlesLeft} handles were left open`);
}

Deno.test({
  name:
    "descriptor: nothing leaks while the paths are exchanged, and the same attack gets at a victim that checks and then uses",
  ignore,
  async fn() {
    let seconds = SECONDS / 4;
    let leaked = 0;
    for (let tries = 0; leaked === 0 && tries < TRIES; tries++, seconds *= 2) {
      const naive = await race({ victim: "naive", seconds });
      leaked = total(naive).violations;
      figures("check, then use", naive);
    }
    assert.ok(leaked > 0, "the attack gets at nobody, so it proves nothing");

    const result = await race({ victim: "descriptor", seconds: SECONDS / 2 });
    figures("descriptor", result);
    demandSound(result);
    const { violations, samples } = total(result);
    assert.equal(violations, 0, samples.join("\n"));
  },
});

Deno.test({
  name: "pathname: no crash and no hang while the paths are exchanged; what leaks is measured",
  ignore,
  async fn() {
    const result = await race({ victim: "pathname", seconds: SECONDS / 4 });
    figures("pathname", result);
    demandSound(result);
  },
});
