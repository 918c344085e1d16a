/** What `edit` does. Spec: 2-verbs §2.13; decisions 13, 14, 37, 62. */
import { printable, printLocation } from "../boundary/print.ts";
import { type Door, isOneEntry } from "../disk/mutate.ts";
import type { Found } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { type Edit, type Planned, resolveEdits } from "../text/edit.ts";
import { endingsOf } from "../text/edit_changes.ts";
import { demandFresh } from "../text/edit_fresh.ts";
import { parseLineRange } from "../text/edit_range.ts";
import { type FileEdits, parseScript, scriptOf, withTexts } from "../text/edit_script.ts";
import { namedEncoding } from "../text/encoding.ts";
import {
  changing,
  demandNoCredential,
  demandTextName,
  type Finder,
  notKeptFields,
  notKeptRows,
  said,
} from "./change.ts";
import {
  boundsOf,
  demandTextFile,
  hashOfWhole,
  mayQuote,
  NEEDS,
  type Outcome,
  outcomeOf,
  readSource,
  type Source,
  stage,
  withFile,
} from "./edit_files.ts";
import { readText, textOf } from "./edit_sources.ts";
import { plural } from "./answer.ts";
import type { Answer, EngineSide } from "./verb.ts";
import type { EditArguments } from "./edit.ts";

export function run(args: EditArguments, side: EngineSide): Answer {
  return changing(side, (door, find) => editFiles(args, side, door, find));
}

function editFiles(args: EditArguments, side: EngineSide, door: Door, find: Finder): Answer {
  const files = filesOf(args, side);
  const texts = textFiles(files);
  const all = findFiles(files, texts, find);
  const founds = all.slice(0, files.length);
  const dry = args.dry_run === true;
  if (!dry) door.lock(founds);

  const named = args.encoding === undefined ? undefined : namedEncoding(args.encoding);
  const paths = founds.map(({ written }) => printLocation(side.survey.boundary, written));
  founds.forEach((found, i) => demandTextFile(found, paths[i]));
  const sources = founds.map((found) => readSource(side, found, named));
  files.forEach(({ expect }, i) => {
    if (expect !== undefined) {
      demandFresh(hashOfWhole(side, sources[i].bytes), expect, mayQuote(side, founds[i]), paths[i]);
    }
  });
  demandDifferent(founds, paths);
  const sourceText = textReader(side, texts, all.slice(files.length));
  const edited = files.map(({ edits }, i): Edited => {
    const source = sources[i];
    const resolved = withTexts(edits, sourceText);
    const bounds = boundsOf(side, source.path);
    const options = { ...bounds, mayQuote: () => mayQuote(side, source.found) };
    const { changes, planned } = resolveEdits(source.text, resolved, options);
    const outcome = outcomeOf(source, changes, source.path, bounds);
    const { mixed } = endingsOf(outcome.addition.after, bounds.pulse);
    const hash = dry ? undefined : hashOfWhole(side, outcome.bytes);
    return { ...outcome, source, planned, mixed, hash };
  });
  if (!args.allow_credential) demandNoCredential(side, edited.map(({ addition }) => addition), true);

  for (const found of founds) door.judge(found, NEEDS);
  if (dry) return answerOf(edited, undefined);
  const notKept = edited.map(({ source: { found }, bytes, idle }) =>
    idle ? [] : withFile(side, found, (old) => stage(side, door, found, bytes, old))
  );
  door.publish();
  return answerOf(edited, notKept);
}

/** A file with all its edits applied. */
interface Edited extends Outcome {
  source: Source;
  planned: readonly Planned[];
  /** The new text has endings of several kinds. */
  mixed: boolean;
  /** Absent in a dry run. */
  hash: string | undefined;
}

/** @param notKept What each file did not keep; absent in a dry run. */
function answerOf(edited: readonly Edited[], notKept: readonly (readonly string[])[] | undefined): Answer {
  const count = edited.reduce((sum, { planned }) => sum + planned.length, 0);
  const plan = edited.flatMap(({ source: { path }, planned }) =>
    planned.map(({ edit, line, description }) => ({ path, edit, line, description }))
  );
  const files = (notKept ?? []).map((notKept, i) => {
    const { source: { path }, planned, mixed, hash } = edited[i];
    return { path, edits: planned.length, hash, line_ending_mixed: mixed, ...notKeptFields(notKept) };
  });
  const head = `${notKept ? "applied" : "would apply"} ${plural(count, "edit")} to ${plural(edited.length, "file")}`;
  const rows = notKept
    ? files.flatMap(({ path, hash, line_ending_mixed: mixed }, i) => [
      `   ${printable(path)}  hash ${hash}${mixed ? "  (MIXED line endings)" : ""}`,
      ...notKeptRows(notKept[i]),
    ])
    : plan.map(({ path, edit, line, description }) =>
      `   edit ${edit}  ${printable(path)} line ${line}  ${description}`
    );
  return { json: { dry_run: !notKept, plan, files }, text: () => [head, ...rows].join("\n") };
}

