/** What the bench makes of times and answers. No time is measured here. Issue 4. */
import assert from "node:assert/strict";
import {
  assertCount,
  assertSame,
  fdPaths,
  findFacts,
  ourCounts,
  ourHits,
  rgCounts,
  rgHits,
} from "../../build/bench/answers.ts";
import { quantile, ratios, run, spread } from "../../build/bench/measure.ts";
import { family } from "../../build/bench/memory.ts";
import { exitCode, type Result, table, verdict } from "../../build/bench/report.ts";
import { ROWS } from "../../build/bench/rows.ts";
import { keep } from "../../build/bench/trees.ts";

const SMALL = {
  source: { files: 400, mean: 2_000, modules: 40, bundles: 1 },
  entries: { entries: 700 },
  logs: { big: 3e6, small: 1e6 },
  project: {},
};

function withFolder(act: (top: string) => void): void {
  const top = Deno.makeTempDirSync({ prefix: "fettle-bench-test-" });
  try {
    act(top);
  } finally {
    Deno.removeSync(top, { recursive: true });
  }
}

/** Path and text of every file below a folder, and paths of its folders. */
function contents(folder: string, path = ""): string[] {
  return [...Deno.readDirSync(`${folder}/${path}`)].flatMap(({ name, isDirectory }) => {
    const below = `${path}${name}`;
    return isDirectory
      ? [below, ...contents(folder, `${below}/`)]
      : [`${below}\n${Deno.readTextFileSync(`${folder}/${below}`)}`];
  }).sort();
}

Deno.test("a ratio is taken within its round; a median, quartiles and late shares lie between neighbours", () => {
  assert.deepEqual(ratios({ ours: [10, 40, 30], theirs: [5, 10, 30] }), [2, 4, 1]);
  assert.deepEqual(spread([4, 1, 2]), { median: 2, low: 1.5, high: 3 });
  assert.deepEqual(spread([7]), { median: 7, low: 7, high: 7 });
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
  assert.equal(quantile(Array.from({ length: 101 }, (_, i) => 100 - i), 0.99), 99);
  assert.throws(() => quantile([], 0.5), /no values/);
});

Deno.test("every tree is the same each time, is kept, and made anew for other parameters", () => {
  for (const name of ["source", "entries", "logs", "project"] as const) {
    withFolder((top) => {
      Deno.mkdirSync(`${top}/a`);
      Deno.mkdirSync(`${top}/b`);
      const first = keep(`${top}/a`, name, SMALL[name]);
      assert.ok(first.made);
      assert.deepEqual(contents(first.folder), contents(keep(`${top}/b`, name, SMALL[name]).folder));
      assert.equal(keep(`${top}/a`, name, SMALL[name]).made, false);
      assert.equal(keep(`${top}/a`, name, { ...SMALL[name], other: 1 } as never).made, true);
    });
  }
});

Deno.test("a folder that the bench did not make is not removed", () => {
  withFolder((top) => {
    Deno.mkdirSync(`${top}/project`);
    assert.throws(() => keep(top, "project", {}), /was not made by this program/);
    assert.deepEqual([...Deno.readDirSync(top)].map(({ name }) => name), ["project"]);
  });
});

