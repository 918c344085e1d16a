/** `schema`: the JSON Schema of `.fettler.json`, for editors. Spec: 2-verbs §2.25, 1-boundary §1.13. */
import { jsonSchema } from "../config/schema.ts";
import { object } from "./shape.ts";
import type { MainVerb } from "./verb.ts";

const arguments_ = object({});

export const schema: MainVerb<typeof arguments_> = {
  name: "schema",
  where: "main",
  summary: "the JSON Schema of .fettler.json",
  description: "Prints the JSON Schema of the configuration file, made from the definition that checks it.",
  schema: arguments_,
  arguments: {},
  run() {
    const schema = jsonSchema() as Record<string, unknown>;
    return { bare: true, json: schema, text: () => JSON.stringify(schema, undefined, 2) };
  },
};
