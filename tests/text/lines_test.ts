/** Line endings. Spec: 3-documents-and-archives §3.1.3; scenarios 55, 56, 60. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { countEndings, EndingCounter } from "../../src/text/lines.ts";

Deno.test("the word, mixing, the number of lines, the final newline", () => {
  const table: [text: string, ending: string, mixed: boolean, lines: number, final: boolean][] = [
    ["", "none", false, 0, false],
    ["a", "none", false, 1, false],
    ["\n", "lf", false, 1, true],
    ["a\nb", "lf", false, 2, false],
    ["a\r\nb\r\n", "crlf", false, 2, true],
    ["a\rb\r", "cr", false, 2, true],
    ["\r\n\r", "crlf", true, 2, true],
    ["\r\r\n", "crlf", true, 2, true],
    ["a\n\r", "lf", true, 2, true],
    ["\n\n\n", "lf", false, 3, true],
    ["a\nb\r\n", "crlf", true, 2, true],
    ["a\nb\rc\n", "lf", true, 3, true],
    ["a\u2028b\u0085c\fd", "none", false, 1, false],
  ];
  for (const [text, ending, mixed, lines, final] of table) {
    const counted = countEndings(text);
    assert.deepEqual(
      [counted.ending, counted.mixed, counted.lines, counted.finalNewline],
      [ending, mixed, lines, final],
      JSON.stringify(text),
    );
  }
});

Deno.test("a text counts alike in blocks of any size", () => {
  const text = fc.string({ unit: fc.constantFrom("\r", "\n", "\r\n", "a", "é", "😀") });
  fc.assert(fc.property(text, fc.array(fc.nat(4)), (text, sizes) => {
    const counter = new EndingCounter();
    let at = 0;
    for (const size of sizes) counter.add(text.slice(at, at += size));
    counter.add(text.slice(at));

    const endings = text.match(/\r\n|\n|\r/g) ?? [];
    const count = (ending: string) => endings.filter((found) => found === ending).length;
    assert.deepEqual([counter.lf, counter.crlf, counter.cr], [count("\n"), count("\r\n"), count("\r")]);
    assert.equal(counter.ended, endings.length);
    assert.equal(counter.lines, text.split(/\r\n|\n|\r/).length - (/(^|[\r\n])$/.test(text) ? 1 : 0));
    assert.equal(counter.finalNewline, /[\r\n]$/.test(text));
  }));
});
