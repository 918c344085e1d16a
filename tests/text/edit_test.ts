/** Edits of one file. Spec: 2-verbs §2.13; scenarios 55, 59, 60, 62, 66, 67, 69, 71, 74; bugs B 32, 33, 39. */
import assert from "node:assert/strict";
import { Refusal } from "../../src/refusal.ts";
import { type Edit, resolveEdits } from "../../src/text/edit.ts";
import { demandFresh } from "../../src/text/edit_fresh.ts";
import { textAfter } from "./changed.ts";

const replace = (find: string, put: string, more: { from?: number; to?: number; all?: boolean } = {}): Edit => ({
  kind: "replace",
  find,
  with: put,
  ...more,
});
const insert = (after: number, text: string): Edit => ({ kind: "insert", after, text });
const remove = (from: number, to?: number): Edit => ({ kind: "delete", from, to });

function after(text: string, ...edits: Edit[]): string {
  const { changes } = resolveEdits(text, edits);
  return textAfter(text, changes);
}

function refusal(text: string, ...edits: Edit[]): Refusal {
  try {
    resolveEdits(text, edits, { path: "a.txt" });
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.path, "a.txt");
    return error;
  }
  assert.fail("nothing was refused");
}

function assertRefused(outcome: string, message: RegExp, text: string, ...edits: Edit[]) {
  const refused = refusal(text, ...edits);
  assert.equal(refused.outcome, outcome, refused.message);
  assert.match(refused.message, message);
}

Deno.test("exact text for text, once", () => {
  assert.equal(after("one two three", replace("two", "2")), "one 2 three");
  assert.equal(after("one two three", replace("two ", "")), "one three");
  assert.equal(after("a", replace("a", "")), "");
  assert.equal(after("$a", replace("$a", "$&$1$$")), "$&$1$$");
  assert.equal(after("a\0b", replace("\0", "-")), "a-b");
  assert.equal(after("\ufeffa", replace("a", "b")), "\ufeffb");
});

Deno.test("bug B 39, scenario 66: text found more than once is refused with the count and the lines", () => {
  const text = "same line\nother\nsame line\n";
  assertRefused("conflict", /^edit 1: .*2 times, in the lines 1, 3;/, text, replace("same line", "x"));
  assert.equal(after(text, replace("same line", "x", { all: true })), "x\nother\nx\n");
  assert.equal(after(text, replace("same line", "x", { from: 2, to: 3 })), "same line\nother\nx\n");
  assert.equal(after(text, replace("same line", "x", { to: 2 })), "x\nother\nsame line\n");
  const many = "x\n".repeat(50);
  assertRefused("conflict", /50 times, in the lines 1, 2, .*, 20 and 30 more/, many, replace("x", "y"));
  assertRefused("conflict", /2 times, in the lines 1, 2/, "a\n\n\nb", replace("\n\n", "\n"));
  assertRefused("conflict", /2 times/, "aaa", replace("aa", "b"));
  assert.equal(after("aaa", replace("aa", "b", { all: true })), "ba");
});

Deno.test("a match lies wholly inside its range, which has its last line's ending", () => {
  const text = "a\nb\nc\n";
  assert.equal(after(text, replace("b\n", "x\n", { from: 2, to: 2 })), "a\nx\nc\n");
  assertRefused("not-found", /not in those lines; it is at line 2/, text, replace("b\nc", "x", { from: 2, to: 2 }));
  assertRefused("not-found", /not in those lines; it is at line 1/, text, replace("a", "x", { from: 2 }));
  assertRefused("not-found", /not in those lines; read the file/, text, replace("qqqqqqq", "x", { from: 2 }));
});

