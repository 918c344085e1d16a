import { ok, strictEqual as same } from "node:assert";
import fc from "fast-check";
import { ByteScanner, MOST_WINDOWS, type Window } from "../../src/text/byte_scan.ts";
import { assemble, LONGEST_WINDOW } from "../../src/text/byte_scan_module.ts";
import { compilePatterns } from "../../src/text/patterns.ts";
import { countHits } from "../../src/text/scan.ts";

const IGNORING = { literal: false, caseSensitive: false };
const scanner = new ByteScanner();
const encoder = new TextEncoder();
const NONE: readonly Window[] = [];

function isWithout(windows: readonly Window[], bytes: Uint8Array): boolean {
  scanner.hold(bytes.length).set(bytes);
  return scanner.isWithout(windows, bytes.length);
}

async function windowsOf(...patterns: string[]): Promise<readonly Window[] | undefined> {
  return (await compilePatterns(patterns, IGNORING)).plan!.windows;
}

/** The plain way. */
function expected(windows: readonly Window[], bytes: Uint8Array): boolean {
  if (bytes.some((byte) => byte === 0 || byte > 0x7f)) return false;
  const fits = (ranges: Window[number], byte: number) =>
    ranges.some((low, i) => i % 2 === 0 && low <= byte && byte <= ranges[i + 1]);
  return !windows.some((window) =>
    bytes.some((_, at) => at + window.length <= bytes.length && window.every((set, i) => fits(set, bytes[at + i])))
  );
}

Deno.test("the module is what it says, and small", () => {
  const bytes = assemble(1, 2);
  ok(WebAssembly.validate(bytes));
  ok(bytes.length < 1500);
});

Deno.test("a word is seen at every place, in either case, and nowhere else", async () => {
  const windows = (await windowsOf("Needle_1"))!;
  for (let length = 0; length < 200; length++) {
    const bytes = new Uint8Array(length).fill(0x2e);
    same(isWithout(windows, bytes), true, `${length} dots`);
    for (let at = 0; at + 8 <= length; at++) {
      bytes.fill(0x2e);
      bytes.set(encoder.encode(at % 2 === 0 ? "nEEDLe_1" : "needle_1"), at);
      same(isWithout(windows, bytes), false, `at ${at} of ${length}`);
      bytes[at + 7] = 0x32;
      same(isWithout(windows, bytes), true, `another word at ${at} of ${length}`);
    }
  }
});

Deno.test("one byte that is not ASCII, or NUL, is seen at every place", async () => {
  const near = (await windowsOf("\\d{4}-\\d\\dT"))!;
  const far = (await windowsOf("e{29}qz"))!;
  for (let length = 1; length < 200; length++) {
    for (let at = 0; at < length; at++) {
      for (const odd of [0, 0x80, 0xff]) {
        const bytes = new Uint8Array(length).fill(0x61);
        bytes[at] = odd;
        same(isWithout(near, bytes), false, `${odd} at ${at} of ${length}`);
        same(isWithout(far, bytes), false, `${odd} at ${at} of ${length}, tested far on`);
        same(isWithout(NONE, bytes), false);
      }
    }
  }
});

Deno.test("what stands behind the last byte does not count", async () => {
  const windows = (await windowsOf("needle"))!;
  scanner.hold(40).set(encoder.encode("xx needle"));
  same(scanner.isWithout(windows, 8), true);
  scanner.hold(40).set([0xff], 3);
  same(scanner.isWithout(windows, 3), true);
});

