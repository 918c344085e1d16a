/** Files of the boundary that hold a script, or a text that a script puts somewhere. Spec: 2-verbs §2.13; 6-screens §6.11. */
import { demand } from "../boundary/permission.ts";
import { printLocation } from "../boundary/print.ts";
import { find, type Found } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { notThere, readAll } from "./change.ts";
import { decoded, withFile } from "./edit_files.ts";
import { demandUnscreened } from "./screen.ts";
import type { EngineSide } from "./verb.ts";

/**
 * The whole text of a file, without the caps of `read`.
 * @throws {Refusal} `invalid`, `outside-root`, and as `textOf`.
 */
export function readText(side: EngineSide, written: string): string {
  const found = find(side.disk, side.survey, written, { follow: true });
  try {
    demand(found.place, ["read"], printLocation(side.survey.boundary, found.written));
    return textOf(side, found);
  } finally {
    found.close();
  }
}

/**
 * The same for one that was found and may be read. Its screen is asked before anything is said of what is in it.
 * @throws {Refusal} `not-found`, `refused`, `denied`, `screened`.
 */
export function textOf(side: EngineSide, found: Found): string {
  const path = printLocation(side.survey.boundary, found.written);
  if (!found.facts) throw notThere(path);
  if (found.facts.kind !== "file") throw new Refusal("refused", "this is no regular file", path);
  demandUnscreened(side.survey, found.real);
  return decoded(withFile(side, found, (file) => readAll(side, found, file)), undefined, path).text;
}