Deno.test("scenario 67: empty text, half a pair, lines out of range or backwards", () => {
  const text = "a\nb\n";
  assertRefused("invalid", /^edit 1: the text to find is empty/, text, replace("", "x"));
  assertRefused("invalid", /half of a surrogate pair/, "🙂", replace("\ude42", "x"));
  assertRefused("invalid", /no line 3; the file has 2 lines/, text, replace("a", "x", { from: 3 }));
  assertRefused("invalid", /no line 0/, text, replace("a", "x", { from: 0, to: 1 }));
  assertRefused("invalid", /run backwards/, text, replace("a", "x", { from: 2, to: 1 }));
  assertRefused("invalid", /no line 3/, text, insert(3, "x"));
  assertRefused("invalid", /no line -1/, text, insert(-1, "x"));
  assertRefused("invalid", /no line 1\.5/, text, insert(1.5, "x"));
  assertRefused("invalid", /no line 3/, text, remove(2, 3));
  assertRefused("invalid", /no line 0/, text, remove(0));
  assertRefused("invalid", /run backwards/, text, remove(2, 1));
  assertRefused("invalid", /no line 1; the file has 0 lines/, "", remove(1));
  assertRefused("not-found", /^edit 2: /, text, replace("a", "b"), replace("qqqqqqq", "x"));
});

Deno.test("scenario 74: insertions and deletions of whole lines", () => {
  assert.equal(after("a\nb\n", insert(0, "x")), "x\na\nb\n");
  assert.equal(after("a\nb\n", insert(1, "x")), "a\nx\nb\n");
  assert.equal(after("a\nb\n", insert(2, "x")), "a\nb\nx\n");
  assert.equal(after("a\nb\n", insert(1, "x\ny\n")), "a\nx\ny\nb\n");
  assert.equal(after("a\nb\n", insert(1, "")), "a\n\nb\n");
  assert.equal(after("a\nb\n", insert(1, "\n")), "a\n\nb\n");
  assert.equal(after("a\nb\n", insert(1, "x\n\n")), "a\nx\n\nb\n");
  assert.equal(after("a\nb", insert(2, "x")), "a\nb\nx");
  assert.equal(after("a\nb", insert(2, "x\n")), "a\nb\nx");
  assert.equal(after("a\nb", insert(2, "x"), insert(2, "y")), "a\nb\nx\ny");
  assert.equal(after("a\r\nb", insert(2, "x\ny")), "a\r\nb\r\nx\r\ny");
  assert.equal(after("a", insert(0, "x")), "x\na");
  assert.equal(after("", insert(0, "x")), "x\n");
  assert.equal(after("", insert(0, "x"), insert(0, "y")), "x\ny\n");
  assert.equal(after("a\nb\nc\n", remove(2)), "a\nc\n");
  assert.equal(after("a\nb\nc\n", remove(1, 3)), "");
  assert.equal(after("a\r\nb\rc", remove(2, 3)), "a\r\n");
  assert.equal(after("a\nb", remove(2), insert(2, "x")), "a\nx");
  assert.equal(after("b", remove(1), insert(1, "x")), "x");
  assert.equal(after("a\nb", replace("b", "b\n"), insert(2, "x")), "a\nb\nx");
  assert.equal(after("a\u2028b\nc", insert(1, "x")), "a\u2028b\nx\nc");
});

Deno.test("lines put behind a last line without an ending are all there, empty ones too", () => {
  assert.equal(after("x", insert(1, "")), "x\n\n");
  assert.equal(after("x", insert(1, "\n")), "x\n\n");
  assert.equal(after("x", insert(1, "\n\n")), "x\n\n\n");
  assert.equal(after("x", insert(1, "y\n\n")), "x\ny\n\n");
  assert.equal(after("x", insert(1, "\ny")), "x\n\ny");
  assert.equal(after("x", insert(1, ""), insert(1, "b")), "x\n\nb");
  assert.equal(after("x", insert(1, "b"), insert(1, "")), "x\nb\n\n");
  assert.equal(after("x", insert(1, ""), insert(1, "")), "x\n\n\n");
  assert.equal(after("a\r\nx", insert(2, "\n")), "a\r\nx\r\n\r\n");
  assert.equal(after("x", remove(1), insert(1, "")), "\n");
  assert.equal(after("a\nbb", replace("b", "", { all: true }), insert(2, "x")), "a\nx");
  assert.equal(after("a\nbb", replace("b", "c\n", { all: true }), insert(2, "x")), "a\nc\nc\nx");
  assert.equal(after("a\nbb", replace("b", "c", { all: true }), insert(2, "x")), "a\ncc\nx");
  // A CR and an LF of two lines do not become one ending.
  assert.equal(after("a\rb\nc\n", insert(1, "")), "a\r\r\nb\nc\n");
  assert.equal(after("a\rb\r\rc\n\nd", insert(4, "t")), "a\rb\r\rc\nt\r\n\nd");
});

