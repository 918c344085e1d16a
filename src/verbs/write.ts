/** `write`: a whole text file, new or in place of what is there. Spec: 2-verbs §2.12; 3-documents-and-archives §3.1.2, §3.1.3. */
import { Refusal } from "../refusal.ts";
import { namedEncoding } from "../text/encoding.ts";
import { choice, flag, type Infer, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({
  path: text({ filled: true }),
  text: text(),
  overwrite: optional(flag()),
  expect: optional(text()),
  encoding: optional(text()),
  eol: optional(choice(["lf", "crlf", "cr"])),
  allow_credential: optional(flag()),
  dry_run: optional(flag()),
});

export type WriteArguments = Infer<typeof schema>;

export const write: EngineVerb<typeof schema> = {
  name: "write",
  where: "engine",
  summary: "write a text file, new or in place of what is there",
  description:
    "Writes a whole text file. Without overwrite nothing that is there is touched. A replaced file keeps its encoding and line endings " +
    "unless others are named; give its hash as expect, so that nobody's work is lost. The parent folder has to be there.",
  tool: { readOnly: false, destructive: true, idempotent: true },
  schema,
  arguments: {
    path: { word: "one", value: "PATH", help: "the file" },
    text: {
      value: "S",
      content: { file: "text-file", stdin: "stdin" },
      help: "the whole text",
    },
    overwrite: { help: "replace what is there" },
    expect: { value: "HASH", help: "only if the old content has this hash, as read tells it" },
    encoding: {
      value: "NAME",
      help: "any WHATWG label, or one such as utf-8-bom; default is the old file's, else utf-8",
    },
    eol: { value: "lf|crlf|cr", help: "every line ending becomes this; default is the old file's, else lf" },
    allow_credential: {
      commandLine: true,
      help: "write it although it looks like a credential; your word that it is none",
    },
    dry_run: { help: "check everything and change nothing" },
  },
  check({ expect, overwrite, encoding }) {
    if (expect !== undefined && !overwrite) {
      throw new Refusal(
        "invalid",
        "expect goes with overwrite: there is nothing to be compared where nothing is replaced",
      );
    }
    if (encoding !== undefined) namedEncoding(encoding);
  },
};
