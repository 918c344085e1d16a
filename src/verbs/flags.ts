/**
 * How a verb's arguments are written on the command line; from it follow the grammar, help and completions.
 *
 * Spec: 2-verbs §2.2, §2.3.
 */
import { bare, type Shape } from "./shape.ts";
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

/** How the value of an argument is written on the command line. */
export type ValueKind = "text" | "number" | "switch" | "choice" | "texts";

const VALUE_KINDS: Readonly<Record<Shape["kind"], ValueKind>> = {
  text: "text",
  integer: "number",
  flag: "switch",
  choice: "choice",
  list: "texts",
  map: "text",
  object: "text",
  document: "text",
};

/** The flag that stands for an argument. */
export function flagName(property: string, argument: Argument): string | undefined {
  if (argument.switches || argument.word && !argument.flag) return undefined;
  return argument.flag ?? property.replaceAll("_", "-");
}

/** The arguments of a verb with their schemas. */
export function argumentsOf(verb: Verb): { property: string; argument: Argument; kind: ValueKind }[] {
  return Object.entries<Argument>(verb.arguments).map(([property, argument]) => ({
    property,
    argument,
    kind: VALUE_KINDS[bare(verb.schema.members[property]).kind],
  }));
}
