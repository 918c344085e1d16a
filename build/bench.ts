/**
 * `deno task bench`: the built program side by side with ripgrep and fd, where they are installed, over a tree it makes itself.
 *
 * Runs are interleaved and each row's ratio is the median of the ratios of one round, so that a busy moment strikes both alike. Both
 * answers are checked to be the same before anything is timed.
 */

const FILES = Number(Deno.env.get("FETTLE_BENCH_FILES") ?? 5_000);
const ROUNDS = 7;
const LINES = 200;

const fettle = Deno.realPathSync(decodeURIComponent(new URL("../dist/portable/fettle", import.meta.url).pathname));

interface Row {
  what: string;
  ours: string[];
  peer: string[];
  /** What both must agree on, from their output. */
  ourAnswer(out: string): string;
  peerAnswer(out: string): string;
}

const WORDS =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu node_init( value_init( return const let".split(
    " ",
  );

/** A deterministic tree: text files in nested folders, one rare word in every hundredth. */
function makeTree(): string {
  const top = Deno.makeTempDirSync({ prefix: "fettle-bench-" });
  let seed = 1;
  const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % n;
  for (let i = 0; i < FILES; i++) {
    const folder = `${top}/p${i % 50}/s${i % 7}`;
    if (i < 350) Deno.mkdirSync(folder, { recursive: true });
    const lines = Array.from(
      { length: LINES },
      () => Array.from({ length: 8 }, () => WORDS[random(WORDS.length)]).join(" "),
    );
    if (i % 100 === 0) lines[random(LINES)] += " NEEDLE 2026-11-30";
    Deno.writeTextFileSync(`${folder}/f${i}.ts`, lines.join("\n") + "\n");
  }
  return top;
}

const sumOfCounts = (out: string) =>
  String(
    out.split("\n").reduce((sum, line) => sum + (line === "" ? 0 : Number(line.slice(line.lastIndexOf(":") + 1))), 0),
  );
const hitsCount = (out: string) => String(JSON.parse(out).hits_count);
const search = (what: string, pattern: string): Row => ({
  what: `search, ${what}`,
  ours: [fettle, "search", "--count", "--json", "-e", pattern],
  peer: ["rg", "-uu", "-i", "--no-config", "-j2", "-c", "-e", pattern],
  ourAnswer: hitsCount,
  peerAnswer: sumOfCounts,
});

const ROWS: Row[] = [
  search("rare word", "needle"),
  search("absent word", "nowhere_at_all"),
  search("a literal inside", "\\w+_init\\("),
  search("no literal", "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
  {
    what: "find by glob, all names",
    ours: [fettle, "find", "**/*1.ts", "--limit", "0", "--json"],
    peer: [peerFd(), "-uu", "-g", "*1.ts", "-t", "f"],
    ourAnswer: (out) => String(JSON.parse(out).count),
    peerAnswer: (out) => String(out.split("\n").length - 1),
  },
];

function peerFd(): string {
  return has("fd") ? "fd" : "fdfind";
}

function has(command: string): boolean {
  try {
    return new Deno.Command(command, { args: ["--version"] }).outputSync().success;
  } catch {
    return false;
  }
}

function run([command, ...args]: string[], cwd: string): { ms: number; out: string } {
  const begun = performance.now();
  const { stdout } = new Deno.Command(command, { args, cwd, stderr: "inherit" }).outputSync();
  return { ms: performance.now() - begun, out: new TextDecoder().decode(stdout) };
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1];

const top = makeTree();
const results: Record<string, unknown>[] = [];
for (const row of ROWS) {
  if (!has(row.peer[0])) {
    console.log(`${row.what.padEnd(28)} skipped: ${row.peer[0]} is not installed`);
    continue;
  }
  const [a, b] = [row.ourAnswer(run(row.ours, top).out), row.peerAnswer(run(row.peer, top).out)];
  if (a !== b) throw new Error(`${row.what}: ${a} here, ${b} from ${row.peer[0]}`);
  const rounds = Array.from({ length: ROUNDS }, () => [run(row.ours, top).ms, run(row.peer, top).ms]);
  const ratios = rounds.map(([ours, peer]) => ours / peer);
  const [ours, peer] = [0, 1].map((i) => median(rounds.map((round) => round[i])));
  const spread = `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`;
  console.log(
    `${row.what.padEnd(28)} ${median(ratios).toFixed(2)} x ${row.peer[0]}  (${spread}; ${ours.toFixed(0)} and ${
      peer.toFixed(0)
    } ms; ${a})`,
  );
  results.push({ what: row.what, peer: row.peer[0], ratio: median(ratios), ratios, ours, theirs: peer, answer: a });
}
Deno.removeSync(top, { recursive: true });
Deno.writeTextFileSync(
  new URL("../dist/bench.json", import.meta.url),
  JSON.stringify({ files: FILES, results }, undefined, 2) + "\n",
);
