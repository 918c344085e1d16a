/**
 * Globs: which paths of a tree a caller means.
 *
 * A glob is compiled once into a short list of codes; matching a path walks both side by side, in time bounded by the
 * product of their lengths, and makes nothing on the heap for a path in ASCII. No regular expression: ignoring case, they have no
 * linear-time fallback. Nothing here looks at a disk.
 * Spec: 2-verbs §2.6; decision 12.
 */
import { Refusal } from "../refusal.ts";

/** What a glob is compiled for. */
export interface GlobOptions {
  /** For `--exclude`: no `name:`, no absolute form, and what it matches leaves out everything below too. Default: false. */
  exclude?: boolean;
  /** Whether an open tree bears the name. Default: every text that has the form of a tree's name does. */
  isTree?: (name: string) => boolean;
  /** `C:\` begins an absolute glob. Default: false. */
  windows?: boolean;
}

/** A compiled glob. Paths are below their tree's top, with `/` between segments, without one at either end. */
export interface Glob {
  /** As the caller wrote it. */
  readonly written: string;
  /** The tree named before the first `:`. */
  readonly tree?: string;
  /** What stands before the first `:` in the form of a tree's name that no tree bears; it is then matched as part of the path. */
  readonly unknownTree?: string;
  /** Begins at the top of the file system: `startPath` is to be located, and the glob then to be set `at` its place in the tree. */
  readonly absolute: boolean;
  /** The whole segments before the first wildcard; all of them where there is none. As written, without `.` and empty ones. */
  readonly start: readonly string[];
  /** `start` as one path to be located: relative to its tree's top (empty for the top itself) or absolute. */
  readonly startPath: string;
  /** Holds a wildcard. Without one it means what it names and, if that is a folder, everything below. */
  readonly wild: boolean;
  /** Whether the glob means this path: a file or a folder. For `--exclude` also whatever lies below a folder that it matches. */
  matches(path: string): boolean;
  /** Whether anything below this folder (empty for the top) might match. False is certain. */
  couldMatchBelow(folder: string): boolean;
  /** The same glob with its start folder, literally, at another place: where an absolute one lies in its tree. */
  at(start: readonly string[]): Glob;
}

/** Codes of wildcards in a program; everything else is a UTF-16 unit, in NFC and without case. */
const ONE = -1;
const RUN = -2;
const ANYTHING = -3;
const FOLDERS = -4;

const SLASH = 0x2f;

/** The form of a tree's name. Spec: 1-boundary §1.8. */
const TREE_NAME = /^[A-Za-z][A-Za-z0-9._-]+$/;

/**
 * Compiles a glob.
 *
 * @throws {Refusal} `invalid`, naming the character: `{ } [ ]`, a leading `!`, a `..` segment, NUL; an empty or blank glob; for
 * `--exclude` a `name:` or an absolute form.
 *
 * @example
 * ```ts
 * const glob = compileGlob("src/**" + "/*.ts");
 * glob.start; // ["src"]
 * glob.matches("src/text/Glob.TS"); // true
 * glob.couldMatchBelow("docs"); // false
 * ```
 */
export function compileGlob(written: string, options: GlobOptions = {}): Glob {
  if (written.trim() === "") throw refused(written, "is empty; leave it out to mean everything");
  const { tree, unknownTree, rest } = splitTree(written, options);
  if (written.startsWith("!") || rest.startsWith("!")) {
    throw refused(written, "begins with !, which is not negation here; leave out with --exclude");
  }
  const bad = /[{}[\]\0]/.exec(written)?.[0];
  if (bad === "\0") throw refused(written, "has a NUL character");
  if (bad) throw refused(written, `has ${bad}, which is no wildcard here; put ? in its place, or give the path itself`);

  const all = rest.split(/[/\\]/);
  const drive = options.windows === true && /^[A-Za-z]:$/.test(all[0]) && all.length > 1;
  const absolute = drive || /^[/\\]/.test(rest);
  if (options.exclude) {
    if (absolute) throw refused(written, "is absolute; what is left out is written below the tree's top");
    if (tree !== undefined || unknownTree !== undefined) {
      throw refused(written, "names a tree before the :; what is left out is written below the tree's top");
    }
  }
  const segments = all.filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw refused(written, "has a .. segment; write it from the tree's top");

  const first = segments.findIndex((segment) => /[*?]/.test(segment));
  const wild = first >= 0;
  const start = wild ? segments.slice(0, first) : segments;
  const program = wild ? programOf(segments.slice(first).join("/")) : [];
  const root = /^[/\\]{2}(?![/\\])/.test(rest) && options.windows ? "//" : absolute && !drive ? "/" : "";
  const startPath = root + start.join("/") + (drive && start.length === 1 ? "/" : "");
  return glob(
    { written, tree, unknownTree, absolute, startPath, wild },
    start,
    program,
    !wild || options.exclude === true,
  );
}

function refused(written: string, why: string): Refusal {
  return new Refusal("invalid", `the glob ${JSON.stringify(written)} ${why}`);
}

function splitTree(written: string, options: GlobOptions): { tree?: string; unknownTree?: string; rest: string } {
  const colon = written.indexOf(":");
  const name = written.slice(0, Math.max(colon, 0));
  if (!TREE_NAME.test(name)) return { rest: written };
  if (options.isTree && !options.isTree(name)) return { unknownTree: name, rest: written };
  return { tree: name, rest: written.slice(colon + 1) };
}

/** The codes of the part from the first segment with a wildcard on. */
function programOf(pattern: string): number[] {
  const program: number[] = [];
  for (const [token] of pattern.matchAll(/(?<![^/])\*\*\/|\*\*|\*|\?|[^*?]+/g)) {
    if (token === "**/") program.push(FOLDERS);
    else if (token === "**") program.push(ANYTHING);
    else if (token === "*") program.push(RUN);
    else if (token === "?") program.push(ONE);
    else program.push(...units(token));
  }
  return program;
}

