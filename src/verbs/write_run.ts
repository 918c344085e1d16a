/** What `write` does. Spec: 2-verbs §2.12; 3-documents-and-archives §3.1.2, §3.1.3. */
import { absoluteOf } from "../boundary/locate.ts";
import { printable, printLocation } from "../boundary/print.ts";
import { DiskError, type OpenFile } from "../disk/disk.ts";
import { demandLeave, type Door } from "../disk/mutate.ts";
import { type Found, refusalOf } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { decodeSwept } from "../text/decoder.ts";
import { demandFresh } from "../text/edit_fresh.ts";
import { heritageOf, newContent } from "../text/encode_new.ts";
import { type Encoding, namedEncoding } from "../text/encoding.ts";
import { countEndings } from "../text/lines.ts";
import {
  changing,
  demandNoCredential,
  demandNoDangling,
  demandTextName,
  type Finder,
  LARGEST,
  lockAndLook,
  notKeptFields,
  notKeptRows,
  openFound,
  piecesOf,
  readBeginning,
} from "./change.ts";
import { hashOf, hashOfPieces } from "./hash.ts";
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
  demandLeave(found, found.facts ? "replace" : "put", path);
  const old = found.facts && openFound(side, found);
  try {
    if (!old && args.expect !== undefined) {
      throw new Refusal("stale", "nothing is there, so it is not the file whose hash was given", path);
    }
    const before = old && readOld(side, found, old, named);
    const heritage = before && heritageOf(before.bytes, named, path);
    if (before && args.expect !== undefined) {
      demandFresh(hashOfOld(side, old!, before, path), args.expect, mayRead(side, found), path);
    }
    const content = newContent({ text: args.text, heritage, encoding: named, ending: args.eol, path });
    if (!args.allow_credential) {
      const isKnown = before?.isWhole && found.place.can.has("read");
      const readable = isKnown ? decodeSwept(before.bytes, named) : undefined;
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

/** Bytes of a large file that tell its encoding and ending. */
const BEGINNING = 1024 * 1024;

/** Old content, as far as it is needed. */
interface Old {
  bytes: Uint8Array<ArrayBuffer>;
  /** Else the beginning, of a file that is too large to be read for the sake of what it hands down. */
  isWhole: boolean;
}

function readOld(side: EngineSide, found: Found, file: OpenFile, named: Encoding | undefined): Old {
  const { size } = file.facts();
  const isWhole = size <= LARGEST;
  const bytes = readBeginning(side, found, file, isWhole ? size : BEGINNING);
  return { bytes: isWhole ? bytes : wholeCharacters(bytes, named), isWhole };
}

/** Without the character that the cut at the end goes through: none is longer than four bytes. */
function wholeCharacters(bytes: Uint8Array<ArrayBuffer>, named: Encoding | undefined): Uint8Array<ArrayBuffer> {
  for (let cut = 0; cut < 4; cut++) {
    const part = bytes.subarray(0, bytes.length - cut);
    if (decodeSwept(part, named) !== "undecodable") return part;
  }
  return bytes;
}

function hashOfOld(side: EngineSide, file: OpenFile, { bytes, isWhole }: Old, path: string): string {
  if (isWhole) return hashOf(bytes);
  try {
    return hashOfPieces(pulsing(side, piecesOf(file)));
  } catch (error) {
    if (error instanceof DiskError) throw refusalOf(error, path);
    throw error;
  }
}

function* pulsing(side: EngineSide, pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const piece of pieces) {
    side.call.pulse();
    yield piece;
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

/** Whether the content may be told of: the place grants it, and no screen stands before it. */
function mayRead({ survey }: EngineSide, { place, real }: Found): boolean {
  return place.can.has("read") && survey.screen(absoluteOf(survey.boundary, real)).length === 0;
}
