/** The one tree of the tools level. Spec: 1-boundary §1.7, decision 3. */
import type { Permission } from "../boundary/types.ts";
import { Refusal } from "../refusal.ts";
import { unreadable } from "./disk_errors.ts";
import { type Folder, isSame, lookUp } from "./folders.ts";
import type { System } from "./system.ts";
import { contains, isAbsolute, parentOf } from "./written_path.ts";

/** What the folder of the configuration file gets, and the launch folder where nothing is declared. */
export const WORKING: readonly Permission[] = ["list", "read", "create", "update", "rename", "delete"];

/** What every other tree gets that states nothing. */
export const LOOKING: readonly Permission[] = ["list", "read"];

/**
 * The folder that `work` opens.
 *
 * @throws {Refusal} `invalid` for a filesystem root, the home folder, a folder above it, or the temp folder; `not-found`
 * and `denied` when the folder cannot be looked up.
 */
export function workFolder(path: string, system: System): Folder {
  const folder = lookUp(path, system);
  if ("problem" in folder) {
    if (folder.problem === "unreadable") throw unreadable(path, folder.error);
    throw new Refusal(
      folder.problem === "missing" ? "not-found" : "invalid",
      `the folder ${path} ${folder.problem === "missing" ? "is not there" : "is no folder"}; start in one that is`,
    );
  }
  const why = tooWide(folder, system);
  if (why === undefined) return folder;
  throw new Refusal(
    "invalid",
    `${folder.real} ${why}, which is too wide to be opened without being declared. Start in a project's folder, or ` +
      'declare a tree: a file .fettler.json with { "guardrails": { "trees": { "work": { "path": "FOLDER" } } } }',
  );
}

function tooWide(folder: Folder, system: System): string | undefined {
  const { names } = system;
  if (parentOf(folder.real, names) === folder.real) return "is the root of a file system";
  const looked = (path: string | undefined) => {
    if (!path || !isAbsolute(path)) return undefined;
    const there = lookUp(path, system);
    return "problem" in there ? { real: path, identity: { dev: 0, ino: 0 } } : there;
  };
  const homes = [system.accountHome(), system.variable(names.windows ? "USERPROFILE" : "HOME")];
  for (const path of new Set(homes)) {
    const home = looked(path);
    if (!home) continue;
    if (isSame(folder, home, names)) return "is your home folder";
    if (contains(folder.real, home.real, names)) return "holds your home folder";
  }
  const temps = names.windows ? [system.variable("TEMP"), system.variable("TMP")] : [system.variable("TMPDIR"), "/tmp"];
  for (const path of new Set(temps)) {
    const temp = looked(path);
    if (temp && isSame(folder, temp, names)) return "is the system's temp folder";
  }
  return undefined;
}
