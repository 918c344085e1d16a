/**
 * A sweep over one tree, as `find` and `search` make it: which tree, where to start, what to leave out.
 *
 * Spec: 2-verbs §2.6.
 */
import { absoluteOf, defaultTree, demandListed, locateAbsolute, type Location, treeNamed } from "../boundary/locate.ts";
import { printer } from "../boundary/print.ts";
import { isListed } from "../boundary/survey.ts";
import type { Boundary, Tree } from "../boundary/types.ts";
import { type Found, openTop, refusalOf, resolve } from "../disk/resolve.ts";
import { DiskError } from "../disk/disk.ts";
import { nothingMet, type Visit, walk, type WalkCounts } from "../disk/walk.ts";
import { nearest, outside, Refusal } from "../refusal.ts";
import { compileGlob, type Glob } from "../text/glob.ts";
import type { EngineSide } from "./verb.ts";

export interface SweepArguments {
  glob?: string;
  in?: string;
  exclude?: readonly string[];
  include_generated?: boolean;
}

export interface SweepOptions {
  /** Levels below the start folder. */
  depth?: number;
  /** Folders are visited too. */
  folders: boolean;
  /** Told the tree, whose paths `visit` is given, before the first of them. */
  starts?(tree: Tree): void;
  /** Called for every entry that the glob means, in path order; returns false to end the sweep. `path` is below the tree. */
  visit: Visit;
}

/** What a sweep tells beside its entries. */
export interface Sweep extends WalkCounts {
  /** Prints a path of the sweep as the caller may pass it back. */
  print(path: string): string;
}

/** A start folder that is not there is looked for in another spelling from here upwards; no tree of files goes deeper than this. */
const DEEPEST = 200;

/**
 * Goes over a tree, or the part of it that a glob means.
 *
 * @throws {Refusal} `invalid` for a glob or tree name that makes no sense; `outside-root` for a start folder outside or hidden.
 */
export function sweep(side: EngineSide, args: SweepArguments, options: SweepOptions): Sweep {
  const { survey } = side;
  const { boundary } = survey;
  const excludes = (args.exclude ?? []).map((written) => globOf(boundary, written, true));
  const { tree, glob } = chosen(boundary, args);
  const print = printer(boundary, tree);
  options.starts?.(tree);
  const excluded = excludes.length === 0
    ? undefined
    : (path: string) => excludes.some((exclude) => exclude.matches(path));
  const wanted: Visit = glob === undefined
    ? options.visit
    : (at, name, path, kind, place, facts) => !glob.matches(path) || options.visit(at, name, path, kind, place, facts);

  const { at, start } = nearestStart(side, { tree, segments: glob?.start ?? [] }, glob);
  if (start === undefined) return { ...nothingMet(), print };
  if (start.facts!.kind !== "dir") {
    try {
      return { ...single(start, at, excluded, glob, options.visit), print };
    } finally {
      start.close();
    }
  }
  const folder = start.name === "" ? start.folder : below(start);
  const counts = walk(survey, {
    start: folder,
    real: start.real,
    written: at.segments.join("/"),
    depth: options.depth ?? Infinity,
    skip: skipped(boundary, args.include_generated ?? false, [...at.segments, ...start.real.segments]),
    excludes: excluded,
    folders: options.folders,
    pulse: () => side.call.pulse(),
    enters: glob && ((path) => glob.couldMatchBelow(path)),
    visit: wanted,
  });
  return { ...counts, print };
}

/** One entry that the glob names, and which is no folder. */
function single(
  start: Found,
  at: Location,
  excluded: ((path: string) => boolean) | undefined,
  glob: Glob | undefined,
  visit: Visit,
): WalkCounts {
  const path = at.segments.join("/");
  if (glob?.wild) return nothingMet();
  if (excluded?.(path)) return { ...nothingMet(), excluded: 1 };
  const parent = { tree: start.real.tree, segments: start.real.segments.slice(0, -1) };
  visit({ folder: start.folder, real: parent }, start.name, path, start.facts!.kind, start.place);
  return nothingMet();
}

/** The tree of the call and its glob, with an absolute glob set at its place in the tree. */
function chosen(boundary: Boundary, args: SweepArguments): { tree: Tree; glob?: Glob } {
  const named = args.in === undefined ? undefined : treeOf(boundary, args.in);
  if (args.glob === undefined) return { tree: named ?? defaultTree(boundary) };
  const glob = globOf(boundary, args.glob, false);
  if (glob.absolute) {
    const location = locateAbsolute(boundary, glob.startPath);
    demandSame(named, location.tree);
    if (glob.tree !== undefined && treeNamed(boundary, glob.tree) !== location.tree) throw outside();
    return { tree: location.tree, glob: glob.at(location.segments) };
  }
  const own = glob.tree === undefined ? undefined : treeNamed(boundary, glob.tree)!;
  if (own) demandSame(named, own);
  return { tree: own ?? named ?? defaultTree(boundary), glob };
}

