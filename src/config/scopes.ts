/** The scopes of a tree: permissions and screens of one place put together, and where each really is. */
import type { Scope } from "../boundary/types.ts";
import type { DeclaredScope, ScreenedScope } from "./declaration.ts";
import type { Fault, Place } from "./faults.ts";
import { destinationOf, type Folder, identityOf, isSame, spellingOnDisk } from "./folders.ts";
import type { System } from "./system.ts";
import { contains, fold } from "./written_path.ts";

/**
 * Scopes in the order in which they are declared, those that only a screen names last.
 *
 * @param name The tree's name, for messages.
 * @param faults Takes a scope that leads outside its tree, and two of one kind that lead to one place.
 */
export function openScopes(
  name: string,
  tree: Folder,
  declared: readonly DeclaredScope[],
  screened: readonly ScreenedScope[],
  system: System,
  faults: Fault[],
): Scope[] {
  const { names } = system;
  const opened: Scope[] = [];
  const open = (path: string, place: Place) => {
    const scope = { path, declared: place.source.file, ...locate(path, tree, system) };
    if ("outside" in scope) {
      const message = `the scope "${path}" leads outside its tree "${name}", to ${scope.outside}; ` +
        "declare that folder as a tree of its own";
      faults.push({ place, message });
    }
    return scope as Scope;
  };
  for (const { path, can, place } of declared) {
    const scope = { ...open(path, place), can };
    twice(scope, opened.filter((other) => other.can), place, faults, system);
    opened.push(scope);
  }
  const screens: Scope[] = [];
  for (const { path, screen, place } of screened) {
    const same = opened.find((scope) => fold(scope.path, names) === fold(path, names));
    const scope = same ?? open(path, place);
    twice(scope, screens, place, faults, system);
    scope.screen = screen;
    screens.push(scope);
    if (!same) opened.push(scope);
  }
  return opened;
}

function locate(path: string, tree: Folder, system: System) {
  const { real, facts } = destinationOf(tree.real, path, system);
  if (!contains(tree.real, real, system.names)) return { outside: real };
  if (!facts) return {};
  return {
    real: spellingOnDisk(real, facts, system),
    ...(facts.ino === null ? {} : { identity: identityOf(facts) }),
    isFolder: facts.isDirectory,
  };
}

/** Two names of one place with two sets: neither could be said to decide. Hard links of a file are two places. */
function twice(scope: Scope, others: readonly Scope[], place: Place, faults: Fault[], system: System): void {
  const placed = (it: Scope): Folder => ({
    real: it.real!,
    identity: it.isFolder && it.identity || { dev: 0, ino: 0 },
  });
  const other = scope.real && others.find((it) => it.real && isSame(placed(it), placed(scope), system.names));
  if (!other) return;
  faults.push({
    place,
    message: `the scopes "${other.path}" and "${scope.path}" lead to one place, ${scope.real}; keep one of them`,
  });
}