Deno.test("the source tree holds its needles, as many as stated", () => {
  withFolder((top) => {
    const { folder } = keep(top, "source", SMALL.source);
    const texts = contents(`${folder}/src`).filter((entry) => entry.includes("\n"));
    const holding = (pattern: RegExp) => texts.filter((text) => pattern.test(text)).length;
    assert.equal(texts.length, 400);
    assert.equal(holding(/NEEDLE_ALPHA_\d/), 400 / 40);
    assert.equal(holding(/needle_alpha_\d/), 400 / 200);
    assert.equal(holding(/20\d\d-\d\d-\d\dT/), 400 / 25);
    assert.equal(holding(/[0-9]{4}-[0-9]{2}-[0-9]{2}/), 400 / 25);
    assert.equal(holding(/\w+_probe\(/), 400 / 50);
    assert.equal(holding(/\w+_init\(/), 400 / 5);
    assert.equal(holding(/nowhere_at_all/i), 0);
    const generated = contents(folder).filter((entry) => !entry.startsWith("src"));
    assert.equal(generated.filter((text) => /NEEDLE_ALPHA_module/.test(text)).length, 40 / 20);
  });
});

Deno.test("the tree of entries has as many, folders among them; a log ends with lines of its own", () => {
  withFolder((top) => {
    const entries = contents(keep(top, "entries", SMALL.entries).folder);
    assert.equal(entries.length, 700);
    assert.equal(entries.filter((entry) => /\.spec\.ts\n/.test(entry)).length, 3);
    const logs = contents(keep(top, "logs", SMALL.logs).folder).filter((entry) => entry.includes("\n"));
    assert.match(logs[0], /\nend 1 of a log of 3000000 bytes\n$/);
    assert.match(logs[1], /\nend 1 of a log of 1000000 bytes\n$/);
  });
});

Deno.test("what both sides found is compared without regard to order; a difference is told", () => {
  assertSame(["a", "b"], ["b", "a"], "rg");
  assertSame([], [], "rg");
  assert.throws(
    () => assertSame(["a", "b", "x"], ["b", "a", "y", "z"], "rg"),
    /^Error: not the same: 1 only from fettle, such as "x"; 2 only from rg, such as "y"$/,
  );
  assert.throws(() => assertSame(["a", "a"], ["a"], "rg"), /twice/);
  assertCount("a.txt:1:1\n    1 | 3 hits\n1 hit in 1 file\n", 1, "hit");
  assert.throws(() => assertCount("1568 hits in 770 files (stopped)", 8001, "hit"), /expected 8001 hits/);
  assert.throws(() => assertCount("12 hits in 1 file", 1, "hit"));
});

Deno.test("answers of both sides come to one form", () => {
  const hits = ourHits('{"hits":[{"path":"a:b/c.ts","line":3,"column":7,"text":"x: y"}]}');
  assert.deepEqual(hits, rgHits("./a:b/c.ts:3:7:x:12:9: y\n"));
  assert.deepEqual(ourCounts('{"hits_count":5,"files":2}'), rgCounts("./a:1\n./b:4\n"));
  assert.deepEqual(fdPaths("a b.ts\n./c.ts\n"), ["a b.ts", "c.ts"]);
  assert.deepEqual(findFacts("12 1700000000.5 ./a b.ts\n0 1 ./c\n"), ["12 a b.ts", "0 c"]);
});

Deno.test("a command that fails is no measurement", () => {
  const command = { program: Deno.execPath(), args: ["eval", "--no-config", "Deno.exit(3)"], cwd: "." };
  assert.throws(() => run(command), /ended with 3/);
  assert.equal(run({ ...command, codes: [0, 3] }).out, "");
});

Deno.test("a process's family is all that stands below it", () => {
  assert.deepEqual(family(1, new Map([[2, 1], [3, 2], [4, 9], [5, 1]])), [1, 2, 5, 3]);
});

const RESULTS: Result[] = [
  {
    name: "search",
    unit: "x",
    value: 1.5,
    low: 1.25,
    high: 10,
    bar: 2,
    aim: 1.5,
    ours: 150,
    theirs: 99.96,
    peer: "rg",
  },
  { name: "mcp", unit: "ms", value: 0.5, low: 0.4, high: 0.6, bar: 0.4, note: "half of it is the client's" },
  { name: "told only", unit: "MiB", value: 12, low: 11, high: 13 },
  { name: "find", skipped: "fd is not installed" },
  { name: "read", error: "not the same" },
];

Deno.test("the table has a line for each row, columns in line, and what is to be said below", () => {
  assert.deepEqual(RESULTS.map(verdict), ["pass", "FAIL", "", "skipped", "ERROR"]);
  assert.equal(
    table(RESULTS),
    `row              now       spread             bar             ours    peer's
search     1.50 x rg    1.25-10.0  <= 2 (aim 1.5)     pass  150 ms  100.0 ms
mcp         0.500 ms  0.400-0.600          <= 0.4     FAIL
told only   12.0 MiB    11.0-13.0
find                                               skipped
read                                                 ERROR

mcp: half of it is the client's
find: fd is not installed
read: not the same`,
  );
});

Deno.test("a missed bar counts unless only a report is wanted, an error always, what is skipped never", () => {
  const [pass, miss, told, skipped, error] = RESULTS;
  assert.equal(exitCode([pass, told, skipped], true), 0);
  assert.equal(exitCode([pass, miss], true), 1);
  assert.equal(exitCode([pass, miss], false), 0);
  assert.equal(exitCode([pass, error], false), 1);
  assert.equal(verdict({ ...pass, value: 2 } as Result), "pass");
});

Deno.test("rows have names of their own", () => {
  assert.equal(new Set(ROWS.map(({ name }) => name)).size, ROWS.length);
});
