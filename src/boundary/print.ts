/**
 * How locations are printed, so that what an answer names can be passed back unchanged. Spec: 1-boundary §1.8, paths in answers.
 */
import { type Location, splitTree } from "./locate.ts";
import type { Boundary } from "../boundary/types.ts";

/** The path of a location as answers write it: bare with one declared tree, `name:path` else and for found folders. */
export function printLocation(boundary: Boundary, at: Location): string {
  return printer(boundary, at.tree)(at.segments.join("/"));
}

/** The same for many paths of one tree: what `printLocation` decides once, decided once. */
export function printer(boundary: Boundary, tree: Location["tree"]): (relative: string) => string {
  const prefix = `${tree.name}:`;
  const several = boundary.trees.filter((other) => other.found === undefined).length > 1;
  const always = several || tree.found !== undefined;
  // A first `\` would be read as the root.
  const safe = (relative: string) => relative.startsWith("\\") ? `./${relative}` : relative;
  if (always) return (relative) => prefix + safe(relative);
  return (relative) => {
    if (relative === "") return ".";
    return relative.includes(":") && splitTree(boundary, relative) ? prefix + safe(relative) : safe(relative);
  };
}

// deno-lint-ignore no-control-regex
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;

/** A path for a line of text: one with control characters is written as a JSON string. */
export function printable(path: string): string {
  if (!UNPRINTABLE.test(path)) return path;
  return JSON.stringify(path).replace(
    /[\x7f-\x9f\u2028\u2029]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}
