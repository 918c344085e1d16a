/** `edit`: exact changes in text files, all of them or none. Spec: 2-verbs §2.13; decisions 13, 14, 37, 62. */
import { printable, printLocation } from "../boundary/print.ts";
import type { Door } from "../disk/mutate.ts";
import { find as findOne } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { decodeWhole, refuseBinary, refuseUndecodable, Undecodable } from "../text/decoder.ts";
import { type Edit, type Planned, resolveEdits } from "../text/edit.ts";
import { demandFresh } from "../text/edit_fresh.ts";
import { parseLineRange } from "../text/edit_range.ts";
import { type FileEdits, parseScript, scriptOf, withTexts } from "../text/edit_script.ts";
import { encodingOf, namedEncoding } from "../text/encoding.ts";
import { demand } from "../boundary/permission.ts";
import {
  changing,
  demandNoCredential,
  type Finder,
  notKeptFields,
  notKeptRows,
  openFound,
  readWhole,
} from "./change.ts";
import { hashAfter, mayQuote, openSource, type Outcome, outcomeOf, publishAll, type Source } from "./edit_files.ts";
import { hashOf } from "./hash.ts";
import { demandUnscreened } from "./screen.ts";
import { document, flag, type Infer, integer, object, optional, text } from "./shape.ts";
import type { Answer, EngineSide, EngineVerb } from "./verb.ts";

const schema = object({
  path: optional(text({ filled: true })),
  replace: optional(text()),
  with: optional(text()),
  all: optional(flag()),
  between: optional(text()),
  from: optional(integer({ min: 1 })),
  to: optional(integer({ min: 1 })),
  insert_after: optional(integer({ min: 0 })),
  text: optional(text()),
  delete: optional(text()),
  expect: optional(text()),
  encoding: optional(text()),
  script: optional(document()),
  script_path: optional(text({ filled: true })),
  allow_credential: optional(flag()),
  dry_run: optional(flag()),
});

type EditArguments = Infer<typeof schema>;

export const edit: EngineVerb<typeof schema> = {
  name: "edit",
  where: "engine",
  summary: "change text files by exact edits, all of them or none",
  description:
    "Changes text files. The commonest call: path, replace and with, exact text for text, found once unless all. Several edits: script, " +
    'an object {"edits":[…],"expect":HASH} for path, or {"files":[{"path":…,"expect":…,"edits":[…]}]}; an edit is {"replace","with","from"?,' +
    '"to"?,"all"?}, {"insertAfter":N,"text"} or {"deleteFrom":A,"deleteTo"?}. Lines count in the file as it was read. Nothing is written ' +
    "unless every edit of every file fits.",
  tool: { readOnly: false, destructive: true, idempotent: false },
  schema,
  arguments: {
    path: { word: "one", value: "PATH", help: "the file" },
    replace: {
      value: "S",
      content: { file: "replace-file", stdin: "replace-stdin" },
      help: "the exact text to be replaced",
    },
    with: {
      value: "S",
      content: { file: "with-file", stdin: "with-stdin" },
      help: "what comes in its place; empty to take it out",
    },
    all: { help: "at every place it is found, not only one" },
    between: { value: "A-B", commandLine: true, help: "only in these lines" },
    from: { value: "A", commandLine: true, help: "only from this line on" },
    to: { value: "B", commandLine: true, help: "only up to this line" },
    insert_after: { value: "N", commandLine: true, help: "put text as lines of its own behind line N, 0 for the top" },
    text: {
      value: "S",
      commandLine: true,
      content: { file: "text-file", stdin: "text-stdin" },
      help: "the text to be inserted",
    },
    delete: { value: "A[-B]", commandLine: true, help: "take out these lines" },
    expect: { value: "HASH", help: "only if the file has this hash, as read tells it" },
    encoding: {
      value: "NAME",
      help: "the file is read in it and stays in it; for files that are not UTF-8 and have no mark",
    },
    script: { value: "FILE", document: true, help: "edits of one file or several, in JSON" },
    script_path: { value: "PATH", help: "the same from a file of the boundary" },
    allow_credential: {
      commandLine: true,
      help: "write it although it looks like a credential; your word that it is none",
    },
    dry_run: { help: "check everything and change nothing" },
  },
  check(args) {
    const operations = [args.replace, args.insert_after, args.delete, args.script, args.script_path]
      .filter((given) => given !== undefined).length;
    if (operations !== 1) {
      throw new Refusal(
        "invalid",
        operations === 0
          ? "edit needs to be told what to change: replace and with, insert-after and text, delete, or a script"
          : "one operation a call; several edits go into a script",
      );
    }
    const stray = strayArgument(args);
    if (stray) throw new Refusal("invalid", stray);
    if (args.replace !== undefined && args.with === undefined) {
      throw new Refusal("invalid", "replace needs with: the text that comes in its place; --with= takes it out");
    }
    if (args.insert_after !== undefined && args.text === undefined) {
      throw new Refusal("invalid", "insert-after needs text: what is to be inserted");
    }
    const scripted = args.script !== undefined || args.script_path !== undefined;
    if (!scripted && args.path === undefined) throw new Refusal("invalid", 'missing argument "path"');
    if (args.encoding !== undefined) namedEncoding(args.encoding);
  },
  run(args, side): Answer {
    return changing(side, (door, find) => editFiles(args, side, door, find));
  },
};

