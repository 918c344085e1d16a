/**
 * What every verb that changes something does: find its paths stage by stage, take the locks, judge, and act through the door.
 *
 * Spec: 1-boundary §1.6; 2-verbs §2.8.
 */
import { absoluteOf, locate, type Location, treeNamed } from "../boundary/locate.ts";
import { demand } from "../boundary/permission.ts";
import { printable, printLocation } from "../boundary/print.ts";
import type { Place } from "../boundary/survey.ts";
import type { Permission } from "../boundary/types.ts";
import { DiskError, type OpenFile } from "../disk/disk.ts";
import { isWriteRefused, kindOf } from "../documents/kinds.ts";
import { demandLeave, Door } from "../disk/mutate.ts";
import { find, type Found, NAME_TOO_LONG, refusalOf } from "../disk/resolve.ts";
import { outside, Refusal } from "../refusal.ts";
import { addedCredentials, type Change, type Finding } from "../screens/credentials.ts";
import { credentialRefusal } from "../screens/credential_refusal.ts";
import type { EngineSide } from "./verb.ts";

/** The largest file that is changed in place, in bytes. Spec: decision 58. */
export const LARGEST = 256 * 1024 * 1024;

/** A path of a call, and how it is meant. */
export interface Wanted {
  path: string;
  /** A link at its end is followed; else the entry itself is meant. Spec: 1-boundary §1.9. */
  follow: boolean;
  /** What its place has to grant, given what is there; `all` is what is known of every path of the call, in their order. */
  needs(found: { exists: boolean; all: readonly Seen[] }): readonly Permission[];
  /** The call changes it, so it may not be governed. */
  changes: boolean;
  /** What names the path, where that is not the call itself: a refusal begins with it. */
  called?: string;
  /** A path with `*` or `?` is refused unless an entry bears exactly that name. Spec: 1-boundary §1.5. */
  noPattern?: boolean;
}

/** What is known of a path when permissions are judged. */
export interface Seen {
  real: Location;
  place: Place;
  /** `undefined` when nothing is there, or a folder on the way is missing. */
  found: Found | undefined;
}

/** Opens a door for one call, and closes it and all that was found, whatever comes of it. */
export function changing<T>(side: EngineSide, act: (door: Door, find: Finder) => T): T {
  const { survey, disk, call } = side;
  const door = new Door(disk, survey, { pulse: () => call.pulse(), changed: (path) => call.changed(path) });
  const opened: Found[] = [];
  try {
    return act(door, (wanted) => findAll(side, door, wanted, opened));
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    // Something on the way was swapped in the middle; which of the paths it was is not known here.
    const { outcome, message } = refusalOf(error, "");
    throw new Refusal(outcome, message);
  } finally {
    door.close();
    for (const found of opened) found.close();
  }
}

/** Finds the paths of a call. They are closed with the door. */
export type Finder = (wanted: readonly Wanted[]) => Found[];

/**
 * Every path passes each stage before any enters the next: form and lexical place, real place, governed, permission. What is said of
 * the existence of the last folder on the way comes after all of them.
 */
