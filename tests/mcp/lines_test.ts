import assert from "node:assert/strict";
import fc from "fast-check";
import { type Line, Lines, TOO_LONG } from "../../src/front/mcp/lines.ts";

function cut(text: string, limit: number, size: number): string[] {
  const lines = new Lines(limit);
  const bytes = new TextEncoder().encode(text);
  const shown = (line: Line) => line === TOO_LONG ? "TOO LONG" : new TextDecoder().decode(line);
  const result: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const line of lines.feed(bytes.slice(at, at + size))) result.push(shown(line));
  }
  for (const line of lines.end()) result.push(shown(line));
  return result;
}

Deno.test("lines are the same however the chunks fall", () => {
  for (const size of [1, 2, 3, 7, 100]) {
    assert.deepEqual(cut("ab\n\nc\r\nüß\nrest", 100, size), ["ab", "", "c\r", "üß", "rest"]);
    assert.deepEqual(cut("ab\n", 100, size), ["ab"]);
    assert.deepEqual(cut("12345\n123456\n12345", 5, size), ["12345", "TOO LONG", "12345"]);
    assert.deepEqual(cut("123456", 5, size), ["TOO LONG"]);
    assert.deepEqual(cut("1234567890123\n\n1", 5, size), ["TOO LONG", "", "1"]);
  }
  const text = fc.stringMatching(/^[a\n]{0,40}$/);
  fc.assert(fc.property(text, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (text, limit, size) => {
    const lines = text.split("\n").map((line) => line.length > limit ? "TOO LONG" : line);
    if (lines.at(-1) === "") lines.pop();
    assert.deepEqual(cut(text, limit, size), lines);
  }));
});

Deno.test("a long line in small pieces costs linear time", () => {
  const lines = new Lines(64 * 1024 * 1024);
  const piece = new Uint8Array(100).fill(0x61);
  const started = performance.now();
  for (let i = 0; i < 600_000; i++) assert.equal([...lines.feed(piece)].length, 0);
  const [line] = lines.feed(new Uint8Array([0x0a]));
  assert.equal((line as Uint8Array).length, 60_000_000);
  assert.ok(performance.now() - started < 5000);
});
