/** `new`: an empty file. Spec: 2-verbs §2.15. */
import { flag, type Infer, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({ path: text({ filled: true }), dry_run: optional(flag()) });

export type NewArguments = Infer<typeof schema>;

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
};
