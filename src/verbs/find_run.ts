/** What `find` does. Spec: 2-verbs §2.9. */
import { printable } from "../boundary/print.ts";
import type { Location } from "../boundary/locate.ts";
import type { Survey } from "../boundary/survey.ts";
import { DiskError, type EntryKind, type Folder, lookIfAllowed } from "../disk/disk.ts";
import { parseTime, timeJson, timeText } from "../text/time.ts";
import { type FactFields, linkFields, ownFields } from "./facts.ts";
import { type Sweep, sweep } from "./sweep.ts";
import type { Answer, EngineSide } from "./verb.ts";
import { type FindArguments, LIMIT } from "./find.ts";

export function run(args: FindArguments, side: EngineSide): Answer {
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
      const { size, modified, mode } = facts;
      rows.push({
        path,
        kind,
        size,
        modified,
        mode,
        link: kind === "link" ? fieldsOf(side.survey, at, name) : undefined,
      });
      return true;
    },
  });
  if (sort === "mtime") rows.sort((a, b) => b.modified - a.modified);
  if (sort === "size") rows.sort((a, b) => b.size - a.size);
  const truncated = more || limit > 0 && rows.length > limit;
  if (limit > 0 && rows.length > limit) rows.length = limit;
  return {
    // Of 98,000 files neither form takes as long as to look at them, but each a third of that (measured): made when it is asked for.
    get json() {
      const time = timesOfDays(timeJson);
      return {
        files: rows.map((row) => jsonRow(side.survey, met, row, time)),
        count: rows.length,
        truncated,
        excluded: met.excluded,
        ...met.excludedAtLeast ? { excluded_at_least: true } : {},
        ...met.foldersUnreadable > 0 ? { folders_unreadable: met.foldersUnreadable } : {},
        ...met.namesUndecodable > 0 ? { names_undecodable: met.namesUndecodable } : {},
      };
    },
    text() {
      const time = timesOfDays(timeText);
      return rows.map((row) => textRow(met, row, time)).join("\n");
    },
    closing: () => footer(args, rows.length, truncated, met),
  };
}

/** An entry that was found; answers are made of the ones that are left after sorting and the limit. */
interface Row {
  path: string;
  kind: EntryKind;
  size: number;
  modified: number;
  mode?: number;
  /** Of a link. */
  link?: FactFields;
}

function wants(type: NonNullable<FindArguments["type"]>, kind: EntryKind): boolean {
  return type === "any" || (type === "dir" ? kind === "dir" : kind === "file" || kind === "link");
}

function fieldsOf(survey: Survey, at: { folder: Folder; real: Location }, name: string): FactFields {
  try {
    return linkFields(survey, at, name);
  } catch (error) {
    if (error instanceof DiskError) return {};
    throw error;
  }
}

function jsonRow(survey: Survey, met: Sweep, of: Row, time: Teller): Record<string, unknown> {
  const { path, kind, size, modified, link } = of;
  const row: Record<string, unknown> = { path: met.print(path), type: kind };
  if (kind !== "dir") row.bytes = size;
  row.modified = time(modified);
  return Object.assign(row, ownFields(survey, path.slice(path.lastIndexOf("/") + 1), of), link);
}

/** Puts a moment into words: `timeJson` or `timeText`. */
type Teller = (ms: number) => string;

const DAY = 86_400_000;

/** The same for many moments: a date is made once for all that lie in its day. For 20,000 of one year 6 ms, 14 by itself (measured). */
function timesOfDays(teller: Teller): Teller {
  const dates = new Map<number, string>();
  const whole = teller === timeText;
  return (ms) => {
    const floor = Math.floor(ms);
    const day = Math.floor(floor / DAY);
    // What no date can hold is for the teller to say.
    if (Math.abs(day) >= 1e8) return teller(ms);
    let date = dates.get(day);
    if (date === undefined) dates.set(day, date = timeJson(day * DAY).slice(0, -"HH:MM:SS.mmmZ".length));
    const left = floor - day * DAY;
    const seconds = Math.floor(left / 1000);
    const minutes = Math.floor(seconds / 60);
    const time = `${date}${digits(Math.floor(minutes / 60))}:${digits(minutes % 60)}:${digits(seconds % 60)}`;
    return whole ? `${time}Z` : `${time}.${String(1000 + left % 1000).slice(1)}Z`;
  };
}

function digits(n: number): string {
  return n < 10 ? `0${n}` : `${n}`;
}

function textRow(met: Sweep, { path, kind, size, modified, link: fields }: Row, time: Teller): string {
  const isFolder = kind === "dir";
  const shown = printable(met.print(path) + (isFolder ? "/" : ""));
  const bytes = isFolder ? "-" : String(size);
  const link = fields?.link ? `  -> ${fields.link_target === undefined ? "?" : printable(fields.link_target)}` : "";
  return `${shown.padEnd(48)} ${bytes.padStart(9)}  ${time(modified)}${link}`;
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
