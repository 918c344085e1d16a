/** `edit`: exact changes in text files, all of them or none. Spec: 2-verbs §2.13; decisions 13, 14, 37, 62. */
import { Refusal } from "../refusal.ts";
import { namedEncoding } from "../text/encoding.ts";
import { document, flag, type Infer, integer, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

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

export type EditArguments = Infer<typeof schema>;

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
