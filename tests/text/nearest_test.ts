/** What is said of text that is not there. Spec: 2-verbs §2.13; decisions 37, 62; scenario 62; bug B 41. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Refusal } from "../../src/refusal.ts";
import { resolveEdits } from "../../src/text/edit.ts";
import { LineIndex } from "../../src/text/edit_lines.ts";
import { nearestWords } from "../../src/text/nearest.ts";
import { nearestPlace } from "../../src/text/nearest_place.ts";

function said(text: string, find: string, mayQuote?: (quoted: string) => boolean): string | undefined {
  assert.ok(!text.includes(find));
  return nearestWords(text, find, { start: 0, end: text.length }, new LineIndex(text), mayQuote);
}

/** Ordinary lines, so that a place has something to be told from. */
const filler = Array.from({ length: 200 }, (_, i) => `const value_${i} = compute(${i * 7}, "${i}");`).join("\n") + "\n";
const at = 201;

Deno.test("bug B 41: what differs is named and the file's line quoted", () => {
  const table: [text: string, find: string, words: string][] = [
    [
      "if x:\n\treturn 1\n",
      "if x:\n    return 1",
      `nearest: the lines ${at}-${at + 1}; line ${
        at + 1
      } differs in indentation (there 1 tab, to find 4 spaces) and reads "\\treturn 1"`,
    ],
    [
      "  foo();\n",
      "    foo();",
      `nearest: line ${at}; line ${at} differs in indentation (there 2 spaces, to find 4 spaces) and reads "  foo();"`,
    ],
    [
      "let Alpha = 1;\n",
      "let alpha = 1;",
      `nearest: line ${at}; line ${at} differs in case and reads "let Alpha = 1;"`,
    ],
    [
      "say(“hi”)\n",
      'say("hi")',
      `nearest: line ${at}; line ${at} differs in typographic characters (quotes, dashes, dots) and reads "say(“hi”)"`,
    ],
    [
      "wait…\n",
      "wait...",
      `nearest: line ${at}; line ${at} differs in typographic characters (quotes, dashes, dots) and reads "wait…"`,
    ],
    ["a  =  bcd;\n", "a = bcd;", `nearest: line ${at}; line ${at} differs in blanks and reads "a  =  bcd;"`],
    ["a\u00a0= bcd;\n", "a = bcd;", `nearest: line ${at}; line ${at} differs in blanks and reads "a\\u00a0= bcd;"`],
    [
      "cafe\u0301 au lait\n",
      "café au lait",
      `nearest: line ${at}; line ${at} differs in accents or how they are composed and reads "cafe\\u0301 au lait"`,
    ],
    [
      "first one  \nsecond one\n",
      "first one\nsecond one",
      `nearest: the lines ${at}-${
        at + 1
      }; line ${at} differs in blanks at the line's end (there 2 spaces, to find none) and reads "first one  "`,
    ],
    [
      "one two three\nfour five six\nseven\n",
      "one two three\nfour FIVE 6\nseven",
      `nearest: the lines ${at}-${at + 2}; line ${at + 1} differs in text and reads "four five six"`,
    ],
    [
      "call(alpha,\n     beta)\n",
      "call(alpha, beta)",
      `nearest: the lines ${at}-${at + 1}, where the line breaks differ; line ${at} reads "call(alpha,"; line ${
        at + 1
      } reads "     beta)"`,
    ],
    [
      "total = price * count\n",
      "total = price * counter + 1",
      `nearest: line ${at}; line ${at} differs in text and reads "total = price * count"`,
    ],
  ];
  for (const [text, find, words] of table) {
    assert.equal(said(filler + text, find), words, JSON.stringify(text));
    assert.equal(said((filler + text).replaceAll("\n", "\r\n"), find), words, JSON.stringify(text));
  }
});

Deno.test("the refusal names the edit and the place; where nothing is near it says so", () => {
  const refused = (text: string, find: string) => {
    try {
      resolveEdits(text, [{ kind: "replace", find, with: "" }]);
    } catch (error) {
      assert.ok(error instanceof Refusal);
      return `${error.outcome}: ${error.message}`;
    }
  };
  assert.equal(
    refused("\tabcd\n", "  abcd"),
    "not-found: edit 1: the text to find is not in the file; nearest: line 1; line 1 differs in indentation (there 1 tab, " +
      'to find 2 spaces) and reads "\\tabcd"',
  );
  const nothing = "not-found: edit 1: the text to find is not in the file; read the file and quote it exactly";
  assert.equal(refused(filler, "zzzzzz qqqq"), nothing);
  assert.equal(refused("", "a"), nothing);
  assert.equal(refused("a", "  "), nothing);
});

