/** What follows from a verb's shape: the check of arguments, with all that is wrong in one sentence, and the schema of its tool. */
import { nearest, Refusal } from "../refusal.ts";
import { check, type Fault, jsonSchema, type Members, object, type ObjectShape, type Path } from "./shape.ts";
import type { Form, Verb } from "./verb.ts";

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
 * The arguments of a call, checked against the verb's schema and its `check`.
 *
 * @param args What a front end was given: an object with the names of the schema.
 * @param form A tool call has only the arguments of the tool: what is for the command line is unknown to it.
 * @throws {Refusal} `invalid`, naming unknown arguments first, then missing ones, then wrong values. Spec: 2-verbs §2.26.
 */
export function checkArguments(verb: Verb, args: unknown, form: Form = "text"): Record<string, unknown> {
  const said: Record<Fault["what"], string[]> = { unknown: [], missing: [], wrong: [] };
  let faults = 0;
  const checked = check(form === "tool" ? toolShape(verb) : verb.schema, args, [], (fault) => {
    faults++;
    if (said[fault.what].length < COMPLAINTS) said[fault.what].push(complaint(verb, fault, form));
  }) as Record<string, unknown>;
  if (faults > 0) {
    const first = [...said.unknown, ...said.missing, ...said.wrong].slice(0, COMPLAINTS);
    const rest = faults > COMPLAINTS ? `; and ${faults - COMPLAINTS} more` : "";
    throw new Refusal("invalid", first.join("; ") + rest);
  }
  verb.check?.(checked);
  return checked;
}

/**
 * The JSON Schema of a verb's tool, made from the schema that checks its arguments: each property has the argument's help as
 * its description and, where a tool call gets another default than the command line, that default.
 */
export function inputSchema(verb: Verb): InputSchema {
  const whole = jsonSchema(toolShape(verb)) as InputSchema;
  const properties: InputSchema["properties"] = {};
  for (const [name, property] of Object.entries(whole.properties)) {
    const { help, toolDefault } = verb.arguments[name];
    properties[name] = {
      ...property,
      description: help,
      ...toolDefault === undefined ? {} : { default: toolDefault },
    };
  }
  const required = whole.required?.filter((name) => verb.arguments[name].toolDefault === undefined) ?? [];
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** The arguments of the tool: without those that are for the person who types. */
function toolShape({ schema, arguments: declared }: Verb): ObjectShape {
  const members: Members = schema.members;
  const own = Object.entries(members).filter(([name]) => !declared[name].commandLine);
  return own.length === Object.keys(members).length ? schema : object(Object.fromEntries(own));
}

function complaint(verb: Verb, fault: Fault, form: Form): string {
  if (fault.path.length === 0) return "the arguments must be one object";
  const name = label(fault.path);
  switch (fault.what) {
    case "unknown": {
      const { known } = fault;
      const meant = nearest(String(fault.path.at(-1)).slice(0, 100), known);
      if (meant) return `unknown argument ${name}, did you mean "${meant}"?`;
      return `unknown argument ${name}, ${
        known.length > 0 ? `known are ${known.join(", ")}` : `${verb.name} takes none`
      }`;
    }
    case "missing": {
      const switches = form === "tool" ? undefined : verb.arguments[fault.path[0]]?.switches;
      return switches
        ? `give ${Object.keys(switches).map((flag) => `--${flag}`).join(" or ")}`
        : `missing argument ${name}`;
    }
    case "wrong":
      return `${name} ${fault.message}`;
  }
}

/** `edits[0].path` in quotes; a caller's own words are clipped and escaped. */
function label(path: Path): string {
  let name = "";
  for (const step of path) name += typeof step === "number" ? `[${step}]` : `${name ? "." : ""}${step}`;
  const head = name.slice(0, 80);
  return JSON.stringify(head === name ? name : head + "…");
}
