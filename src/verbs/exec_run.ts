/** What `exec` does. Spec: 2-verbs §2.19. */
import { governedRefusal } from "../boundary/governed.ts";
import { printable, printLocation } from "../boundary/print.ts";
import { type Facts, isSame } from "../disk/disk.ts";
import { demandLeave } from "../disk/mutate.ts";
import { find, type Found } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { changing, lockAndLook, notThere } from "./change.ts";
import type { Answer, EngineSide } from "./verb.ts";
import type { ExecArguments } from "./exec.ts";

export function run(args: ExecArguments, side: EngineSide): Answer {
  return changing(side, (door, findAll) => {
    const [found] = findAll([{ path: args.path, follow: true, changes: true, needs: () => ["update"] }]);
    const path = printLocation(side.survey.boundary, found.written);
    const dry = args.dry_run === true;
    if (!dry) lockAndLook(door, found);
    if (!found.facts) throw notThere(path);
    if (found.facts.kind === "dir") throw new Refusal("refused", "this is a folder; exec is for files", path);
    if (found.facts.kind !== "file") {
      throw new Refusal("refused", "this is a FIFO, a socket or a device, or a link to nothing", path);
    }
    demandNotInForce(side, found.facts, path);
    const { mode } = found.facts;
    const supported = mode !== undefined;
    const wanted = supported && (args.executable ? mode | EXECUTE : mode & ~EXECUTE);
    const changed = supported && wanted !== mode;
    if (changed) demandLeave(found, "mode", path);
    if (changed && !dry) door.setMode(found, wanted as number);
    const executable = supported && args.executable;
    return {
      json: { path, executable, supported, changed, dry_run: dry },
      text: () =>
        `${printable(path)} ${dry ? "would be " : ""}executable: ${executable ? "yes" : "no"}${
          changed ? "" : "  (unchanged)"
        }`,
    };
  });
}

/** Owner, group and others. */
const EXECUTE = 0o111;

/** A mode is one of the file, whichever of its names is given: a file in force is known by its number. Spec: 1-boundary §1.11. */
function demandNotInForce({ disk, survey }: EngineSide, facts: Facts, path: string) {
  for (const file of survey.boundary.inForce) {
    let inForce: Found | undefined;
    try {
      inForce = find(disk, survey, file, { follow: true });
    } catch (error) {
      // Outside the trees, or not there.
      if (!(error instanceof Refusal)) throw error;
    } finally {
      inForce?.close();
    }
    if (inForce?.facts && isSame(inForce.facts, facts)) throw governedRefusal(path);
  }
}
