/** `write`: a whole text file, new or in place of what is there. Spec: 2-verbs §2.12; 3-documents-and-archives §3.1.2, §3.1.3. */
import { printable, printLocation } from "../boundary/print.ts";
import type { Door } from "../disk/mutate.ts";
import type { Found } from "../disk/resolve.ts";
import { isWriteRefused, kindOf } from "../documents/kinds.ts";
import { Refusal } from "../refusal.ts";
import { decodeSwept } from "../text/decoder.ts";
import { demandFresh } from "../text/edit_fresh.ts";
import { heritageOf, newContent } from "../text/encode_new.ts";
import { namedEncoding } from "../text/encoding.ts";
import { countEndings } from "../text/lines.ts";
import {
  changing,
  demandNoCredential,
  demandNoDangling,
  type Finder,
  lockAndLook,
  notKeptFields,
  notKeptRows,
  openFound,
  readWhole,
} from "./change.ts";
import { hashOf } from "./hash.ts";
import { choice, flag, type Infer, object, optional, text } from "./shape.ts";
import type { Answer, EngineSide, EngineVerb } from "./verb.ts";

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

type WriteArguments = Infer<typeof schema>;

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
  run(args, side): Answer {
    return changing(side, (door, find) => writeFile(args, side, door, find));
  },
};

function writeFile(args: WriteArguments, side: EngineSide, door: Door, find: Finder): Answer {
  const found = target(args, find);
  const path = printLocation(side.survey.boundary, found.written);
  demandTextName(found.name, path);
  const dry = args.dry_run === true;
  if (!dry) lockAndLook(door, found);
  switch (found.facts?.kind) {
    case "dir":
      throw new Refusal("refused", "this is a folder", path);
    case "link":
    case "other":
      throw new Refusal("refused", "this is a FIFO, a socket or a device; such files are not written", path);
    case "file":
      if (!args.overwrite) {
        throw new Refusal("target-exists", "there is a file already; pass overwrite to replace it", path);
      }
  }
  demandNoDangling(side, args.path, found);
  const named = args.encoding === undefined ? undefined : namedEncoding(args.encoding);
  const old = found.facts && openFound(side, found);
  try {
    const before = old && readWhole(side, found, old);
    if (!before && args.expect !== undefined) {
      throw new Refusal("stale", "nothing is there, so it is not the file whose hash was given", path);
    }
    if (before) demandFresh(hashOf(before), args.expect, path);
    const heritage = before && heritageOf(before, named, path);
    const content = newContent({ text: args.text, heritage, encoding: named, ending: args.eol, path });
    if (!args.allow_credential) {
      const readable = before && found.place.can.has("read") ? decodeSwept(before, named) : undefined;
      const known = typeof readable === "object" ? readable.text : undefined;
      demandNoCredential(side, [{ path, before: known, after: content.text }], true);
    }
    const needs = [found.facts ? "update" as const : "create" as const];
    let notKept: readonly string[] = [];
    if (dry) door.judge(found, needs);
    else {
      notKept = door.stage(found, content.bytes, { needs, old }).notKept;
      door.publish();
    }
    const { mixed } = countEndings(content.text);
    const facts = {
      path,
      created: !found.facts,
      bytes: content.bytes.length,
      encoding: content.encoding.name,
      line_ending: content.ending,
      line_ending_mixed: mixed,
      final_newline: content.finalNewline,
      hash: hashOf(content.bytes),
      dry_run: dry,
      ...notKeptFields(notKept),
    };
    return { json: facts, text: () => [row(facts), ...notKeptRows(notKept)].join("\n") };
  } finally {
    old?.close();
  }
}

/** The file's place. That its name is one of a document comes before that its folder is missing. */
function target(args: WriteArguments, find: Finder): Found {
  try {
    return find([{
      path: args.path,
      follow: true,
      changes: true,
      needs: ({ exists }) => [exists && args.overwrite ? "update" : "create"],
    }])[0];
  } catch (error) {
    if (error instanceof Refusal && error.outcome === "not-found") {
      demandTextName(args.path.split(/[/\\]/).at(-1)!, error.path ?? args.path);
    }
    throw error;
  }
}

/** @throws {Refusal} `refused` for the name of a document, image or archive. */
export function demandTextName(name: string, path: string): void {
  const kind = kindOf(name);
  if (!isWriteRefused(kind)) return;
  throw new Refusal("refused", `by its name this is a file of the kind '${kind}', which is not written as text`, path);
}

function row(facts: {
  path: string;
  created: boolean;
  bytes: number;
  encoding: string;
  line_ending: string;
  final_newline: boolean;
  hash: string;
  dry_run: boolean;
}): string {
  const [wrote, replaced] = facts.dry_run ? ["would write", "would replace"] : ["wrote", "replaced"];
  return [
    `${facts.created ? wrote : replaced} ${printable(facts.path)}`,
    `${facts.bytes} bytes`,
    facts.encoding,
    facts.line_ending,
    `final-newline: ${facts.final_newline ? "yes" : "no"}`,
    `hash ${facts.hash}`,
  ].join("  ");
}
