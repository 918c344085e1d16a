/** `read`: what a file holds. Spec: 2-verbs §2.11; 3-documents-and-archives §3.1. */
import { Refusal } from "../refusal.ts";
import { flag, type Infer, integer, list, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({
  paths: list(text(), { min: 1 }),
  from: optional(integer({ min: 1 })),
  to: optional(integer({ min: 1 })),
  tail: optional(integer({ min: 1 })),
  columns: optional(text()),
  numbered: optional(flag()),
  encoding: optional(text()),
});

export type ReadArguments = Infer<typeof schema>;

export const read: EngineVerb<typeof schema> = {
  name: "read",
  where: "engine",
  summary: "read files, or parts of them",
  description:
    "Reads text files: the first 2,000 lines unless told otherwise, and at most 40,000 characters a call; the answer says how " +
    "to go on. Pass the hash of a file as expect when you change it.",
  tool: { readOnly: true, destructive: false, idempotent: true },
  schema,
  arguments: {
    paths: { word: "many", value: "PATH", help: "files, as path or name:path, answered in order" },
    from: { value: "N", default: 1, help: "first line" },
    to: { value: "N", help: "last line; stating it lifts the cap of 2,000 lines" },
    tail: { value: "N", help: "the last N lines, instead of from and to" },
    columns: {
      value: "A-B",
      help: "only these characters of each line, for lines longer than the budget; one path only",
    },
    numbered: { toolDefault: true, help: "put line numbers before the lines of text; they are no part of the file" },
    encoding: { value: "NAME", help: "read as this encoding, such as windows-1252 or shift_jis" },
  },
  check({ paths, from, to, tail, columns }) {
    if (tail !== undefined && (from !== undefined || to !== undefined)) {
      throw new Refusal("invalid", "tail is the end of a file, from and to are a range of it; give one of the two");
    }
    if (from !== undefined && to !== undefined && from > to) {
      throw new Refusal("invalid", `from (${from}) is above to (${to})`);
    }
    if (columns !== undefined) {
      columnsOf(columns);
      if (paths.length > 1) throw new Refusal("invalid", "columns go with one path only");
    }
  },
};

/** The first and last character that `columns` names. @throws {Refusal} `invalid` */
export function columnsOf(written: string): readonly [number, number] {
  const match = /^([0-9]+)-([0-9]+)$/.exec(written);
  const [from, to] = match ? [Number(match[1]), Number(match[2])] : [0, 0];
  if (from < 1 || to < from || !Number.isSafeInteger(to)) {
    throw new Refusal("invalid", `columns are written A-B with 1 ≤ A ≤ B, such as 40001-80000; '${written}' is not`);
  }
  return [from, to];
}
