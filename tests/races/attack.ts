/**
 * The attack as a program, for long runs:
 *
 *     deno run -A tests/races/attack.ts --seconds 300 --disk descriptor|pathname|naive
 *     deno run -A tests/races/attack.ts --seconds 10 --program
 *
 * `--only b,d` takes the scenarios whose names begin so. Ends with 1 where something was wrong that must not be.
 */
import { parseArgs } from "node:util";
import { type Race, race, type Row, total } from "./race.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { VictimKind } from "./victims.ts";

const KINDS: readonly string[] = ["descriptor", "pathname", "naive"];

function table({ rows, swapsPerSecond, swapsFailed, handlesLeft }: Race, seconds: number): string {
  const all = total({ rows, swapsPerSecond, swapsFailed });
  const cells = (row: Row) => [
    row.name,
    row.calls,
    row.swaps,
    row.violations,
    row.crashes,
    row.hangs,
    Math.round(row.slowestMs),
    Object.entries(row.outcomes).sort(([, a], [, b]) => b - a).map(([outcome, n]) => `${outcome} ${n}`).join(", "),
  ];
  const head = ["scenario", "calls", "swaps", "violations", "crashes", "hangs", "slowest ms", "outcomes"];
  const lines = [head, ...rows.map(cells), cells(all)].map((line) => line.map(String));
  const widths = head.map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  return [
    ...lines.map((line) =>
      line.map((cell, i) => i === 0 || i === head.length - 1 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))
        .join("  ").trimEnd()
    ),
    "",
    `${swapsPerSecond.toLocaleString("en")} swaps a second (${swapsFailed} failed), ` +
    `${Math.round(all.calls / seconds).toLocaleString("en")} calls a second` +
    (handlesLeft === undefined ? "" : `, handles left open: ${handlesLeft}`),
    `${all.violations} of ${all.calls} calls leaked (${(100 * all.violations / Math.max(1, all.calls)).toFixed(3)} %)`,
    ...all.samples.slice(0, 20),
  ].join("\n");
}

const { values } = parseArgs({
  args: Deno.args,
  options: {
    seconds: { type: "string", default: "60" },
    disk: { type: "string", default: "descriptor" },
    program: { type: "boolean", default: false },
    only: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const victim = values.program ? "program" : values.disk as VictimKind;
if (!(seconds > 0) || !values.program && !KINDS.includes(values.disk)) {
  console.error("attack.ts [--seconds N] [--disk descriptor|pathname|naive | --program] [--only a,b]");
  Deno.exit(2);
}
const begins = values.only?.split(",");
const only = begins &&
  SCENARIOS.map(({ name }) => name).filter((name) => begins.some((begin) => name.startsWith(begin)));
const result = await race({ victim, seconds, only });
console.log(`victim: ${victim}, ${seconds} s`);
console.log(table(result, seconds));
const { violations, crashes, hangs } = total(result);
const wrong = victim === "naive" ? 0 : crashes + hangs + (victim === "pathname" ? 0 : violations);
Deno.exit(wrong > 0 ? 1 : 0);