Deno.test("slips that explain themselves", () => {
  assert.equal(
    said("one\ntwo\nthree\n", "    2 | two\n    3 | three"),
    "it stands at line 2 without the line numbers of `read`, which are no part of the file",
  );
  assert.equal(
    said("a\nb\tc\n", "a\\nb\\tc"),
    "it stands at line 1 with real line breaks, tabs and quotes instead of backslashes",
  );
});

Deno.test("where lines may not be quoted, nothing is said of the place", () => {
  const asked: string[] = [];
  assert.equal(
    said("x\n\tabcd\ny\n", "  abcd", (quoted) => {
      asked.push(quoted);
      return false;
    }),
    undefined,
  );
  assert.deepEqual(asked, ["\tabcd"]);
});

Deno.test("no more than three lines of 200 characters are quoted, without half pairs", () => {
  const lines = Array.from({ length: 10 }, (_, i) => `line ${i} ${"🙂".repeat(300)}`);
  const words = said(lines.map((line) => ` ${line}`).join("\n"), lines.map((line) => `\t${line}`).join("\n"))!;
  assert.ok(words.length < 1200, words);
  assert.ok(words.isWellFormed());
  assert.match(words, /and 7 more lines$/);
  assert.match(words, /… \(608 characters\)/);
  const long = "start " + "word ".repeat(200) + "KEY = 1;" + " more".repeat(200);
  assert.match(said(long, "key = 1;")!, /…".*KEY = 1;.*"… \(2014 characters\)$/);
});

Deno.test("of places that are alike the one with the least difference is named", () => {
  assert.match(said("\tABC DEF\n\tabc def\n", "  abc def")!, /^nearest: line 2;/);
});

Deno.test("only so much is looked at", () => {
  const far = "x".repeat(79) + "\n";
  const text = far.repeat(60_000) + "  some_rare_call(argument);\n" + far.repeat(60_000);
  const whole = { start: 0, end: text.length };
  const place = nearestPlace(text, "if (unlikely) {\n    some_rare_call(argument);", whole);
  if (place) assert.equal(text.slice(place.start, place.end).includes("some_rare_call"), true);
  nearestPlace(text, "no such text anywhere 123456", whole);
});

Deno.test("a changed block is found again, whatever blanks and case did to it", () => {
  const word = fc.constantFrom("alpha", "Beta", "x = 1;", "return gamma(2)", "{", "}", "if (delta)");
  const block = fc.array(word, { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(block, fc.constantFrom("  ", "\t", "    "), fc.boolean(), (lines, indent, upper) => {
    const there = ["unique marker 12345", ...lines].map((line) => indent + line).join("\n");
    const find = ["unique marker 12345", ...lines].map((line) => ` ${upper ? line.toUpperCase() : line}`).join("\n");
    const text = filler + there + "\nend\n";
    if (text.includes(find)) return;
    const place = nearestPlace(text, find, { start: 0, end: text.length });
    assert.deepEqual(place, { start: filler.length, end: filler.length + there.length });
    assert.ok(said(text, find)!.includes(`lines ${at}-${at + lines.length}`));
  }));
});

Deno.test("nothing that is not there makes the search fail", () => {
  const anything = fc.array(
    fc.constantFrom("a", "b", "\n", "\r", "\t", " ", "“", "é", "\u0301", "🙂", "\ud83d", "…", ".", "\\n", "1 | "),
    {
      maxLength: 30,
    },
  ).map((all) => all.join(""));
  fc.assert(
    fc.property(anything, anything, (text, find) => {
      if (find === "" || text.includes(find)) return;
      const index = new LineIndex(text);
      const place = nearestPlace(text, find, { start: 0, end: text.length });
      if (place) assert.ok(0 <= place.start && place.start <= place.end && place.end <= text.length);
      const words = nearestWords(text, find, { start: 0, end: text.length }, index);
      assert.ok(words === undefined || words.length > 0);
    }),
    { numRuns: 10_000 },
  );
});
