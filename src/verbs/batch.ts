/** `batch`: several changes in order; the first refusal stops. Spec: 2-verbs §2.23; decision 17. */
import { Refusal } from "../refusal.ts";
import { document, flag, type Infer, object, optional, text } from "./shape.ts";
import type { EngineVerb } from "./verb.ts";

const schema = object({
  script: optional(document()),
  script_path: optional(text({ filled: true })),
  dry_run: optional(flag()),
});

export type BatchArguments = Infer<typeof schema>;

export const batch: EngineVerb<typeof schema> = {
  name: "batch",
  where: "engine",
  summary: "several changes in order, stopping at the first refusal",
  description:
    'Runs changes in order: {"operations":[{"op":…,"path":…}]} with op mkdir, new, write (text, overwrite, expect, encoding, eol), move and ' +
    "copy (to, overwrite; copy also recursive, preserveTimes), delete (recursive, force) or exec (executable). The first refusal stops; what " +
    "was done by then stays.",
  tool: { readOnly: false, destructive: true, idempotent: false },
  schema,
  arguments: {
    script: { value: "FILE", document: true, help: "the operations, in JSON" },
    script_path: { value: "PATH", help: "the same from a file of the boundary" },
    dry_run: { help: "check everything and change nothing" },
  },
  check({ script, script_path: path }) {
    if ((script === undefined) === (path === undefined)) {
      throw new Refusal("invalid", "batch takes one script: as script, or from script_path");
    }
  },
};
