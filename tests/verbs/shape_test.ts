import fc from "fast-check";
import assert from "node:assert/strict";
import { VERBS } from "../../src/verbs/mod.ts";
import {
  check,
  choice,
  document,
  type Fault,
  flag,
  type Infer,
  integer,
  jsonSchema,
  list,
  map,
  object,
  optional,
  type Shape,
  text,
} from "../../src/verbs/shape.ts";

function checked(shape: Shape, value: unknown): { value: unknown; faults: Fault[] } {
  const faults: Fault[] = [];
  return { value: check(shape, value, [], (fault) => faults.push(fault)), faults };
}

/** `edits.0.path: must be text`, one line a fault. */
function faults(shape: Shape, value: unknown): string[] {
  return checked(shape, value).faults.map((fault) =>
    `${fault.path.join(".")}: ${fault.what === "wrong" ? fault.message : fault.what}`
  );
}

const write = object({
  edits: list(object({ path: text({ filled: true }), replace: text(), with: text(), all: optional(flag()) }), {
    min: 1,
  }),
  set: optional(map(text())),
  mode: optional(choice(["plan", "do"])),
  lines: optional(text({
    pattern: /^\d+-\d+$/,
    fits: (range) => Number(range.split("-")[0]) <= Number(range.split("-")[1]),
    must: "must be A-B with 1 ≤ A ≤ B",
  })),
});

Deno.test("what fits a shape has its type", () => {
  const args: Infer<typeof write> = { edits: [{ path: "a", replace: "b", with: "c" }], mode: "plan", set: { a: "b" } };
  assert.deepEqual(faults(write, args), []);
  const edit: { path: string; replace: string; with: string; all?: boolean } = args.edits[0];
  const mode: "plan" | "do" | undefined = args.mode;
  assert.ok(edit && mode);
  // @ts-expect-error: a member that is not optional
  const _missing: Infer<typeof write> = {};
  // @ts-expect-error: none of the choices
  const _mode: Infer<typeof write> = { ...args, mode: "never" };
});

Deno.test("faults are told with their place, all of them and in order", () => {
  const edit = { path: "a", replace: "b", with: "c" };
  for (
    const [args, ...expected] of [
      [{ edits: [edit, { path: "", replace: 1, al: true }] }, "edits.1.path: must not be empty"].concat(
        "edits.1.replace: must be text, not a number",
        "edits.1.with: missing",
        "edits.1.al: unknown",
      ),
      [{ edits: [] }, "edits: must hold at least 1 item"],
      [{ edits: [edit], set: { a: 1, b: "c" } }, "set.a: must be text, not a number"],
      [{ edits: [edit], set: [] }, "set: must be an object, not a list"],
      [{ edits: [edit], lines: "5" }, "lines: must be A-B with 1 ≤ A ≤ B"],
      [{ edits: [edit], lines: "5-4" }, "lines: must be A-B with 1 ≤ A ≤ B"],
      [{ edits: [edit], lines: "4-5", mode: "paln" }, 'mode: must be one of "plan", "do", did you mean "plan"?'],
      [undefined, ": missing"],
    ] as [unknown, ...string[]][]
  ) assert.deepEqual(faults(write, args), expected);
});

Deno.test("of numbers, the whole ones that a double holds", () => {
  for (const good of [0, -0, 1, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    assert.deepEqual(faults(integer(), good), []);
  }
  for (const bad of [NaN, Infinity, -Infinity, 0.5, 2 ** 53, -(2 ** 53), 1e300, 1n, "1", true, null, [1]]) {
    assert.equal(faults(integer(), bad).length, 1, String(bad));
  }
  assert.deepEqual(faults(integer({ min: 1, max: 3 }), 4), [": must be at most 3"]);
  assert.deepEqual(faults(integer({ min: 1, max: 3 }), -0), [": must be at least 1"]);
});

Deno.test("a map holds what the caller gave, whatever its name, and nothing else", () => {
  const { value, faults } = checked(map(text()), JSON.parse('{"__proto__": "a", "constructor": "b", "": "c"}'));
  assert.deepEqual(faults, []);
  assert.deepEqual(Object.entries(value as object), [["__proto__", "a"], ["constructor", "b"], ["", "c"]]);
  assert.equal((value as Record<string, unknown>).toString, undefined);
});

Deno.test("what comes back is made anew, and of nothing inherited", () => {
  const args = { edits: [{ path: "a", replace: "b", with: "c", all: undefined }], set: undefined };
  const { value } = checked(write, args) as { value: typeof args };
  assert.deepEqual(value, { edits: [{ path: "a", replace: "b", with: "c" }] });
  assert.notEqual(value.edits, args.edits);
  assert.deepEqual(faults(object({ a: text() }), Object.create({ a: "b" })), ["a: missing"]);
  assert.deepEqual(faults(object({ toString: text(), constructor: optional(text()) }), {}), ["toString: missing"]);
  assert.deepEqual(faults(list(text()), Array(2)), ["0: missing", "1: missing"]);
});

Deno.test("the shapes of the verbs are plain data", () => {
  for (const verb of VERBS) assert.deepEqual(structuredClone(verb.schema), verb.schema);
});

Deno.test("a shape accepts what its JSON Schema does, and gives it back", () => {
  const some = shapes(3).chain((shape) => fc.tuple(fc.constant(shape), values(shape)));
  let fitted = 0, failed = 0;
  fc.assert(
    fc.property(some, ([shape, value]) => {
      const { faults, value: result } = checked(shape, value);
      assert.equal(faults.length === 0, satisfies(jsonSchema(shape), value), JSON.stringify(faults));
      if (faults.length === 0) assert.deepEqual(structuredClone(result), structuredClone(value));
      if (faults.length === 0) fitted++;
      else failed++;
    }),
    { numRuns: 2000 },
  );
  assert.ok(fitted > 200 && failed > 200, `${fitted} values fitted, ${failed} did not`);
});

const NAMES = ["a", "b", "of", "constructor", "toString"];

/** Any shape, at most so deep. */
function shapes(depth: number): fc.Arbitrary<Shape> {
  const bound = fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined });
  const leaves: fc.Arbitrary<Shape>[] = [
    fc.constantFrom(text(), text({ filled: true }), text({ pattern: /^a|b/ })),
    fc.record({ min: bound, max: bound }).map(integer),
    fc.constant(flag()),
    fc.constant(document()),
    fc.constantFrom(choice(["a"]), choice(["a", "b", "__proto__"])),
  ];
  if (depth === 0) return fc.oneof(...leaves);
  const deeper = shapes(depth - 1);
  const member = fc.tuple(deeper, fc.boolean()).map(([shape, left]) => left ? optional(shape) : shape);
  return fc.oneof(
    ...leaves,
    fc.tuple(deeper, fc.constantFrom({}, { min: 1 }, { min: 2 })).map(([shape, bounds]) => list(shape, bounds)),
    deeper.map((shape) => map(shape)),
    fc.dictionary(fc.constantFrom(...NAMES), member, { maxKeys: 4, noNullPrototype: true }).map(object),
  );
}

