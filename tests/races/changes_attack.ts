/**
 * The attack on changes as a program: `deno run -A tests/races/changes_attack.ts --seconds 60 --disk descriptor|pathname`.
 * Ends with 1 where something was wrong that must not be.
 */
import { parseArgs } from "node:util";
import { attack, table, total } from "./changes.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: { seconds: { type: "string", default: "60" }, disk: { type: "string", default: "descriptor" } },
});
const seconds = Number(values.seconds);
if (!(seconds > 0) || values.disk !== "descriptor" && values.disk !== "pathname") {
  console.error("changes_attack.ts [--seconds N] [--disk descriptor|pathname]");
  Deno.exit(2);
}
const result = await attack(values.disk, seconds);
console.log(`${values.disk}, ${seconds} s`);
console.log(table(result));
const { changed, leaked, crashes } = total(result);
Deno.exit(crashes > 0 || values.disk === "descriptor" && changed + leaked > 0 ? 1 : 0);
