/**
 * The rows of the budget table that can be measured by now, each with its bar.
 *
 * Spec: design, Budgets.
 */
import {
  assertCount,
  assertSame,
  fdPaths,
  findFacts,
  ourCounts,
  ourFacts,
  ourHits,
  ourPaths,
  rgCounts,
  rgHits,
} from "./answers.ts";
import { callTimes, CLIENTS, firstAnswer } from "./mcp.ts";
import { alternate, type Command, quantile, ratios, run, settle, spread } from "./measure.ts";
import { type Peak, peakMemory } from "./memory.ts";
import type { Measured } from "./report.ts";
import type { Tool, ToolName } from "./tools.ts";
import type { Trees } from "./trees.ts";

/** What rows are measured with. */
export interface Bench {
  fettle: string;
  /** The runtime that the program brings along. */
  deno: string;
  trees: Trees;
  tools: Partial<Record<ToolName, Tool>>;
  /** Rounds of a row whose runs take long beside the start of a process. */
  rounds: number;
  /** Rounds of a row whose runs are little more than that. */
  shortRounds: number;
}

/** One or several lines of the table that are measured together. */
export interface Row {
  name: string;
  /** Peers without which there is no row. */
  needs: readonly ToolName[];
  measure(bench: Bench): Measured[] | Promise<Measured[]>;
}

/** Two commands, and what both must agree on before they are timed. */
interface Contest {
  ours: Command;
  theirs: Command;
  peer: string;
  check(): void;
}

interface Bars {
  bar?: number;
  aim?: number;
  short?: true;
}

function versus(
  name: string,
  needs: readonly ToolName[],
  { bar, aim, short }: Bars,
  make: (bench: Bench) => Contest,
): Row {
  return {
    name,
    needs,
    measure(bench) {
      const { ours, theirs, peer, check } = make(bench);
      check();
      const pairs = alternate(short ? bench.shortRounds : bench.rounds, ours, theirs);
      const { median: value, low, high } = spread(ratios(pairs));
      const [us, them] = [quantile(pairs.ours, 0.5), quantile(pairs.theirs, 0.5)];
      return [{ name, unit: "x", value, low, high, bar, aim, ours: us, theirs: them, peer, samples: pairs }];
    },
  };
}

interface Search {
  pattern: string;
  /** Which of the trees, and where in it. */
  where?: readonly ["source" | "logs", string];
  sensitive?: boolean;
  ourReach?: readonly string[];
  /** Which files ripgrep takes. */
  theirReach?: readonly string[];
}

/** Arguments of both sides for the same search. Both are told how to take capitals, and neither skips what the other does not. */
function searchCommands(
  { fettle, trees, tools }: Bench,
  { pattern, where = ["source", "src"], sensitive, ourReach = [], theirReach = [] }: Search,
  [ourForm, theirForm]: readonly [readonly string[], readonly string[]],
): { ours: Command; theirs: Command } {
  const cwd = `${trees.at(where[0])}/${where[1]}`;
  const ourCase = sensitive ? ["--case-sensitive"] : [];
  const theirCase = sensitive ? "-s" : "-i";
  return {
    ours: {
      program: fettle,
      args: ["--no-config", "search", ...ourForm, ...ourCase, ...ourReach, "-e", pattern],
      cwd,
    },
    theirs: {
      program: tools.rg!.command,
      args: ["--no-config", "--color=never", ...theirForm, "-uu", "-j2", theirCase, ...theirReach, "-e", pattern, "."],
      cwd,
      codes: [0, 1],
    },
  };
}

const EVERY_HIT = [["--limit", "0"], ["--no-heading", "--line-number", "--column"]] as const;

/** Both sides tell every hit with line and column. What is timed is the text form; what is compared, the JSON. */
function search(name: string, what: Search, bars: Bars): Row {
  return versus(name, ["rg"], bars, (bench) => {
    const { ours, theirs } = searchCommands(bench, what, EVERY_HIT);
    return {
      ours,
      theirs,
      peer: "rg",
      check() {
        const hits = ourHits(run(json(ours)).out);
        assertSame(hits, rgHits(run(theirs).out), "rg");
        assertCount(run(ours).out, hits.length, "hit");
      },
    };
  });
}

/** Both sides count: for so many hits that an answer of ours would stop at its 40,000 characters, and not search on. */
function count(name: string, what: Search, bars: Bars): Row {
  return versus(name, ["rg"], bars, (bench) => {
    const { ours, theirs } = searchCommands(bench, what, [["--count"], ["--count"]]);
    return {
      ours,
      theirs,
      peer: "rg",
      check: () => assertSame(ourCounts(run(json(ours)).out), rgCounts(run(theirs).out), "rg"),
    };
  });
}

const json = (command: Command): Command => ({ ...command, args: ["--json", ...command.args] });

const MODES = [["ignoring case", false], ["heeding case", true]] as const;

/** One row for each way to take capitals. */
function searches(make: typeof search, what: string, pattern: string, bars: Bars): Row[] {
  return MODES.map(([mode, sensitive]) => make(`search, ${what}, ${mode}`, { pattern, sensitive }, bars));
}

