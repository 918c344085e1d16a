/**
 * What the engine process may touch, derived from the boundary, and the permission flags that say so.
 *
 * The flags hold for everything that goes through Deno's own calls. They name folders as they are written, follow links that
 * already exist below an allowed folder, and cannot open a listed scope inside a denied folder again: a hidden place that holds
 * a listed one is left to the verb layer. Spec: design, "Three fences"; decision 43.
 */
import { GOVERNED_NAMES } from "../boundary/governed.ts";
import { join, keyOf, slashed } from "../boundary/names.ts";
import { grantsChange } from "../boundary/permission.ts";
import { isListed, type Place, type Survey } from "../boundary/survey.ts";

/** Absolute paths, each covering everything below it. */
export interface FencePlan {
  read: readonly string[];
  denyRead: readonly string[];
  /** Where something may be changed; all of it lies in what may be read. */
  write: readonly string[];
  denyWrite: readonly string[];
}

/**
 * The plan for a boundary: every listed place that lies in no other one, less the hidden places inside them; and every place where
 * something may be changed, and that holds a scope which is no folder, less the others inside them, the governed names at the tops of
 * trees, and the files in force.
 */
export function planFence(survey: Survey): FencePlan {
  const { boundary } = survey;
  const { open: read, deny: denyRead } = planFor(survey, isListed);
  const { open: write, deny: denyWrite } = planFor(survey, changes, holdersOf(survey));
  const tops = boundary.trees.map((tree) => slashed(boundary.names, tree.real));
  const governed = tops.flatMap((top) => GOVERNED_NAMES.map((name) => join(top, name)));
  const fixed = [...governed, ...boundary.inForce.map((file) => slashed(boundary.names, file))];
  const inside = (path: string) => write.some((open) => path.startsWith(open === "/" ? "/" : `${open}/`));
  return { read, denyRead, write, denyWrite: [...new Set([...denyWrite, ...fixed.filter(inside)])].sort() };
}

function changes(place: Place | undefined): boolean {
  return isListed(place) && grantsChange(place);
}

/**
 * The folders that hold scopes in which something may be changed and which are no folders themselves: files, and what is not there. Such
 * a scope is changed by names of the folder that holds it; what lies beside it there is then held by the verb layer alone.
 */
function holdersOf({ boundary }: Survey): string[] {
  return boundary.trees.flatMap((tree) => {
    const scopes = tree.scopes.filter(({ can, isFolder }) => can && !isFolder && grantsChange({ can: new Set(can) }));
    const top = slashed(boundary.names, tree.real);
    const paths = scopes.flatMap(({ path, real }) => [join(top, path), ...real ? [slashed(boundary.names, real)] : []]);
    return paths.map((path) => path.slice(0, Math.max(1, path.lastIndexOf("/"))));
  });
}

/** The places that a question is answered with yes for and that lie in no other such one, and the others inside them. */
function planFor(
  survey: Survey,
  isOpen: (place: Place | undefined) => boolean,
  holders: readonly string[] = [],
): { open: string[]; deny: string[] } {
  const { boundary } = survey;
  const places = new Map<string, { path: string; open: boolean }>();
  for (const tree of boundary.trees) {
    const top = slashed(boundary.names, tree.real);
    const scopes = tree.scopes.filter((scope) => scope.can);
    const paths = scopes.flatMap((scope) => [
      join(top, scope.path),
      ...scope.real ? [slashed(boundary.names, scope.real)] : [],
    ]);
    for (const path of [top, ...paths]) {
      places.set(keyOf(boundary.names, path), { path, open: isOpen(survey.place(path)) });
    }
  }
  for (const path of holders) places.set(keyOf(boundary.names, path), { path, open: true });
  const topmost: string[] = [];
  const deny: string[] = [];
  for (const [key, { path, open }] of places) {
    const above = closest(places, key);
    if (open && !above?.open) topmost.push(path);
    if (!open && above?.open && !holdsOpen(places, key)) deny.push(path);
  }
  return { open: topmost.sort(), deny: deny.sort() };
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

function holdsOpen(places: ReadonlyMap<string, { open: boolean }>, key: string): boolean {
  return [...places].some(([other, place]) => place.open && other.startsWith(key + "/"));
}

/**
 * The permission flags of the engine's runtime: nothing but reading and writing in the plan's folders, reading of the program's own,
 * and libc where given. Everything else (`net`, `run`, `env`, `sys`, `import`) is left out and cannot be asked for under `--no-prompt`.
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
    ...expressible(plan.write).map((path) => `--allow-write=${path}`),
    ...expressible(plan.denyWrite).map((path) => `--deny-write=${path}`),
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
