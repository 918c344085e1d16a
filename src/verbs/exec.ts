/** `exec`: whether a file may be executed. Spec: 2-verbs §2.19. */
import { flag, type Infer, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({ path: text({ filled: true }), executable: flag(), dry_run: optional(flag()) });

export type ExecArguments = Infer<typeof schema>;

export const exec: EngineVerb<typeof schema> = {
  name: "exec",
  where: "engine",
  summary: "set or clear the execute bits of a file",
  description:
    "Sets or clears the three POSIX execute bits of a file. On Windows, where there are none, nothing changes.",
  tool: { readOnly: false, destructive: false, idempotent: true },
  schema,
  arguments: {
    path: { word: "one", value: "PATH", help: "the file" },
    executable: { switches: { on: true, off: false }, help: "whether it may be executed" },
    dry_run: { help: "check everything and change nothing" },
  },
};
