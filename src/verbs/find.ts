/** `find`: what is there. Spec: 2-verbs §2.9. */
import * as z from "zod/mini";
import { printable } from "../boundary/print.ts";
import type { Location } from "../boundary/locate.ts";
import type { Survey } from "../boundary/survey.ts";
import { DiskError, type EntryKind, type Facts, type Folder, lookIfAllowed } from "../disk/disk.ts";
import { parseTime, timeJson, timeText } from "../text/time.ts";
import { type FactFields, factFields } from "./facts.ts";
import { type Sweep, sweep } from "./sweep.ts";
import type { Answer, EngineVerb } from "./verb.ts";

const LIMIT = 1000;

const schema = z.strictObject({
  pattern: z.optional(z.string()),
  in: z.optional(z.string()),
  type: z.optional(z.enum(["file", "dir", "any"])),
  depth: z.optional(z.int().check(z.minimum(1))),
  sort: z.optional(z.enum(["path", "mtime", "size"])),
  since: z.optional(z.string()),
  limit: z.optional(z.int().check(z.minimum(0))),
  include_generated: z.optional(z.boolean()),
  exclude: z.optional(z.array(z.string())),
});

type FindArguments = z.infer<typeof schema>;

/** An entry that was found; answers are made of the ones that are left after sorting and the limit. */
interface Row {
  path: string;
  facts: Facts;
  fields: FactFields;
}

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
  run(args, side): Answer {
    const since = args.since === undefined ? undefined : parseTime(args.since);
    const limit = args.limit ?? LIMIT;
    const sort = args.sort ?? "path";
    const type = args.type ?? "file";
    const rows: Row[] = [];
    let more = false;
    let looked = 0;
    const met = sweep(side, { ...args, glob: args.pattern }, {
      depth: args.depth,
      folders: type !== "file",
      visit(at, name, path, kind, _place, judged) {
        if (!wants(type, kind)) return true;
        side.call.progress(++looked);
        const facts = judged ?? lookIfAllowed(at.folder, name);
        // Of another kind than it was listed as: somebody put another entry here, and nobody judged that one.
        if (facts?.kind !== kind || since !== undefined && facts.modified <= since) return true;
        if (sort === "path" && limit > 0 && rows.length === limit) {
          more = true;
          return false;
        }
        rows.push({ path, facts, fields: fieldsOf(side.survey, at, name, facts) });
        return true;
      },
    });
    if (sort === "mtime") rows.sort((a, b) => b.facts.modified - a.facts.modified);
    if (sort === "size") rows.sort((a, b) => b.facts.size - a.facts.size);
    const truncated = more || limit > 0 && rows.length > limit;
    if (limit > 0 && rows.length > limit) rows.length = limit;
    return {
      json: {
        files: rows.map((row) => jsonRow(met, row)),
        count: rows.length,
        truncated,
        excluded: met.excluded,
        ...met.excludedAtLeast ? { excluded_at_least: true } : {},
        ...met.foldersUnreadable > 0 ? { folders_unreadable: met.foldersUnreadable } : {},
        ...met.namesUndecodable > 0 ? { names_undecodable: met.namesUndecodable } : {},
      },
      text: () => rows.map((row) => textRow(met, row)).join("\n"),
      closing: () => footer(args, rows.length, truncated, met),
    };
  },
};

function wants(type: NonNullable<FindArguments["type"]>, kind: EntryKind): boolean {
  return type === "any" || (type === "dir" ? kind === "dir" : kind === "file" || kind === "link");
}

function fieldsOf(survey: Survey, at: { folder: Folder; real: Location }, name: string, facts: Facts): FactFields {
  try {
    return factFields(survey, at, name, facts);
  } catch (error) {
    if (error instanceof DiskError) return {};
    throw error;
  }
}

function jsonRow(met: Sweep, { path, facts, fields }: Row): Record<string, unknown> {
  return {
    path: met.print(path),
    type: facts.kind,
    ...facts.kind === "dir" ? {} : { bytes: facts.size },
    modified: timeJson(facts.modified),
    ...fields,
  };
}

function textRow(met: Sweep, { path, facts, fields }: Row): string {
  const isFolder = facts.kind === "dir";
  const shown = printable(met.print(path) + (isFolder ? "/" : ""));
  const size = isFolder ? "-" : String(facts.size);
  const link = fields.link ? `  -> ${fields.link_target === undefined ? "?" : printable(fields.link_target)}` : "";
  return `${shown.padEnd(48)} ${size.padStart(9)}  ${timeText(facts.modified)}${link}`;
}

const NOUNS = { file: ["file", "files"], dir: ["folder", "folders"], any: ["entry", "entries"] } as const;

function footer(args: FindArguments, count: number, truncated: boolean, met: Sweep): string {
  const [one, many] = NOUNS[args.type ?? "file"];
  return `${count} ${count === 1 ? one : many}${excludedNote(met)}${truncated ? " (limit reached)" : ""}${
    foldersNote(met)
  }`;
}

/** What was left out, as the last line of a sweep's text says it. */
export function excludedNote(met: Sweep): string {
  if (met.excluded === 0) return "";
  const number = met.excludedAtLeast ? `${met.excluded}+` : String(met.excluded);
  if (met.skipped.length === 0) return ` (${number} excluded)`;
  return ` (${number} excluded: ${met.skipped.map(printable).join(", ")} - pass --include-generated)`;
}

export function foldersNote(met: Sweep): string {
  const n = met.foldersUnreadable;
  return n === 0 ? "" : `; ${n} ${n === 1 ? "folder" : "folders"} could not be opened`;
}
