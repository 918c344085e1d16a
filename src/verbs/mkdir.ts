/** `mkdir`: a folder, and those above it that are missing. Spec: 2-verbs §2.15; 1-boundary §1.5. */
import { flag, type Infer, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({ path: text({ filled: true }), dry_run: optional(flag()) });

export type MkdirArguments = Infer<typeof schema>;

export const mkdir: EngineVerb<typeof schema> = {
  name: "mkdir",
  where: "engine",
  summary: "make a folder, and those above it",
  description: "Makes a folder and the folders above it that are missing. One that is there already is no fault.",
  tool: { readOnly: false, destructive: false, idempotent: true },
  schema,
  arguments: {
    path: { word: "one", value: "PATH", help: "the folder" },
    dry_run: { help: "check everything and change nothing" },
  },
};
