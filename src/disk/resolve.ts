/**
 * From a written path to the entry it leads to: links followed segment by segment, each target judged before it is touched.
 *
 * Spec: 1-boundary §1.6 stages 2, 3 and 7, §1.9; decision 54.
 */
import {
  absoluteOf,
  demandListed,
  isAbsolute,
  locate,
  locateAbsolute,
  type Location,
  resolveDots,
} from "../boundary/locate.ts";
import { keyOf, segmentsOf, slashed } from "../boundary/names.ts";
import { printLocation } from "../boundary/print.ts";
import type { Place, Survey } from "../boundary/survey.ts";
import { Refusal } from "../refusal.ts";
import { type Disk, DiskError, type Facts, type Folder } from "./disk.ts";

const MOST_HOPS = 40;

/** An entry that was found, or the place where it would be. Its folder is open: `close` it. */
export interface Found {
  /** As the caller named it. Answers print this. */
  written: Location;
  /** Where it really is. Permissions are those of this place. */
  real: Location;
  /** The place that decides `real`. */
  place: Place;
  /** The folder that holds the entry; the top folder itself when `name` is empty. */
  folder: Folder;
  /** The entry's name in `folder`; empty for the top of a tree. */
  name: string;
  /** Links not followed any further; `undefined` when nothing is there. */
  facts: Facts | undefined;
  close(): void;
}

/**
 * Finds the entry that a written path leads to. With `follow`, a link at its end is followed as those on the way are.
 *
 * @throws {Refusal} `invalid` for a malformed path; `outside-root` where the path or a link on it leads outside or to a hidden
 * place; `not-found` when a folder on the way is missing; `refused` for a loop of links; `denied` when the system declines.
 */
export function find(disk: Disk, survey: Survey, written: string, options: { follow: boolean }): Found {
  const readings = locate(survey, written);
  for (const reading of readings.slice(0, -1)) {
    // On POSIX a `\` may be part of a name: that reading holds when it names an entry.
    const found = tryReading(disk, survey, reading, options.follow);
    if (found?.facts) return found;
    found?.close();
  }
  return resolve(disk, survey, readings[readings.length - 1], options);
}

function tryReading(disk: Disk, survey: Survey, reading: Location, follow: boolean): Found | undefined {
  try {
    return resolve(disk, survey, reading, { follow });
  } catch (error) {
    if (error instanceof Refusal && error.outcome === "not-found") return undefined;
    throw error;
  }
}

/** As `find`, for a location that is known already. */
export function resolve(disk: Disk, survey: Survey, written: Location, options: { follow: boolean }): Found {
  const boundary = survey.boundary;
  let at = written;
  for (let hops = 0; hops <= MOST_HOPS; hops++) {
    const step = walkDown(disk, survey, at, options.follow, written);
    if (!("target" in step)) return { ...step, written };
    at = step.target;
  }
  throw new Refusal("refused", "the path goes through a loop of links", printLocation(boundary, written));
}

/**
 * Goes down from the pinned top of a tree. Ends at the entry, or at the first link: then the location it leads to, judged.
 * Every folder on the way is opened relative to the one above it, so what is reached really lies below the top.
 */
function walkDown(
  disk: Disk,
  survey: Survey,
  at: Location,
  follow: boolean,
  written: Location,
): Omit<Found, "written"> | { target: Location } {
  let place = demandListed(survey, at);
  let real: Location = { tree: at.tree, segments: [] };
  let folder = openTop(disk, survey, at.tree, written);
  try {
    const end = at.segments.length - 1;
    for (let i = 0; i < end; i++) {
      const name = at.segments[i];
      const next = openFolder(folder, name);
      if (!next) {
        const text = folder.link(name);
        if (text === undefined) {
          throw new Refusal("not-found", "there is no such file or folder", printLocation(survey.boundary, written));
        }
        return close(folder, { target: targetBehind(disk, survey, real, text, at.segments.slice(i + 1), written) });
      }
      folder.close();
      folder = next;
      const here = below(real, name);
      real = recognise(survey, here, folder.facts());
      if (real !== here) {
        place = demandListed(survey, { tree: real.tree, segments: [...real.segments, ...at.segments.slice(i + 1)] });
      }
    }
    if (end < 0) return found(real, place, folder, "", folder.facts());
    const name = at.segments[end];
    const facts = folder.look(name);
    if (facts?.kind === "link" && follow) {
      const text = folder.link(name);
      // It was a link a moment ago: somebody is swapping entries, and the next look decides.
      if (text !== undefined) return close(folder, { target: targetBehind(disk, survey, real, text, [], written) });
    }
    const entry = below(real, name);
    real = facts ? recognise(survey, entry, facts) : entry;
    if (real !== entry) place = demandListed(survey, real);
    return found(real, place, folder, name, facts);
  } catch (error) {
    folder.close();
    if (error instanceof DiskError) throw refusalOf(error, printLocation(survey.boundary, written));
    throw error;
  }
}

