/**
 * A small language for the arguments of a verb: what each has to be. One shape checks what a caller gave, gives the JSON Schema
 * of the tool, tells the command line how a value is written, and tells the compiler what type comes out.
 *
 * A shape is plain data and costs nothing to make: the same shapes in zod took 4 ms more to load and first use (measured in a
 * bundle), in each of the two processes of a start.
 * There are no alternatives, references or values of any type, since not every client of MCP reads those in a JSON Schema.
 */
import { nearest } from "../refusal.ts";

/** What a value has to be. */
export type Shape =
  | TextShape
  | IntegerShape
  | FlagShape
  | ChoiceShape
  | ListShape
  | MapShape
  | ObjectShape
  | DocumentShape;

export interface TextShape extends TextRules {
  kind: "text";
}

/** What a text has to be beyond being one. */
export interface TextRules {
  /** Not empty. */
  filled?: true;
  /** Found in the text; without flags, for the JSON Schema. */
  pattern?: RegExp;
  /** What a pattern cannot say, and no JSON Schema either. */
  fits?(text: string): boolean;
  /** Said after the argument's name when `pattern` or `fits` is not met: `must be A-B with 1 ≤ A ≤ B`. */
  must?: string;
}

/** A whole number that a double holds exactly, the bounds included. */
export interface IntegerShape {
  kind: "integer";
  min?: number;
  max?: number;
}

export interface FlagShape {
  kind: "flag";
}

export interface ChoiceShape<V extends string = string> {
  kind: "choice";
  values: readonly V[];
}

export interface ListShape<M extends Shape = Shape> {
  kind: "list";
  member: M;
  /** At least so many members. */
  min?: number;
}

/** An object whose names are the caller's own. */
export interface MapShape<M extends Shape = Shape> {
  kind: "map";
  member: M;
}

/** An object with these names and no other. */
export interface ObjectShape<F extends Members = Members> {
  kind: "object";
  members: F;
}

/** An object that is checked elsewhere: a script. */
export interface DocumentShape {
  kind: "document";
}

/** The members of an object by name. */
export type Members = Readonly<Record<string, Shape | Optional>>;

/** A member that may be left out. */
export interface Optional<S extends Shape = Shape> {
  kind: "optional";
  shape: S;
}

export function text(rules: TextRules = {}): TextShape {
  return { kind: "text", ...rules };
}

export function integer(bounds: { min?: number; max?: number } = {}): IntegerShape {
  return { kind: "integer", ...bounds };
}

export function flag(): FlagShape {
  return { kind: "flag" };
}

export function choice<const V extends string>(values: readonly V[]): ChoiceShape<V> {
  return { kind: "choice", values };
}

export function list<M extends Shape>(member: M, bounds: { min?: number } = {}): ListShape<M> {
  return { kind: "list", member, ...bounds };
}

export function map<M extends Shape>(member: M): MapShape<M> {
  return { kind: "map", member };
}

export function object<F extends Members>(members: F): ObjectShape<F> {
  return { kind: "object", members };
}

export function document(): DocumentShape {
  return { kind: "document" };
}

export function optional<S extends Shape>(shape: S): Optional<S> {
  return { kind: "optional", shape };
}

/**
 * The type of what fits a shape.
 *
 * @example
 * ```ts
 * const schema = object({ paths: list(text(), { min: 1 }), limit: optional(integer({ min: 0 })) });
 * type Arguments = Infer<typeof schema>; // { paths: string[]; limit?: number }
 * ```
 */
export type Infer<S> = Shape extends S ? unknown // A shape of which nothing is known.
  : S extends TextShape ? string
  : S extends IntegerShape ? number
  : S extends FlagShape ? boolean
  : S extends ChoiceShape<infer V> ? V
  : S extends ListShape<infer M> ? Infer<M>[]
  : S extends MapShape<infer M> ? Record<string, Infer<M>>
  : S extends ObjectShape<infer F> ? InferMembers<F>
  : S extends DocumentShape ? Record<string, unknown>
  : never;

type InferMembers<F extends Members> = Flat<
  & { [N in keyof F as F[N] extends Optional ? never : N]: Infer<F[N]> }
  & { [N in keyof F as F[N] extends Optional ? N : never]?: F[N] extends Optional<infer S> ? Infer<S> : never }
>;

/** One object type instead of an intersection, for whoever reads it in an editor. */
type Flat<T> = { [N in keyof T]: T[N] };

/** Names and list positions from the arguments down to a value. */
export type Path = readonly (string | number)[];

/** What is wrong with one value. */
export type Fault =
  | { what: "unknown"; path: Path; known: readonly string[] }
  | { what: "missing"; path: Path }
  /** `message` is said after the argument's name. */
  | { what: "wrong"; path: Path; message: string };

/**
 * Checks a value and all that is in it, and tells every fault, those of a list's members and of an object's in their order.
 *
 * Of an object only its own enumerable names count, and `undefined` is as good as absent.
 * @returns The value, made anew of what the shape knows. Of no use when a fault was told.
 */