function findAll(side: EngineSide, door: Door, wanted: readonly Wanted[], opened: Found[]): Found[] {
  const { survey, disk } = side;
  const staged = <T>(act: (one: Wanted, index: number) => T): T[] =>
    wanted.map((one, index) => {
      try {
        return act(one, index);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (one.called !== undefined) throw said(one.called, error);
        if (error.outcome !== "outside-root") throw error;
        throw outside({ index: index + 1, of: wanted.filter(({ called }) => called === undefined).length });
      }
    });
  const lexical = staged(({ path }) => locate(survey, path).at(-1)!);
  const results = staged(({ path, follow }): { found: Found } | { missing: Refusal } => {
    try {
      const found = find(disk, survey, path, { follow });
      opened.push(found);
      return { found };
    } catch (error) {
      if (!(error instanceof Refusal) || error.outcome === "outside-root") throw error;
      return { missing: error };
    }
  });
  const atOf = (index: number): { written: Location; real: Location } => {
    const result = results[index];
    return "found" in result ? result.found : { written: lexical[index], real: lexical[index] };
  };
  staged(({ path, changes }, index) => {
    const result = results[index];
    if (changes && !("found" in result && result.found.facts)) demandNoStrangeTree(side, path);
  });
  staged(({ changes }, index) => changes && door.demandOrdinary(atOf(index)));
  const all = results.map((result, index): Seen => {
    const { real } = atOf(index);
    if (!("found" in result)) {
      return { real, place: survey.place(absoluteOf(survey.boundary, real))!, found: undefined };
    }
    return { real, place: result.found.place, found: result.found.facts && result.found };
  });
  staged(({ needs }, index) => {
    const { place, found } = all[index];
    demand(place, needs({ exists: found !== undefined, all }), printLocation(survey.boundary, atOf(index).written));
  });
  staged(({ noPattern }, index) => {
    const { written } = atOf(index);
    if (!noPattern || all[index].found || !written.segments.some((segment) => /[*?]/.test(segment))) return;
    throw new Refusal(
      "refused",
      "this takes one path and no pattern, and nothing bears exactly this name; find lists what a pattern matches",
      printLocation(survey.boundary, written),
    );
  });
  return results.map((result, index) => {
    const { path, called, changes, follow, needs } = wanted[index];
    if ("found" in result) return result.found;
    if (changes && follow) demandNoLink(side, path);
    const makes = changes && needs({ exists: false, all }).includes("create");
    const missing = makes ? ofNameToMake(result.missing) : result.missing;
    throw called === undefined ? missing : said(called, missing);
  });
}

/** A name that the system does not take is no entry that is missing, where one is to be made: `denied`. Spec: 2-verbs §2.5. */
export function ofNameToMake(refusal: Refusal): Refusal {
  if (refusal.message !== NAME_TOO_LONG) return refusal;
  return new Refusal(
    "denied",
    "the operating system declines: a name in the path is longer than it allows",
    refusal.path,
  );
}

/**
 * A path where nothing is, and whose beginning looks like the name of a tree: nobody means to make an entry of that name.
 * @throws {Refusal} `invalid`, with the open names. Spec: 1-boundary §1.8.
 */
export function demandNoStrangeTree({ survey }: EngineSide, path: string): void {
  const name = /^([A-Za-z][A-Za-z0-9._-]+):/.exec(path)?.[1];
  if (name === undefined || treeNamed(survey.boundary, name)) return;
  const open = survey.boundary.trees.map((tree) => tree.name).join(", ");
  throw new Refusal("invalid", `no open tree is called '${name}'. Open: ${open}`);
}

/** A refusal with what it is about before it. */
export function said(what: string, { outcome, message, path, fields }: Refusal): Refusal {
  return new Refusal(outcome, `${what}: ${message}`, path, fields);
}

/** Takes the lock of an entry's folder and looks once more: whoever had it may have changed the entry. */
export function lockAndLook(door: Door, found: Found): void {
  door.lock([found]);
  if (found.name !== "") found.facts = found.folder.look(found.name);
}

/** A link at the end of a path that leads to nothing: nobody makes a file through it. Spec: 1-boundary §1.9. */
export function demandNoDangling(side: EngineSide, path: string, found: Found): void {
  if (found.facts || found.real === found.written) return;
  demandNoLink(side, path);
}

/** The same of a path that leads nowhere. @throws {Refusal} `refused` when a link stands at its end. */
export function demandNoLink(side: EngineSide, path: string): void {
  let entry: Found | undefined;
  try {
    entry = find(side.disk, side.survey, path, { follow: false });
  } catch (error) {
    if (error instanceof Refusal && error.outcome === "not-found") return;
    throw error;
  } finally {
    entry?.close();
  }
  if (entry.facts?.kind !== "link") return;
  throw new Refusal(
    "refused",
    "this is a link that leads to nothing, and nothing is made through a link; name the target",
    printLocation(side.survey.boundary, entry.written),
  );
}

