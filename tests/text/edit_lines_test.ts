/** Where lines begin. Spec: 3-documents-and-archives §3.1.3. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { LineIndex } from "../../src/text/edit_lines.ts";

/** The starts of all lines, and of what would follow the last. */
function startsOf(text: string): number[] {
  const starts = [0];
  for (const { index, 0: ending } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + ending.length);
  return starts;
}

function check(text: string, order: number[]) {
  const starts = startsOf(text);
  const index = new LineIndex(text);
  for (const number of order) {
    const offset = number % (text.length + 1);
    const line = starts.findLastIndex((start) => start <= offset) + 1;
    assert.equal(index.lineAt(offset), line, `${JSON.stringify(text.slice(0, 50))} at ${offset}`);
    const wanted = number % (starts.length + 3) + 1;
    assert.equal(index.start(wanted), starts[wanted - 1] ?? text.length);
  }
  const total = starts.length - (starts[starts.length - 1] === text.length ? 1 : 0);
  assert.equal(index.total, total);
}

Deno.test("lines of short texts", () => {
  const text = fc.array(fc.constantFrom("a", "\n", "\r", "\u2028", "\u0085", "🙂"), { maxLength: 20 }).map((all) =>
    all.join("")
  );
  fc.assert(fc.property(text, fc.array(fc.nat(50)), check), { numRuns: 5000 });
});

Deno.test("lines of longer texts, asked for in any order", () => {
  const line = fc.tuple(fc.nat(2000), fc.constantFrom("\n", "\r\n", "\r", "\n\n\n")).map(([length, ending]) =>
    "x".repeat(length) + ending
  );
  const text = fc.array(line, { minLength: 50, maxLength: 300 }).map((all) => all.join(""));
  fc.assert(fc.property(text, fc.array(fc.nat(1_000_000)), check), { numRuns: 50 });
});

Deno.test("a line longer than what is noted at a time", () => {
  const text = "a\n" + "b".repeat(200_000) + "\r\nc\rd";
  const index = new LineIndex(text);
  assert.equal(index.lineAt(100_000), 2);
  assert.equal(index.lineAt(text.length), 4);
  assert.equal(index.start(3), 200_004);
  assert.equal(index.total, 4);
});

Deno.test("a lone CR at the very end, where a line is noted", () => {
  const text = "b".repeat(5000) + "\r";
  const index = new LineIndex(text);
  assert.equal(index.total, 1);
  assert.equal(index.start(2), 5001);
  assert.equal(index.lineAt(5001), 2);
});

Deno.test("counting many lines shows life", () => {
  let pulses = 0;
  assert.equal(new LineIndex("\n".repeat(3_000_000), () => pulses++).total, 3_000_000);
  assert.equal(pulses, 2);
});