function units(literal: string): number[] {
  const text = fold(literal);
  return Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
}

type Facts = Pick<Glob, "written" | "tree" | "unknownTree" | "absolute" | "startPath" | "wild">;

/** @param below A path below one that matches matches too. */
function glob(facts: Facts, start: readonly string[], rest: readonly number[], below: boolean): Glob {
  const program = units(start.join("/"));
  if (program.length > 0 && rest.length > 0) program.push(SLASH);
  program.push(...rest);

  // What follows the last wildcard must end the path: one look at the end rejects most paths, and for `**/*.ts` also accepts.
  const suffix = below ? [] : program.slice(program.findLastIndex((code) => code < 0) + 1);
  const suffixOnly = !below && program.length === suffix.length + 2 && program[0] === FOLDERS && program[1] === RUN &&
    !suffix.includes(SLASH);

  const asWritten: Mode = { raw: true, below, open: false };
  const whenFolded: Mode = { raw: false, below, open: false };
  const asBeginning: Mode = { raw: false, below, open: true };
  const matches = (path: string): boolean => {
    if (program.length === 0) return true;
    if (suffix.length > 0) {
      const verdict = endsWith(path, suffix);
      if (verdict === false || (verdict && suffixOnly)) return verdict;
    }
    const verdict = MARKS.test(path) ? undefined : run(program, path, asWritten);
    return verdict ?? run(program, fold(path), whenFolded) ?? false;
  };
  const couldMatchBelow = (folder: string): boolean => {
    if (program.length === 0 || folder === "") return true;
    return run(program, fold(folder) + "/", asBeginning) ?? false;
  };
  const at = (place: readonly string[]): Glob =>
    glob({ ...facts, absolute: false, startPath: place.join("/") }, place, rest, below);
  return { ...facts, start, matches, couldMatchBelow, at };
}

/** Units below U+0300 stand for themselves in NFC: a path of such alone is matched as it is, and folded only where it must be. */
const MARKS = /[\u0300-\uffff]/;

/** NFC, and without case: what two spellings of one name have in common. */
function fold(text: string): string {
  // deno-lint-ignore no-control-regex
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase();
  let folded = "";
  for (const character of text.normalize("NFC")) folded += withoutCase(character);
  return folded.normalize("NFC");
}

/** Simple case folding: one character for one, so that `?` counts alike on both sides. The dotless i is a letter of its own. */
function withoutCase(character: string): string {
  if (character === "\u0131") return character;
  const upper = single(character.toUpperCase()) ?? character;
  return single(upper.toLowerCase()) ?? upper;
}

function single(text: string): string | undefined {
  return text.length === (text.codePointAt(0)! > 0xffff ? 2 : 1) ? text : undefined;
}

/** The unit without case where it is ASCII, itself otherwise. */
function lower(unit: number): number {
  return unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
}

/** Whether a path ends so; `undefined` when that shows only once the path is folded. */
function endsWith(path: string, suffix: readonly number[]): boolean | undefined {
  for (let i = suffix.length - 1, at = path.length - 1; i >= 0; i--, at--) {
    if (at < 0) return false;
    const unit = path.charCodeAt(at);
    if (unit >= 0x80) return undefined;
    if (lower(unit) !== suffix[i]) return false;
  }
  return true;
}

/** How a program is run. */
interface Mode {
  /** The path is not folded: ASCII is folded on the way, anything else makes the answer `undefined`. */
  raw: boolean;
  /** Whatever lies below a match matches. */
  below: boolean;
  /** The path is the beginning of one: true as soon as some end of it might match. */
  open: boolean;
}

/**
 * Runs a program over a path. A step that fails goes back to the last `*`, and when that cannot take more, to the last `**`:
 * going back further could never help, since what lies before was matched as early as can be.
 */
function run(program: readonly number[], path: string, mode: Mode): boolean | undefined {
  const { raw, below, open } = mode;
  const length = path.length;
  const end = program.length;
  let i = 0;
  let p = 0;
  let star = -1;
  let starFrom = 0;
  let cross = -1;
  let crossFrom = 0;
  let crossWhole = false;
  for (;;) {
    const code = p < end ? program[p] : undefined;
    if (code === undefined) {
      if (i === length || (below && path.charCodeAt(i) === SLASH)) return true;
    } else if (code === RUN) {
      star = ++p;
      starFrom = i;
      continue;
    } else if (code === ANYTHING || code === FOLDERS) {
      cross = ++p;
      if (open || (cross === end && code === ANYTHING)) return true;
      crossFrom = i;
      crossWhole = code === FOLDERS;
      star = -1;
      continue;
    } else if (i < length) {
      const unit = path.charCodeAt(i);
      if (code === ONE ? unit !== SLASH : lower(unit) === code) {
        i += code === ONE && (unit & 0xfc00) === 0xd800 && i + 1 < length ? 2 : 1;
        p++;
        continue;
      }
      // Of the units below U+0300 beyond ASCII, the long s alone is an ASCII letter without case.
      if (raw && unit >= 0x80 && (code >= 0x80 || unit === 0x17f)) return undefined;
    } else if (open) {
      return true;
    }
    if (star >= 0 && starFrom < length && path.charCodeAt(starFrom) !== SLASH) {
      i = ++starFrom;
      p = star;
    } else if (cross >= 0 && crossFrom < length) {
      if (crossWhole) crossFrom = path.indexOf("/", crossFrom);
      if (crossFrom < 0) return false;
      i = ++crossFrom;
      p = cross;
      star = -1;
    } else {
      return false;
    }
  }
}