/** The top of a tree. @throws {Refusal} `denied` where the system lets nobody in. */
export function openTop(disk: Disk, survey: Survey, tree: Location["tree"], written: Location): Folder {
  try {
    return disk.top(tree);
  } catch (error) {
    if (error instanceof DiskError) throw refusalOf(error, printLocation(survey.boundary, written));
    throw error;
  }
}

function found(real: Location, place: Place, folder: Folder, name: string, facts: Facts | undefined) {
  return { real, place, folder, name, facts, close: () => folder.close() };
}

function close<T>(folder: Folder, value: T): T {
  folder.close();
  return value;
}

function below(at: Location, name: string): Location {
  return { tree: at.tree, segments: [...at.segments, name] };
}

function openFolder(folder: Folder, name: string): Folder | undefined {
  try {
    return folder.folder(name);
  } catch (error) {
    if (error instanceof DiskError && error.fault === "not-folder") return undefined;
    throw error;
  }
}

/**
 * A place is known by its identity too: where an entry is the folder of a scope or tree reached by another spelling (a case-blind
 * mount, a bind mount), the location by which it was declared stands for it. A file only counts under another spelling of its
 * own name, since hard links cannot be told apart. Spec: 1-boundary §1.3 rule 8.
 */
export function recognise(survey: Survey, here: Location, facts: Facts): Location {
  const known = survey.byIdentity(facts);
  if (!known) return here;
  const boundary = survey.boundary;
  const key = keyOf(boundary.names, absoluteOf(boundary, here));
  const spellings = [known.path, ...known.scope?.real ? [slashed(boundary.names, known.scope.real)] : []];
  if (spellings.some((path) => keyOf(boundary.names, path) === key)) return here;
  if (facts.kind !== "dir" && !spellings.some((path) => path.normalize("NFC").toLowerCase() === key.toLowerCase())) {
    return here;
  }
  return locateAbsolute(boundary, known.path);
}

/** Where a link leads, with the rest of the path behind it. Judged before the target is touched. */
function targetBehind(
  disk: Disk,
  survey: Survey,
  folder: Location,
  text: string,
  rest: readonly string[],
  written: Location,
): Location {
  const target = targetOf(survey, folder, text);
  demandListed(survey, target);
  // `name/..` in a target is only then lexical when `name` is a plain folder and no link: else the target is not taken.
  const { parts, turn } = climbBack(text);
  if (turn > 0) {
    const before = targetOf(survey, folder, (text.startsWith("/") ? "/" : "") + parts.slice(0, turn).join("/"));
    const step = walkDown(disk, survey, before, false, written);
    if (!("target" in step)) step.close();
    if ("target" in step || step.facts?.kind !== "dir") {
      const path = printLocation(survey.boundary, written);
      throw new Refusal("refused", "a link on the path leads through another link and back up from there", path);
    }
  }
  const whole = { tree: target.tree, segments: [...target.segments, ...rest] };
  demandListed(survey, whole);
  return whole;
}

/** The parts of a link's text, and where it first climbs back after a name: what that means depends on whether the name is a link. */
export function climbBack(text: string): { parts: string[]; turn: number } {
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  return { parts, turn: parts.findIndex((part, k) => k > 0 && part === ".." && parts[k - 1] !== "..") };
}

/** The location that the text of a link in a folder names, lexically. @throws {Refusal} `outside-root`. */
export function targetOf(survey: Survey, folder: Location, text: string): Location {
  const boundary = survey.boundary;
  const path = boundary.names.windows ? text.replaceAll("\\", "/").replace(/^\/\/\?\//, "") : text;
  if (isAbsolute(boundary, path)) return locateAbsolute(boundary, path);
  const from = segmentsOf(absoluteOf(boundary, folder));
  const segments = resolveDots([...from, ...path.split("/").filter((part) => part !== "")]);
  return locateAbsolute(boundary, (boundary.names.windows ? "" : "/") + segments.join("/"));
}

/** What is said of a path with a name that no entry can have. */
export const NAME_TOO_LONG = "there is no such file or folder; a name in the path is longer than the system allows";

/** A disk fault as the refusal of the spec. @see spec 1-boundary §1.6 stage 7 */
export function refusalOf(error: DiskError, path: string): Refusal {
  switch (error.fault) {
    case "missing":
    case "not-folder":
      return new Refusal("not-found", "there is no such file or folder", path);
    case "name-too-long":
      return new Refusal("not-found", NAME_TOO_LONG, path);
    case "not-file":
      return new Refusal("refused", "this is no regular file", path);
    case "denied":
      return new Refusal("denied", "the operating system does not let this account open it", path);
    case "no-unicode":
      return new Refusal("refused", "the path goes through a link whose target is no Unicode name", path);
    case "replaced":
      return new Refusal("not-found", error.message, path);
    case "exists":
      return new Refusal("target-exists", error.message, path);
    case "not-empty":
      return new Refusal("refused", error.message, path);
    case "cross-device":
    case "read-only":
    case "no-space":
    case "busy":
      return new Refusal("denied", `the operating system declines: ${error.message}`, path);
    case "failed":
      return new Refusal("denied", `the operating system declines: ${error.message}`, path);
  }
}