export function check(shape: Shape, value: unknown, path: Path, tell: (fault: Fault) => void): unknown {
  const wrong = (message: string) => tell({ what: "wrong", path, message });
  const wrongKind = (kind: string) => wrong(`must be ${kind}, not ${kindOf(value)}`);
  if (value === undefined) return tell({ what: "missing", path });
  switch (shape.kind) {
    case "text":
      if (typeof value !== "string") return wrongKind("text");
      if (shape.filled && value === "") return wrong("must not be empty");
      if (shape.pattern?.test(value) === false || shape.fits?.(value) === false) {
        return wrong(shape.must ?? "has the wrong form");
      }
      return value;
    case "integer":
      if (typeof value !== "number" || !Number.isFinite(value)) return wrongKind("a number");
      if (!Number.isInteger(value)) return wrong("must be a whole number");
      for (const least of [Number.MIN_SAFE_INTEGER, shape.min]) {
        if (least !== undefined && value < least) wrong(`must be at least ${least}`);
      }
      for (const most of [Number.MAX_SAFE_INTEGER, shape.max]) {
        if (most !== undefined && value > most) wrong(`must be at most ${most}`);
      }
      return value;
    case "flag":
      return typeof value === "boolean" ? value : wrongKind("true or false");
    case "choice":
      return shape.values.some((choice) => choice === value) ? value : wrong(choices(shape.values, value));
    case "list": {
      if (!Array.isArray(value)) return wrongKind("a list");
      const members = Array.from(value, (member, index) => check(shape.member, member, [...path, index], tell));
      if (shape.min !== undefined && value.length < shape.min) {
        wrong(`must hold at least ${shape.min} ${shape.min === 1 ? "item" : "items"}`);
      }
      return members;
    }
    case "map": {
      if (!isObject(value)) return wrongKind("an object");
      // Without a prototype, so that no name finds anything that the caller did not give.
      const result: Record<string, unknown> = Object.create(null);
      for (const [name, member] of Object.entries(value)) {
        result[name] = check(shape.member, member, [...path, name], tell);
      }
      return result;
    }
    case "document":
      return isObject(value) ? value : wrongKind("an object");
    case "object":
      return isObject(value) ? checkMembers(shape, value, path, tell) : wrongKind("an object");
  }
}

function checkMembers({ members }: ObjectShape, value: object, path: Path, tell: (fault: Fault) => void): unknown {
  const given = new Map<string, unknown>(Object.entries(value));
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(members)) {
    const isOptional = member.kind === "optional";
    if (!isOptional || given.get(name) !== undefined) {
      result[name] = check(isOptional ? member.shape : member, given.get(name), [...path, name], tell);
    }
    given.delete(name);
  }
  const known = Object.keys(members);
  for (const name of given.keys()) tell({ what: "unknown", path: [...path, name], known });
  return result;
}

/** The JSON Schema of a shape, as far as it can say it. Whole numbers above 2^53 - 1 and `fits` it leaves to `check`. */
export function jsonSchema(shape: Shape): Record<string, unknown> {
  switch (shape.kind) {
    case "text":
      return {
        type: "string",
        ...shape.filled ? { minLength: 1 } : {},
        ...shape.pattern ? { pattern: shape.pattern.source } : {},
      };
    case "integer":
      return {
        type: "integer",
        ...shape.min === undefined ? {} : { minimum: shape.min },
        ...shape.max === undefined ? {} : { maximum: shape.max },
      };
    case "flag":
      return { type: "boolean" };
    case "choice":
      return { type: "string", enum: shape.values };
    case "list":
      return {
        ...shape.min === undefined ? {} : { minItems: shape.min },
        type: "array",
        items: jsonSchema(shape.member),
      };
    case "map":
      return { type: "object", additionalProperties: jsonSchema(shape.member) };
    case "document":
      return { type: "object" };
    case "object": {
      const members = Object.entries(shape.members);
      const required = members.filter(([, member]) => member.kind !== "optional").map(([name]) => name);
      return {
        type: "object",
        properties: Object.fromEntries(members.map(([name, member]) => [name, jsonSchema(bare(member))])),
        ...required.length > 0 ? { required } : {},
        additionalProperties: false,
      };
    }
  }
}

/** The shape of a member, whether or not it may be left out. */
export function bare(member: Shape | Optional): Shape {
  return member.kind === "optional" ? member.shape : member;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a value of the wrong kind is, in words. */
function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  const words: Readonly<Record<string, string>> = {
    string: "text",
    number: "a number",
    boolean: "true or false",
    object: "an object",
  };
  return words[typeof value] ?? typeof value;
}

function choices(values: readonly string[], value: unknown): string {
  const quoted = values.map((value) => JSON.stringify(value));
  if (quoted.length === 1) return `must be ${quoted[0]}`;
  const meant = typeof value === "string" && nearest(value.slice(0, 100), values);
  return `must be one of ${quoted.join(", ")}${meant ? `, did you mean "${meant}"?` : ""}`;
}
