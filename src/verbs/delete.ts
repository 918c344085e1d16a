/** `delete`: a file, link or folder goes. Spec: 2-verbs §2.18; 1-boundary §1.5, §1.9. */
import { flag, type Infer, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({
  path: text({ filled: true }),
  recursive: optional(flag()),
  force: optional(flag()),
  dry_run: optional(flag()),
});

export type DeleteArguments = Infer<typeof schema>;

export const deleteEntry: EngineVerb<typeof schema> = {
  name: "delete",
  where: "engine",
  summary: "delete a file, link or folder",
  description:
    "Deletes one file, link or folder, never a pattern. A folder that is not empty needs recursive. Of a link the link goes, not what " +
    "it leads to. There is no way back.",
  tool: { readOnly: false, destructive: true, idempotent: true },
  schema,
  arguments: {
    path: { word: "one", value: "PATH", help: "what is deleted" },
    recursive: { help: "a folder with all that is in it" },
    force: { help: "clear the read-only attribute of Windows first; lifts nothing else" },
    dry_run: { help: "check everything and change nothing" },
  },
};
