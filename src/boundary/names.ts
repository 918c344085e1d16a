/**
 * How names and paths compare. Spec: 1-boundary §1.8 (comparison), §1.11 (governed names).
 */
import type { NameRules } from "./types.ts";

const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * The form in which two names or paths are compared: NFC, and without case where the system ignores it.
 * Names on disk are never rewritten; this is for looking up only.
 */
export function keyOf(names: NameRules, path: string): string {
  const composed = BEYOND_ASCII.test(path) ? path.normalize("NFC") : path;
  return names.ignoreCase ? composed.toLowerCase() : composed;
}

/** The segments of an absolute path in Fettler's form (`/a/b`, `C:/a/b`); the root has none, a drive is the first one. */
export function segmentsOf(absolute: string): string[] {
  return absolute.split(/[/]/).filter((segment) => segment !== "");
}

/** Absolute path of an entry below a folder; the root folder is `/`. */
export function join(folder: string, relative: string): string {
  if (relative === "") return folder;
  return folder.endsWith("/") ? folder + relative : `${folder}/${relative}`;
}

/**
 * An absolute path of the system in Fettler's form: `/` between segments on every system, no trailing one.
 * POSIX paths are as they were, since there a `\` belongs to a name.
 */
export function slashed(names: NameRules, absolute: string): string {
  const path = names.windows ? absolute.replaceAll("\\", "/") : absolute;
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