/** Values that are mostly near what a shape wants. */
function values(shape: Shape): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 15, arbitrary: near(shape) }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) });
}

function near(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case "text":
    case "choice":
      return fc.constantFrom("a", "b", "a", "", "__proto__");
    case "integer":
      return fc.oneof(fc.integer({ min: -4, max: 4 }), fc.constantFrom(0.5, -0, NaN, Number.MAX_SAFE_INTEGER));
    case "flag":
      return fc.boolean();
    case "document":
      return fc.constantFrom({}, { a: [1] }, [], 1);
    case "list":
      return fc.array(values(shape.member), { maxLength: 4 });
    case "map":
      return fc.dictionary(fc.constantFrom(...NAMES, "__proto__", ""), values(shape.member), { maxKeys: 3 });
    case "object": {
      const members = Object.entries(shape.members);
      const required = fc.record(Object.fromEntries(
        members.filter(([, member]) => member.kind !== "optional").map((
          [name, member],
        ) => [name, values(member as Shape)]),
      ));
      const left = fc.record(
        Object.fromEntries(
          members.flatMap(([name, member]) => member.kind === "optional" ? [[name, values(member.shape)]] : []),
        ),
        { requiredKeys: [] },
      );
      const other = fc.constantFrom(...Array(12).fill({}), { __other: 1 }, JSON.parse('{"__proto__": 1}'));
      // Some lose a name that they need.
      const lost = fc.constantFrom(...Array(12).fill(undefined), ...NAMES);
      return fc.tuple(required, left, other, lost).map(([required, left, other, lost]) =>
        Object.fromEntries(
          [required, left, other].flatMap((part) => Object.entries(part)).filter(([name]) => name !== lost),
        )
      );
    }
  }
}

/** Whether a value satisfies a JSON Schema of the keywords that a shape gives; any other keyword fails the test. */
function satisfies(schema: Record<string, unknown>, value: unknown): boolean {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const types: Record<string, boolean> = {
    string: typeof value === "string",
    // The one bound that no schema states.
    integer: Number.isSafeInteger(value),
    boolean: typeof value === "boolean",
    array: Array.isArray(value),
    object: isObject,
  };
  assert.ok((schema.type as string) in types, "each place has a single type");
  if (!types[schema.type as string]) return false;
  const { properties = {}, additionalProperties } = schema as Record<string, Record<string, Record<string, unknown>>>;
  return Object.entries(schema).every(([keyword, wanted]) => {
    switch (keyword) {
      case "type":
      case "properties":
        return true;
      case "minLength":
        return [...value as string].length >= Number(wanted);
      case "pattern":
        return new RegExp(wanted as string, "u").test(value as string);
      case "minimum":
        return Number(value) >= Number(wanted);
      case "maximum":
        return Number(value) <= Number(wanted);
      case "enum":
        return (wanted as unknown[]).includes(value);
      case "minItems":
        return (value as unknown[]).length >= Number(wanted);
      case "items":
        return (value as unknown[]).every((item) => satisfies(wanted as Record<string, unknown>, item));
      case "required":
        return (wanted as string[]).every((name) => Object.hasOwn(value as object, name));
      case "additionalProperties":
        return Object.entries(value as object).every(([name, member]) =>
          Object.hasOwn(properties, name)
            ? satisfies(properties[name], member)
            : wanted !== false && satisfies(additionalProperties, member)
        );
      default:
        throw new Error(`a keyword that not every client reads: ${keyword}`);
    }
  });
}
