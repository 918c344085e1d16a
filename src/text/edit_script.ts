/**
 * An edit script: which edits on which files, checked for shape.
 *
 * Spec: 2-verbs §2.13. The same shape comes as an object over MCP and as a file with comments, which `edit_json.ts` reads.
 */
import { nearest, Refusal } from "../refusal.ts";
import type { DeleteEdit, Edit, InsertEdit, ReplaceEdit } from "./edit.ts";
import { readRelaxedJson } from "./edit_json.ts";

/** Text of an edit: written out, or in a file of the boundary that the verb has to read. */
export type TextSource = string | { readonly file: string };

/** An edit whose texts may lie in files. */
export type ScriptEdit =
  | Omit<ReplaceEdit, "find" | "with"> & { readonly find: TextSource; readonly with: TextSource }
  | Omit<InsertEdit, "text"> & { readonly text: TextSource }
  | DeleteEdit;

/** The edits of one file. */
export interface FileEdits {
  /** As the script has it; absent in the form that goes with a path named beside it. */
  readonly path?: string;
  /** The hash the file must have. */
  readonly expect?: string;
  /** At least one. */
  readonly edits: readonly ScriptEdit[];
}

/**
 * A script from its text: JSON in which comments and trailing commas may stand.
 *
 * @throws {Refusal} `invalid` with line and column for what is not JSON, and as `scriptOf`.
 */
export function parseScript(text: string): readonly FileEdits[] {
  return scriptOf(readRelaxedJson(text));
}

/**
 * A script from a value: `{edits, expect?}`, one entry without a path, or `{files: [{path, edits, expect?}]}`.
 *
 * @throws {Refusal} `invalid` for unknown keys, an empty list, an edit of no or two kinds, a value of the wrong type; it names the edit
 * and the field.
 */
export function scriptOf(value: unknown): readonly FileEdits[] {
  const script = object(value, "the script");
  if ("files" in script === "edits" in script) {
    throw invalid("the script needs either `edits`, for the file named beside it, or `files`");
  }
  if ("edits" in script) return [fileEdits(script, "", ["expect", "edits"])];
  demandKnown(script, ["files"], "the script");
  return list(script.files, "files").map((item, i) => {
    const where = `file ${i + 1}`;
    const file = object(item, where);
    const path = string(file, "path", where);
    if (path === undefined) throw invalid(`${where} has no path`);
    return { path, ...fileEdits(file, `${where}, `, ["path", "expect", "edits"]) };
  });
}

/**
 * The edits once their files are read.
 *
 * @param read The text of a file that field `field` of edit `edit` (from 1) names; a refusal of its own has to name both.
 */
export function withTexts(
  edits: readonly ScriptEdit[],
  read: (file: string, edit: number, field: "replaceFile" | "withFile" | "textFile") => string,
): readonly Edit[] {
  return edits.map((edit, i) => {
    const textOf = (source: TextSource, field: "replaceFile" | "withFile" | "textFile") =>
      typeof source === "string" ? source : read(source.file, i + 1, field);
    if (edit.kind === "delete") return edit;
    if (edit.kind === "insert") return { ...edit, text: textOf(edit.text, "textFile") };
    return { ...edit, find: textOf(edit.find, "replaceFile"), with: textOf(edit.with, "withFile") };
  });
}

type Fields = Readonly<Record<string, unknown>>;

function fileEdits(file: Fields, where: string, known: readonly string[]): Omit<FileEdits, "path"> {
  demandKnown(file, known, where === "" ? "the script" : where.slice(0, -2));
  const expect = string(file, "expect", where === "" ? "the script" : where.slice(0, -2));
  const edits = list(file.edits, `${where}edits`).map((edit, i) => editOf(edit, `${where}edit ${i + 1}`));
  return expect === undefined ? { edits } : { expect, edits };
}

/** The keys of each kind of edit. */
const KINDS = {
  replace: ["replace", "replaceFile", "with", "withFile", "from", "to", "all"],
  insert: ["insertAfter", "text", "textFile"],
  delete: ["deleteFrom", "deleteTo"],
} as const;

function editOf(value: unknown, where: string): ScriptEdit {
  const edit = object(value, where);
  demandKnown(edit, Object.values(KINDS).flat(), where);
  const kinds = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((kind) => KINDS[kind].some((key) => key in edit));
  if (kinds.length !== 1) {
    const what = kinds.length === 0 ? "says nothing" : `is of several kinds (${kinds.join(", ")})`;
    throw invalid(`${where} ${what}; it needs one of \`replace\`, \`insertAfter\`, \`deleteFrom\``);
  }
  if (kinds[0] === "delete") {
    const to = line(edit, "deleteTo", where);
    const from = demanded(line(edit, "deleteFrom", where), "deleteFrom", where);
    return to === undefined ? { kind: "delete", from } : { kind: "delete", from, to };
  }
  if (kinds[0] === "insert") {
    const after = demanded(line(edit, "insertAfter", where), "insertAfter", where);
    return { kind: "insert", after, text: demanded(source(edit, "text", where), "text", where) };
  }
  const find = demanded(source(edit, "replace", where), "replace", where);
  const [from, to, all] = [line(edit, "from", where), line(edit, "to", where), boolean(edit, "all", where)];
  return {
    kind: "replace",
    find,
    with: source(edit, "with", where) ?? "",
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(all === undefined ? {} : { all }),
  };
}

function demandKnown(fields: Fields, known: readonly string[], where: string): void {
  for (const key of Object.keys(fields)) {
    if (known.includes(key)) continue;
    const meant = nearest(key, known);
    const hint = meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${meant}?`;
    throw invalid(`${where} has an unknown key ${JSON.stringify(key)}; ${hint}`);
  }
}

function demanded<T>(value: T | undefined, key: string, where: string): T {
  if (value === undefined) throw invalid(`${where} has no \`${key}\``);
  return value;
}

function source(fields: Fields, key: "replace" | "with" | "text", where: string): TextSource | undefined {
  const text = string(fields, key, where);
  const file = string(fields, `${key}File`, where);
  if (text !== undefined && file !== undefined) {
    throw invalid(`${where} has both \`${key}\` and \`${key}File\`; give one of them`);
  }
  return file === undefined ? text : { file };
}

function object(value: unknown, where: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw invalid(`${where} is no object`);
}

function list(value: unknown, where: string): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  throw invalid(`\`${where}\` ${Array.isArray(value) ? "is empty" : "is no list"}`);
}

function string(fields: Fields, key: string, where: string): string | undefined {
  return typed(fields, key, where, "a text", (value): value is string => typeof value === "string");
}

function boolean(fields: Fields, key: string, where: string): boolean | undefined {
  return typed(fields, key, where, "true or false", (value): value is boolean => typeof value === "boolean");
}

/** A line number; whether the file has that line shows when the edit is resolved. */
function line(fields: Fields, key: string, where: string): number | undefined {
  return typed(fields, key, where, "a whole number", (value): value is number => Number.isSafeInteger(value));
}

function typed<T>(fields: Fields, key: string, where: string, what: string, is: (value: unknown) => value is T) {
  const value = fields[key];
  if (value === undefined || is(value)) return value;
  throw invalid(`${where}: \`${key}\` has to be ${what}`);
}

function invalid(message: string): Refusal {
  return new Refusal("invalid", message);
}
