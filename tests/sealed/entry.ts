/** The sealed mode with the jobs of the tests. `open` in its arguments leaves out the seal, `hook-…` has a kernel hook. */
import { answerAll, runSealed, send } from "../../src/sealed/mode.ts";
import { ALL_JOBS } from "./attack_jobs.ts";

if (Deno.args.includes("open")) {
  send({ id: 0, kernel: false });
  await answerAll(ALL_JOBS);
} else if (Deno.args.includes("hook-throws")) {
  await runSealed(() => {
    throw new Error("no such call");
  }, ALL_JOBS);
} else if (Deno.args.includes("hook-loads")) {
  await runSealed(() => {
    Deno.dlopen(Deno.args[Deno.args.indexOf("hook-loads") + 1], {}).close();
  }, ALL_JOBS);
} else {
  await runSealed(undefined, ALL_JOBS);
}
