/** `replace` on one text. Spec: 2-verbs §2.14; scenarios 59, 81. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Refusal } from "../../src/refusal.ts";
import { demandFindable, substitute } from "../../src/text/substitute.ts";
import { textAfter } from "./changed.ts";

function after(text: string, find: string, put: string): [string, number] {
  const { occurrences, changes } = substitute(text, find, put);
  return [textAfter(text, changes), occurrences];
}

Deno.test("every place, case counts, nothing in the replacement means anything but itself", () => {
  assert.deepEqual(after("a.b A.b axb", "a.b", "$1$&$$"), ["$1$&$$ A.b axb", 1]);
  assert.deepEqual(after("aaaa", "aa", "a"), ["aa", 2]);
  assert.deepEqual(after("abc", "x", "y"), ["abc", 0]);
  assert.deepEqual(after("", "x", "y"), ["", 0]);
  assert.deepEqual(after("a1a", "a", ""), ["1", 2]);
  assert.equal(substitute("aa", "a", "a").changes.length, 0);
});

Deno.test("what is brought in takes the file's ending, and lines found with another one are found", () => {
  assert.deepEqual(after("a;b\n", ";", "\r\n"), ["a\nb\n", 1]);
  assert.deepEqual(after("a;b\r\n", ";", "\n"), ["a\r\nb\r\n", 1]);
  assert.deepEqual(after("a\r\nb\r\na\r\nb", "a\nb", "c\nd"), ["c\r\nd\r\nc\r\nd", 2]);
  assert.deepEqual(after("a\r\nb\r\n", "\n", " "), ["a b ", 2]);
  assert.deepEqual(after("a\r\nb", "\r", ""), ["a\r\nb", 0]);
});

Deno.test("an empty text to find, or half a pair", () => {
  for (const find of ["", "\ud83d", "\ude42a"]) {
    assert.throws(() => demandFindable(find), (error) => error instanceof Refusal && error.outcome === "invalid");
  }
  demandFindable("🙂");
});

Deno.test("without endings it is what splitting and joining does", () => {
  const text = fc.array(fc.constantFrom("a", "b", "ab", "\n", "\r\n", "é", "🙂"), { maxLength: 30 }).map((all) =>
    all.join("")
  );
  const piece = fc.array(fc.constantFrom("a", "b", "é", "🙂"), { minLength: 1, maxLength: 3 }).map((all) =>
    all.join("")
  );
  fc.assert(fc.property(text, piece, fc.oneof(piece, fc.constant("")), (text, find, put) => {
    const parts = text.split(find);
    assert.deepEqual(after(text, find, put), [parts.join(put), parts.length - 1]);
  }));
});

Deno.test("millions of places are counted and not held", () => {
  const text = "a".repeat(3_000_000);
  let pulses = 0;
  const { occurrences, changes } = substitute(text, "a", "b", { pulse: () => pulses++ });
  assert.equal(occurrences, 3_000_000);
  assert.ok(pulses >= 10, String(pulses));
  let at = 0;
  changes.forEach(({ start, end, text }) => {
    if (start !== at || end !== ++at || text !== "b") assert.fail(`${start} to ${end}`);
  });
  assert.equal(at, text.length);
});

Deno.test("a replacement that is longer than any file is refused", () => {
  assert.throws(
    () => substitute("a\r\n", "a", "\n".repeat(2000), { largest: 1000, path: "p" }),
    (error) => error instanceof Refusal && error.outcome === "refused" && error.path === "p",
  );
});
