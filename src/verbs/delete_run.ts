/** What `delete` does. Spec: 2-verbs §2.18; 1-boundary §1.5, §1.9. */
import { printable, printLocation } from "../boundary/print.ts";
import { DiskError } from "../disk/disk.ts";
import { demandLeave, type Door } from "../disk/mutate.ts";
import { type Found, refusalOf } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { plural } from "./answer.ts";
import { changing, lockAndLook, notThere } from "./change.ts";
import type { Answer, EngineSide } from "./verb.ts";
import type { DeleteArguments } from "./delete.ts";

export function run(args: DeleteArguments, side: EngineSide): Answer {
  return changing(side, (door, find) => {
    const [found] = find([
      { path: args.path, follow: false, changes: true, noPattern: true, needs: () => ["delete"] },
    ]);
    return deleteFound(args, side, door, found);
  });
}

function deleteFound(args: DeleteArguments, side: EngineSide, door: Door, found: Found): Answer {
  const path = printLocation(side.survey.boundary, found.written);
  const dry = args.dry_run === true;
  if (!dry) lockAndLook(door, found);
  if (!found.facts) throw notThere(path);
  const isFolder = found.facts.kind === "dir";
  if (isFolder || found.name === "") door.demandNoTop(found);
  // Before anything in it is looked at: what is hidden there is not told by what is refused.
  if (isFolder) door.demandPlacesBelow(found, ["delete"]);
  const empty = isFolder && isEmpty(found, path);
  if (isFolder && !empty && !args.recursive) {
    throw new Refusal("refused", "this folder is not empty; pass recursive to delete it with all that is in it", path);
  }
  const below = isFolder ? door.judgeBelow(found, ["delete"], "refuse", "go") : undefined;
  demandLeave(found, "go", path);
  let gone = isFolder
    ? { files: below!.files + below!.links.length + below!.others.length, directories: below!.directories + 1 }
    : { files: 1, directories: 0 };
  if (!dry && isFolder && !empty) gone = door.removeAll(found);
  else if (!dry) door.remove(found, { force: args.force });
  return {
    json: { path, ...gone, dry_run: dry },
    text: () => {
      const counts = isFolder ? `  ${plural(gone.files, "file")}  ${plural(gone.directories, "folder")}` : "";
      return `${dry ? "would delete" : "deleted"} ${printable(path)}${counts}`;
    },
  };
}

function isEmpty({ folder, name }: Found, path: string): boolean {
  try {
    const inner = folder.folder(name);
    try {
      const { entries, undecodable } = inner.list();
      return entries.length + undecodable === 0;
    } finally {
      inner.close();
    }
  } catch (error) {
    if (error instanceof DiskError) throw refusalOf(error, path);
    throw error;
  }
}
