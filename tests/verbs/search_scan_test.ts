/** The byte scanner decides nothing: answers are the same without it. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { OpenFile } from "../../src/disk/disk.ts";
import { namedEncoding } from "../../src/text/encoding.ts";
import { compilePatterns, type Matcher } from "../../src/text/patterns.ts";
import { render } from "../../src/verbs/answer.ts";
import { Search } from "../../src/verbs/search_run.ts";
import { linearFinder } from "../../src/verbs/search_finders.ts";
import { HitCollector } from "../../src/verbs/search_hits.ts";
import { FileText } from "../../src/verbs/search_text.ts";
import { DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder, put } from "../support/tree.ts";

const encoder = new TextEncoder();

/** Without windows nothing is passed over. */
function plain(matcher: Matcher): Matcher {
  return { ...matcher, plan: { ...matcher.plan!, windows: undefined } };
}

const PATTERNS: readonly (readonly string[])[] = [
  ["needle"],
  ["Kiss"],
  ["\\u{6b}iss"],
  ["n\\d{2}-e"],
  ["[0-9]{4}-[0-9]{2}-[0-9]{2}T"],
  ["naïve"],
  ["needle", "2024", "é", "kiss"],
  ["^needle$"],
  ["(?<=a)needle\\b"],
  ["\\w+"],
  ["needle.*kiss"],
  ["(?:needle){6}"],
];

const fragment = fc.constantFrom(
  "needle",
  "needle".repeat(6),
  "NEEDLE",
  "kiss",
  "\u212ai\u017fs",
  "naïve",
  "NAÏVE",
  "n12-e",
  "2024-10-11T",
  "a",
  " ",
  "é",
  "\u2028",
  "\n",
  "\r\n",
  "\r",
  "\0",
  "need",
  "le",
);
const words = fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join(""));
const line = fc.constantFrom("some text of a line\n", "const value = 1;\r\n", "x", "needl", "\n");
const long = fc.tuple(words, line, fc.integer({ min: 1, max: 8000 }), words)
  .map(([before, filler, times, after]) => before + filler.repeat(times) + after);
const text = fc.oneof({ weight: 6, arbitrary: words }, { weight: 1, arbitrary: long });

function utf16(text: string, big: boolean, mark: boolean): Uint8Array {
  const bytes = new Uint8Array(2 * text.length + (mark ? 2 : 0));
  const view = new DataView(bytes.buffer);
  [...mark ? [0xfeff] : [], ...Array.from(text, (_, i) => text.charCodeAt(i))]
    .forEach((unit, i) => view.setUint16(2 * i, unit, !big));
  return bytes;
}

const file = fc.oneof(
  { weight: 8, arbitrary: text.map((text) => encoder.encode(text)) },
  { weight: 1, arbitrary: words.map((text) => encoder.encode("\ufeff" + text)) },
  {
    weight: 1,
    arbitrary: fc.tuple(words, fc.boolean(), fc.boolean()).map(([text, big, mark]) => utf16(text, big, mark)),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(text, fc.constantFrom(0xff, 0xc3, 0)).map(([text, odd]) =>
      new Uint8Array([...encoder.encode(text), odd])
    ),
  },
  { weight: 1, arbitrary: words.map((text) => Uint8Array.from(text, (c) => c.charCodeAt(0) & 0xff)) },
);

for (const [kind, library] of DISKS) {
  Deno.test(`${kind}: random files and patterns, the same answers with the scanner and without`, async () => {
    const top = makeFolder({ "empty.txt": "", "deep/a.txt": "needle\n" });
    const side = sideOf(boundaryOf({ work: top }), library);
    try {
      const matchers = await Promise.all(
        PATTERNS.flatMap((patterns) =>
          [false, true].map((caseSensitive) => compilePatterns(patterns, { literal: false, caseSensitive }))
        ),
      );
      const mode = fc.constantFrom({}, { count: true }, { files_only: true }, { context: 1 }, { limit: 2 });
      const encoding = fc.constantFrom(undefined, "windows-1252", "utf-16le", "iso-2022-jp");
      fc.assert(
        fc.property(
          fc.array(file, { minLength: 1, maxLength: 6 }),
          fc.array(fc.constantFrom(...matchers), { minLength: 2, maxLength: 4 }),
          mode,
          encoding,
          (files, matchers, mode, encoding) => {
            files.forEach((bytes, i) => put(top, { [`f${i}.txt`]: bytes }));
            for (const matcher of matchers) {
              const args = { patterns: [...matcher.patterns], ...mode, ...encoding ? { encoding } : {} };
              const [fast, slow] = [matcher, plain(matcher)].map((matcher) => {
                const answer = new Search(args, matcher, side).answer();
                return [render(answer, "json"), render(answer, "text")];
              });
              assert.deepEqual(fast, slow);
            }
          },
        ),
        { numRuns: 120 },
      );
    } finally {
      side.disk.close();
      Deno.removeSync(top, { recursive: true });
    }
  });
}

