/** `new`: an empty file. Spec: 2-verbs §2.15. */
import { printable, printLocation } from "../boundary/print.ts";
import { Refusal } from "../refusal.ts";
import { changing, demandNoDangling } from "./change.ts";
import { flag, object, optional, text } from "./shape.ts";
import type { Answer, EngineVerb } from "./verb.ts";

const schema = object({ path: text({ filled: true }), dry_run: optional(flag()) });

export const newFile: EngineVerb<typeof schema> = {
  name: "new",
  where: "engine",
  summary: "make an empty file",
  description: "Makes an empty file where nothing is. The parent folder has to be there.",
  tool: { readOnly: false, destructive: false, idempotent: true },
  schema,
  arguments: {
    path: { word: "one", value: "PATH", help: "the file" },
    dry_run: { help: "check everything and change nothing" },
  },
  run(args, side): Answer {
    return changing(side, (door, find) => {
      const [found] = find([{ path: args.path, follow: true, changes: true, needs: () => ["create"] }]);
      const path = printLocation(side.survey.boundary, found.written);
      if (found.facts) throw new Refusal("target-exists", "something is there already", path);
      demandNoDangling(side, args.path, found);
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
  },
};
