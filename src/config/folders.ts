/** Folders that trees stand on: where they really are, and which folder of the disk they are. */
import type { Identity, NameRules } from "../boundary/types.ts";
import { isAbsent } from "./disk_errors.ts";
import type { Facts, System } from "./system.ts";
import { absolutePath, fold, isForeign, rootOf, separator } from "./written_path.ts";

/** An existing folder. */
export interface Folder {
  /** Every link on the way followed, in the spelling of the disk. */
  real: string;
  identity: Identity;
}

/** A folder that is there, or why it cannot be a tree's. `error` is there where the system would not say. */
export type Looked = Folder | { problem: "missing" | "no folder" | "unreadable"; error?: unknown };

/** Looks up the folder at an absolute path. */
export function lookUp(path: string, system: System): Looked {
  if (isForeign(path, system.names)) return { problem: "missing" };
  try {
    const real = system.realPath(path);
    const facts = system.stat(real);
    if (!facts.isDirectory) return { problem: "no folder" };
    return { real: spellingOnDisk(real, facts, system), identity: identityOf(facts) };
  } catch (error) {
    if (isAbsent(error)) return { problem: "missing" };
    return { problem: error instanceof Deno.errors.FilesystemLoop ? "no folder" : "unreadable", error };
  }
}

/** Device and file number; both 0 where the system gives none, and equal to nothing then. */
export function identityOf(facts: Facts): Identity {
  return facts.ino === null ? { dev: 0, ino: 0 } : { dev: facts.dev, ino: facts.ino };
}

/** Whether two existing entries are one: by identity, or by their real paths where the system gives none. */
export function isSame(a: Folder, b: Folder, names: NameRules): boolean {
  if (a.identity.ino === 0 || b.identity.ino === 0) return fold(a.real, names) === fold(b.real, names);
  return a.identity.ino === b.identity.ino && a.identity.dev === b.identity.dev;
}

/** Where a path ends after every link on the way, also when nothing is there (yet); `facts` are there when something is. */
export interface Destination {
  real: string;
  facts?: Facts;
}

/**
 * Follows a path from a real folder to where it leads, one segment after the other: what is missing costs one look, and a
 * path without links needs no other. What the system does not let us look at counts as not there.
 *
 * @param relative `/` between segments, no `.`, no `..`.
 */
export function destinationOf(folder: string, relative: string, system: System, hops = 40): Destination {
  const segments = relative.split("/");
  let at: Destination = { real: folder };
  for (let i = 0; i < segments.length; i++) {
    const entry = below(at.real, segments[i], system.names);
    const facts = orNothing(() => system.lstat(entry));
    if (!facts) return { real: below(at.real, segments.slice(i).join("/"), system.names) };
    at = facts.isSymlink ? linkTarget(entry, at.real, system, hops) : { real: entry, facts };
    if (!at.facts && i + 1 < segments.length) {
      return { real: below(at.real, segments.slice(i + 1).join("/"), system.names) };
    }
  }
  const onDisk = at.facts && system.names.ignoreCase ? orNothing(() => system.realPath(at.real)) : undefined;
  return onDisk === undefined ? at : { ...at, real: onDisk };
}

/** Where a link leads; one that leads nowhere is followed as far as its texts go. */
function linkTarget(link: string, folder: string, system: System, hops: number): Destination {
  const real = orNothing(() => system.realPath(link));
  if (real !== undefined) return { real, facts: orNothing(() => system.stat(real)) };
  const written = hops > 0 ? orNothing(() => system.readLink(link)) : undefined;
  if (written === undefined) return { real: link };
  const target = absolutePath(written, folder, system.names);
  const root = rootOf(target, system.names);
  const relative = target.slice(root.length).replaceAll(separator(system.names), "/");
  return relative === "" ? { real: root } : destinationOf(root, relative, system, hops - 1);
}

/** What a look at the disk gives, or `undefined` where it fails for whatever reason. */
export function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** An entry of a folder. `relative` has `/` between its segments. */
export function below(folder: string, relative: string, names: NameRules): string {
  const between = separator(names);
  const native = names.windows ? relative.replaceAll("/", between) : relative;
  return folder.endsWith(between) ? folder + native : folder + between + native;
}

/**
 * The spelling that the disk has for an existing real path.
 *
 * Elsewhere the real path already is that. Linux gives back the spelling it was asked with, which on a case-blind mount
 * may be another one. Whether it is one costs a look at the same name in the other case; where it is not, that is remembered.
 */
export function spellingOnDisk(real: string, facts: Facts, system: System): string {
  if (system.names.ignoreCase || facts.ino === null) return real;
  const settled = settledOn(system);
  const known = `${facts.dev}:${facts.ino}:${real}`;
  if (settled.has(known)) return real;
  if (!answersToOtherCase(real, facts, system)) {
    settled.add(known);
    return real;
  }
  let spelling = "";
  for (const segment of real.split("/").slice(1)) spelling += "/" + nameOnDisk(spelling || "/", segment, system);
  return spelling;
}

const settledSpellings = new WeakMap<System, Set<string>>();

/** The entries of a system that are known not to answer to another case. */
function settledOn(system: System): Set<string> {
  let settled = settledSpellings.get(system);
  if (!settled) settledSpellings.set(system, settled = new Set());
  return settled;
}

function answersToOtherCase(real: string, facts: Facts, system: System): boolean {
  const segments = real.split("/");
  const lettered = segments.findLastIndex((segment) => otherCase(segment) !== segment);
  if (lettered < 0) return false;
  segments[lettered] = otherCase(segments[lettered]);
  try {
    const other = system.lstat(segments.join("/"));
    return other.ino === facts.ino && other.dev === facts.dev;
  } catch {
    return false;
  }
}

function otherCase(name: string): string {
  const upper = name.toUpperCase();
  return upper === name ? name.toLowerCase() : upper;
}

/** The entry of a folder that bears this name, else the one that bears it in another case. */
function nameOnDisk(folder: string, name: string, system: System): string {
  const wanted = name.normalize("NFC").toLowerCase();
  let near: string | undefined;
  try {
    for (const entry of system.readFolder(folder)) {
      if (entry.name === name) return name;
      if (entry.name.normalize("NFC").toLowerCase() === wanted) near = entry.name;
    }
  } catch {
    // A folder that may be passed but not listed: the spelling stays.
  }
  return near ?? name;
}
