/**
 * What a caller's path means, decided without the disk. Spec: 1-boundary §1.6 stages 1 and 2, §1.8.
 */
import { outside, Refusal } from "../refusal.ts";
import { join, keyOf, segmentsOf, slashed } from "./names.ts";
import { isListed, type Place, type Survey } from "./survey.ts";
import type { Boundary, Tree } from "./types.ts";

/** A path below a tree's top; no segment is empty, `.` or `..`. */
export interface Location {
  tree: Tree;
  segments: readonly string[];
}

/** Absolute path of a location below its tree's real folder, in Fettler's form. */
export function absoluteOf(boundary: Boundary, at: Location): string {
  return join(slashed(boundary.names, at.tree.real), at.segments.join("/"));
}

const DEVICE_NAME = /^(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(\.|$)/i;

/**
 * The locations that a written path may mean: one, or two on POSIX where it holds a `\`, which is first part of a name and
 * then a separator. Every one of them lies in a listed place; the caller takes the first that is there.
 *
 * @throws {Refusal} `invalid` for a malformed path; `outside-root` for anything outside every listed place, existing or not.
 */
export function locate(survey: Survey, written: string): Location[] {
  const names = survey.boundary.names;
  checkForm(written);
  const readings = names.windows || written.includes("\\")
    ? [...(names.windows ? [] : [written]), written.replaceAll("\\", "/")]
    : [written];
  if (names.windows && /^\\\\[?.]\\|^\/\/[?.]\//.test(written)) {
    throw new Refusal(
      "invalid",
      "paths that begin with \\\\?\\ or \\\\.\\ are not accepted; write the path without that prefix",
    );
  }
  const locations = readings.map((reading) => readPath(survey.boundary, reading));
  for (const location of locations) demandListed(survey, location);
  return locations;
}

/** The place that decides a location. @throws {Refusal} `outside-root` when it is hidden or there is none. */
export function demandListed(survey: Survey, at: Location): Place {
  const place = survey.place(absoluteOf(survey.boundary, at));
  if (!isListed(place)) throw outside();
  return place;
}

/**
 * The open tree that a qualified path names before its first `:`, with the rest; `undefined` when it names none.
 * Spec: 1-boundary §1.8.
 */
export function splitTree(boundary: Boundary, written: string): { tree: Tree; rest: string } | undefined {
  const colon = written.indexOf(":");
  if (colon < 2) return undefined;
  const tree = treeNamed(boundary, written.slice(0, colon));
  return tree && { tree, rest: written.slice(colon + 1) };
}

/** The open tree that bears a name. */
export function treeNamed(boundary: Boundary, name: string): Tree | undefined {
  const key = keyOf(boundary.names, name);
  return boundary.trees.find((tree) => keyOf(boundary.names, tree.name) === key);
}

/** The tree that an unqualified relative path is read in. */
export function defaultTree(boundary: Boundary): Tree {
  return boundary.trees[0];
}

/** Whether a path stands on its own: from the root, a drive or a server. */
export function isAbsolute(boundary: Boundary, path: string): boolean {
  return path.startsWith("/") || boundary.names.windows && /^([a-z]:[\\/]|\\)/i.test(path);
}

/** Where an absolute path lies: in the deepest open tree that contains it, by either spelling of the tree's folder. */
export function locateAbsolute(boundary: Boundary, path: string): Location {
  const segments = resolveDots(segmentsOf(slashed(boundary.names, path)));
  const keys = segments.map((segment) => keyOf(boundary.names, segment));
  let best: Location | undefined;
  let depth = -1;
  for (const tree of boundary.trees) {
    for (const spelling of tree.path === tree.real ? [tree.real] : [tree.real, tree.path]) {
      const top = segmentsOf(slashed(boundary.names, spelling));
      if (top.length <= depth || top.length > keys.length) continue;
      if (top.every((segment, i) => keyOf(boundary.names, segment) === keys[i])) {
        [best, depth] = [{ tree, segments: segments.slice(top.length) }, top.length];
      }
    }
  }
  if (!best) throw outside();
  return best;
}

function readPath(boundary: Boundary, path: string): Location {
  const qualified = splitTree(boundary, path);
  const rest = qualified ? qualified.rest : path;
  if (isAbsolute(boundary, rest)) {
    const location = locateAbsolute(boundary, rest);
    if (boundary.names.windows) checkWindowsNames(location.segments);
    if (qualified && qualified.tree !== location.tree) return within(boundary, qualified.tree, location);
    return location;
  }
  const segments = resolveDots(rest.split("/").filter((segment) => segment !== ""));
  if (boundary.names.windows) checkWindowsNames(segments);
  return { tree: qualified?.tree ?? defaultTree(boundary), segments };
}

/** An absolute path named through an outer tree while a nested one contains it: the same place, spelled below the outer one. */
function within(boundary: Boundary, tree: Tree, location: Location): Location {
  const top = segmentsOf(slashed(boundary.names, tree.real));
  const whole = segmentsOf(absoluteOf(boundary, location));
  const inside = top.every((segment, i) =>
    whole[i] !== undefined && keyOf(boundary.names, segment) === keyOf(boundary.names, whole[i])
  );
  if (!inside) throw outside();
  return { tree, segments: whole.slice(top.length) };
}

/** Drops `.` and takes `..` back, which may not climb over the top. @throws {Refusal} `outside-root`. */
export function resolveDots(segments: readonly string[]): string[] {
  const resolved: string[] = [];
  for (const segment of segments) {
    if (segment === ".") continue;
    if (segment !== "..") resolved.push(segment);
    else if (resolved.pop() === undefined) throw outside();
  }
  return resolved;
}

function checkForm(written: string) {
  if (written === "") throw new Refusal("invalid", "the path is empty; '.' is the top of the default tree");
  if (written.includes("\0")) throw new Refusal("invalid", "the path holds a NUL character");
  if (!written.isWellFormed()) throw new Refusal("invalid", "the path is not well-formed Unicode");
}

function checkWindowsNames(segments: readonly string[]) {
  for (const segment of segments) {
    if (/[. ]$/.test(segment)) {
      throw new Refusal(
        "invalid",
        `'${segment}' ends in a dot or a blank, which Windows drops; write the name without it`,
      );
    }
    if (DEVICE_NAME.test(segment)) throw new Refusal("invalid", `'${segment}' names a device on Windows, not a file`);
    if (segment.includes(":")) {
      throw new Refusal("invalid", `'${segment}' holds a ':' that follows no open tree and no drive letter`);
    }
  }
}
