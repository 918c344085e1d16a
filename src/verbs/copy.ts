/** `copy`: a file, or a folder with all that it holds. Spec: 2-verbs §2.17; 1-boundary §1.5, §1.9, §1.11. */
import { flag, type Infer, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({
  from: text({ filled: true }),
  to: text({ filled: true }),
  recursive: optional(flag()),
  overwrite: optional(flag()),
  preserve_times: optional(flag()),
  dry_run: optional(flag()),
});

export type CopyArguments = Infer<typeof schema>;

export const copy: EngineVerb<typeof schema> = {
  name: "copy",
  where: "engine",
  summary: "copy a file or folder",
  description:
    "Copies a file, or with recursive a folder. `to` is the full new path, never a folder to put it into. With overwrite a file replaces a " +
    "file and a folder is merged into a folder. Links in a folder are left out and listed.",
  tool: { readOnly: false, destructive: true, idempotent: true },
  schema,
  arguments: {
    from: { word: "one", value: "FROM", help: "what is copied" },
    to: { word: "one", value: "TO", help: "the full path of the copy" },
    recursive: { help: "a folder with all that it holds" },
    overwrite: { help: "replace files that are there, and merge into folders" },
    preserve_times: { help: "keep the modified times of files" },
    dry_run: { help: "check everything and change nothing" },
  },
};
