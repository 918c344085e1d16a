/** `replace`: one literal text for another in many files. Spec: 2-verbs §2.14; decisions 14, 58. */
import { namedEncoding } from "../text/encoding.ts";
import { demandFindable } from "../text/substitute.ts";
import { flag, type Infer, list, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({
  find: text(),
  with: text(),
  glob: optional(text()),
  in: optional(text()),
  encoding: optional(text()),
  include_generated: optional(flag()),
  exclude: optional(list(text())),
  dry_run: optional(flag()),
});

export type ReplaceArguments = Infer<typeof schema>;

export const replace: EngineVerb<typeof schema> = {
  name: "replace",
  where: "engine",
  summary: "replace one text by another in many files",
  description:
    "Replaces a literal text, heeding case, at every place in the text files of one tree that the glob matches. No expressions. Nothing is " +
    "written unless it can be written in every file that holds the text.",
  tool: { readOnly: false, destructive: true, idempotent: false },
  schema,
  arguments: {
    find: { word: "one", value: "FIND", help: "the text to be found" },
    with: { word: "one", value: "WITH", help: "what comes in its place; may be empty" },
    glob: { value: "GLOB", help: "only files that this glob matches, such as src/**/*.ts" },
    in: { value: "TREE", help: "which open tree; default is the first declared" },
    encoding: { value: "NAME", help: "for files that have no byte-order mark and are not UTF-8" },
    include_generated: { help: "do not skip generated folders" },
    exclude: { value: "GLOB", help: "leave out what this glob matches" },
    dry_run: { help: "check everything and change nothing" },
  },
  check({ find, encoding }) {
    demandFindable(find);
    if (encoding !== undefined) namedEncoding(encoding);
  },
};
