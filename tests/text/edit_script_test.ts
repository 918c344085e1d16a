/** Edit scripts and ranges of lines. Spec: 2-verbs §2.13; scenario 75. */
import assert from "node:assert/strict";
import { Refusal } from "../../src/refusal.ts";
import { readRelaxedJson } from "../../src/text/edit_json.ts";
import { parseLineRange } from "../../src/text/edit_range.ts";
import { parseScript, scriptOf, withTexts } from "../../src/text/edit_script.ts";

function assertInvalid(action: () => unknown, message: RegExp) {
  assert.throws(action, (error) => {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.outcome, "invalid");
    assert.match(error.message, message);
    return true;
  });
}

Deno.test("a script for the named path, with comments and trailing commas", () => {
  const script = parseScript(`// what
    { "edits": [
      { "replace": "a", "with": "b", "from": 1, "to": 3, "all": true, }, /* and */
      { "replace": "a" },
      { "insertAfter": 0, "text": "x // no comment" },
      { "deleteFrom": 2, "deleteTo": 3 },
      { "deleteFrom": 2 },
    ], "expect": "AB" }`);
  assert.deepEqual(script, [{
    expect: "AB",
    edits: [
      { kind: "replace", find: "a", with: "b", from: 1, to: 3, all: true },
      { kind: "replace", find: "a", with: "" },
      { kind: "insert", after: 0, text: "x // no comment" },
      { kind: "delete", from: 2, to: 3 },
      { kind: "delete", from: 2 },
    ],
  }]);
});

Deno.test("a script for several files, with texts in files", () => {
  const script = scriptOf({
    files: [
      { path: "a", edits: [{ replaceFile: "r", withFile: "w" }], expect: "1" },
      { path: "b", edits: [{ insertAfter: 1, textFile: "t" }, { deleteFrom: 1 }] },
    ],
  });
  assert.deepEqual(script.map(({ path, expect }) => [path, expect]), [["a", "1"], ["b", undefined]]);
  const asked: unknown[] = [];
  const read = (...all: unknown[]) => `<${(asked.push(all), all[0])}>`;
  assert.deepEqual(withTexts(script[0].edits, read), [{ kind: "replace", find: "<r>", with: "<w>" }]);
  assert.deepEqual(withTexts(script[1].edits, read), [{ kind: "insert", after: 1, text: "<t>" }, {
    kind: "delete",
    from: 1,
  }]);
  assert.deepEqual(asked, [["r", 1, "replaceFile"], ["w", 1, "withFile"], ["t", 1, "textFile"]]);
});

Deno.test("scenario 75: what is no script", () => {
  const table: [script: unknown, message: RegExp][] = [
    [[], /the script is no object/],
    [null, /the script is no object/],
    [{}, /either `edits`.*or `files`/],
    [{ edits: [{ deleteFrom: 1 }], files: [] }, /either/],
    [{ edits: [] }, /`edits` is empty/],
    [{ edits: {} }, /`edits` is no list/],
    [{ files: [] }, /`files` is empty/],
    [{ edits: [{ deleteFrom: 1 }], expects: "a" }, /unknown key "expects"; did you mean expect\?/],
    [{ edits: [{ deleteFrom: 1 }], path: "a" }, /the script has an unknown key "path"/],
    [{ files: [{ edits: [{ deleteFrom: 1 }] }] }, /file 1 has no path/],
    [{ files: [{ path: 1, edits: [{ deleteFrom: 1 }] }] }, /file 1: `path` has to be a text/],
    [{ files: [{ path: "a", edits: [{}] }] }, /file 1, edit 1 says nothing/],
    [{ files: [{ path: "a", edits: [{ deleteFrom: 1 }], x: 1 }] }, /file 1 has an unknown key "x"/],
    [{ edits: [{ with: "a" }] }, /edit 1 has no `replace`/],
    [{ edits: [{ replace: "a", deleteFrom: 1 }] }, /edit 1 is of several kinds \(replace, delete\)/],
    [{ edits: [{ deleteFrom: 1 }, { insertAfter: 1 }] }, /edit 2 has no `text`/],
    [{ edits: [{ text: "x" }] }, /edit 1 has no `insertAfter`/],
    [{ edits: [{ deleteTo: 1 }] }, /edit 1 has no `deleteFrom`/],
    [{ edits: [{ replace: "a", replaceFile: "b" }] }, /both `replace` and `replaceFile`/],
    [{ edits: [{ replace: "a", wiht: "b" }] }, /unknown key "wiht"; did you mean with\?/],
    [{ edits: [{ replace: "a", from: "1" }] }, /edit 1: `from` has to be a whole number/],
    [{ edits: [{ replace: "a", all: 1 }] }, /`all` has to be true or false/],
    [{ edits: [{ deleteFrom: 1.5 }] }, /whole number/],
    [{ edits: [{ replace: null }] }, /`replace` has to be a text/],
    [{ edits: ["x"] }, /edit 1 is no object/],
    [{ edits: [{ deleteFrom: 1, allow_credential: true }] }, /unknown key "allow_credential"/],
  ];
  for (const [script, message] of table) assertInvalid(() => scriptOf(script), message);
});

Deno.test("JSON is read as it is, and what is none is told with its place", () => {
  for (const text of ['{"a": [1, -2.5e3, "\\u00e9\\n", true, null, {}, []]}', '"x"', " 1 ", '{"__proto__": 1}']) {
    assert.deepEqual(readRelaxedJson(text), JSON.parse(text));
  }
  const table: [text: string, message: RegExp][] = [
    ["", /1:1: a value is expected/],
    ["{", /1:2: a key in double quotes/],
    ['{\n  "a" 1}', /2:7: a colon/],
    ['{"a": 1 "b": 2}', /1:9: a comma or }/],
    ['{"a": 1,\r\n "a": 2}', /2:2: the key "a" stands here a second time/],
    ["[1, 2", /1:6: a comma or \]/],
    ["[,]", /1:2: a value/],
    ["[01]", /1:2: "01" is no JSON value/],
    ["[yes]", /1:2: "yes" is no JSON/],
    ['["\\x"]', /1:2: .*no JSON value/],
    ['["a\nb"]', /1:2: a value/],
    ["1 2", /1:3: nothing more/],
    ["/* a", /1:1: this comment has no end/],
    ["[".repeat(200), /nested too deep/],
  ];
  for (const [text, message] of table) assertInvalid(() => readRelaxedJson(text), message);
});

Deno.test("ranges of lines", () => {
  for (const written of ["3-7", "3..7", "3:7"]) assert.deepEqual(parseLineRange(written, false), { from: 3, to: 7 });
  assert.deepEqual(parseLineRange("5-5", false), { from: 5, to: 5 });
  assert.deepEqual(parseLineRange("5", true), { from: 5, to: 5 });
  for (
    const written of ["", "5", "a-b", "0-1", "1-", "-1", "1-2-3", "1.5", "1 - 2", "1...2", "99999999999999999999-1"]
  ) {
    assertInvalid(() => parseLineRange(written, false), /is no range of lines/);
  }
  assertInvalid(() => parseLineRange("7-3", true), /run backwards/);
  assertInvalid(() => parseLineRange("0", true), /no range/);
});
