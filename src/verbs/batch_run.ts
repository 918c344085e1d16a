/** What `batch` does. Spec: 2-verbs §2.23; decision 17. */
import { printable } from "../boundary/print.ts";
import { Refusal } from "../refusal.ts";
import { readRelaxedJson } from "../text/edit_json.ts";
import { Rehearsal } from "./batch_rehearsal.ts";
import { copy } from "./copy.ts";
import * as copyWork from "./copy_run.ts";
import { deleteEntry } from "./delete.ts";
import * as deleteWork from "./delete_run.ts";
import { readText } from "./edit_sources.ts";
import { exec } from "./exec.ts";
import * as execWork from "./exec_run.ts";
import { mkdir } from "./mkdir.ts";
import * as mkdirWork from "./mkdir_run.ts";
import { move } from "./move.ts";
import * as moveWork from "./move_run.ts";
import { newFile } from "./new.ts";
import * as newWork from "./new_run.ts";
import { checkArguments } from "./schema_tools.ts";
import type { Answer, EngineSide, Verb, Work } from "./verb.ts";
import { write } from "./write.ts";
import * as writeWork from "./write_run.ts";
import type { BatchArguments } from "./batch.ts";

export async function run(args: BatchArguments, called: EngineSide): Promise<Answer> {
  // As of a tool: no operation takes a flag, so none is spoken of.
  const side: EngineSide = { ...called, form: "tool" };
  const script = args.script ?? readRelaxedJson(scriptText(side, args.script_path!));
  const dry = args.dry_run === true;
  const operations = operationsOf(script);
  const rehearsal = dry ? new Rehearsal(side) : undefined;
  const rows: Row[] = [];
  for (const [index, operation] of operations.entries()) {
    const row = await runOne(index, operation, side, rehearsal);
    rows.push(row);
    if (row.outcome !== "ok") break;
  }
  return answerOf(rows, operations.length, dry);
}

/** The text of a script. What encoding it has is for nobody to say, so none is asked for. @throws {Refusal} */
function scriptText(side: EngineSide, path: string): string {
  try {
    return readText(side, path);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.outcome, error.message.replace(ADVICE, ""), error.path, error.fields);
  }
}

/** The end of a sentence that advises a flag which `batch` does not have. */
const ADVICE = /; [^;]*--encoding.*$/;

/** Names of fields in a script, and of the arguments they are. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  mkdir: [],
  new: [],
  write: ["text", "overwrite", "expect", "encoding", "eol"],
  move: ["to", "overwrite"],
  copy: ["to", "recursive", "overwrite", "preserveTimes"],
  delete: ["recursive", "force"],
  exec: ["executable"],
};

const OPERATIONS: readonly { verb: Verb; work: Work }[] = [
  { verb: mkdir, work: mkdirWork },
  { verb: newFile, work: newWork },
  { verb: write, work: writeWork },
  { verb: move, work: moveWork },
  { verb: copy, work: copyWork },
  { verb: deleteEntry, work: deleteWork },
  { verb: exec, work: execWork },
];

/** One operation, checked for shape. */
interface Operation {
  op: string;
  work: Work;
  args: Record<string, unknown>;
}

interface Row {
  index: number;
  op: string;
  outcome: string;
  detail: string;
}

async function runOne(
  index: number,
  { op, work, args }: Operation,
  side: EngineSide,
  rehearsal: Rehearsal | undefined,
): Promise<Row> {
  try {
    // Some operations pass no safe point of their own.
    side.call.pulse();
    const answer = await (rehearsal ? rehearsal.run(work, args) : work.run(args, side));
    return { index, op, outcome: answer.outcome ?? "ok", detail: answer.text().split("\n")[0] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const where = error.path === undefined ? "" : ` (${printable(error.path)})`;
    return { index, op, outcome: error.outcome, detail: error.message + where };
  }
}

function answerOf(rows: readonly Row[], count: number, dry: boolean): Answer {
  const ok = rows.filter(({ outcome }) => outcome === "ok").length;
  const last = rows.at(-1);
  const stopped = last !== undefined && last.outcome !== "ok" ? last : undefined;
  const message = stopped && `stopped at ${stopped.index}: ${stopped.detail}`;
  return {
    ...stopped ? { outcome: "refused" as const, message } : {},
    json: { operations: rows, completed: ok, count, stopped_early: stopped !== undefined, dry_run: dry },
    text: () =>
      [
        ...rows.map(({ index, op, outcome, detail }) =>
          `${String(index).padStart(2)} ${op.padEnd(8)} ${outcome.padEnd(14)} ${detail}`
        ),
        `${count} ${count === 1 ? "operation" : "operations"}, ${ok} ok`,
        ...message === undefined ? [] : [message],
      ].join("\n"),
  };
}

/** The whole script, checked for shape before anything runs. @throws {Refusal} `invalid`, naming the operation. */
function operationsOf(script: unknown): Operation[] {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(script)) throw new Refusal("invalid", "the script must be an object with a list of operations");
  const strange = Object.keys(script).find((key) => key !== "operations");
  if (strange !== undefined) {
    throw new Refusal(
      "invalid",
      `unknown key ${JSON.stringify(strange)} in the script; it has operations and nothing else`,
    );
  }
  const { operations } = script;
  if (!Array.isArray(operations) || operations.length === 0) {
    throw new Refusal("invalid", "operations must be a list of at least one operation");
  }
  return operations.map((given: unknown, index) => {
    const where = `operation ${index}`;
    if (!isObject(given)) throw new Refusal("invalid", `${where} must be an object`);
    const { op, ...fields } = given;
    const known = typeof op === "string" && Object.hasOwn(FIELDS, op) ? FIELDS[op] : undefined;
    if (!known || typeof op !== "string") {
      throw new Refusal("invalid", `${where}: op must be one of ${Object.keys(FIELDS).join(", ")}`);
    }
    const args: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(fields)) {
      if (name !== "path" && !known.includes(name)) {
        const all = ["path", ...known].join(", ");
        throw new Refusal("invalid", `${where}: unknown key ${JSON.stringify(name)}; ${op} has ${all}`);
      }
      args[argumentOf(op, name)] = value;
    }
    const { verb, work } = OPERATIONS.find(({ verb }) => verb.name === op)!;
    try {
      return { op, work, args: checkArguments(verb, args, "tool") };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new Refusal(error.outcome, `${where}: ${error.message}`);
    }
  });
}

/** The argument of the verb that a field of the script is. */
function argumentOf(op: string, field: string): string {
  if (field === "path" && (op === "move" || op === "copy")) return "from";
  return field === "preserveTimes" ? "preserve_times" : field;
}
