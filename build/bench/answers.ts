/** What both sides found, brought to one form, and whether it is the same. */

/** Throws unless both found the same, in whatever order; tells the first difference of each side. */
export function assertSame(ours: readonly string[], theirs: readonly string[], peer: string): void {
  const [here, there] = [new Set(ours), new Set(theirs)];
  if (here.size !== ours.length) throw new Error(`fettle told something twice: ${ours.length} for ${here.size}`);
  const [more, less] = [here.difference(there), there.difference(here)];
  if (more.size === 0 && less.size === 0) return;
  const first = (set: Set<string>) => set.size > 0 ? `, such as ${JSON.stringify([...set][0].slice(0, 200))}` : "";
  throw new Error(
    `not the same: ${more.size} only from fettle${first(more)}; ${less.size} only from ${peer}${first(less)}`,
  );
}

/** Throws unless the text form, which is what gets timed, closes by telling this count. */
export function assertCount(text: string, count: number, what: string): void {
  const last = text.trimEnd().split("\n").at(-1)!;
  if (!new RegExp(`^${count} ${what}s?\\b`).test(last)) {
    throw new Error(`expected ${count} ${what}s, fettle says: ${last}`);
  }
}

/** `path:line:column` of each hit of `fettle search --json`. */
export function ourHits(json: string): string[] {
  const { hits } = JSON.parse(json) as { hits: { path: string; line: number; column: number }[] };
  return hits.map(({ path, line, column }) => `${path}:${line}:${column}`);
}

/** The same from `rg --no-heading --line-number --column`. */
export function rgHits(text: string): string[] {
  return linesOf(text).map((line) => withoutDot(/^.*?:\d+:\d+(?=:)/.exec(line)![0]));
}

/** How many hits and files `fettle search --count --json` tells. */
export function ourCounts(json: string): string[] {
  const { hits_count, files } = JSON.parse(json);
  return [`${hits_count} hits`, `${files} files`];
}

/** The same from `rg --count`. */
export function rgCounts(text: string): string[] {
  const counts = linesOf(text).map((line) => Number(line.slice(line.lastIndexOf(":") + 1)));
  return [`${counts.reduce((sum, count) => sum + count, 0)} hits`, `${counts.length} files`];
}

/** Paths of `fettle find --json`. */
export function ourPaths(json: string): string[] {
  return ourFiles(json).map(({ path }) => path);
}

/** Size and path of `fettle find --json`. */
export function ourFacts(json: string): string[] {
  return ourFiles(json).map(({ path, bytes }) => `${bytes} ${path}`);
}

/** Paths of fd. */
export function fdPaths(text: string): string[] {
  return linesOf(text).map(withoutDot);
}

/** Size and path from `find . -printf '%s %T@ %p\n'`. */
export function findFacts(text: string): string[] {
  return linesOf(text).map((line) => {
    const [, size, path] = /^(\d+) \S+ (.*)$/.exec(line)!;
    return `${size} ${withoutDot(path)}`;
  });
}

function ourFiles(json: string): { path: string; bytes: number }[] {
  return JSON.parse(json).files;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function withoutDot(path: string): string {
  return path.startsWith("./") ? path.slice(2) : path;
}
