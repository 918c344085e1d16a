/** What `read` does. Spec: 2-verbs §2.11; 3-documents-and-archives §3.1. */
import { demandListed, locate } from "../boundary/locate.ts";
import { printable, printLocation } from "../boundary/print.ts";
import type { Survey } from "../boundary/survey.ts";
import { DiskError, type OpenFile } from "../disk/disk.ts";
import { find, type Found, refusalOf } from "../disk/resolve.ts";
import { isTextual, kindOf } from "../documents/kinds.ts";
import { outside, Refusal } from "../refusal.ts";
import { type Encoding, namedEncoding } from "../text/encoding.ts";
import { CHARACTER_CAP, readSlice, type Slice, sliceRows, sliceText } from "../text/slice.ts";
import { type FactFields, factFields } from "./facts.ts";
import { openHasher } from "./hash.ts";
import { demand } from "../boundary/permission.ts";
import { demandUnscreened } from "./screen.ts";
import type { Answer, EngineSide } from "./verb.ts";
import { columnsOf, type ReadArguments } from "./read.ts";

/** Lines and files of a call that is soon over: those of one without limits, five times. */
const BRIEF = { lines: 10_000, files: 5 };

export function brief({ paths, from = 1, to = 1, tail = 1 }: ReadArguments): boolean {
  return Math.max(from, to, tail) <= BRIEF.lines && paths.length <= BRIEF.files &&
    paths.every((path) => isTextual(kindOf(path)));
}

export async function run(args: ReadArguments, side: EngineSide): Promise<Answer> {
  const encoding = args.encoding === undefined ? undefined : namedEncoding(args.encoding);
  if (args.paths.length > 1) judgeAll(side, args.paths);
  let budget = CHARACTER_CAP;
  const files: Served[] = [];
  for (const path of args.paths) {
    const found = find(side.disk, side.survey, path, { follow: true });
    try {
      demandReadable(side.survey, found);
      const served = await serve(side, found, args, encoding, budget);
      budget = Math.max(0, budget - served.slice.spent);
      files.push(served);
    } finally {
      found.close();
    }
  }
  return {
    budgeted: true,
    get json() {
      return { files: files.map((file) => jsonFile(file, args)), count: files.length };
    },
    text: () => files.map((file) => textFile(file, args)).join("\n\n"),
  };
}

/** A file that was read. */
interface Served {
  path: string;
  slice: Slice;
  /** Absent for a large file. */
  hash?: string;
  bytes: number;
  fields: FactFields;
}

/**
 * Judges all paths of a call before the first is served: each passes a stage before any enters the next, so the answer does not
 * depend on their order. What is served is found and judged again, by then with one folder open at a time. Spec: 1-boundary §1.6.
 */
function judgeAll({ survey, disk }: EngineSide, paths: readonly string[]) {
  const staged = (act: (path: string, index: number) => void) =>
    paths.forEach((path, index) => {
      try {
        act(path, index);
      } catch (error) {
        if (error instanceof Refusal && error.outcome === "outside-root") {
          throw outside({ index: index + 1, of: paths.length });
        }
        throw error;
      }
    });
  staged((path) => locate(survey, path));
  // What the stages after the second say of each path: about permission, then about what is there.
  const permission: (Refusal | undefined)[] = [];
  const existence: (Refusal | undefined)[] = [];
  staged((path, index) => {
    try {
      const found = find(disk, survey, path, { follow: true });
      found.close();
      permission[index] = refusalIn(() => demandGranted(survey, found));
      existence[index] = refusalIn(() => demandFile(survey, found));
    } catch (error) {
      if (!(error instanceof Refusal) || error.outcome === "outside-root") throw error;
      const written = locate(survey, path).at(-1)!;
      permission[index] = refusalIn(() =>
        demand(demandListed(survey, written), ["read"], printLocation(survey.boundary, written))
      );
      existence[index] = error;
    }
  });
  const first = [...permission, ...existence].find((refusal) => refusal !== undefined);
  if (first) throw first;
}

function refusalIn(act: () => void): Refusal | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function demandReadable(survey: Survey, found: Found) {
  demandGranted(survey, found);
  demandFile(survey, found);
}

function demandGranted(survey: Survey, { place, written }: Found) {
  demand(place, ["read"], printLocation(survey.boundary, written));
}

function demandFile(survey: Survey, { written, facts, name }: Found) {
  const path = printLocation(survey.boundary, written);
  switch (facts?.kind) {
    case "file":
      break;
    case "dir":
      throw new Refusal("refused", "this is a folder; find lists what is in it", path);
    case undefined:
      throw new Refusal("not-found", "there is no such file or folder", path);
    default:
      throw new Refusal("refused", "this is a FIFO, a socket or a device; such files are not opened", path);
  }
  const kind = kindOf(name);
  if (!isTextual(kind)) {
    throw new Refusal(
      "refused",
      `this is a binary file to this release, which has no reader for the kind '${kind}'`,
      path,
    );
  }
}

