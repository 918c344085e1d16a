/** `move`: a file, folder or link gets another name or place, as an entry. Spec: 2-verbs §2.16; 1-boundary §1.5, §1.9, §1.11. */
import { flag, type Infer, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({
  from: text({ filled: true }),
  to: text({ filled: true }),
  overwrite: optional(flag()),
  dry_run: optional(flag()),
});

export type MoveArguments = Infer<typeof schema>;

export const move: EngineVerb<typeof schema> = {
  name: "move",
  where: "engine",
  summary: "rename or move a file, folder or link",
  description:
    "Moves a file, folder or link; renaming is moving. `to` is the full new path, never a folder to put it into, and its parent has to be " +
    "there. With overwrite a file or link replaces a file or link, a folder an empty folder.",
  tool: { readOnly: false, destructive: true, idempotent: false },
  schema,
  arguments: {
    from: { word: "one", value: "FROM", help: "what is moved" },
    to: { word: "one", value: "TO", help: "its full new path" },
    overwrite: { help: "replace what is there" },
    dry_run: { help: "check everything and change nothing" },
  },
};
