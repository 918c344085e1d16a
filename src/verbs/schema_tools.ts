/**
 * What follows from a verb's schema: the check of arguments, in our own words, and the JSON Schema of its tool.
 *
 * zod finds what is wrong; what is said about it is written here. Only `zod/mini`, for the start-up of every verb.
 * A schema may give a check its own `error`: it completes the sentence that begins with the argument's name, as in
 * `must be A-B with 1 ≤ A ≤ B`.
 */
import * as z from "zod/mini";
import { nearest, Refusal } from "../refusal.ts";
import type { Verb } from "./verb.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** The JSON Schema of a tool's arguments: plain, closed, without references and alternatives. Spec: decision 35. */
export interface InputSchema {
  type: "object";
  properties: Record<string, Record<string, unknown>>;
  required?: string[];
  additionalProperties: false;
  [keyword: string]: unknown;
}

/** As many complaints as one refusal names; the rest is counted. */
const COMPLAINTS = 5;

/**
 * The arguments of a call, checked against the verb's schema and its `check`, with defaults filled in.
 *
 * @param args What a front end was given: an object with the names of the schema.
 * @throws {Refusal} `invalid`, naming unknown arguments first, then missing ones, then wrong values. Spec: 2-verbs §2.26.
 */
export function checkArguments(verb: Verb, args: unknown): Record<string, unknown> {
  const schema: z.ZodMiniObject = verb.schema;
  const result = z.safeParse(schema, args, { error: predicate });
  if (!result.success) throw new Refusal("invalid", complaints(verb, args, result.error.issues));
  verb.check?.(result.data);
  return result.data;
}

/**
 * The JSON Schema of a verb's tool, made from the schema that checks its arguments: each property has the argument's help as
 * its description and, where a tool call gets another default than the command line, that default.
 *
 * @throws {Error} When the schema of the verb needs a reference, alternatives or a value of any type: a defect of its declaration.
 */
export function inputSchema(verb: Verb): InputSchema {
  const whole = z.toJSONSchema(verb.schema as z.ZodMiniObject, { io: "input" });
  const properties: InputSchema["properties"] = {};
  for (const [name, property] of Object.entries(whole.properties ?? {})) {
    const argument = verb.arguments[name];
    properties[name] = { ...plain(property, verb.name), description: argument.help };
    if (argument.toolDefault !== undefined) properties[name].default = argument.toolDefault;
  }
  const required = whole.required?.filter((name) => verb.arguments[name].toolDefault === undefined) ?? [];
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** A JSON Schema without what some client cannot read, and without the bounds of safe integers, which tell nobody anything. */
function plain(node: unknown, verb: string): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const stated = node as Record<string, unknown>;
  const odd = Object.keys(stated).find((keyword) => ["$ref", "$defs", "anyOf", "oneOf"].includes(keyword));
  if (odd || typeof stated.type !== "string") {
    throw new Error(`the schema of ${verb} comes out with ${odd ?? "no single type"}, which not every client reads`);
  }
  for (const [keyword, value] of Object.entries(stated)) {
    if (keyword === "$schema" || Math.abs(value as number) === Number.MAX_SAFE_INTEGER) continue;
    if (keyword === "properties") {
      const properties = Object.entries(value as Record<string, unknown>);
      result[keyword] = Object.fromEntries(properties.map(([name, property]) => [name, plain(property, verb)]));
    } else if ((keyword === "items" || keyword === "additionalProperties") && typeof value === "object") {
      result[keyword] = plain(value, verb);
    } else {
      result[keyword] = value;
    }
  }
  return result;
}

/** All that is wrong in one line, the most telling first. */
function complaints(verb: Verb, args: unknown, issues: readonly Issue[]): string {
  const unknown: string[] = [], missing: string[] = [], wrong: string[] = [];
  for (const issue of issues) {
    const name = label(issue.path);
    if (issue.code === "unrecognized_keys") {
      const known = keysAt(verb.schema, issue.path);
      for (const key of issue.keys) unknown.push(unknownArgument(verb, label([...issue.path, key]), key, known));
    } else if (issue.path.length === 0 && issue.code === "invalid_type") {
      wrong.push("the arguments must be one object");
    } else if (valueAt(args, issue.path) === undefined) {
      missing.push(`missing argument ${name}`);
    } else {
      wrong.push(`${name} ${issue.message}`);
    }
  }
  const all = [...unknown, ...missing, ...wrong];
  const rest = all.length > COMPLAINTS ? `; and ${all.length - COMPLAINTS} more` : "";
  return all.slice(0, COMPLAINTS).join("; ") + rest;
}

function unknownArgument(verb: Verb, name: string, key: string, known: readonly string[]): string {
  const meant = nearest(key.slice(0, 100), known);
  if (meant) return `unknown argument ${name}, did you mean "${meant}"?`;
  return `unknown argument ${name}, ${known.length > 0 ? `known are ${known.join(", ")}` : `${verb.name} takes none`}`;
}

/** What is wrong with one value, said so that the argument's name can stand before it. */
function predicate(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return typeof issue.input === "number" && issue.expected === "int"
        ? "must be a whole number"
        : `must be ${KINDS[issue.expected] ?? issue.expected}, not ${KINDS[kind(issue.input)]}`;
    case "invalid_value": {
      const choices = issue.values.map((value) => JSON.stringify(value));
      const meant = typeof issue.input === "string" && nearest(issue.input.slice(0, 100), issue.values.map(String));
      const hint = meant ? `, did you mean "${meant}"?` : "";
      return choices.length === 1 ? `must be ${choices[0]}` : `must be one of ${choices.join(", ")}${hint}`;
    }
    case "too_small":
      return bound(issue.origin, Number(issue.minimum), issue.inclusive !== false ? "at least" : "more than");
    case "too_big":
      return bound(issue.origin, Number(issue.maximum), issue.inclusive !== false ? "at most" : "less than");
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return "has the wrong form";
    default:
      return "is not valid";
  }
}

function bound(origin: string, limit: number, words: string): string {
  if (origin === "string") {
    return words === "at least" && limit === 1
      ? "must not be empty"
      : `must have ${words} ${count(limit, "character")}`;
  }
  if (origin === "array") return `must hold ${words} ${count(limit, "item")}`;
  return `must be ${words} ${limit}`;
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function kind(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** `edits[0].path` in quotes; a caller's own words are clipped and escaped. */
function label(path: Path): string {
  let name = "";
  for (const step of path) name += typeof step === "number" ? `[${step}]` : `${name ? "." : ""}${String(step)}`;
  const head = name.slice(0, 80);
  return JSON.stringify(head === name ? name : head + "…");
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[step];
  }
  return at;
}

/** The names that the schema knows at a place. */
function keysAt(schema: z.core.$ZodType, path: Path): string[] {
  let at: Definition | undefined = bare(schema);
  for (const step of path) at = at && bare(typeof step === "number" ? at.element : at.shape?.[step as string]);
  return Object.keys(at?.shape ?? {});
}

interface Definition {
  shape?: Readonly<Record<string, z.core.$ZodType>>;
  element?: z.core.$ZodType;
  innerType?: z.core.$ZodType;
}

/** The definition inside optional, default and the like. */
function bare(schema: z.core.$ZodType | undefined): Definition | undefined {
  let definition = schema?._zod.def as Definition | undefined;
  while (definition?.innerType) definition = definition.innerType._zod.def as Definition;
  return definition;
}
