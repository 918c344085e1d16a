/** What `write` does. Spec: 2-verbs §2.12; 3-documents-and-archives §3.1.2, §3.1.3. */
import { printable, printLocation } from "../boundary/print.ts";
import type { Door } from "../disk/mutate.ts";
import type { Found } from "../disk/resolve.ts";
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
  demandTextName,
  type Finder,
  lockAndLook,
  notKeptFields,
  notKeptRows,
  openFound,
  readWhole,
} from "./change.ts";
import { hashOf } from "./hash.ts";
import type { Answer, EngineSide } from "./verb.ts";
import type { WriteArguments } from "./write.ts";

export function run(args: WriteArguments, side: EngineSide): Answer {
  return changing(side, (door, find) => writeFile(args, side, door, find));
}

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
