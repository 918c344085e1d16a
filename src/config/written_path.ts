/**
 * Paths as a configuration writes them: how they read, and the few lexical steps that resolving them takes.
 *
 * Pure, and parametrised by the system's rules. `node:path` is not used: it costs 7 ms of every start (measured).
 * Spec: 1-boundary §1.8, §1.13.1.
 */
import type { NameRules } from "../boundary/types.ts";

const DRIVE = /^[A-Za-z]:[/\\]/;
const SHARE = /^\\\\[^/\\]/;

/** A leading `/`, `C:/`, `C:\` or `\\server`: absolute on every system, wherever the file is read. */
export function isAbsolute(written: string): boolean {
  return written.startsWith("/") || DRIVE.test(written) || SHARE.test(written);
}

/** An absolute path of Windows, read on a system that has no such paths: nothing can be there. */
export function isForeign(written: string, names: NameRules): boolean {
  return !names.windows && (DRIVE.test(written) || SHARE.test(written));
}

/**
 * The absolute, normalised path that a written one names. A relative one counts from `folder`; `..` is resolved lexically
 * and stops at the root; a foreign one stays as it is.
 */
export function absolutePath(written: string, folder: string, names: NameRules): string {
  if (isForeign(written, names)) return written;
  const own = split(written, names);
  const base = own.root === undefined || own.root === "\\" ? split(folder, names) : own;
  const segments = own.root === undefined ? [...base.segments, ...own.segments] : own.segments;
  return base.root + withoutDots(segments).join(separator(names));
}

/** The folder that holds `path`, or `path` itself at a root. */
export function parentOf(path: string, names: NameRules): string {
  return absolutePath("..", path, names);
}

/** The root of an absolute path: `/`, `C:\\`, `\\\\server\\share\\`. */
export function rootOf(path: string, names: NameRules): string {
  return split(path, names).root ?? separator(names);
}

/** Whether `path` is `folder` or lies below it, by whole segments and the system's case rule. Both absolute, normalised. */
export function contains(folder: string, path: string, names: NameRules): boolean {
  const [outer, inner] = [fold(folder, names), fold(path, names)];
  return inner === outer || inner.startsWith(outer.endsWith(separator(names)) ? outer : outer + separator(names));
}

/** A name or path as the system compares it: Unicode NFC, without case where case does not count. */
export function fold(name: string, names: NameRules): string {
  const composed = name.normalize("NFC");
  return names.ignoreCase ? composed.toLowerCase() : composed;
}

/** Why a declared path cannot be used on any system, if so. Empty is judged elsewhere. */
export function pathFault(written: string): string | undefined {
  if (written.includes("\0")) return "a path cannot hold a NUL";
  if (written.includes("\\") && !isAbsolute(written)) {
    return `${JSON.stringify(written)} is a relative path with a backslash; write "/" between its segments`;
  }
  return undefined;
}

/** Why a scope key cannot be used on any system, if so. Spec: 1-boundary §1.13.2. */
export function scopeFault(key: string): string | undefined {
  const shown = JSON.stringify(key);
  if (key === "") return "a scope is a path below its tree and cannot be empty";
  if (/[*?]/.test(key)) return `${shown}: a scope is one place, not a pattern; "*" and "?" cannot stand in it`;
  if (isAbsolute(key)) return `${shown} is an absolute path; a scope is written relative to its tree`;
  const fault = pathFault(key);
  if (fault) return fault;
  let depth = 0;
  for (const segment of key.split("/")) {
    if (segment !== "" && segment !== ".") depth += segment === ".." ? -1 : 1;
    if (depth < 0) return `${shown} lies outside its tree; a scope is a path below the tree's top`;
  }
  return depth === 0 ? `${shown} is the tree itself; give the tree its own words instead` : undefined;
}

/** A faultless scope key in its one spelling: no empty segment, no `.`, no `..`. */
export function scopePath(key: string): string {
  return withoutDots(key.split("/")).join("/");
}

/**
 * Why a scope key cannot name an entry on Windows, where such a segment would be another name's spelling and the scope
 * would hold nothing.
 */
export function windowsScopeFault(key: string): string | undefined {
  for (const segment of withoutDots(key.split("/"))) {
    if (/[. ]$/.test(segment)) return `${JSON.stringify(key)}: on Windows no name ends in a dot or a blank`;
    if (segment.includes(":")) return `${JSON.stringify(key)}: on Windows no name holds a colon`;
    if (/^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?$/i.test(segment)) {
      return `${JSON.stringify(key)}: ${JSON.stringify(segment)} is a device on Windows`;
    }
  }
  return undefined;
}

/** What stands between two segments of an absolute path. */
export function separator(names: NameRules): string {
  return names.windows ? "\\" : "/";
}

/** Root (`undefined` for a relative path; `\` for one that starts at the root of some drive) and segments. */
function split(path: string, names: NameRules): { root?: string; segments: string[] } {
  if (!names.windows) return { root: path.startsWith("/") ? "/" : undefined, segments: path.split("/") };
  const native = path.replaceAll("/", "\\");
  const root = /^[A-Za-z]:\\|^\\\\[^\\]+\\[^\\]+\\?|^\\/.exec(native)?.[0];
  const segments = native.slice(root?.length ?? 0).split("\\");
  return { root: root === undefined || root.endsWith("\\") ? root : root + "\\", segments };
}

function withoutDots(segments: readonly string[]): string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  return kept;
}
