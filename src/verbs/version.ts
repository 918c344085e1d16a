/** `version`. Spec: 2-verbs §2.25. */
import { VERSION } from "../version.ts";
import { object } from "./shape.ts";
import type { MainVerb } from "./verb.ts";

const schema = object({});

export const version: MainVerb<typeof schema> = {
  name: "version",
  where: "main",
  summary: "the version",
  description: "Prints the version. Needs no configuration.",
  schema,
  arguments: {},
  run: () => ({ json: { name: "fettle", version: VERSION }, text: () => `fettle ${VERSION}` }),
};
