/**
 * Text files that are changed together: all are read and judged before the first byte is written, and published one after another.
 *
 * Spec: 2-verbs §2.8, §2.13, §2.14; decision 14.
 */
import { absoluteOf } from "../boundary/locate.ts";
import { printLocation } from "../boundary/print.ts";
import type { OpenFile } from "../disk/disk.ts";
import type { Door } from "../disk/mutate.ts";
import type { Found } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import type { Change as Addition, Range } from "../screens/credentials.ts";
import { decodeWhole, refuseBinary, refuseUndecodable, Undecodable } from "../text/decoder.ts";
import { type Change, endingsAfter, textAfter } from "../text/edit_changes.ts";
import { spliceChanges } from "../text/encode_splice.ts";
import { type Encoding, encodingOf } from "../text/encoding.ts";
import { openFound, readWhole } from "./change.ts";
import { hashOf } from "./hash.ts";
import type { EngineSide } from "./verb.ts";
import { demandTextName } from "./write.ts";

/** A file that was read. To be closed. */
export interface Source {
  found: Found;
  path: string;
  file: OpenFile;
  bytes: Uint8Array<ArrayBuffer>;
  text: string;
  encoding: Encoding;
}

/** A file as it is to be. */
export interface Outcome {
  source: Source;
  bytes: Uint8Array<ArrayBuffer>;
  mixed: boolean;
  addition: Addition;
}

/** Whether lines of a file may stand in a refusal: not where a screen is asked for. Spec: 6-screens §6.11. */
export function mayQuote({ survey }: EngineSide, found: Found): boolean {
  return survey.screen(absoluteOf(survey.boundary, found.real)).length === 0;
}

/**
 * Reads a text file that is to be changed.
 * @throws {Refusal} `not-found`, `refused` for what is no text file, is too large or does not decode; `denied`.
 */
export function openSource(side: EngineSide, found: Found, named: Encoding | undefined): Source {
  const path = printLocation(side.survey.boundary, found.written);
  if (found.facts?.kind === "dir") throw new Refusal("refused", "this is a folder", path);
  if (!found.facts) throw new Refusal("not-found", "there is no such file or folder", path);
  if (found.facts.kind !== "file") {
    throw new Refusal("refused", "this is a FIFO, a socket or a device, or a link to nothing", path);
  }
  demandTextName(found.name, path);
  const file = openFound(side, found);
  try {
    const bytes = readWhole(side, found, file);
    const encoding = encodingOf(bytes, named);
    if (encoding === "binary") throw refuseBinary(path);
    return { found, path, file, bytes, encoding, text: decode(bytes, encoding, named !== undefined, path) };
  } catch (error) {
    file.close();
    throw error;
  }
}

function decode(bytes: Uint8Array, encoding: Encoding, named: boolean, path: string): string {
  try {
    return decodeWhole(bytes, encoding);
  } catch (error) {
    if (error instanceof Undecodable) throw refuseUndecodable(error, named, path);
    throw error;
  }
}

/** What a file becomes by changes. @throws {Refusal} `refused` for characters that its encoding lacks. */
export function outcomeOf(source: Source, changes: readonly Change[]): Outcome {
  const { bytes, text, encoding, path, found } = source;
  const after = textAfter(text, changes);
  return {
    source,
    bytes: spliceChanges({ bytes, text, encoding }, changes, path),
    mixed: endingsAfter(text, changes).mixed,
    addition: {
      path,
      before: found.place.can.has("read") ? text : undefined,
      after,
      changed: rangesAfter(changes),
    },
  };
}

/** Where in the new text each change is. */
function rangesAfter(changes: readonly Change[]): Range[] {
  let moved = 0;
  return changes.map(({ start, end, text }) => {
    const range = { start: start + moved, end: start + moved + text.length };
    moved += text.length - (end - start);
    return range;
  });
}

/** Writes all of them beside their places, then puts them there. Returns what each did not keep, in order. */
export function publishAll(door: Door, outcomes: readonly Outcome[]): (readonly string[])[] {
  const notKept = outcomes.map(({ source, bytes }) =>
    door.stage(source.found, bytes, { needs: ["read", "update"], old: source.file }).notKept
  );
  door.publish();
  return notKept;
}

/** The hash of a file's new content. */
export function hashAfter({ bytes }: Outcome): string {
  return hashOf(bytes);
}