Deno.test("scenario 59: text that is brought in takes the file's ending", () => {
  assert.equal(after("a\nb\n", replace("a", "x\r\ny\rz")), "x\ny\nz\nb\n");
  assert.equal(after("a\r\nb\r\n", replace("a", "x\ny\rz\r\n")), "x\r\ny\r\nz\r\n\r\nb\r\n");
  assert.equal(after("a\rb\r", insert(1, "x\r\ny\n")), "a\rx\ry\rb\r");
  assert.equal(after("ab", replace("b", "\r\n")), "a\n");
});

Deno.test("bugs B 32, 33, scenarios 60, 62: endings are equal for finding, and only what is changed changes", () => {
  assert.equal(after("a\r\nb\r\nc\r\n", replace("a\nb", "a\nx")), "a\r\nx\r\nc\r\n");
  assert.equal(after("a\nb\nc\n", replace("a\r\nb", "a\r\nx")), "a\nx\nc\n");
  assert.equal(after("a\r\nb\nc\rd\r\n", replace("c\nd", "c\nD")), "a\r\nb\nc\rD\r\n");
  assert.equal(after("a\r\nb\nc\r\n", replace("a\nb\nc", "a\nb\nC")), "a\r\nb\nC\r\n");
  assert.equal(after("a\r\nb\nc\r\n", replace("b\nc", "b\nx\nc")), "a\r\nb\nx\r\nc\r\n");
  // An exact match wins.
  assert.equal(after("a\r\nb\n\na\nb\n", replace("a\nb", "x")), "a\r\nb\n\nx\n");
  // A CR LF is not taken apart.
  assert.equal(after("a\r\nb\r\n", replace("\nb", "\nx")), "a\r\nx\r\n");
  assert.equal(after("a\r\nb\r\n", replace("\n", ";", { all: true })), "a;b;");
  assert.equal(after("a\r\n\r\nb", replace("\n\n", "\n")), "a\r\nb");
  assert.equal(after("a\r\n\nb\n", replace("\n\nb", "\nb")), "a\r\nb\n");
  assertRefused("not-found", /the text to find is not in the file/, "a\r\nb", replace("a\r", "x"));
  assertRefused("not-found", /the text to find is not in the file/, "a\r\nb", replace("\r", "", { all: true }));
  assert.equal(after("a\rb\r\nc", replace("\r", "\r\n")), "a\r\nb\r\nc");
});

Deno.test("scenario 55: an edit that puts back the same text changes nothing", () => {
  const text = "a\r\nb\nc\rd\u2028e\n";
  for (const find of ["a\r\nb", "b\nc", "\nc\r", "c\rd", "e\n", "a\nb\nc\nd"]) {
    const { changes, planned } = resolveEdits(text, [replace(find, find)]);
    assert.equal(changes.length, 0);
    assert.equal(planned[0].places, 1);
  }
});

Deno.test("scenario 69: every edit counts on the file as it was read; touching is fine, overlapping is not", () => {
  assert.equal(after("abc", replace("a", "b"), replace("b", "c"), replace("c", "a")), "bca");
  assert.equal(after("abc", replace("b", "x"), replace("a", "b")), "bxc");
  assertRefused("conflict", /^edit 2: it overlaps edit 1 at line 1/, "abc", replace("ab", "x"), replace("bc", "y"));
  assertRefused("conflict", /^edit 2: it overlaps edit 1/, "abc", replace("bc", "x"), replace("abc", "y"));
  assertRefused("conflict", /^edit 2: it overlaps edit 1/, "abc", replace("b", "x"), replace("b", "x"));
  assertRefused("conflict", /overlaps/, "a\nb\nc\n", replace("a\nb", "x"), insert(1, "y"));
  assertRefused(
    "conflict",
    /^edit 3: it overlaps edit 1/,
    "abcd",
    replace("abcd", "x"),
    insert(0, ""),
    replace("c", "y"),
  );
  assert.equal(after("a\nb\nc\n", insert(1, "1"), remove(2), insert(2, "3"), insert(1, "2")), "a\n1\n2\n3\nc\n");
  assert.equal(after("a\nb\n", replace("b\n", "x\n"), insert(1, "y"), insert(2, "z")), "a\ny\nx\nz\n");
  // `all` counts as one span from its first place to its last.
  assertRefused("conflict", /overlaps/, "a\nb\na\n", replace("a", "x", { all: true }), replace("b", "y"));
  assert.equal(after("c\na\nb\na\nc", replace("a", "x", { all: true }), insert(0, "0"), remove(5)), "0\nc\nx\nb\nx\n");
});

