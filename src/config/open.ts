/**
 * A merged declaration, brought to the disk: which folder each tree really is, what may be done there, where its scopes are.
 *
 * Spec: 1-boundary §1.3, §1.7, §1.13.
 */
import type { NameRules, Tree } from "../boundary/types.ts";
import { Refusal } from "../refusal.ts";
import type { DeclaredTree, ScreenedTree } from "./declaration.ts";
import { unreadable } from "./disk_errors.ts";
import { type Fault, type Place, refuseFaults, where } from "./faults.ts";
import { type Folder, isSame, type Looked, lookUp } from "./folders.ts";
import { type Merged, screenOf, WORK } from "./merge.ts";
import { openScopes } from "./scopes.ts";
import type { System } from "./system.ts";
import { LOOKING, workFolder, WORKING } from "./tools_level.ts";
import { isForeign } from "./written_path.ts";

/** A declared tree whose folder is not there. */
export interface MissingTree {
  name: string;
  /** Absolute and normalised, as declared. */
  path: string;
  /** `file:line:column` of the declaration. */
  where: string;
}

/** The trees that could be opened, and those whose folder is not there. */
export interface Opened {
  trees: Tree[];
  missing: MissingTree[];
}

/**
 * Opens the declared trees, or `work` where no `guardrails` section stands.
 *
 * @param folder Absolute path of the folder of the configuration file: a tree there may be worked in by default.
 * @throws {Refusal} `invalid` for what is no folder, two trees on one folder, a scope outside its tree, a tools level that
 * is too wide; `denied` where the system does not let us look.
 */
export function openTrees(merged: Merged, folder: string, system: System): Opened {
  const faults: Fault[] = [];
  const opened = merged.guardrails
    ? openDeclared(merged, merged.guardrails.trees, folder, system, faults)
    : { trees: [openWork(merged, folder, system, faults)], missing: [] };
  refuseFaults(faults);
  return opened;
}

/** The refusal for trees whose folder is not there. Spec: 1-boundary §1.13.5. */
export function missingFolders(missing: readonly MissingTree[], names: NameRules): Refusal {
  const told = missing.map(({ name, path, where }) =>
    `${where}: the folder of the tree "${name}" is not there: ${path}${
      hint(path, names)
    }; make it, or change the tree's path`
  );
  return new Refusal("not-found", told.join("\n"));
}

function hint(path: string, names: NameRules): string {
  if (isForeign(path, names)) return " (a path of Windows)";
  return /(^|[/\\])(~|\$|%[^%/\\]+%)/.test(path) ? ' ("~" and variables have no meaning in a path)' : "";
}

function openWork(merged: Merged, folder: string, system: System, faults: Fault[]): Tree {
  const work = workFolder(folder, system);
  return withScreen({ name: WORK, path: folder, ...work, can: WORKING, scopes: [] }, merged, system, faults);
}

function openDeclared(
  merged: Merged,
  declared: readonly DeclaredTree[],
  folder: string,
  system: System,
  faults: Fault[],
): Opened {
  const home = lookUp(folder, system);
  const opened: Opened = { trees: [], missing: [] };
  const denied: Refusal[] = [];
  for (const tree of declared) {
    const found = lookUp(tree.path, system);
    if ("problem" in found) {
      const place = tree.pathPlace;
      if (found.problem === "missing") opened.missing.push({ name: tree.name, path: tree.path, where: where(place) });
      else if (found.problem === "unreadable") denied.push(unreadable(`${where(place)}: ${tree.path}`, found.error));
      else faults.push({ place, message: `the path of the tree "${tree.name}" is no folder: ${tree.path}` });
      continue;
    }
    const same = opened.trees.find((other) => isSame(other, found, system.names));
    if (same) faults.push(oneFolder(tree.name, same.name, found, tree.pathPlace));
    opened.trees.push(withScreen(
      {
        name: tree.name,
        path: tree.path,
        ...found,
        can: tree.can ?? (isFolder(home) && isSame(home, found, system.names) ? WORKING : LOOKING),
        scopes: [],
        declared: tree.place.source.file,
      },
      merged,
      system,
      faults,
      tree,
    ));
  }
  if (faults.length === 0 && denied.length > 0) throw denied[0];
  return opened;
}

function oneFolder(name: string, other: string, folder: Folder, place: Place): Fault {
  return { place, message: `the trees "${other}" and "${name}" are one folder, ${folder.real}; keep one of them` };
}

function isFolder(looked: Looked): looked is Folder {
  return !("problem" in looked);
}

/** The tree with its scopes and with the screens stated for its name. */
export function withScreen(
  tree: Tree,
  merged: Merged,
  system: System,
  faults: Fault[],
  declared?: DeclaredTree,
): Tree {
  const screens: ScreenedTree | undefined = screenOf(tree.name, merged, system.names);
  const scopes = openScopes(tree.name, tree, declared?.scopes ?? [], screens?.scopes ?? [], system, faults);
  return screens?.screen ? { ...tree, scopes, screen: screens.screen } : { ...tree, scopes };
}
