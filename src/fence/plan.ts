/**
 * What the engine process may touch, derived from the boundary, and the permission flags that say so.
 *
 * The flags hold for everything that goes through Deno's own calls. They name folders as they are written, follow links that
 * already exist below an allowed folder, and cannot open a listed scope inside a denied folder again: a hidden place that holds
 * a listed one is left to the verb layer. Spec: design, "Three fences"; decision 43.
 */
import { join, keyOf, slashed } from "../boundary/names.ts";
import { isListed, type Survey } from "../boundary/survey.ts";

/** Absolute paths, each covering everything below it. */
export interface FencePlan {
  read: readonly string[];
  denyRead: readonly string[];
}

/** The plan for a boundary: every listed place that lies in no other one, less the hidden places inside them. */
export function planFence(survey: Survey): FencePlan {
  const { boundary } = survey;
  const places = new Map<string, { path: string; listed: boolean }>();
  for (const tree of boundary.trees) {
    const top = slashed(boundary.names, tree.real);
    const scopes = tree.scopes.filter((scope) => scope.can);
    const paths = scopes.flatMap((scope) => [
      join(top, scope.path),
      ...scope.real ? [slashed(boundary.names, scope.real)] : [],
    ]);
    for (const path of [top, ...paths]) {
      places.set(keyOf(boundary.names, path), { path, listed: isListed(survey.place(path)) });
    }
  }
  const read: string[] = [];
  const denyRead: string[] = [];
  for (const [key, { path, listed }] of places) {
    const above = closest(places, key);
    if (listed && !above?.listed) read.push(path);
    if (!listed && above?.listed && !holdsListed(places, key)) denyRead.push(path);
  }
  return { read: read.sort(), denyRead: denyRead.sort() };
}

/** The deepest place above a key. */
function closest<T>(places: ReadonlyMap<string, T>, key: string): T | undefined {
  for (let cut = key.lastIndexOf("/"); cut >= 0; cut = key.lastIndexOf("/")) {
    if (key === "/") return undefined;
    key = cut === 0 ? "/" : key.slice(0, cut);
    const place = places.get(key);
    if (place) return place;
  }
  return undefined;
}

function holdsListed(places: ReadonlyMap<string, { listed: boolean }>, key: string): boolean {
  return [...places].some(([other, place]) => place.listed && other.startsWith(key + "/"));
}

/**
 * The permission flags of the engine's runtime: nothing but reading in the plan's folders and the program's own, and libc where given.
 * Everything else (`write`, `net`, `run`, `env`, `sys`, `import`) is left out and cannot be asked for under `--no-prompt`.
 */
export function permissionFlags(plan: FencePlan, program: readonly string[], libc: string | undefined): string[] {
  return [
    "--no-prompt",
    // Some hosts are allowed unless this is said.
    "--deny-import",
    ...expressible(plan.read).map((path) => `--allow-read=${path}`),
    ...expressible(program).map((path) => `--allow-read=${path}`),
    ...expressible(plan.denyRead)
      // What is denied cannot be allowed again, and a program that may not read its own modules does not run.
      .filter((path) => !program.some((own) => own === path || own.startsWith(`${path}/`)))
      .map((path) => `--deny-read=${path}`),
    ...libc ? [`--allow-ffi=${libc}`] : [],
  ];
}

/** Paths that no flag can name, since a comma parts paths there. */
export function inexpressible(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => path.includes(","));
}

/**
 * Paths that a flag can name. One that cannot be allowed is not allowed; one that cannot be denied is left to the verb layer. One
 * flag a path: a list in one argument has a limit of 128 KiB.
 */
function expressible(paths: readonly string[]): string[] {
  return paths.filter((path) => !path.includes(","));
}
