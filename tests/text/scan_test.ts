import { deepStrictEqual as equal, strictEqual as same } from "node:assert";
import fc from "fast-check";
import { compilePatterns, type Matcher, matchLine } from "../../src/text/patterns.ts";
import { countHits, LineCounter, scan } from "../../src/text/scan.ts";

const IGNORING = { literal: false, caseSensitive: false };
const EXACT = { literal: false, caseSensitive: true };

/** Line number, line, column and length of each hit. */
type Hit = [number: number, line: string, column: number, length: number];

function hits(text: string, matcher: Matcher): Hit[] {
  const counter = new LineCounter(text);
  const found: Hit[] = [];
  scan(text, matcher, (lineStart, lineEnd, start, end) => {
    found.push([counter.lineAt(lineStart), text.slice(lineStart, lineEnd), start - lineStart + 1, end - start]);
  });
  return found;
}

/** The same, the plain way. */
function expected(text: string, matcher: Matcher): Hit[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines[lines.length - 1] === "") lines.pop();
  return lines.flatMap((line, i): Hit[] => {
    const match = matchLine(matcher, line);
    return match ? [[i + 1, line, match.start + 1, match.end - match.start]] : [];
  });
}

Deno.test("one hit a line, at its first column, whatever ends the line", async () => {
  const matcher = await compilePatterns(["TODO|FIXME"], IGNORING);
  equal(hits("a todo TODO\r\nfixme\rnone\n\n  Todo", matcher), [
    [1, "a todo TODO", 3, 4],
    [2, "fixme", 1, 5],
    [5, "  Todo", 3, 4],
  ]);
  same(countHits("a todo TODO\r\nfixme\rnone\n\n  Todo", matcher), 3);
});

Deno.test("nothing is matched across lines, and no line is missed for trying", async () => {
  for (
    const pattern of [
      "b\\s+c",
      "b[^x]c",
      "b\\W*c",
      "b\\Dc",
      "b[\\s\\S]+c",
      "b(?s:.)*c",
      "b\\nc",
      "(?<=b\\s)c",
      "b[\\r\\n]c",
    ]
  ) {
    for (const ending of ["\n", "\r\n", "\r"]) {
      const matcher = await compilePatterns([pattern], IGNORING);
      equal(
        hits(["b", "c", "a b", "c b-c", "c"].join(ending), matcher),
        expected(`b\nc\na b\nc b-c\nc`, matcher),
        pattern,
      );
    }
  }
  const text = await compilePatterns(["b\nc", "d"], { literal: true, caseSensitive: true });
  equal(hits("b\nc\nd", text), [[3, "d", 1, 1]]);
});

Deno.test("anchors stand at the ends of a line, and only there", async () => {
  for (
    const pattern of [
      "^",
      "$",
      "^$",
      "^a",
      "a$",
      "^a$",
      "(?<!^)a",
      "(?<=^a)a",
      "\\B",
      "\\b",
      "a?",
      "(?m:^)a",
      "(?m:a$)",
      "(?:^|b)a",
    ]
  ) {
    const matcher = await compilePatterns([pattern], EXACT);
    for (
      const text of [
        "",
        "\n",
        "\r",
        "\r\n",
        "a",
        "a\n",
        "\na",
        "a\r\n\r\naa\r\n",
        "aa\r\rba\n\n",
        "\r\n\n\r",
        "a\u2028a\na",
        "ba\u2029a\r\n\u2028",
      ]
    ) {
      equal(hits(text, matcher), expected(text, matcher), `${pattern} in ${JSON.stringify(text)}`);
    }
  }
});

Deno.test("a scan ends where it is told to", async () => {
  for (const pattern of ["a", "[ab]", "a\\d*", "^a"]) {
    let seen = 0;
    scan("a\na\na\u2028\n", await compilePatterns([pattern], EXACT), () => ++seen < 2);
    same(seen, 2);
  }
});

/** Patterns for each way of searching: text, folded text, required text, expressions with and without loops, anchors. */
const PATTERNS = [
  ["ab"],
  ["\\w+ab"],
  ["a", "b c"],
  ["[0-9]{2}-"],
  ["\\w+\\s\\w+"],
  ["^\\s*a", "b$"],
  ["^$"],
  ["\\s$"],
  ["a\\b.*ab"],
  ["[^a]b"],
  ["x*"],
  ["(?<=a.)b"],
  ["c\\d?$"],
  ["é+"],
  ["b{17,20}"],
];