/** Opens the file that was found, for reading. @throws {Refusal} */
export function openFound(side: EngineSide, found: Found): OpenFile {
  try {
    return found.folder.file(found.name);
  } catch (error) {
    if (error instanceof DiskError) throw refusalOf(error, printLocation(side.survey.boundary, found.written));
    throw error;
  }
}

/** @throws {Refusal} `refused` for the name of a document, image or archive. */
export function demandTextName(name: string, path: string): void {
  const kind = kindOf(name);
  if (!isWriteRefused(kind)) return;
  throw new Refusal("refused", `by its name this is a file of the kind '${kind}', which is not written as text`, path);
}

/**
 * All of an open file whose content is about to be replaced; the system is asked for its leave before anything is said of the content.
 * @throws {Refusal} `denied`; `refused` for one that is too large.
 */
export function readWhole(side: EngineSide, found: Found, file: OpenFile): Uint8Array<ArrayBuffer> {
  demandLeave(found, "replace", printLocation(side.survey.boundary, found.written));
  return readAll(side, found, file);
}

/** All of an open file. @throws {Refusal} `refused` for one that is larger than files that are changed. */
export function readAll(side: EngineSide, found: Found, file: OpenFile): Uint8Array<ArrayBuffer> {
  const { size } = file.facts();
  if (size > LARGEST) {
    const path = printLocation(side.survey.boundary, found.written);
    throw new Refusal("refused", `the file has ${size} bytes; files of up to 256 MiB are changed`, path);
  }
  return readBeginning(side, found, file, size);
}

/** So many bytes of an open file, or all that it has. */
export function readBeginning(side: EngineSide, found: Found, file: OpenFile, size: number): Uint8Array<ArrayBuffer> {
  try {
    const bytes = new Uint8Array(size);
    let held = 0;
    for (let n = -1; n !== 0 && held < size; held += n) {
      side.call.pulse();
      n = file.readAt(bytes.subarray(held, Math.min(size, held + 8 * 1024 * 1024)), held);
    }
    return bytes.subarray(0, held);
  } catch (error) {
    if (error instanceof DiskError) throw refusalOf(error, printLocation(side.survey.boundary, found.written));
    throw error;
  }
}

const PIECE = 1024 * 1024;

/**
 * The content of an open file; a piece holds until the next is asked for. No more than the file had when it was opened, so that one that
 * grows has an end.
 */
export function* piecesOf(file: OpenFile): Generator<Uint8Array> {
  const { size } = file.facts();
  const buffer = new Uint8Array(Math.min(PIECE, size));
  for (let at = 0; at < size;) {
    const n = file.readAt(buffer.subarray(0, Math.min(buffer.length, size - at)), at);
    if (n === 0) return;
    yield buffer.subarray(0, n);
    at += n;
  }
}

/**
 * @param allowable The verb takes `--allow-credential`, which is spoken of on the command line alone.
 * @throws {Refusal} `credential` when any of the changes would add one, over all files in order. Spec: 6-screens §6.2.
 */
export function demandNoCredential(side: EngineSide, changes: readonly Change[], allowable: boolean): void {
  const findings: Finding[] = changes.flatMap((change) => addedCredentials(change, { pulse: () => side.call.pulse() }));
  if (findings.length > 0) {
    throw credentialRefusal(findings, { override: allowable && side.form !== "tool", printable });
  }
}

/** The last part of an answer about a file that was replaced. */
export function notKeptFields(notKept: readonly string[]): { metadata_not_preserved?: readonly string[] } {
  return notKept.length === 0 ? {} : { metadata_not_preserved: notKept };
}

/** The same as a row of text. */
export function notKeptRows(notKept: readonly string[]): string[] {
  return notKept.map((what) => `   not kept: ${what}`);
}

/** What is said of a path where nothing is. */
export function notThere(path: string): Refusal {
  return new Refusal("not-found", "there is no such file or folder", path);
}
