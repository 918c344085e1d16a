/**
 * Text files that are changed together: all are read and judged before the first byte is written, and published one after another.
 *
 * Spec: 2-verbs §2.8, §2.13, §2.14; decision 14.
 */
import { absoluteOf } from "../boundary/locate.ts";
import { printLocation } from "../boundary/print.ts";
import type { Facts, OpenFile } from "../disk/disk.ts";
import type { Door } from "../disk/mutate.ts";
import type { Found } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import type { Change as Addition, Range } from "../screens/credentials.ts";
import { decodeWhole, refuseBinary, refuseUndecodable, Undecodable } from "../text/decoder.ts";
import type { Bounds, Changes } from "../text/edit_changes.ts";
import { type Decoded, spliceChanges } from "../text/encode_splice.ts";
import { type Encoding, encodingOf } from "../text/encoding.ts";
import { demandTextName, LARGEST, notThere, openFound, readWhole } from "./change.ts";
import { hashOf, hashOfPieces } from "./hash.ts";
import type { EngineSide } from "./verb.ts";

/** What a place has to grant for a file in it to be changed by its content. Spec: 1-boundary §1.5. */
export const NEEDS = ["read", "update"] as const;

/** A file that was read. It is closed again; `found.facts` are those of the very file that was read. */
export interface Source extends ReadText {
  found: Found;
  path: string;
}

/** A file as `outcomeOf` takes it, which lets its bytes go. */
export interface ReadText extends Decoded {
  bytes: Uint8Array<ArrayBuffer>;
}

/** A file as it is to be. */
export interface Outcome {
  bytes: Uint8Array<ArrayBuffer>;
  /** All of it is put back as it was: nothing has to be written. */
  idle: boolean;
  /** For the credential net. */
  addition: Addition;
}

/** Whether lines of a file may stand in a refusal: not where a screen is asked for. Spec: 6-screens §6.11. */
export function mayQuote({ survey }: EngineSide, found: Found): boolean {
  return survey.screen(absoluteOf(survey.boundary, found.real)).length === 0;
}

/** @throws {Refusal} `refused` for a document's name, a folder or a special file, `not-found`. Spec: 2-verbs §2.8. */
export function demandTextFile(found: Found, path: string): void {
  demandTextName(found.name, path);
  switch (found.facts?.kind) {
    case "file":
      return;
    case "dir":
      throw new Refusal("refused", "this is a folder", path);
    case undefined:
      throw notThere(path);
    default:
      throw new Refusal("refused", "this is a FIFO, a socket or a device; such files are not opened", path);
  }
}

/**
 * Reads a text file that is to be changed.
 *
 * Another process may have changed it before its folder was locked: what counts from here on is the file that is read.
 * @param named The encoding, instead of the one that the file shows.
 * @throws {Refusal} `refused` for what is no text, is too large or does not decode; `denied`.
 */
export function readSource(side: EngineSide, found: Found, named: Encoding | undefined): Source {
  const path = printLocation(side.survey.boundary, found.written);
  const bytes = withFile(side, found, (file) => {
    found.facts = file.facts();
    return readWhole(side, found, file);
  });
  return { found, path, ...decoded(bytes, named, path) };
}

/** All of a file as text. @throws {Refusal} `refused` for what is no text. */
export function decoded(bytes: Uint8Array<ArrayBuffer>, named: Encoding | undefined, path: string): Decoded {
  const encoding = encodingOf(bytes, named);
  if (encoding === "binary") throw refuseBinary(path);
  try {
    return { bytes, encoding, text: decodeWhole(bytes, encoding) };
  } catch (error) {
    if (error instanceof Undecodable) throw refuseUndecodable(error, named !== undefined, path);
    throw error;
  }
}

/** Opens the file that was found for as long as `act` takes. @throws {Refusal} */
export function withFile<T>(side: EngineSide, found: Found, act: (file: OpenFile) => T): T {
  const file = openFound(side, found);
  try {
    return act(file);
  } finally {
    file.close();
  }
}

/** What holds for the change of one file, however large it is. */
export function boundsOf({ call }: EngineSide, path: string): Bounds {
  return { path, largest: LARGEST, pulse: () => call.pulse() };
}

/**
 * What a file becomes by changes.
 *
 * @param file Its bytes are let go as soon as they are of no more use: of ASCII no more than three times the file is held at once.
 * @throws {Refusal} `refused` for what it may not hold, and when it would be too large.
 */
export function outcomeOf(file: ReadText, changes: Changes, path: string, bounds: Bounds): Outcome {
  const { text, encoding } = file;
  const bytes = spliceChanges(file, changes, bounds);
  const idle = changes.length === 0;
  if (!idle) letGo(file);
  bounds.pulse?.();
  // Sooner than to put it together from what is kept and what is brought in, and no pieces lie about.
  const after = idle ? text : decodeWhole(bytes, encoding);
  // So many lie nearer to each other than that, on an average, and are not gone through once more.
  const changed = changes.length > text.length / NEAR ? [{ start: 0, end: after.length }] : rangesAfter(changes);
  return { bytes, idle, addition: { path, before: text, after, changed } };
}

/** Frees the bytes at once: the collector comes when a file more is held (measured). */
function letGo(file: ReadText): void {
  file.bytes.buffer.transfer(0);
  file.bytes = new Uint8Array(0);
}

/** Changes that are nearer to each other are told to the credential net as one. */
const NEAR = 1024;

/**
 * Where in the new text changes are. Told apart, 190 small ones in a file of 12 KB took the net 190 µs; told as one, 56, as does the
 * whole text (measured).
 */
function rangesAfter(changes: Changes): Range[] {
  const ranges: { start: number; end: number }[] = [];
  let last: { start: number; end: number } | undefined;
  let moved = 0;
  changes.forEach(({ start, end, text }) => {
    const from = start + moved;
    const to = from + text.length;
    moved += text.length - (end - start);
    if (last && from - last.end <= NEAR) last.end = to;
    else ranges.push(last = { start: from, end: to });
  });
  return ranges;
}

/** The hash of a whole content, however large it is. */
export function hashOfWhole({ call }: EngineSide, bytes: Uint8Array): string {
  return bytes.length <= PIECE ? hashOf(bytes) : hashOfPieces(piecesOf(bytes, () => call.pulse()));
}

/** How much is hashed or written between two safe points. */
const PIECE = 4 * 1024 * 1024;

function* piecesOf(bytes: Uint8Array, pulse?: () => void): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) {
    pulse?.();
    yield bytes.subarray(at, at + PIECE);
  }
}

/**
 * Writes a file's new content beside it, as long as it is the one that was judged.
 *
 * Nothing stays open: the lock of the folder, which is held until publication, guards what is staged (decision 55).
 * @returns What of the old file is not kept.
 * @throws {Refusal} `stale`, and those of the disk.
 */
export function stage(side: EngineSide, door: Door, found: Found, bytes: Uint8Array, old: OpenFile): readonly string[] {
  demandSame(found.facts!, old.facts(), printLocation(side.survey.boundary, found.written));
  return door.stage(found, piecesOf(bytes), { needs: NEEDS, old, shut: true }).notKept;
}

/** @throws {Refusal} `stale` for another file than the one that was judged, or one that was written to since. */
export function demandSame(judged: Facts, now: Facts, path: string): void {
  const { dev, ino, size, modified } = now;
  if (dev === judged.dev && ino === judged.ino && size === judged.size && modified === judged.modified) return;
  throw new Refusal(
    "stale",
    "it was changed by somebody else while this call was at it, and nothing was written; try again",
    path,
  );
}
