import assert from "node:assert/strict";
import * as z from "zod/mini";
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

Deno.test("arguments that fit come back with defaults", () => {
  assert.deepEqual(checkArguments(echo, { paths: ["--limit", "-"] }), { paths: ["--limit", "-"], limit: 10 });
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
      [{ paths, total: 1e300 }, '"total" must be at most 9007199254740991'],
      [{ paths, type: "dri" }, '"type" must be one of "file", "dir", "any", did you mean "dir"?'],
      [{ paths, type: 5 }, '"type" must be one of "file", "dir", "any"'],
      [{ paths, numbered: "true" }, '"numbered" must be true or false, not text'],
      [{ paths, columns: "5" }, '"columns" must be A-B'],
      [{ paths, edits: [{}] }, 'missing argument "edits[0].find"'],
      [{ paths, edits: [{ find: "", wiht: "" }] }, 'unknown argument "edits[0].wiht", did you mean "with"?'],
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
});

Deno.test("a refusal stays short and on one line, whatever it was given", () => {
  assert.match(
    refusal({ paths: ["a"], ["x\n".repeat(1000)]: 1 }),
    /^unknown argument "(x\\n){40}…", known are [a-z, ]+$/,
  );
  assert.match(refusal({ paths: Array(1000).fill(0) }), /"paths\[4\]" must be text, not a number; and 995 more$/);
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

Deno.test("bugs 68: a schema that needs alternatives or references is a defect of its verb", () => {
  interface Tree {
    paths: Tree[];
  }
  const tree: z.ZodMiniType<Tree> = z.strictObject({ paths: z.lazy(() => z.array(tree)) });
  const object = z.strictObject({ a: z.string() });
  for (
    const [paths, what] of [
      [z.union([object, z.string()]), "anyOf"],
      [z.array(z.discriminatedUnion("k", [z.object({ k: z.literal("a") })])), "oneOf"],
      [z.union([z.string(), z.number()]), "no single type"],
      [z.array(z.nullable(z.string())), "no single type"],
      [z.unknown(), "no single type"],
      [tree, "$ref"],
    ] as [z.ZodMiniType, string][]
  ) {
    const verb = { ...echo, schema: z.strictObject({ paths }) } as Verb;
    assert.throws(() => inputSchema(verb), {
      message: `the schema of echo comes out with ${what}, which not every client reads`,
    });
  }
});
