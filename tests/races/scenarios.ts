/**
 * The world under attack: what lies where, what is exchanged with what, and which calls are made meanwhile.
 *
 * All that lies outside holds `OUTSIDE-` in its text, all that is hidden `HIDDEN-`; names that exist only there begin so too, and
 * every such entry was modified at `MARKED_DAY`, so that text, names and facts that leak all show in an answer.
 */
import type { Boundary } from "../../src/boundary/types.ts";
import { boundaryOf, type Entry, put } from "../support/tree.ts";
import type { Libc } from "./libc.ts";

/** A call of a verb, and what must hold for its answer beside holding no marker. */
export interface Call {
  verb: "read" | "find" | "search";
  args: Record<string, unknown>;
  /** What it asks for exists only outside or hidden: no answer is `ok`, and none tells what is there. */
  never?: true;
  /** Numbers of the JSON answer that may not be above these. */
  most?: Readonly<Record<string, number>>;
}

export interface Scenario {
  name: string;
  what: string;
  /** Pairs of paths below the world whose entries are exchanged. */
  swaps: readonly (readonly [string, string])[];
  /** Pairs of paths below the world: an entry, and where it is moved and back from. */
  moves?: readonly (readonly [string, string])[];
  /** Files below the world that are emptied and rewritten. */
  resized?: readonly string[];
  calls: readonly Call[];
  /**
   * The whole program opens its boundary by path name at every start: what is exchanged here decides what that is.
   * Such a scenario holds only for a boundary that was opened before.
   */
  opened?: true;
  /** The hidden folder is known by its identity only. A victim that knows paths fails here without any race, which proves nothing. */
  byIdentity?: true;
}

export const MARKERS: readonly string[] = ["OUTSIDE-", "HIDDEN-", "2001-09-09"];
const MARKED_DAY = new Date("2001-09-09T12:00:00Z");

const read = (...paths: string[]): Call => ({ verb: "read", args: { paths } });
const never = (...paths: string[]): Call => ({ verb: "read", args: { paths }, never: true });
const find = (pattern?: string, more: Record<string, unknown> = {}): Call => ({
  verb: "find",
  args: { ...pattern === undefined ? {} : { pattern }, ...more },
});
const search = (glob?: string, more: Record<string, unknown> = {}): Call => ({
  verb: "search",
  args: { patterns: ["."], ...glob === undefined ? {} : { glob }, ...more },
});
/** The patterns do not hold the markers as such, since an answer repeats them. */
const countMarkers = (glob?: string): Call => ({
  verb: "search",
  args: { patterns: ["UTSIDE-|IDDEN-"], count: true, ...glob === undefined ? {} : { glob } },
  most: { hits_count: 0 },
});

const EVERYTHING: readonly Call[] = [
  find(undefined, { type: "any", limit: 0 }),
  search(undefined, { context: 1 }),
  countMarkers(),
];

