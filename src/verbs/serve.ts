/** `serve`: performed by the front end; declared here for help and the grammar. Spec: 2-verbs §2.26. */
import { object } from "./shape.ts";
import type { FrontVerb } from "./verb.ts";

const schema = object({});

export const serve: FrontVerb<typeof schema> = {
  name: "serve",
  where: "front",
  summary: "the MCP server on standard input and output, started by a client",
  description: "Serves the tools to an MCP client. The boundary is read again before every call.",
  schema,
  arguments: {},
};