const SEARCH: Bars = { bar: 2, aim: 1.5 };

/** What searches skip unless told otherwise, as ripgrep is told to. */
const SKIPPED = [".git", "node_modules", "artifacts"].flatMap((folder) => ["-g", `!${folder}`]);

const SEARCHES: Row[] = [
  ...searches(search, "literal", "NEEDLE_ALPHA_", SEARCH),
  ...searches(search, "rare word", "rareNeedleOmega", SEARCH),
  ...searches(search, "absent word", "nowhere_at_all", SEARCH),
  ...searches(search, "literal inside", "\\w+_probe\\(", SEARCH),
  ...searches(count, "literal inside, counted", "\\w+_init\\(", SEARCH),
  ...searches(search, "no literal", "[0-9]{4}-[0-9]{2}-[0-9]{2}", { bar: 2 }),
  search("search, generated skipped", { pattern: "NEEDLE_ALPHA_", where: ["source", ""], theirReach: SKIPPED }, SEARCH),
  search("search, generated too", {
    pattern: "NEEDLE_ALPHA_",
    where: ["source", ""],
    ourReach: ["--include-generated"],
  }, SEARCH),
  search("search, log of 1 GB", { pattern: "NEEDLE_ALPHA_", where: ["logs", "big"] }, {}),
];

const FINDS: Row[] = [
  versus("find by glob, 100,000 entries", ["fd"], { bar: 1.5 }, ({ fettle, trees, tools }) => {
    const cwd = trees.at("entries");
    const ours: Command = { program: fettle, args: ["--no-config", "find", "**/*.spec.ts"], cwd };
    const theirs: Command = {
      program: tools.fd!.command,
      args: ["-uu", "-j2", "--color=never", "-t", "f", "-g", "*.spec.ts"],
      cwd,
    };
    return {
      ours,
      theirs,
      peer: "fd",
      check() {
        const paths = ourPaths(run(json(ours)).out);
        assertSame(paths, fdPaths(run(theirs).out), "fd");
        assertCount(run(ours).out, paths.length, "file");
      },
    };
  }),
  versus("find --limit 0, facts of 100,000", ["find"], { bar: 1.5 }, ({ fettle, trees, tools }) => {
    const cwd = trees.at("entries");
    const ours: Command = {
      program: fettle,
      args: ["--no-config", "find", "--limit", "0", "--include-generated"],
      cwd,
    };
    const theirs: Command = {
      program: tools.find!.command,
      args: [".", "-type", "f", "-printf", "%s %T@ %p\\n"],
      cwd,
    };
    return {
      ours,
      theirs,
      peer: "find",
      check() {
        const facts = ourFacts(run(json(ours)).out);
        assertSame(facts, findFacts(run(theirs).out), "find");
        assertCount(run(ours).out, facts.length, "file");
      },
    };
  }),
];

const tailOf = ({ fettle, trees }: Bench, log: "big" | "small"): Command => ({
  program: fettle,
  args: ["--no-config", "read", "app.log", "--tail", "20"],
  cwd: `${trees.at("logs")}/${log}`,
});

/** What is read must be the text that `tail` tells, where there is one. */
function checkTail({ tools }: Bench, command: Command): void {
  if (!tools.tail) return;
  const expected = run({ program: tools.tail.command, args: ["-n", "20", "app.log"], cwd: command.cwd }).out;
  assertSame([JSON.parse(run(json(command)).out).files[0].text], [expected], "tail");
}

const besideRoots = (what: string, log: "big" | "small") =>
  versus(`read --tail 20 of ${what}`, [], { bar: 1.5, short: true }, (bench) => {
    const ours = tailOf(bench, log);
    return {
      ours,
      theirs: { ...ours, args: ["--no-config", "roots"] },
      peer: "roots",
      check: () => checkTail(bench, ours),
    };
  });

const TAILS: Row[] = [
  besideRoots("1 GB", "big"),
  besideRoots("1 MB", "small"),
  versus("read --tail 20, 1 GB beside 1 MB", [], { bar: 1.2, short: true }, (bench) => ({
    ours: tailOf(bench, "big"),
    theirs: tailOf(bench, "small"),
    peer: "1 MB",
    check: () => checkTail(bench, tailOf(bench, "big")),
  })),
];

const besideRuntime = (args: string[], expected: RegExp, bar: number) =>
  versus(`start, ${args[0]}`, [], { bar, short: true }, ({ fettle, deno, trees }) => {
    const cwd = trees.at("project");
    const ours: Command = { program: fettle, args, cwd };
    return {
      ours,
      theirs: { program: deno, args: ["eval", "--no-config", "0"], cwd, env: { DENO_NO_UPDATE_CHECK: "1" } },
      peer: "deno eval 0",
      check() {
        const { out } = run(ours);
        if (!expected.test(out)) throw new Error(`fettle ${args.join(" ")} told ${out}`);
      },
    };
  });