/** Files that a generated folder of the tree holds, at most; the one outside holds more. */
const GENERATED = 3;
const GENERATED_OUTSIDE = 300;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "a file/link",
    what: "a file with a link to a file outside",
    swaps: [["app/a/f.txt", "app/a/f-link"], ["app/a/big.txt", "app/a/big-link"]],
    calls: [
      read("a/f.txt"),
      read("a/f-link"),
      read("a/f.txt", "a/f-link", "a/still.txt"),
      { verb: "read", args: { paths: ["a/big.txt"], from: 700, to: 720 } },
      { verb: "read", args: { paths: ["a/big.txt"], tail: 3 } },
      { verb: "read", args: { paths: ["a/f.txt"], columns: "1-20", numbered: true } },
      find("a/*", { type: "any" }),
      find("a/f.txt"),
      search("a/*.txt", { context: 2, limit: 20 }),
      search("a/f.txt"),
      countMarkers("a/**"),
    ],
  },
  {
    name: "b folder/link out",
    what: "a folder on the way with a link to a folder outside that holds the same names",
    swaps: [["app/b/way", "app/b/yaw"], ["app/b/node_modules", "store/generated"]],
    calls: [
      read("b/way/f.txt"),
      read("b/way/sub/g.txt", "b/yaw/sub/g.txt"),
      read("to-b/f.txt"),
      never("b/way/only.txt"),
      never("b/way/sub/only.txt"),
      { verb: "read", args: { paths: ["b/way/f.txt"], tail: 1 } },
      find("b/way/**", { type: "any" }),
      find("b/**", { type: "any", sort: "mtime" }),
      find("to-b/*", { type: "any", sort: "size" }),
      { ...find("b/*"), most: { excluded: GENERATED } },
      find("b/**", { include_generated: true }),
      search("b/way/**", { context: 1 }),
      search("to-b/**"),
      search("b/way/sub/g.txt"),
      countMarkers("b/way/**"),
    ],
  },
  {
    name: "c folder/link hidden",
    what: "a folder, and a file, with a link to a hidden scope",
    swaps: [["app/c/door", "app/c/back"], ["app/c/f.txt", "store/c-link"]],
    calls: [
      read("c/door/same.txt"),
      read("c/door/in/same.txt"),
      read("c/f.txt"),
      // A listed scope below the hidden one is reachable by its own path only.
      read("c/door/open/o.txt"),
      never("c/door/only.txt"),
      find("c/door/**", { type: "any" }),
      find("c/**", { type: "any" }),
      find("shut/open/*"),
      search("c/door/**", { context: 1 }),
      search("c/**"),
      countMarkers("c/door/**"),
    ],
  },
  {
    name: "d link/link",
    what: "the text of a link: inside, outside, hidden",
    swaps: [["app/d/file", "app/d/file-out"], ["app/d/way", "app/d/way-out"], ["app/d/way", "store/d-hidden"]],
    calls: [
      read("d/file"),
      read("d/file-out"),
      read("d/way/f.txt"),
      read("d/way-out/f.txt", "d/file"),
      read("d/chain"),
      never("d/way/only.txt"),
      find("d/way/*", { type: "any" }),
      find("d/way/**"),
      find("d/*", { type: "any" }),
      find("d/file"),
      search("d/way/**", { context: 1 }),
      countMarkers("d/way/**"),
    ],
  },
  {
    name: "e deep folder",
    what: "two folders deep on the way, each with a link to its like outside",
    swaps: [["app/e/1/2/3", "store/e-3"], ["store/e-inner/6", "app/e/1/2/e-6"]],
    calls: [
      read("e/1/2/3/4/5/6/7/f.txt"),
      read("e/1/2/3/4/5/f.txt", "e/1/2/3/4/5/6/7/f.txt"),
      never("e/1/2/3/4/5/6/7/only.txt"),
      find("e/1/2/3/4/5/6/**", { type: "any" }),
      find("e/**", { type: "any" }),
      find("e/1/2/3/4/5/*"),
      search("e/1/2/3/4/**", { context: 1 }),
      search("e/**"),
      countMarkers("e/1/2/3/4/5/6/**"),
    ],
  },
  {
    name: "f folder/hidden one",
    what:
      "real folders: one in the walk with the very folder of a hidden scope, and one with a folder that holds a hidden scope",
    opened: true,
    byIdentity: true,
    swaps: [["app/f/place", "app/f/shut"], ["app/f/plain", "app/f/shell"]],
    calls: [
      read("f/place/same.txt"),
      read("f/place/in/same.txt"),
      read("f/plain/inner/same.txt"),
      read("f/shell/plain.txt", "f/plain/plain.txt"),
      never("f/place/only.txt"),
      never("f/plain/inner/only.txt"),
      find("f/place/**", { type: "any" }),
      find("f/plain/inner/**", { type: "any" }),
      find("f/plain/**"),
      find("f/**", { depth: 2 }),
      search("f/place/**", { context: 1 }),
      search("f/plain/inner/*"),
      search("f/**"),
      countMarkers("f/**"),
    ],
  },
  {
    name: "g kinds",
    what: "a file with a FIFO, a folder and a socket",
    swaps: [["app/g/it.txt", "app/g/p1.txt"], ["app/g/it.txt", "app/g/p2.txt"], ["app/g/it.txt", "app/g/p3.txt"]],
    calls: [
      read("g/it.txt"),
      read("g/it.txt/in.txt"),
      read("g/p1.txt"),
      read("g/p2.txt", "g/it.txt"),
      find("g/**", { type: "any" }),
      find("g/it.txt"),
      find("g/it.txt/*"),
      search("g/**", { context: 1 }),
      search("g/it.txt"),
      search("g/it.txt/*"),
    ],
  },
  {
    name: "h tree top",
    what: "the folder of a tree itself with a link to a folder outside, after it was opened",
    opened: true,
    swaps: [["top", "store/top-link"]],
    calls: [
      read("top:t.txt"),
      read("top:sub/t.txt"),
      read("to-top/t.txt"),
      never("top:only.txt"),
      find(undefined, { in: "top", type: "any" }),
      find("top:sub/*"),
      find("to-top/**"),
      search(undefined, { in: "top", context: 1 }),
      search("top:sub/**"),
      { verb: "search", args: { patterns: ["UTSIDE-|IDDEN-"], count: true, in: "top" }, most: { hits_count: 0 } },
    ],
  },
  {
    name: "i sizes",
    what: "a file that is emptied and rewritten with another length, again and again",
    swaps: [],
    resized: ["app/i/grows.txt"],
    calls: [
      read("i/grows.txt"),
      { verb: "read", args: { paths: ["i/grows.txt"], tail: 2 } },
      { verb: "read", args: { paths: ["i/grows.txt"], from: 500, to: 510 } },
      search("i/*", { limit: 5 }),
      find("i/*"),
    ],
  },
  {
    name: "j come and go",
    what:
      "a file and a folder that are there and gone, and the folder of a hidden scope that bears another name at times",
    opened: true,
    byIdentity: true,
    swaps: [],
    moves: [
      ["app/j/f.txt", "store/j-f.txt"],
      ["app/j/way", "store/j-way"],
      ["app/j/shut", "app/j/HIDDEN-elsewhere"],
    ],
    calls: [
      read("j/f.txt"),
      read("j/way/f.txt", "j/way/sub/g.txt"),
      find("j/**", { type: "any" }),
      find("j/*", { type: "dir" }),
      find("j/way/sub/*"),
      search("j/**", { context: 1 }),
      search("j/way/**"),
      search("j/f.txt"),
      countMarkers("j/**"),
    ],
  },
];

