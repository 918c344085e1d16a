/** The trees of `--root`. Spec: 1-boundary §1.12.2. */
import type { NameRules, Tree } from "../boundary/types.ts";
import { Refusal } from "../refusal.ts";
import { unreadable } from "./disk_errors.ts";
import { isSame, lookUp } from "./folders.ts";
import type { System } from "./system.ts";
import { LOOKING } from "./tools_level.ts";
import { TREE_NAME, treeNameFault } from "./tree_names.ts";
import { absolutePath, fold } from "./written_path.ts";

/** A `--root` as it was meant. */
export interface Root {
  name: string;
  path: string;
}

/**
 * Reads each `[NAME=]PATH`. Those without a name are `root`, `root1`, `root2` … in their order.
 *
 * @throws {Refusal} `invalid` for an empty path, a reserved name, a name that is given twice.
 */
export function parseRoots(written: readonly string[], names: NameRules): Root[] {
  let bare = 0;
  const roots = written.map((root): Root => {
    const equals = root.indexOf("=");
    if (equals > 0 && TREE_NAME.test(root.slice(0, equals))) {
      return { name: root.slice(0, equals), path: root.slice(equals + 1) };
    }
    return { name: bare++ === 0 ? "root" : `root${bare - 1}`, path: root };
  });
  roots.forEach(({ name, path }, index) => {
    const fault = treeNameFault(name);
    if (fault) throw new Refusal("invalid", `--root: ${fault}`);
    if (path === "" || path.includes("\0")) {
      throw new Refusal("invalid", `--root ${written[index]}: the path is empty or no path`);
    }
    if (roots.findIndex((other) => fold(other.name, names) === fold(name, names)) !== index) {
      throw new Refusal("invalid", `--root: two trees cannot bear one name, "${name}"; write --root NAME=PATH`);
    }
  });
  return roots;
}

/**
 * Opens the trees of `--root`, with `list read` and nothing more.
 *
 * @param folder The launch folder, which relative paths count from.
 * @throws {Refusal} `not-found` for a folder that is not there; `invalid` for what is no folder, and for one folder twice.
 */
export function openRoots(roots: readonly Root[], folder: string, system: System): Tree[] {
  const trees: Tree[] = [];
  for (const { name, path: written } of roots) {
    const path = absolutePath(written, folder, system.names);
    const found = lookUp(path, system);
    if ("problem" in found) {
      if (found.problem === "unreadable") throw unreadable(`the folder of --root ${name}, ${path},`, found.error);
      throw found.problem === "missing"
        ? new Refusal("not-found", `the folder of --root ${name} is not there: ${path}`)
        : new Refusal("invalid", `--root ${name} is no folder: ${path}`);
    }
    const same = trees.find((other) => isSame(other, found, system.names));
    if (same) {
      throw new Refusal(
        "invalid",
        `--root ${same.name} and --root ${name} are one folder, ${found.real}; keep one of them`,
      );
    }
    trees.push({ name, path, ...found, can: LOOKING, scopes: [] });
  }
  return trees;
}
