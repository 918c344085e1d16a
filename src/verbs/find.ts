/** `find`: what is there. Spec: 2-verbs §2.9. */
import { choice, flag, type Infer, integer, list, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

/** Answers of a call that names no limit. */
export const LIMIT = 1000;

const schema = object({
  pattern: optional(text()),
  in: optional(text()),
  type: optional(choice(["file", "dir", "any"])),
  depth: optional(integer({ min: 1 })),
  sort: optional(choice(["path", "mtime", "size"])),
  since: optional(text()),
  limit: optional(integer({ min: 0 })),
  include_generated: optional(flag()),
  exclude: optional(list(text())),
});

export type FindArguments = Infer<typeof schema>;

export const find: EngineVerb<typeof schema> = {
  name: "find",
  where: "engine",
  summary: "list files and folders by name",
  description:
    "Lists files (or folders) of one tree by a glob over the whole path, such as src/**/*.ts. Not a search of contents: " +
    "that is search. Generated folders such as node_modules are skipped and counted.",
  tool: { readOnly: true, destructive: false, idempotent: true },
  schema,
  arguments: {
    pattern: {
      word: "one",
      value: "PATTERN",
      help: "a glob over the path below the tree; * stays in a segment, **/ spans any",
    },
    in: { value: "TREE", help: "which open tree; default is the first declared" },
    type: { value: "file|dir|any", default: "file", help: "file: files and links; dir: folders; any: every entry" },
    depth: { value: "N", help: "at most N levels below the start folder; 1 is its direct entries" },
    sort: {
      value: "path|mtime|size",
      default: "path",
      presets: { "sort-modified": "mtime" },
      help: "mtime: newest first; size: largest first",
    },
    since: { value: "TIME", help: "only what was modified after this ISO 8601 date or time (UTC without an offset)" },
    limit: { value: "N", default: LIMIT, help: "at most N entries, 0 for all" },
    include_generated: { help: "do not skip generated folders" },
    exclude: { value: "GLOB", help: "leave out what this glob matches" },
  },
};