Deno.test("a pattern's windows, and patterns that have none", async () => {
  const shown = async (...patterns: string[]) =>
    (await windowsOf(...patterns))?.map((window) =>
      window.map((ranges) => ranges.length === 0 ? "∅" : String.fromCharCode(ranges[0])).join("")
    );
  const equal = async (patterns: string[], windows: string[] | undefined) =>
    same(JSON.stringify(await shown(...patterns)), JSON.stringify(windows), patterns.join(" "));
  await equal(["Word"], ["WORD"]);
  await equal(["[0-9]{4}-[0-9]{2}-[0-9]{2}T"], ["0000-00-00T"]);
  await equal(["\\bfoo(bar|qux)?\\d+z"], ["FOO"]);
  await equal(["TODO|FIXME"], ["TODO", "FIXME"]);
  await equal(["a", "b", "c", "d"], ["A", "B", "C", "D"]);
  await equal(["a", "b", "c", "d", "e"], undefined);
  await equal(["(abc)?"], undefined);
  await equal(["a*"], undefined);
  await equal(["straße"], ["STRA∅E"]);
  await equal(["x".repeat(100)], ["X".repeat(LONGEST_WINDOW)]);
  same((await windowsOf("x{9000}y"))?.[0].length, LONGEST_WINDOW);
  const many = Array.from({ length: MOST_WINDOWS }, (_, i) => `${"[a-z]{9}".repeat(300)}${i}`);
  same(await windowsOf(...many), undefined, "V8 may refuse these when it first runs them");
});

Deno.test("in Unicode mode k and s have variants beyond ASCII, which do not hide the others", async () => {
  const windows = (await windowsOf("\\u{6b}iss"))!;
  same(isWithout(windows, encoder.encode("no KISS here")), false);
  same(isWithout(windows, encoder.encode("no \u212ai\u017fs here")), false);
  same(isWithout(windows, encoder.encode("no miss here")), true);
});

Deno.test("text made to mislead the tested pair is left to the plain way", async () => {
  const windows = (await windowsOf("[a-z]{20}zq{2}[a-z]{5}1"))!;
  same(isWithout(windows, encoder.encode("q".repeat(200_000))), false);
  same(isWithout(windows, encoder.encode("zq".repeat(100_000))), true);
});

const byte = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...encoder.encode("abAB01-_ \n\r")) },
  { weight: 1, arbitrary: fc.constantFrom(0x7f, 0x20, 0x40, 0x60, 0x5b, 0x7b, 0x01) },
);
const ascii = fc.array(byte, { maxLength: 250 }).map((bytes) => new Uint8Array(bytes));
const strange = fc.tuple(ascii, fc.nat(), fc.constantFrom(0, 0x80, 0xc3)).map(([bytes, at, odd]) => {
  const copy = bytes.slice();
  if (copy.length > 0) copy[at % copy.length] = odd;
  return copy;
});
const set = fc.constantFrom<number[]>(
  [0x61, 0x61],
  [0x41, 0x42, 0x61, 0x62],
  [0x30, 0x39],
  [0x2d, 0x2d],
  [0x20, 0x20, 0x5f, 0x5f, 0x7f, 0x7f],
  [0x01, 0x09, 0x20, 0x7f],
  [],
);
const windows = fc.array(fc.array(set, { minLength: 1, maxLength: LONGEST_WINDOW }), { maxLength: MOST_WINDOWS });
const short = fc.array(fc.array(set, { minLength: 1, maxLength: 4 }), { maxLength: MOST_WINDOWS });

Deno.test("random windows in random bytes: as the plain way says", () => {
  fc.assert(
    fc.property(fc.oneof(ascii, strange), fc.oneof(short, windows), (bytes, windows) => {
      same(isWithout(windows, bytes), expected(windows, bytes));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("a text that a pattern matches is never said to be without", async () => {
  const part = fc.constantFrom(
    "a",
    "B",
    "\\d",
    "-",
    "[ab]",
    "\\w+",
    "(?:a|b0)",
    "\\b",
    "a?",
    "b{2}",
    "[^a]",
    ".",
    " +",
  );
  const patterns = fc.array(fc.array(part, { minLength: 1, maxLength: 6 }).map((p) => p.join("")), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(patterns, fc.array(ascii, { maxLength: 8 }), async (patterns, texts) => {
      const matcher = await compilePatterns(patterns, IGNORING);
      if (!matcher.plan?.windows) return;
      for (const bytes of texts) {
        if (countHits(new TextDecoder().decode(bytes), matcher) === 0) continue;
        same(isWithout(matcher.plan.windows, bytes), false);
      }
    }),
    { numRuns: 600 },
  );
});