/** The files of the call with their edits, none resolved yet. */
function filesOf(args: EditArguments, side: EngineSide): (FileEdits & { path: string })[] {
  const script = args.script !== undefined
    ? scriptOf(args.script)
    : args.script_path !== undefined
    ? parseScript(readText(side, args.script_path))
    : undefined;
  if (!script) return [{ path: args.path!, expect: args.expect, edits: [operationOf(args)] }];
  return script.map((file) => {
    const path = file.path ?? args.path;
    if (path === undefined) {
      throw new Refusal("invalid", "the script names no file: give the path, or `files` in the script");
    }
    if (file.path !== undefined && args.path !== undefined) {
      throw new Refusal("invalid", "the script names its files itself; leave the path out");
    }
    if (file.expect !== undefined && args.expect !== undefined) {
      throw new Refusal("invalid", "expect is given twice, beside the script and in it");
    }
    if (file.path !== undefined && args.expect !== undefined) {
      throw new Refusal("invalid", "expect stands beside each file of the script");
    }
    return { ...file, path, expect: file.expect ?? args.expect };
  });
}

function operationOf(args: EditArguments): Edit {
  if (args.replace !== undefined) {
    const { from, to } = args.between === undefined ? args : parseLineRange(args.between, false);
    if (from !== undefined && to !== undefined && from > to) {
      throw new Refusal("invalid", `the lines ${from}-${to} run backwards; put the lower number first`);
    }
    return { kind: "replace", find: args.replace, with: args.with!, from, to, all: args.all };
  }
  if (args.insert_after !== undefined) return { kind: "insert", after: args.insert_after, text: args.text! };
  return { kind: "delete", ...parseLineRange(args.delete!, true) };
}

/** A file of the boundary that holds a text of an edit, and what names it first: `edit 2, withFile`. */
interface TextFile {
  path: string;
  called: string;
}

/** The files that texts are in, each once. */
function textFiles(files: readonly FileEdits[]): TextFile[] {
  const named = new Map<string, string>();
  files.forEach(({ edits, path }, i) => {
    const file = path !== undefined && files.length > 1 ? `file ${i + 1}, ` : "";
    withTexts(edits, (text, edit, field) => {
      if (!named.has(text)) named.set(text, `${file}edit ${edit}, ${field}`);
      return "";
    });
  });
  return [...named].map(([path, called]) => ({ path, called }));
}

/** Finds the files of the call, and behind them those that texts are in. A document's name is refused whether or not it is there. */
function findFiles(files: readonly { path: string }[], texts: readonly TextFile[], find: Finder): Found[] {
  try {
    return find([
      ...files.map(({ path }) => ({ path, follow: true, changes: true, needs: () => NEEDS })),
      ...texts.map((text) => ({ ...text, follow: true, changes: false, needs: () => ["read" as const] })),
    ]);
  } catch (error) {
    if (error instanceof Refusal && error.outcome === "not-found") {
      for (const { path } of files) demandTextName(path.split(/[/\\]/).at(-1)!, path);
    }
    throw error;
  }
}

/** Gives the text of each such file; it is read when it is first asked for. */
function textReader(side: EngineSide, texts: readonly TextFile[], founds: readonly Found[]): (path: string) => string {
  const read = new Map<string, string>();
  return (path) => {
    const known = read.get(path);
    if (known !== undefined) return known;
    const i = texts.findIndex((text) => text.path === path);
    try {
      const text = textOf(side, founds[i]);
      read.set(path, text);
      return text;
    } catch (error) {
      throw error instanceof Refusal ? said(texts[i].called, error) : error;
    }
  };
}

/** @throws {Refusal} `conflict` when one file stands twice in a script, by whatever spelling. Spec: decision 13. */
function demandDifferent(founds: readonly Found[], paths: readonly string[]) {
  const seen = new Map<string, number[]>();
  founds.forEach((found, i) => {
    const key = `${found.facts!.dev}:${found.facts!.ino}`;
    const before = seen.get(key) ?? [];
    const twin = before.find((other) => isOnePlace(founds[other], found));
    if (twin !== undefined) {
      throw new Refusal(
        "conflict",
        `files ${twin + 1} and ${i + 1} of the script are one and the same; put their edits together`,
        paths[i],
      );
    }
    seen.set(key, [...before, i]);
  });
}

/** Two hard links are two places. */
function isOnePlace(a: Found, b: Found): boolean {
  if (a.name !== b.name) return isOneEntry(a, b);
  const [here, there] = [a.folder.facts(), b.folder.facts()];
  return here.ino === there.ino && here.dev === there.dev;
}
