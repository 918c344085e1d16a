/** Patterns that run away, over ordinary and hostile texts. */
import { deepStrictEqual as equal, ok, strictEqual as same } from "node:assert";
import fc from "fast-check";
import { RiskySearch } from "../../src/sealed/patterns.ts";
import { compilePatterns, type Matcher, matchLine } from "../../src/text/patterns.ts";
import { children, ownerOf } from "./support.ts";

const encoder = new TextEncoder();
const IGNORING = { literal: false, caseSensitive: false };
const EXACT = { literal: false, caseSensitive: true };

async function risky(...patterns: string[]): Promise<Matcher> {
  const matcher = await compilePatterns(patterns, EXACT);
  same(matcher.linear, false, "a pattern that is linear proves nothing");
  return matcher;
}

/** The start of each line and the line, without its ending. */
function linesOf(text: string): [number, string][] {
  const lines: [number, string][] = [];
  for (const match of text.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/g)) {
    if (match.index < text.length) lines.push([match.index, match[1]]);
  }
  return lines;
}

/** What `matchLine` says of each line, as quadruples. */
function naive(text: string, matcher: Matcher, without: readonly number[] = []): number[] {
  return linesOf(text).flatMap(([start, line]) => {
    const match = without.includes(start) ? undefined : matchLine(matcher, line);
    return match ? [start, start + line.length, start + match.start, start + match.end] : [];
  });
}

Deno.test("on ordinary texts it finds what matching line by line finds", async () => {
  await using held = ownerOf();
  const fragment = fc.constantFrom(
    "a",
    "b",
    "ab",
    "A",
    " ",
    "1",
    "é",
    "🙂",
    "aa",
    "foo",
    "bar",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\u2028",
    "\ufeff",
  );
  const text = fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join(""));
  const lists = [
    ["(a+)\\1b"],
    ["a(?=b)"],
    ["foo(?!bar)"],
    ["(?=.*b)a", "(.)\\1"],
    ["(\\w)\\1|x"],
    ["^(?=.*a)(?=.*b).*$"],
    ["(?!)", "(?=b)"],
    ["(?<!a(?=b))b"],
    ["(\\p{L})\\1"],
    ["(?=$)"],
    ["b", "a(?=a)"],
  ];
  for (const patterns of lists) {
    for (const options of [EXACT, IGNORING]) {
      const matcher = await compilePatterns(patterns, options);
      const search = new RiskySearch(held.owner, matcher);
      await fc.assert(
        fc.asyncProperty(text, async (each) => {
          const { hits, undecided, stoppedAt } = await search.search(encoder.encode(each));
          equal([...hits], naive(each, matcher));
          equal(undecided, []);
          same(stoppedAt, undefined);
        }),
        { numRuns: 60 },
      );
    }
  }
  same(held.starts, 1);
});

Deno.test("a search ends at so many hits, and an empty text has none", async () => {
  await using held = ownerOf();
  const matcher = await risky("(a)\\1");
  const search = new RiskySearch(held.owner, matcher);
  const text = "aa\nb\naa\n".repeat(1000);
  for (const most of [1, 2, 999]) {
    const { hits, undecided, stoppedAt } = await search.search(encoder.encode(text), undefined, most);
    equal([...hits], naive(text, matcher).slice(0, most * 4));
    equal([undecided, stoppedAt], [[], undefined]);
  }
  equal([...(await search.search(new Uint8Array())).hits], []);
});

/** Patterns with a line on which they run away. */
const HOSTILE: readonly [pattern: string, line: string][] = [
  ["^(a+)+\\1+b", "a".repeat(60)],
  ["^(?=((a+)*)*c)b?", "é" + "a".repeat(40) + "!"],
  ["^(?:(?=(a+))\\1?a*)*b$", "a".repeat(60) + "🙂"],
  ["(?=(x+x+)+y)x", "x".repeat(40)],
];