/** An argument that does not go with the operation. */
function strayArgument(args: EditArguments): string | undefined {
  if (args.replace === undefined) {
    for (const name of ["with", "all", "between", "from", "to"] as const) {
      if (args[name] !== undefined) return `${name} goes with replace`;
    }
  }
  if (args.insert_after === undefined && args.text !== undefined) return "text goes with insert-after";
  if (args.between !== undefined && (args.from ?? args.to) !== undefined) {
    return "between and from or to say the same thing twice";
  }
}

function editFiles(args: EditArguments, side: EngineSide, door: Door, find: Finder): Answer {
  const files = filesOf(args, side);
  const founds = find(
    files.map(({ path }) => ({ path, follow: true, changes: true, needs: () => ["read" as const, "update" as const] })),
  );
  demandDifferent(founds.map(({ facts }) => facts && `${facts.dev}:${facts.ino}`), files);
  const dry = args.dry_run === true;
  if (!dry) door.lock(founds);
  const named = args.encoding === undefined ? undefined : namedEncoding(args.encoding);
  const sources: Source[] = [];
  try {
    for (const found of founds) sources.push(openSource(side, found, named));
    files.forEach(({ expect }, i) => demandFresh(hashOf(sources[i].bytes), expect, sources[i].path));
    const plans: Planned[][] = [];
    const outcomes = files.map((file, i): Outcome => {
      const source = sources[i];
      const edits = editsOf(file, side);
      const options = { path: source.path, mayQuote: () => mayQuote(side, source.found) };
      const { changes, planned } = resolveEdits(source.text, edits, options);
      plans.push([...planned]);
      return outcomeOf(source, changes);
    });
    if (!args.allow_credential) demandNoCredential(side, outcomes.map(({ addition }) => addition), true);
    if (!dry) return answerOf(outcomes, plans, publishAll(door, outcomes));
    for (const { found } of sources) door.judge(found, ["read", "update"]);
    return answerOf(outcomes, plans, undefined);
  } finally {
    for (const { file } of sources) file.close();
  }
}

function answerOf(
  outcomes: readonly Outcome[],
  plans: readonly (readonly Planned[])[],
  notKept: readonly (readonly string[])[] | undefined,
): Answer {
  const count = plans.reduce((sum, plan) => sum + plan.length, 0);
  const plan = plans.flatMap((plan, i) =>
    plan.map(({ edit, line, description }) => ({ path: outcomes[i].source.path, edit, line, description }))
  );
  const files = outcomes.map((outcome, i) => ({
    path: outcome.source.path,
    edits: plans[i].length,
    hash: hashAfter(outcome),
    line_ending_mixed: outcome.mixed,
    ...notKeptFields(notKept?.[i] ?? []),
  }));
  const head = `${notKept ? "applied" : "would apply"} ${plural(count, "edit")} to ${plural(outcomes.length, "file")}`;
  const rows = notKept
    ? files.flatMap(({ path, hash, line_ending_mixed: mixed }, i) => [
      `   ${printable(path)}  hash ${hash}${mixed ? "  (MIXED line endings)" : ""}`,
      ...notKeptRows(notKept[i]),
    ])
    : plan.map(({ path, edit, line, description }) =>
      `   edit ${edit}  ${printable(path)} line ${line}  ${description}`
    );
  return {
    json: { dry_run: !notKept, plan, files: notKept ? files : [] },
    text: () => [head, ...rows].join("\n"),
  };
}

function plural(n: number, noun: string): string {
  return `${n} ${n === 1 ? noun : noun + "s"}`;
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

/** The edits with the texts that lie in files of the boundary. */
function editsOf({ edits }: FileEdits, side: EngineSide): readonly Edit[] {
  return withTexts(edits, (file, edit, field) => {
    try {
      return readText(side, file);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new Refusal(error.outcome, `edit ${edit}, ${field}: ${error.message}`, error.path, error.fields);
    }
  });
}

/** The text of a file of the boundary that a script is in or names. @throws {Refusal} as `read`; whole, without its caps. */
export function readText(side: EngineSide, written: string): string {
  const found = findOne(side.disk, side.survey, written, { follow: true });
  try {
    const path = printLocation(side.survey.boundary, found.written);
    demand(found.place, ["read"], path);
    if (!found.facts) throw new Refusal("not-found", "there is no such file or folder", path);
    if (found.facts.kind !== "file") throw new Refusal("refused", "this is no regular file", path);
    demandUnscreened(side.survey, found.real);
    const file = openFound(side, found);
    try {
      const bytes = readWhole(side, found, file);
      const encoding = encodingOf(bytes);
      if (encoding === "binary") throw refuseBinary(path);
      return decodeWhole(bytes, encoding);
    } catch (error) {
      if (error instanceof Undecodable) throw refuseUndecodable(error, false, path);
      throw error;
    } finally {
      file.close();
    }
  } finally {
    found.close();
  }
}

/** @throws {Refusal} `conflict` when one file stands twice in a script. Spec: decision 13. */
function demandDifferent(identities: readonly (string | undefined)[], files: readonly { path: string }[]) {
  const seen = new Map<string, number>();
  identities.forEach((identity, i) => {
    const before = identity === undefined ? undefined : seen.get(identity);
    if (before !== undefined) {
      throw new Refusal(
        "conflict",
        `files ${before + 1} and ${i + 1} of the script are one and the same; put their edits together`,
        files[i].path,
      );
    }
    if (identity !== undefined) seen.set(identity, i);
  });
}