/** Every scenario's calls, with those over the whole tree now and then. */
export function callsOf(scenario: Scenario): Call[] {
  return [...scenario.calls, ...EVERYTHING];
}

/** All scenarios at once. */
function together(scenarios: readonly Scenario[]): Scenario {
  return {
    name: "all at once",
    what: "all of these at once",
    swaps: scenarios.flatMap((scenario) => scenario.swaps),
    moves: scenarios.flatMap((scenario) => scenario.moves ?? []),
    resized: scenarios.flatMap((scenario) => scenario.resized ?? []),
    calls: scenarios.flatMap((scenario) => scenario.calls),
  };
}

/** The scenarios of these names, and all of them at once as one more when there are several. */
export function turnsOf(names: readonly string[]): Scenario[] {
  const scenarios = SCENARIOS.filter((scenario) => names.includes(scenario.name));
  return scenarios.length > 1 ? [...scenarios, together(scenarios)] : scenarios;
}

export interface World {
  /** Holds everything, inside and outside. */
  base: string;
  boundary: Boundary;
  /** Where a FIFO may be at some moment. */
  fifos: readonly string[];
  remove(): void;
}

const SCOPES: Readonly<Record<string, readonly ("list" | "read")[]>> = {
  "shut": [],
  "shut/open": ["list", "read"],
  "f/shut": [],
  "f/shell/inner": [],
  "j/shut": [],
};

/**
 * Makes the world, in memory where the system offers that: exchanging is several times as fast there.
 * The program's own runtime never opens what lies below `/dev`, so its world is where temporary folders are.
 */
