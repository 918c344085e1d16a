/**
 * `deno task bench [--no-bars] [WORD]...`: the built program side by side with its peers, over folders that it makes itself.
 *
 * Words choose the rows whose names hold one of them. Prints a table and writes `dist/bench.json`. Ends with 1 when a bar is missed,
 * unless only told to report, and when both sides did not find the same; with 2 when nothing could be measured.
 *
 * `FETTLE_PROGRAM` names the program to measure, `FETTLE_BENCH_DIR` where the folders lie (1.4 GB, kept for the next run),
 * `FETTLE_BENCH_ROUNDS` how many rounds a row has.
 *
 * Spec: design, Budgets.
 */
import { exitCode, type Result, table } from "./bench/report.ts";
import { type Bench, type Row, ROWS } from "./bench/rows.ts";
import { installed, versionOf } from "./bench/tools.ts";
import { Trees } from "./bench/trees.ts";

const dist = decodeURIComponent(new URL("../dist/", import.meta.url).pathname);

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: readonly string[]): Promise<number> {
  const words = args.filter((arg) => !arg.startsWith("--")).map((word) => word.toLowerCase());
  const flags = args.filter((arg) => arg.startsWith("--"));
  const rows = ROWS.filter(({ name }) => words.length === 0 || words.some((word) => name.toLowerCase().includes(word)));
  let bench: Bench;
  try {
    if (flags.some((flag) => flag !== "--no-bars")) {
      throw new Error(`--no-bars is the only flag, not ${flags.join(" ")}`);
    }
    if (rows.length === 0) throw new Error(`no row holds ${words.join(" or ")}`);
    bench = prepare();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 2;
  }
  const [load] = Deno.loadavg();
  if (load > 0.5) console.log(`the machine is busy (load ${load.toFixed(1)}); ratios suffer less from it than times`);
  const results: Result[] = [];
  for (const row of rows) {
    console.error(`... ${row.name}`);
    results.push(...await resultsOf(row, bench));
  }
  console.log(table(results));
  const report = JSON.stringify({ ...circumstances(bench), load, results }, null, 2);
  Deno.mkdirSync(dist, { recursive: true });
  Deno.writeTextFileSync(`${dist}bench.json`, report + "\n");
  return exitCode(results, !flags.includes("--no-bars"));
}

/** What one row came to; a failure of it is a result too, so that the others are still measured. */
async function resultsOf(row: Row, bench: Bench): Promise<Result[]> {
  const missing = row.needs.filter((name) => !bench.tools[name]);
  if (missing.length > 0) return [{ name: row.name, skipped: `${missing.join(", ")} is not installed` }];
  try {
    return await row.measure(bench);
  } catch (error) {
    return [{ name: row.name, error: error instanceof Error ? error.message : String(error) }];
  }
}

function prepare(): Bench {
  const named = Deno.env.get("FETTLE_PROGRAM") ?? `${dist}portable/fettle`;
  if (!versionOf(named, "version")) throw new Error(`${named} does not run; \`deno task build\` makes the program`);
  const fettle = Deno.realPathSync(named);
  const carried = fettle.replace(/[^/]*$/, "lib/deno");
  const rounds = Number(Deno.env.get("FETTLE_BENCH_ROUNDS") ?? 9);
  if (!(rounds >= 1)) throw new Error("FETTLE_BENCH_ROUNDS is no number of rounds");
  const temporary = (Deno.env.get("TMPDIR") ?? "/tmp").replace(/\/$/, "");
  return {
    fettle,
    deno: versionOf(carried) ? carried : Deno.execPath(),
    trees: new Trees(Deno.env.get("FETTLE_BENCH_DIR") ?? `${temporary}/fettle-bench-${Deno.uid() ?? ""}`),
    tools: installed(),
    rounds,
    shortRounds: Math.ceil(rounds * 10 / 3),
  };
}

function circumstances({ fettle, deno, trees, tools, rounds, shortRounds }: Bench) {
  return {
    program: fettle,
    versions: { fettle: versionOf(fettle, "version"), deno: versionOf(deno), ...tools },
    system: `${Deno.build.target} ${Deno.osRelease()}`,
    cores: navigator.hardwareConcurrency,
    memory_mib: Math.round(Deno.systemMemoryInfo().total / 2 ** 20),
    rounds,
    short_rounds: shortRounds,
    trees: trees.stamps,
  };
}