const fragment = fc.constantFrom(
  "a",
  "b",
  "c",
  "A",
  "B",
  " ",
  "-",
  "1",
  "2",
  "x",
  "é",
  "ab",
  "12-",
  "\n",
  "\r",
  "\r\n",
  "\n\n",
);

Deno.test("a scan finds what matching line by line finds", async () => {
  const text = fc.array(
    fc.oneof({ weight: 60, arbitrary: fragment }, { weight: 1, arbitrary: fc.constant("\u2028") }),
    { maxLength: 60 },
  )
    .map((parts) => parts.join(""));
  for (const patterns of PATTERNS) {
    for (const options of [IGNORING, EXACT]) {
      const matcher = await compilePatterns(patterns, options);
      fc.assert(
        fc.property(text, (each) => {
          equal(hits(each, matcher), expected(each, matcher));
          same(countHits(each, matcher), expected(each, matcher).length);
        }),
        { numRuns: 150 },
      );
    }
  }
});

Deno.test("so it does in texts of many pieces", async () => {
  const block = fc.tuple(fc.array(fragment, { minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 3000 }))
    .map(([parts, times]) => parts.join("").repeat(times));
  const text = fc.array(block, { minLength: 1, maxLength: 5 }).map((blocks) => blocks.join(""));
  for (const patterns of PATTERNS) {
    const matcher = await compilePatterns(patterns, IGNORING);
    fc.assert(
      fc.property(text, (each) => {
        const [found, wanted] = [hits(each, matcher), expected(each, matcher)];
        same(found.length, wanted.length);
        equal(found, wanted);
      }),
      { numRuns: 8 },
    );
  }
});

Deno.test("required text that often stands in vain is given up without losing a hit", async () => {
  const matcher = await compilePatterns(["[0-9]{4}-[0-9]{2}"], IGNORING);
  const text = "a - b\n".repeat(5000) + "on 2024-12\n" + "- \r\n".repeat(5000) + "1999-01";
  equal(hits(text, matcher), [[5001, "on 2024-12", 4, 7], [10002, "1999-01", 1, 7]]);
  equal(hits(text, matcher), expected(text, matcher));
});

Deno.test("a hostile line costs a hostile pattern no more than linear time", async () => {
  for (
    const pattern of [
      "^(a+)+$",
      "(x+x+)+y",
      "(a|aa)+$",
      "(a*)*b",
      "(?:a|a)+c",
      "^(?:\\w+\\s?)+$",
      "(.*)*[^a-z]$",
      "(?<!b)(a+)+c?$",
    ]
  ) {
    const matcher = await compilePatterns([pattern], IGNORING);
    for (const letter of ["a", "x", "aA"]) {
      const hostile = letter.repeat(30_000 / letter.length) + "!";
      const found = hits(`${hostile}\nnothing\n${hostile}\r\n`, matcher);
      equal(found.map(([line]) => line), pattern === "(.*)*[^a-z]$" ? [1, 3] : found.length === 0 ? [] : [2]);
    }
  }
});

Deno.test("many hostile lines, too, with hits between them", async () => {
  const matcher = await compilePatterns(["(a+)+$"], IGNORING);
  const text = ("a".repeat(28) + "!\n").repeat(50_000);
  same(countHits(text, matcher), 0);
  same(countHits(text.replaceAll("!\na", "!\nb\naa\na"), matcher), 49_999);
  const unrequired = await compilePatterns(["(a+)+$|(\\d+)+$"], IGNORING);
  same(countHits(text.replaceAll("!\na", "!\nb\naa\na"), unrequired), 49_999);
});

Deno.test("a line too long to go back on is matched all the same", async () => {
  const matcher = await compilePatterns(["(?:a|b)*[cd]"], EXACT);
  const long = "ab".repeat(5_000_000);
  equal(hits(`c\n${long}\nabc`, matcher).map(([line, , column, length]) => [line, column, length]), [[1, 1, 1], [
    3,
    1,
    3,
  ]]);
  equal(hits(`${long}c`, matcher).map(([line, , column, length]) => [line, column, length]), [[1, 1, 10_000_001]]);
});

Deno.test("line numbers in long texts without a LF, without a CR", async () => {
  const matcher = await compilePatterns(["x"], EXACT);
  for (const ending of ["\n", "\r", "\r\n"]) {
    same(hits(`x${ending}`.repeat(100_000), matcher)[99_999][0], 100_000);
  }
});
