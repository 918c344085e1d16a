/**
 * How a verb's arguments are written on the command line; from it follow the grammar, help and completions.
 *
 * Spec: 2-verbs §2.2, §2.3.
 */
import type * as z from "zod/mini";
import type { Argument, Verb } from "./verb.ts";

/** Global flags for help: name, placeholder of the value, one sentence. */
export const GLOBAL_FLAGS: readonly { name: string; value?: string; repeat?: true; help: string }[] = [
  { name: "config", value: "PATH", help: "read the boundary from this file instead of looking for .fettler.json" },
  {
    name: "root",
    value: "[NAME=]PATH",
    repeat: true,
    help: "open this folder for listing and reading, and nothing else",
  },
  { name: "no-config", help: "look for no file: the launch folder, for listing and reading" },
  { name: "json", help: "answer with one JSON object" },
  { name: "help", help: "help for the verb" },
  { name: "version", help: "the version" },
];

/** What a schema wants under its `optional`s. */
export type ValueKind = "text" | "number" | "switch" | "choice" | "texts";

/** How the value of an argument is written on the command line. */
export function valueKind(schema: z.ZodMiniType): ValueKind {
  const def = (schema as unknown as { _zod: { def: { type: string; innerType?: z.ZodMiniType } } })._zod.def;
  switch (def.type) {
    case "optional":
    case "default":
      return valueKind(def.innerType!);
    case "number":
    case "int":
      return "number";
    case "boolean":
      return "switch";
    case "enum":
      return "choice";
    case "array":
      return "texts";
    default:
      return "text";
  }
}

/** The flag that stands for an argument. */
export function flagName(property: string, argument: Argument): string | undefined {
  if (argument.word && !argument.flag) return undefined;
  return argument.flag ?? property.replaceAll("_", "-");
}

/** The arguments of a verb with their schemas. */
export function argumentsOf(verb: Verb): { property: string; argument: Argument; kind: ValueKind }[] {
  return Object.entries<Argument>(verb.arguments).map(([property, argument]) => ({
    property,
    argument,
    kind: valueKind(verb.schema.shape[property]),
  }));
}
