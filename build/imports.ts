/**
 * `deno task check`: the rooms of `src` import only what the design allows them, and the calls that matter for the boundary stand
 * only in the files that are meant to hold them.
 */

/** What each room may import, besides itself, the leaves and libraries. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["entries", "dispatch", "sealed"],
  entries: ["front", "dispatch", "fence", "sealed"],
  front: ["dispatch", "text", "verbs"],
  dispatch: ["boundary", "config", "disk", "fence", "sealed", "verbs"],
  verbs: ["boundary", "disk", "documents", "screens", "text"],
  boundary: [],
  config: ["boundary"],
  fence: ["boundary"],
  disk: ["boundary"],
  sealed: ["text"],
  text: [],
  screens: [],
  documents: ["text", "disk"],
};

/** Files that every room may import. */
const LEAVES = ["src/frames.ts", "src/refusal.ts", "src/version.ts"];

/** Verbs of the main process may import these as well; so may the file that declares what a verb is. */
const MAIN_VERBS_MAY_IMPORT = ["config"];

/** Calls that only some files may hold: a pattern in the source, the files, and why. */
const GUARDED: readonly { what: RegExp; where: readonly RegExp[]; why: string }[] = [
  { what: /\bDeno\.dlopen\b/, where: [/^src\/disk\/descriptor_/, /^src\/fence\//], why: "loads a library" },
  {
    what: /\bDeno\.Command\b/,
    where: [/^src\/dispatch\/engine_process\.ts$/, /^src\/sealed\/owner\.ts$/],
    why: "starts a program",
  },
  {
    what:
      /\bDeno\.(open|create|read|write|stat|lstat|realPath|mkdir|remove|rename|copyFile|link|symlink|truncate|chmod|chown|utime|watchFs|make)[A-Za-z]*\(/,
    where: [
      /^src\/disk\/pathname/,
      /^src\/config\//,
      /^src\/fence\/(libc|probe)\.ts$/,
      /^src\/sealed\/seal\.ts$/,
      /^src\/front\/cli\/sources\.ts$/,
    ],
    why: "touches files by path name",
  },
  { what: /\bDeno\.(connect|listen|serve)|\bfetch\(/, where: [/^src\/sealed\/seal\.ts$/], why: "uses the network" },
  {
    what: /"node:(fs|child_process|net|http|https|dgram|vm|worker_threads)"/,
    where: [/^src\/disk\/pathname(_[a-z]+)?\.ts$/],
    why: "reaches round the runtime's own calls",
  },
  { what: /\bnew Warrant\(/, where: [/^src\/disk\/mutate\.ts$/], why: "allows changes" },
  { what: /\beval\(|new Function\(/, where: [], why: "runs text as code" },
];

/** The main process holds no code that touches a tree: what its entry reaches without importing in the middle, and what it may not. */
const MAIN_ENTRY = "src/front/main.ts";
const NOT_IN_MAIN = /^src\/disk\/|^src\/verbs\/(?:\w+_run|reading|changing|work)\.ts$/;

/** Everything in the sources that breaks a rule, as `FILE: what`. Exported for its test. */
export function check(files: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  for (const [file, text] of files) {
    const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
    for (const [, specifier] of code.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      const fault = importFault(file, specifier, code);
      if (fault) faults.push(`${file}: ${fault}`);
    }
    for (const { what, where, why } of GUARDED) {
      if (file.startsWith("src/") && what.test(code) && !where.some((allowed) => allowed.test(file))) {
        faults.push(`${file}: ${what.exec(code)![0]} ${why}, which this file may not`);
      }
    }
  }
  for (const file of reached(files, MAIN_ENTRY)) {
    if (NOT_IN_MAIN.test(file)) faults.push(`${file}: reached by ${MAIN_ENTRY}, which may not hold it`);
  }
  return faults;
}

/** All that a file imports, and what that imports; types and imports in the middle left out. */
function reached(files: ReadonlyMap<string, string>, entry: string): Set<string> {
  const seen = new Set([entry]);
  for (const file of seen) {
    const statements = (files.get(file) ?? "").matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?"(\.[^"]+)";/gm);
    for (const [, specifier] of statements) seen.add(new URL(specifier, `file:///${file}`).pathname.slice(1));
  }
  return seen;
}

function importFault(file: string, specifier: string, code: string): string | undefined {
  if (!specifier.startsWith(".")) {
    return /^(https?|jsr|npm|file):/.test(specifier) ? `${specifier} is not mapped in deno.json` : undefined;
  }
  const target = new URL(specifier, `file:///${file}`).pathname.slice(1);
  if (LEAVES.includes(target)) return undefined;
  const [from, to] = [roomOf(file), roomOf(target)];
  if (from === to) return undefined;
  const allowed = [...MAY_IMPORT[from] ?? []];
  if (from === "verbs" && (/where: "main"/.test(code) || file === "src/verbs/verb.ts")) {
    allowed.push(...MAIN_VERBS_MAY_IMPORT);
  }
  return allowed.includes(to) ? undefined : `${from} may not import ${to} (${specifier})`;
}

function roomOf(file: string): string {
  const parts = file.split("/");
  return parts[0] === "src" ? parts[1] : parts[0];
}

function sources(top: URL): Map<string, string> {
  const files = new Map<string, string>();
  const visit = (path: string) => {
    for (const entry of Deno.readDirSync(new URL(path, top))) {
      if (entry.isDirectory) visit(`${path}${entry.name}/`);
      else if (entry.name.endsWith(".ts")) {
        files.set(path + entry.name, Deno.readTextFileSync(new URL(path + entry.name, top)));
      }
    }
  };
  visit("src/");
  files.set("main.ts", Deno.readTextFileSync(new URL("main.ts", top)));
  return files;
}

if (import.meta.main) {
  const files = sources(new URL("../", import.meta.url));
  const faults = check(files);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) Deno.exit(1);
  console.log(`imports: ${files.size} files hold to the rooms`);
}
