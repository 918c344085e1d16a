/** The refusal of a change that would add credentials. Spec: 6-screens §6.9. */
import { Refusal } from "../refusal.ts";
import type { Finding } from "./credentials.ts";

/** So many findings are named. */
const NAMED = 3;

/** How a refusal is worded. */
export interface Wording {
  /** `--allow-credential` is a flag of this call: `write` and `edit` on the command line, and nothing else. */
  readonly override: boolean;
  /** Writes a path for a line of text, control characters made visible. */
  readonly printable: (path: string) => string;
}

/**
 * Refuses a call whose changes would add what was found, over all its files in order; there is at least one finding.
 *
 * The path stands in the message, where the spec's wording has it, and so among the fields rather than behind the message.
 */
export function credentialRefusal(found: readonly Finding[], wording: Wording): Refusal {
  const findings = found.slice(0, NAMED).map(({ path, line, detector }) => ({ path, line, detector }));
  const more = found.length > NAMED;
  const advice = wording.override ? ", or repeat with --allow-credential if it is none" : "";
  return new Refusal(
    "credential",
    `${gain(found, wording.printable)}${
      more ? " and more" : ""
    }. What was found is withheld, so that no log or transcript holds it. ` +
      "Write a reference such as ${NAME}" + advice,
    undefined,
    { path: found[0].path, findings, more },
  );
}

/** Which files would gain what. */
function gain(found: readonly Finding[], printable: (path: string) => string): string {
  const named = found.slice(0, NAMED);
  const several = found.some(({ path }) => path !== found[0].path);
  const places = named.map(({ path, line, detector }) =>
    `${several ? `${printable(path)} ` : ""}line ${line} (${detector})`
  );
  const what = found.length === 1 ? "a credential" : "credentials";
  const who = several ? "several files" : printable(found[0].path);
  return `${who} would gain ${what}: ${places.join(", ")}`;
}