const STARTS: Row[] = [
  besideRuntime(["roots"], /^work /m, 2),
  besideRuntime(["read", "small.txt"], /^small\.txt {2}text /, 3),
];

const serverOf = ({ fettle, trees }: Bench): Command => ({
  program: fettle,
  args: ["serve"],
  cwd: trees.at("project"),
});

const READ = ["read", { paths: ["small.txt"] }] as const;

/** Throws unless every line of the file is in the answer. */
function checkRead(text: string, folder: string): void {
  const lines = Deno.readTextFileSync(`${folder}/small.txt`).trimEnd().split("\n");
  const told = text.split("\n").map((line) => line.replace(/^ *\d+ \| ?/, ""));
  assertSame(
    told.slice(-lines.length).map((line, i) => `${i} ${line}`),
    lines.map((line, i) => `${i} ${line}`),
    "the file",
  );
}

/** Milliseconds by themselves: the median with the bar for it, and the 99th of a hundred with another. */
function twoQuantiles(name: string, times: number[], [p50, p99]: [number?, number?] = []): Measured[] {
  const { median: value, low, high } = spread(times);
  const [late, last] = [quantile(times, 0.99), Math.max(...times)];
  return [
    { name: `${name}, p50`, unit: "ms", value, low, high, bar: p50 },
    { name: `${name}, p99`, unit: "ms", value: late, low: quantile(times, 0.95), high: last, bar: p99 },
  ];
}

/** Reads and pings through one client, beside a server that does nothing, which shows what is the client's own. */
function calls(client: keyof typeof CLIENTS, bars?: [number, number]): Row {
  return {
    name: `mcp, ${client} client`,
    needs: [],
    async measure(bench) {
      const ours = await CLIENTS[client](serverOf(bench));
      const text = await ours.call(...READ);
      checkRead(text, bench.trees.at("project"));
      const script = decodeURIComponent(new URL("echo_server.ts", import.meta.url).pathname);
      const echo = await CLIENTS[client]({
        program: bench.deno,
        args: ["run", "--quiet", "--no-config", "--no-lock", "--no-prompt", script, text],
        cwd: bench.trees.at("project"),
      });
      try {
        const times = await callTimes({
          read: () => ours.call(...READ),
          echo: () => echo.call(...READ),
          ping: () => ours.ping(),
        });
        const [read, floor] = [times.read, times.echo].map((values) => quantile(values, 0.5));
        const results = twoQuantiles(`mcp read of 4 KB, ${client} client`, times.read, bars);
        results[0].note = `the server's own share is ${(read - floor).toFixed(3)} ms of ${read.toFixed(3)} ms`;
        return [
          ...results,
          ...twoQuantiles(`mcp, a server that does nothing, ${client} client`, times.echo),
          twoQuantiles(`mcp ping, ${client} client`, times.ping)[0],
        ];
      } finally {
        await ours.close();
        await echo.close();
      }
    },
  };
}

/** From the start of the server to the answer of the first call, with the greeting between. */
function first(tool: string, args: Record<string, unknown>): Row {
  const name = `mcp, first answer after start, ${tool}`;
  return {
    name,
    needs: [],
    async measure(bench) {
      const samples: number[] = [];
      await firstAnswer(serverOf(bench), tool, args);
      while (samples.length < bench.shortRounds) {
        settle();
        samples.push((await firstAnswer(serverOf(bench), tool, args)).ms);
      }
      const { median: value, low, high } = spread(samples);
      return [{ name, unit: "ms", value, low, high, bar: 100, samples }];
    },
  };
}

const MCP: Row[] = [
  calls("official", [0.4, 2]),
  calls("lean"),
  first("roots", {}),
  first(...READ),
];

/** The most that three searches took, which find what ripgrep does. */
function memory(what: string, where: ["source" | "logs", string]): Row {
  const name = `memory, search of ${what}`;
  return {
    name,
    needs: ["rg"],
    async measure(bench) {
      const what: Search = { pattern: "NEEDLE_ALPHA_", where, ourReach: ["--include-generated"] };
      const { ours, theirs } = searchCommands(bench, what, EVERY_HIT);
      const peaks: Peak[] = [];
      while (peaks.length < 3) peaks.push(await peakMemory(json(ours)));
      assertSame(ourHits(peaks[0].out), rgHits(run(theirs).out), "rg");
      const most = peaks.map(({ mebibytes }) => mebibytes);
      const { kind, processes, samples } = peaks[0];
      const note = `${kind} of ${processes} processes, the most of three runs, ${samples} looks at the first`;
      return [{
        name,
        unit: "MiB",
        value: Math.max(...most),
        low: Math.min(...most),
        high: Math.max(...most),
        bar: 300,
        note,
      }];
    },
  };
}

const MEMORY: Row[] = [memory("20,000 files", ["source", ""]), memory("a log of 1 GB", ["logs", "big"])];

/** All rows, in the order of the table. */
export const ROWS: readonly Row[] = [...SEARCHES, ...FINDS, ...TAILS, ...STARTS, ...MCP, ...MEMORY];