async function serve(
  { survey, call }: EngineSide,
  found: Found,
  args: ReadArguments,
  encoding: Encoding | undefined,
  budget: number,
): Promise<Served> {
  const path = printLocation(survey.boundary, found.written);
  demandUnscreened(survey, found.real);
  let file: OpenFile | undefined;
  try {
    file = found.folder.file(found.name);
    const facts = file.facts();
    const opened = file;
    const hasher = await openHasher(facts.size);
    const readAt = (buffer: Uint8Array, offset: number) => {
      call.pulse();
      return opened.readAt(buffer, offset);
    };
    const slice = readSlice({ size: facts.size, readAt }, {
      from: args.from,
      to: args.to,
      tail: args.tail,
      columns: args.columns === undefined ? undefined : columnsOf(args.columns),
      encoding,
      numbered: args.numbered ?? false,
      budget,
      hasher,
      path,
    });
    const at = { folder: found.folder, real: { ...found.real, segments: found.real.segments.slice(0, -1) } };
    const fields = factFields(survey, at, found.name, facts);
    return { path, slice, ...slice.large ? {} : { hash: await hasher.digest() }, bytes: facts.size, fields };
  } catch (error) {
    if (error instanceof DiskError) throw refusalOf(error, path);
    throw error;
  } finally {
    file?.close();
  }
}

function jsonFile(
  { path, slice, hash, bytes, fields }: Served,
  { numbered, columns }: ReadArguments,
): Record<string, unknown> {
  const { lineCut } = slice;
  return {
    path,
    kind: "text",
    text: sliceText(slice, numbered ?? false),
    from: slice.from,
    to: slice.to,
    ...slice.total === undefined ? {} : { lines: slice.total },
    truncated: slice.truncated,
    ...slice.linesRemaining === undefined ? {} : { lines_remaining: slice.linesRemaining },
    ...slice.budgeted ? { budgeted: true } : {},
    ...columns === undefined ? {} : { columns },
    ...lineCut
      ? { line_cut: { line: lineCut.line, ...lineCut.total === undefined ? {} : { total: lineCut.total } } }
      : {},
    encoding: slice.encoding.name,
    line_ending: slice.ending,
    ...slice.mixed === undefined ? {} : { line_ending_mixed: slice.mixed },
    ...slice.finalNewline === undefined ? {} : { final_newline: slice.finalNewline },
    ...hash === undefined ? {} : { hash },
    bytes,
    ...slice.large ? { large: true } : {},
    ...fields,
  };
}

function textFile({ path, slice, hash }: Served, args: ReadArguments): string {
  const newline = slice.finalNewline === undefined ? "?" : slice.finalNewline ? "yes" : "no";
  const head = [
    printable(path),
    "text",
    slice.encoding.name,
    slice.ending + (slice.mixed ? " (MIXED)" : ""),
    `final-newline: ${newline}`,
    `lines ${servedRange(slice)} of ${slice.total ?? "?"}`,
    `hash ${hash ?? "-"}`,
  ].join("  ");
  const lines = args.numbered === false ? slice.lines : sliceRows(slice);
  return [head, ...lines, ...notes(slice, args)].join("\n");
}

function servedRange({ from, to }: Slice): string {
  if (to < from) return "none";
  return from < 0 ? `the last ${to - from + 1}` : `${from}-${to}`;
}

/** What was left, and how to go on. */
function notes(slice: Slice, { tail }: ReadArguments): string[] {
  const notes: string[] = [];
  const { lineCut, linesRemaining: left } = slice;
  if (lineCut) {
    const total = lineCut.total ?? `more than ${lineCut.moreThan}`;
    const columns = `--columns ${lineCut.next}-${lineCut.next + CHARACTER_CAP - 1}`;
    // Counted from the end where the lines of a large file were not counted: that line begins a tail of so many.
    const name = lineCut.line > 0 ? `line ${lineCut.line}` : `line ${-lineCut.line} from the end`;
    notes.push(`... ${name} has ${total} characters; go on with ${lineRange(lineCut.line)}${columns}`);
  }
  if (tail !== undefined) {
    if (left) notes.push(`... ${left} earlier ${left === 1 ? "line" : "lines"}; go back with --to ${slice.from - 1}`);
    else if (slice.budgeted && slice.from < 0) {
      notes.push(
        "... earlier lines are left out; the lines of so large a file are not counted from its end: search, or read with --from",
      );
    }
  } else if (slice.truncated) {
    const rest = left === undefined ? "more lines" : `${left} more ${left === 1 ? "line" : "lines"}`;
    notes.push(`... ${rest}; go on with --from ${slice.to + 1}`);
  }
  if (slice.budgeted) notes.push("... stopped at the 40,000 characters of one call");
  return notes;
}

/** `--columns` holds for every line served, so the one line is named. */
function lineRange(line: number): string {
  return line > 0 ? `--from ${line} --to ${line} ` : `--tail ${-line} `;
}