function globOf(boundary: Boundary, written: string, exclude: boolean): Glob {
  const isTree = (name: string) => treeNamed(boundary, name) !== undefined;
  return compileGlob(written, { exclude, isTree, windows: boundary.names.windows });
}

function demandSame(named: Tree | undefined, other: Tree) {
  if (named && named !== other) {
    throw new Refusal(
      "invalid",
      `the glob lies in the tree '${other.name}', and 'in' names '${named.name}'; one tree a call`,
    );
  }
}

/** @throws {Refusal} `invalid` with the open names. */
function treeOf(boundary: Boundary, name: string): Tree {
  const tree = treeNamed(boundary, name);
  if (tree) return tree;
  const open = boundary.trees.map((tree) => tree.name);
  const near = nearest(name, open);
  throw new Refusal(
    "invalid",
    `no open tree is called '${name}'${near ? `; did you mean '${near}'?` : "."} Open: ${open.join(", ")}`,
  );
}

/** Names to be skipped: none when the sweep starts in a generated folder. Spec: 2-verbs §2.6. */
function skipped(boundary: Boundary, include: boolean, start: readonly string[]): ReadonlySet<string> {
  const names = new Set(boundary.generated.map((name) => name.toLowerCase()));
  return include || start.some((segment) => names.has(segment.toLowerCase())) ? new Set() : names;
}

/**
 * Where the sweep starts: at the glob's start folder, judged like any path; where that is not there as written, at the nearest folder
 * above it that is, since globs ignore case and normal form: the walk then enters what the glob may mean.
 */
function nearestStart(side: EngineSide, written: Location, glob: Glob | undefined): { at: Location; start?: Found } {
  const { length } = written.segments;
  for (let depth = length;; depth = depth === length ? Math.min(depth - 1, DEEPEST) : depth - 1) {
    const at = { tree: written.tree, segments: written.segments.slice(0, depth) };
    if (depth < length && depth > 0 && !isListed(placeOf(side, at))) continue;
    const start = openStart(side, at, glob);
    if (depth === length) {
      if (start || depth === 0) return { at, start };
      continue;
    }
    if (start?.facts?.kind === "dir") return { at, start };
    start?.close();
    if (depth === 0) return { at };
  }
}

function placeOf({ survey }: EngineSide, at: Location) {
  return survey.place(absoluteOf(survey.boundary, at));
}

/**
 * The entry where the sweep starts; `undefined` when nothing is there. A link is followed if a folder is at its end; else the
 * link itself is the entry. The top of a hidden tree is taken when places below it are listed.
 */
function openStart({ survey, disk }: EngineSide, at: Location, glob: Glob | undefined): Found | undefined {
  const absolute = absoluteOf(survey.boundary, at);
  const place = survey.place(absolute);
  if (at.segments.length === 0 && place && !isListed(place) && survey.listedBelow(absolute).length > 0) {
    const folder = openTop(disk, survey, at.tree, at);
    return { written: at, real: at, place, folder, name: "", facts: folder.facts(), close: () => folder.close() };
  }
  demandListed(survey, at);
  try {
    const entry = resolve(disk, survey, at, { follow: false });
    if (entry.facts?.kind !== "link") return present(entry);
    let target: Found | undefined;
    try {
      target = followed(disk, survey, at, glob?.wild ?? false);
    } catch (error) {
      entry.close();
      throw error;
    }
    if (target?.facts?.kind === "dir") {
      entry.close();
      return target;
    }
    target?.close();
    return entry;
  } catch (error) {
    if (error instanceof Refusal && error.outcome === "not-found") return undefined;
    throw error;
  }
}

function present(entry: Found): Found | undefined {
  if (entry.facts) return entry;
  entry.close();
  return undefined;
}

/** Where a link ends; `undefined` for one that leads nowhere. A loop is refused where a folder is needed. */
function followed(
  disk: EngineSide["disk"],
  survey: EngineSide["survey"],
  at: Location,
  needed: boolean,
): Found | undefined {
  try {
    return resolve(disk, survey, at, { follow: true });
  } catch (error) {
    const nowhere = error instanceof Refusal &&
      (error.outcome === "not-found" || error.outcome === "refused" && !needed);
    if (nowhere) return undefined;
    throw error;
  }
}

/** The folder that an entry is. */
function below(entry: Found) {
  try {
    return entry.folder.folder(entry.name);
  } catch (error) {
    if (error instanceof DiskError) throw refusalOf(error, entry.written.segments.join("/"));
    throw error;
  } finally {
    entry.close();
  }
}
