/** `search`: where a text occurs. Spec: 2-verbs §2.10; 3-documents-and-archives §3.1, §3.3. */
import { Refusal } from "../refusal.ts";
import { flag, type Infer, integer, list, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

/** Answers of a call that names no limit. */
export const LIMIT = 200;

const schema = object({
  patterns: list(text(), { min: 1 }),
  glob: optional(text()),
  in: optional(text()),
  literal: optional(flag()),
  case_sensitive: optional(flag()),
  context: optional(integer({ min: 0 })),
  limit: optional(integer({ min: 0 })),
  count: optional(flag()),
  files_only: optional(flag()),
  encoding: optional(text()),
  include_generated: optional(flag()),
  exclude: optional(list(text())),
});

export type SearchArguments = Infer<typeof schema>;

export const search: EngineVerb<typeof schema> = {
  name: "search",
  where: "engine",
  summary: "find text in files",
  description:
    "Searches the text files of one tree, line by line, ignoring case. Patterns are ECMAScript regular expressions, or " +
    "plain text under literal. Not a search for file names: that is find.",
  tool: { readOnly: true, destructive: false, idempotent: true },
  schema,
  arguments: {
    patterns: {
      word: "many",
      value: "PATTERN",
      flag: "pattern",
      short: "-e",
      lines: { file: "pattern-file", stdin: "pattern-stdin" },
      help: "what to look for; several are alternatives",
    },
    glob: { value: "GLOB", help: "only files that this glob matches, such as src/**/*.ts" },
    in: { value: "TREE", help: "which open tree; default is the first declared" },
    literal: { help: "patterns are text, not expressions" },
    case_sensitive: { help: "heed upper and lower case" },
    context: { value: "N", default: 0, help: "N lines on each side of a hit" },
    limit: { value: "N", default: LIMIT, help: "at most N hits, 0 for all; with files_only it counts files" },
    count: { help: "numbers only" },
    files_only: { help: "one entry per file, its first hit" },
    encoding: { value: "NAME", help: "for files that have no byte-order mark and are not UTF-8" },
    include_generated: { help: "do not skip generated folders" },
    exclude: { value: "GLOB", help: "leave out what this glob matches" },
  },
  check({ patterns, count, files_only: filesOnly }) {
    if (patterns.includes("")) throw new Refusal("invalid", "a pattern is empty; it would match every line");
    if (count && filesOnly) {
      throw new Refusal("invalid", "count and files_only are two different answers; give one of them");
    }
  },
};
