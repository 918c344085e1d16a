/** What `new` does. Spec: 2-verbs §2.15. */
import { printable, printLocation } from "../boundary/print.ts";
import { demandLeave } from "../disk/mutate.ts";
import { Refusal } from "../refusal.ts";
import { changing, demandNoDangling } from "./change.ts";
import type { Answer, EngineSide } from "./verb.ts";
import type { NewArguments } from "./new.ts";

export function run(args: NewArguments, side: EngineSide): Answer {
  return changing(side, (door, find) => {
    const [found] = find([{ path: args.path, follow: true, changes: true, needs: () => ["create"] }]);
    const path = printLocation(side.survey.boundary, found.written);
    if (found.facts) throw new Refusal("target-exists", "something is there already", path);
    demandNoDangling(side, args.path, found);
    demandLeave(found, "put", path);
    const dry = args.dry_run === true;
    if (!dry) {
      door.lock([found]);
      door.stage(found, new Uint8Array(), { needs: ["create"] });
      door.publish();
    }
    return {
      json: { path, created: true, detail: dry ? "would be created" : "created", dry_run: dry },
      text: () => `${dry ? "would create" : "created"} ${printable(path)}`,
    };
  });
}