Deno.test("millions of places: all of them, none held, and a sign of life again and again", () => {
  const text = "1,2,3,4\n".repeat(600_000);
  let pulses = 0;
  const edits = [replace(",", ";", { all: true }), insert(0, "head")];
  const { changes, planned } = resolveEdits(text, edits, { pulse: () => pulses++ });
  assert.equal(planned[0].description, "replace 1800000 places");
  assert.equal(changes.length, 1_800_001);
  const resolved = pulses;
  assert.ok(resolved >= 18, String(resolved));
  assert.equal(textAfter(text, changes), "head\n" + text.replaceAll(",", ";"));
  assertRefused("conflict", /stands there 1800000 times, in the lines 1, 1, 1, 2,/, text, replace(",", ";"));
  assertRefused("conflict", /^edit 2: it overlaps edit 1 at line 2/, text, edits[0], insert(1, "x"));

  const cancelled = new Error("cancelled");
  for (const at of [1, 5, resolved]) {
    let left = at;
    const pulse = () => {
      if (--left === 0) throw cancelled;
    };
    assert.throws(() => resolveEdits(text, edits, { pulse }), cancelled);
  }
});

Deno.test("the file's other endings at millions of places", () => {
  const text = "a\r\n".repeat(300_000);
  assert.equal(after(text, replace("\n", ";", { all: true })), "a;".repeat(300_000));
  assert.equal(after(text, replace("a\n", "b\nc\n", { all: true })), "b\r\nc\r\n".repeat(300_000));
  assert.equal(after("\r\n".repeat(300_000), replace("\n\n", "x\n", { all: true })), "x\r\n".repeat(150_000));
});

Deno.test("text in a few mebibytes takes the file's ending, also where a piece would end inside a CR LF", () => {
  for (const shift of ["", "x"]) {
    const put = shift + "a\r\nb\rc\n".repeat(400_000);
    assert.equal(after("1\r\n2", replace("2", put)), "1\r\n" + put.replace(/\r\n|\r|\n/g, "\r\n"));
    assert.equal(after("1\n2", replace("2", put)), "1\n" + put.replace(/\r\n|\r|\n/g, "\n"));
  }
});

Deno.test("text that is longer than any file may be is refused with its size", () => {
  const largest = 1024 * 1024;
  for (const edit of [replace("a", "\n".repeat(largest)), insert(1, "\n".repeat(largest))]) {
    assert.throws(
      () => resolveEdits("a\r\n", [edit], { largest, path: "p" }),
      (error) =>
        error instanceof Refusal && error.outcome === "refused" && error.path === "p" &&
        /^the file would have at least \d{7} bytes; files of up to 1 MiB are changed$/.test(error.message),
    );
  }
});

Deno.test("what a plan says", () => {
  const { planned } = resolveEdits(
    "a\nb\na\nc\nd\n",
    [
      replace("a", "x", { all: true }),
      insert(3, "x\ny"),
      remove(4, 5),
      replace("d\n", "x", { from: 5, to: 5 }),
    ].slice(0, 3),
  );
  assert.deepEqual(planned, [
    { edit: 1, line: 1, places: 2, description: "replace 2 places" },
    { edit: 2, line: 4, places: 1, description: "insert 2 lines" },
    { edit: 3, line: 4, places: 1, description: "delete 2 lines" },
  ]);
});

Deno.test("scenario 71: the hash that is expected, in any case of letters", () => {
  demandFresh("ab12", "AB12", true);
  demandFresh("ab12", undefined, true);
  assert.throws(
    () => demandFresh("ab12", "ab13", true, "p"),
    (error) => error instanceof Refusal && error.outcome === "stale" && error.message.includes("ab12"),
  );
  assert.throws(
    () => demandFresh("ab12", "ab13", false),
    (error) => error instanceof Refusal && error.outcome === "stale" && !error.message.includes("ab12"),
  );
});
