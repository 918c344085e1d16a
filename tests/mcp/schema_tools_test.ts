import assert from "node:assert/strict";
import { Refusal } from "../../src/refusal.ts";
import { checkArguments, inputSchema } from "../../src/verbs/schema_tools.ts";
import type { Verb } from "../../src/verbs/verb.ts";
import { echo, image } from "./fakes.ts";

function refusal(args: unknown, verb: Verb = echo): string {
  try {
    checkArguments(verb, args);
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.outcome, "invalid");
    assert.equal(error.path, undefined);
    return error.message;
  }
  throw new Error("not refused");
}

Deno.test("arguments that fit come back as they are, without a default of the tool", () => {
  assert.deepEqual(checkArguments(echo, { paths: ["--limit", "-"] }), { paths: ["--limit", "-"] });
});

Deno.test("each kind of complaint has words of its own", () => {
  const paths = ["a"];
  for (
    const [args, message] of [
      [{}, 'missing argument "paths"'],
      [{ paths, limt: 1 }, 'unknown argument "limt", did you mean "limit"?'],
      [
        { paths, root: 1 },
        'unknown argument "root", known are paths, text, limit, total, type, numbered, columns, edits',
      ],
      [{ paths: "a" }, '"paths" must be a list, not text'],
      [{ paths: [] }, '"paths" must hold at least 1 item'],
      [{ paths: [""] }, '"paths[0]" must not be empty'],
      [{ paths: ["a", 3] }, '"paths[1]" must be text, not a number'],
      [{ paths, limit: "3" }, '"limit" must be a number, not text'],
      [{ paths, limit: 1.5 }, '"limit" must be a whole number'],
      [{ paths, limit: null }, '"limit" must be a number, not null'],
      [{ paths, limit: -1 }, '"limit" must be at least 0'],
      [{ paths, limit: 101 }, '"limit" must be at most 100'],
      [{ paths, limit: NaN }, '"limit" must be a number, not a number'],
      [{ paths, limit: Infinity }, '"limit" must be a number, not a number'],
      [{ paths, total: 1e300 }, '"total" must be at most 9007199254740991'],
      [{ paths, total: -(2 ** 53) }, '"total" must be at least -9007199254740991'],
      [{ paths, limit: 2 ** 53 }, '"limit" must be at most 9007199254740991; "limit" must be at most 100'],
      [{ paths, type: "dri" }, '"type" must be one of "file", "dir", "any", did you mean "dir"?'],
      [{ paths, type: "any " }, '"type" must be one of "file", "dir", "any", did you mean "any"?'],
      [{ paths, type: 5 }, '"type" must be one of "file", "dir", "any"'],
      [{ paths, numbered: "true" }, '"numbered" must be true or false, not text'],
      [{ paths, columns: "5" }, '"columns" must be A-B'],
      [{ paths, edits: [{}] }, 'missing argument "edits[0].find"'],
      [{ paths, edits: [{ find: "", wiht: "" }] }, 'unknown argument "edits[0].wiht", did you mean "with"?'],
      [
        { paths, edits: [{ find: "a" }, null, [], { find: undefined }] },
        'missing argument "edits[3].find"; "edits[1]" must be an object, not null; "edits[2]" must be an object, not a list',
      ],
      [[], "the arguments must be one object"],
      ["--paths a", "the arguments must be one object"],
      [null, "the arguments must be one object"],
      [
        { limit: "x", find: 1 },
        'unknown argument "find", known are paths, text, limit, total, type, numbered, columns, ' +
        'edits; missing argument "paths"; "limit" must be a number, not text',
      ],
    ] as [unknown, string][]
  ) assert.equal(refusal(args), message);
  assert.equal(refusal({ a: 1 }, image), 'unknown argument "a", image takes none');
});

Deno.test("names with a meaning in JavaScript are unknown arguments like any other", () => {
  assert.match(refusal(JSON.parse('{"paths":["a"],"__proto__":{"limit":5}}')), /^unknown argument "__proto__"/);
  assert.match(refusal({ paths: ["a"], constructor: 1 }), /^unknown argument "constructor"/);
  assert.match(
    refusal({ paths: ["a"], edits: [{ find: "", toString: 1 }] }),
    /^unknown argument "edits\[0\].toString"/,
  );
});

Deno.test("only what an object has of its own is given", () => {
  assert.equal(refusal(Object.create({ paths: ["a"] })), 'missing argument "paths"');
  assert.equal(refusal(Object.defineProperty({}, "paths", { value: ["a"] })), 'missing argument "paths"');
  const mixed = Object.assign(Object.create({ limit: 1, wrong: 2 }), { paths: ["a"] });
  assert.deepEqual(checkArguments(echo, mixed), { paths: ["a"] });
});

Deno.test("a refusal stays short and on one line, whatever it was given", () => {
  assert.match(
    refusal({ paths: ["a"], ["x\n".repeat(1000)]: 1 }),
    /^unknown argument "(x\\n){40}…", known are [a-z, ]+$/,
  );
  assert.match(refusal({ paths: Array(1000).fill(0) }), /"paths\[4\]" must be text, not a number; and 995 more$/);
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`${i}${"x".repeat(200)}`, i]));
  assert.ok(refusal(many).length < 1000 && refusal(many).endsWith("; and 99996 more"));
  assert.ok(refusal({ paths: ["a"], type: "dir".repeat(1_000_000) }).length < 100);
  const deep = JSON.parse(`${"[".repeat(10_000)}${"]".repeat(10_000)}`);
  assert.equal(refusal({ paths: deep }), '"paths[0]" must be text, not a list');
});

Deno.test("combinations are checked after the schema", () => {
  assert.equal(refusal({ paths: ["a"], text: "", columns: "1-2" }), "text and columns exclude each other");
});

Deno.test("the tool's schema is plain, closed and described", () => {
  assert.deepEqual(inputSchema(echo), {
    type: "object",
    properties: {
      paths: { type: "array", minItems: 1, items: { type: "string", minLength: 1 }, description: "Files." },
      text: { type: "string", description: "Any text." },
      limit: { type: "integer", minimum: 0, maximum: 100, default: 10, description: "At most so many." },
      total: { type: "integer", description: "A whole number of any size." },
      type: { type: "string", enum: ["file", "dir", "any"], description: "What kind." },
      numbered: { type: "boolean", description: "With numbers.", default: true },
      columns: { type: "string", pattern: "^\\d+-\\d+$", description: "Characters of a line." },
      edits: {
        type: "array",
        items: {
          type: "object",
          properties: { find: { type: "string" }, with: { type: "string" } },
          required: ["find"],
          additionalProperties: false,
        },
        description: "What to change.",
      },
    },
    required: ["paths"],
    additionalProperties: false,
  });
  assert.deepEqual(inputSchema(image), { type: "object", properties: {}, additionalProperties: false });
});