export function makeWorld(libc: Libc, forProgram: boolean): World {
  const dir = forProgram ? undefined : memory();
  const base = Deno.realPathSync(Deno.makeTempDirSync({ dir, prefix: "fettle-race-" }));
  const lines = (text: string, count: number) => `${text}\n`.repeat(count);
  const twin = (marker: string): Record<string, Entry> => ({
    "f.txt": `${marker}f, one\n${marker}f, two\n`,
    "t.txt": `${marker}t\n`,
    "sub/t.txt": `${marker}t below\n`,
    "same.txt": `${marker}same\n`,
    "in/same.txt": `${marker}same below\n`,
    "sub/g.txt": `${marker}g\n`,
    "only.txt": `${marker}only here\n`,
    "sub/only.txt": `${marker}only here\n`,
    [`${marker}name.txt`]: `${marker}name\n`,
    [`${marker}folder/x.txt`]: `${marker}x\n`,
    [`sub/${marker}name.txt`]: `${marker}name\n`,
  });
  const under = (top: string, entries: Record<string, Entry>) =>
    Object.fromEntries(Object.entries(entries).map(([path, entry]) => [`${top}/${path}`, entry]));
  const deep = (marker: string): Record<string, Entry> => ({
    "4/5/f.txt": `${marker}five\n`,
    "4/5/6/7/f.txt": `${marker}seven\n`,
    "4/5/6/7/sub/g.txt": `${marker}below seven\n`,
  });
  const inside = { "f.txt": "inside f\n", "sub/g.txt": "inside g\n" };

  put(base, {
    "app/a/still.txt": "inside, still\n",
    "app/a/f.txt": "inside f, one\ninside f, two\n",
    "app/a/big.txt": lines("inside, a line of a file that takes more than one read", 6000),
    ...under("app/b/way", inside),
    ...Object.fromEntries(Array.from({ length: GENERATED }, (_, i) => [`app/b/node_modules/n${i}.txt`, "inside\n"])),
    ...under("app/c/door", { "same.txt": "inside\n", "in/same.txt": "inside\n", "open/o.txt": "inside\n" }),
    "app/c/f.txt": "inside\n",
    ...under("app/d/inner", inside),
    ...under("app/e/1/2/3", deep("inside ")),
    ...under("app/f/place", { "same.txt": "inside\n", "in/same.txt": "inside\n" }),
    ...under("app/f/plain", { "plain.txt": "inside\n", "inner/same.txt": "inside\n" }),
    "app/f/shell/plain.txt": "inside\n",
    "app/g/it.txt": "inside\n",
    "app/g/p2.txt/in.txt": "inside\n",
    "app/g/p2.txt/sub/in.txt": "inside\n",
    "app/i/grows.txt": "inside\n",
    "app/j/f.txt": "inside\n",
    ...under("app/j/way", inside),
    ...under("app/j/shut", twin("HIDDEN-")),
    "app/shut/open/o.txt": "open below hidden\n",
    ...under("top", { "t.txt": "inside t\n", "sub/t.txt": "inside t\n" }),
    ...under("app/shut", twin("HIDDEN-")),
    ...under("app/f/shut", twin("HIDDEN-")),
    ...under("app/f/shell/inner", twin("HIDDEN-")),
    ...under("outside", twin("OUTSIDE-")),
    "outside/big.txt": lines("OUTSIDE-, a line of a file that takes more than one read", 6000),
    ...under("outside/3", { ...deep("OUTSIDE-"), ...under("4/5/6/7", twin("OUTSIDE-")) }),
    "store/d-hidden": { link: `${base}/app/shut` },
  });
  put(
    `${base}/outside/generated`,
    Object.fromEntries(Array.from({ length: GENERATED_OUTSIDE }, (_, i) => [`OUTSIDE-${i}.txt`, "OUTSIDE-\n"])),
  );
  put(base, {
    "app/a/f-link": { link: "../../outside/f.txt" },
    "app/a/big-link": { link: `${base}/outside/big.txt` },
    "app/b/yaw": { link: "../../outside" },
    "store/generated": { link: `${base}/outside/generated` },
    "app/to-b": { link: "b/way" },
    "app/c/back": { link: "../shut" },
    "store/c-link": { link: `${base}/app/shut/same.txt` },
    "app/d/file": { link: "inner/f.txt" },
    "app/d/file-out": { link: "../../outside/f.txt" },
    "app/d/way": { link: "inner" },
    "app/d/way-out": { link: `${base}/outside` },
    "app/d/chain": { link: "way/sub/g.txt" },
    "store/e-3": { link: `${base}/outside/3` },
    "app/e/1/2/e-6": { link: `${base}/outside/3/4/5/6` },
    // The folder that holds `6`, by a name that stays while `3` above it is exchanged: the attacker holds a handle on it.
    "store/e-inner": { link: `${base}/app/e/1/2/3/4/5` },
    "store/top-link": { link: `${base}/outside` },
    "app/to-top": { link: `${base}/top` },
  });
  libc.makeFifo(`${base}/app/g/p1.txt`);
  libc.makeSocket(`${base}/app/g/p3.txt`);
  for (const top of ["outside", "app/shut", "app/f/shut", "app/f/shell/inner", "app/j/shut"]) mark(`${base}/${top}`);

  return {
    base,
    boundary: boundaryOf({ work: { path: `${base}/app`, scopes: SCOPES }, top: `${base}/top` }),
    fifos: ["it", "p1", "p2", "p3"].map((name) => `${base}/app/g/${name}.txt`),
    remove: () => Deno.removeSync(base, { recursive: true }),
  };
}

/** The boundary as a configuration file, for the whole program. */
export function configuration(): string {
  const scopes = Object.fromEntries(Object.entries(SCOPES).map(([path, can]) => [path, { can }]));
  return JSON.stringify({ guardrails: { trees: { work: { path: ".", scopes }, top: { path: "../top" } } } });
}

function mark(folder: string) {
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${folder}/${entry.name}`;
    if (path.endsWith("/app/shut/open")) continue;
    if (entry.isDirectory) mark(path);
    else Deno.utimeSync(path, MARKED_DAY, MARKED_DAY);
  }
  Deno.utimeSync(folder, MARKED_DAY, MARKED_DAY);
}

function memory(): string | undefined {
  try {
    return Deno.statSync("/dev/shm").isDirectory ? "/dev/shm" : undefined;
  } catch {
    return undefined;
  }
}