/** A file in memory. */
function fileOf(bytes: Uint8Array): OpenFile & { reads: number } {
  return {
    reads: 0,
    facts: () => ({ kind: "file", size: bytes.length, modified: 0, dev: 0, ino: 0 }),
    readAt(buffer, offset) {
      this.reads++;
      const part = bytes.subarray(offset, offset + buffer.length);
      buffer.set(part);
      return part.length;
    },
    close() {},
  };
}

/** What a search of these files tells. */
function found(files: readonly Uint8Array[], matcher: Matcher, piece: number, encoding?: string) {
  const collector = new HitCollector(linearFinder(matcher, () => {}), { mode: "hits", limit: 0, context: 1 });
  const named = encoding === undefined ? undefined : namedEncoding(encoding);
  const text = new FileText(named, () => {}, matcher.plan?.windows, piece);
  const verdicts = files.map((bytes, i) => {
    const path = `${i}`;
    const verdict = text.read(
      fileOf(bytes),
      (text, isLast) => collector.search(path, text, isLast),
      () => collector.giveUp(path),
    );
    if (verdict !== "without") collector.endFile(verdict === "text");
    return verdict === "without" ? "text" : verdict;
  });
  const { hits, undecided, count, full } = collector;
  return { verdicts, hits, undecided, count, files: collector.files, full };
}

Deno.test("in pieces, a match may lie across two of them", async () => {
  const matchers = await Promise.all(
    PATTERNS.map((patterns) => compilePatterns(patterns, { literal: false, caseSensitive: false })),
  );
  fc.assert(
    fc.property(
      fc.array(file, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...matchers),
      fc.integer({ min: 16, max: 400 }),
      fc.constantFrom(undefined, "windows-1252", "utf-16be"),
      (files, matcher, piece, encoding) => {
        assert.deepEqual(found(files, matcher, piece, encoding), found(files, plain(matcher), piece, encoding));
      },
    ),
    { numRuns: 800 },
  );
});

Deno.test("the longest window is found wherever two pieces meet in it", async () => {
  const word = "abcdefghijklmnopqrstuvwxyz012345";
  const matcher = await compilePatterns([word], { literal: true, caseSensitive: true });
  assert.equal(matcher.plan!.windows![0].length, word.length);
  for (let before = 60; before < 200; before++) {
    const bytes = encoder.encode("-".repeat(before) + word + "-".repeat(200));
    assert.equal(found([bytes], matcher, 100).count, 1, `behind ${before}`);
  }
});

Deno.test("a file in which nothing stands is not handed on, and read once", async () => {
  const matcher = await compilePatterns(["needle"], { literal: false, caseSensitive: false });
  const text = new FileText(undefined, () => {}, matcher.plan!.windows);
  const never = () => assert.fail("handed on");
  for (const [bytes, reads] of [["", 1], ["no such word\n", 1], ["some line\n".repeat(20_000), 2]] as const) {
    const file = fileOf(encoder.encode(bytes));
    assert.equal(text.read(file, never, never), "without");
    assert.equal(file.reads, reads);
  }
  for (const bytes of ["a needle", "na\u00efve"]) {
    const file = fileOf(encoder.encode(bytes));
    assert.equal(text.read(file, (text) => text === bytes, never), "text");
    assert.equal(file.reads, 1);
  }
});

Deno.test("the scanner's memory may move between two files of a search", async () => {
  const matcher = await compilePatterns(["needle"], { literal: false, caseSensitive: false });
  const [one, other] = [1, 2].map(() => new FileText(undefined, () => {}, matcher.plan!.windows));
  const never = () => assert.fail("handed on");
  assert.equal(one.read(fileOf(encoder.encode("none")), never, never), "without");
  assert.equal(other.read(fileOf(encoder.encode("none\n".repeat(1_500_000))), never, never), "without");
  assert.equal(one.read(fileOf(encoder.encode("a needle")), (text) => text === "a needle", never), "text");
});

Deno.test("a file of many pieces is scanned in little memory; a line too long is still told", async () => {
  const matcher = await compilePatterns(["needle"], { literal: false, caseSensitive: false });
  const size = 80 * 1024 * 1024;
  const huge = (bytes: (buffer: Uint8Array, offset: number) => void): OpenFile => ({
    facts: () => ({ kind: "file", size, modified: 0, dev: 0, ino: 0 }),
    readAt(buffer, offset) {
      const n = Math.min(buffer.length, size - offset);
      buffer.subarray(0, n).fill(0x61);
      bytes(buffer.subarray(0, n), offset);
      return n;
    },
    close() {},
  });
  const verdict = (file: OpenFile, matcher: Matcher) => {
    let longLines = 0;
    const text = new FileText(undefined, () => {}, matcher.plan?.windows);
    return [text.read(file, () => true, () => void longLines++), longLines];
  };
  const lines = huge((buffer) => {
    for (let i = 0; i < buffer.length; i += 1000) buffer[i] = 0x0a;
  });
  assert.deepEqual(verdict(lines, matcher), ["without", 0]);
  const oneLine = huge(() => {});
  assert.deepEqual(verdict(oneLine, matcher), ["text", 1]);
  assert.deepEqual(verdict(oneLine, plain(matcher)), ["text", 1]);
});