Deno.test("a stuck line is named exactly, and the rest is searched", async () => {
  for (const [pattern, plain] of HOSTILE) {
    await using held = ownerOf();
    const line = /^\^\(\?=/.test(pattern) ? plain.slice(1) : plain;
    const matcher = await risky(pattern, "(é)\\1");
    const quick = "some text\r\nf éé\n🙂 éé\r".repeat(3000);
    const text = `${quick}${line}\n${quick}${line}\r\n${line}\réé\n${quick}${line}`;
    const wanted = linesOf(text).filter(([, each]) => each === line).map(([start]) => start);
    same(wanted.length, 4);
    const search = new RiskySearch(held.owner, matcher, { line: 400, call: 60_000 });
    const { hits, undecided, stoppedAt } = await search.search(encoder.encode(text));
    equal(undecided, wanted, pattern);
    same(stoppedAt, undefined);
    equal([...hits], naive(text, matcher, wanted), pattern);
    ok(held.starts >= 5);
    await held.owner.close();
    equal(children(), []);
  }
});

Deno.test("lines that are slow but get done are decided", async () => {
  await using held = ownerOf();
  const matcher = await risky("^(?=(a+)+c)");
  // About 60 ms each.
  let length = 20;
  const time = (n: number) => {
    const begun = performance.now();
    matchLine(matcher, "a".repeat(n));
    return performance.now() - begun;
  };
  while (time(length) < 40) length++;
  const text = ("a".repeat(length) + "\nac\n").repeat(12);
  const search = new RiskySearch(held.owner, matcher, { line: 600, call: 2000 });
  const { hits, undecided } = await search.search(encoder.encode(text));
  equal(undecided, []);
  equal([...hits], naive(text, matcher));
  same(held.starts, 1);
});

Deno.test("once the budget is used up nothing more is searched, in this text or the next", async () => {
  await using held = ownerOf();
  const [pattern, line] = HOSTILE[0];
  const matcher = await risky(pattern);
  const text = `aab\n${`${line}\n`.repeat(50)}aab\n`;
  const search = new RiskySearch(held.owner, matcher, { line: 150, call: 1000 });
  const begun = performance.now();
  const { hits, undecided, stoppedAt } = await search.search(encoder.encode(text));
  const took = performance.now() - begun;
  equal([...hits], [0, 3, 0, 3]);
  ok(undecided.length >= 3 && undecided.length <= 7, `${undecided.length} lines`);
  equal(undecided, undecided.map((_, i) => 4 + i * (line.length + 1)));
  same(stoppedAt, 4 + undecided.length * (line.length + 1));
  ok(took < 2000, `${took} ms`);
  equal(await search.search(encoder.encode("aab\n")), { hits: new Uint32Array(), undecided: [], stoppedAt: 0 });
});

Deno.test("a line on which V8 gives up is undecided without a kill", async () => {
  await using held = ownerOf();
  const matcher = await risky("(?:a|b)*(c)\\1");
  const long = "ab".repeat(8_000_000);
  const text = `cc\n${long}\nacc\n`;
  const { hits, undecided, stoppedAt } = await new RiskySearch(held.owner, matcher).search(encoder.encode(text));
  equal(undecided, [3]);
  same(stoppedAt, undefined);
  equal([...hits], [0, 2, 0, 2, long.length + 4, long.length + 7, long.length + 4, long.length + 7]);
  same(held.starts, 1);
});

Deno.test("an abort ends a search where it is", async () => {
  await using held = ownerOf();
  const [pattern, line] = HOSTILE[0];
  const control = new AbortController();
  setTimeout(() => control.abort(), 300);
  const search = new RiskySearch(held.owner, await risky(pattern));
  const { hits, undecided, stoppedAt } = await search.search(encoder.encode(`aab\n${line}\naab`), control.signal);
  equal(undecided, []);
  ok(stoppedAt === 0 || stoppedAt === 4);
  ok(hits.length === 0 || stoppedAt === 4);
});

Deno.test("text that is not UTF-8, and a process that does not start, are errors", async () => {
  await using held = ownerOf();
  await rejects(new RiskySearch(held.owner, await risky("(a)\\1")).search(new Uint8Array([0x61, 0xff])));
  await using broken = ownerOf({ args: ["hook-throws"] });
  await rejects(new RiskySearch(broken.owner, await risky("(a)\\1")).search(encoder.encode("aa")));
});

async function rejects(promise: Promise<unknown>) {
  const failed = await promise.then(() => false, (error) => error instanceof Error);
  ok(failed);
}
