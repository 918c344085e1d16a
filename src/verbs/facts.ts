/** Facts of an entry as answers tell them. Spec: 2-verbs §2.4 (file facts), 1-boundary §1.9 (`link_target`). */
import { absoluteOf, type Location } from "../boundary/locate.ts";
import { printLocation } from "../boundary/print.ts";
import { isListed, type Survey } from "../boundary/survey.ts";
import type { Facts, Folder } from "../disk/disk.ts";
import { climbBack, targetOf } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";

/** Left out where it does not apply. */
export interface FactFields {
  executable?: boolean;
  read_only?: true;
  hidden?: true;
  link?: "symlink";
  link_target?: string;
}

/** The facts of an entry of a folder at a real location. */
export function factFields(
  survey: Survey,
  at: { folder: Folder; real: Location },
  name: string,
  facts: Facts,
): FactFields {
  const fields = ownFields(survey, name, facts);
  if (facts.kind === "link") Object.assign(fields, linkFields(survey, at, name));
  return fields;
}

/** Those that its name and its facts tell. */
export function ownFields(survey: Survey, name: string, { mode, kind }: Pick<Facts, "mode" | "kind">): FactFields {
  const fields: FactFields = {};
  if (mode !== undefined && kind !== "link") {
    if (kind === "file") fields.executable = (mode & 0o111) !== 0;
    if ((mode & 0o200) === 0) fields.read_only = true;
  }
  if (!survey.boundary.names.windows && name.startsWith(".")) fields.hidden = true;
  return fields;
}

/** Those of a link, for which it is read. */
export function linkFields(survey: Survey, at: { folder: Folder; real: Location }, name: string): FactFields {
  const target = linkTarget(survey, at, name);
  return { link: "symlink", ...target === undefined ? {} : { link_target: target } };
}

/** Where a link leads, as a path of the caller's; `undefined` unless that lies in a listed place. Judged by its text alone. */
function linkTarget(survey: Survey, at: { folder: Folder; real: Location }, name: string): string | undefined {
  const text = at.folder.link(name);
  if (text === undefined || climbBack(text).turn > 0) return undefined;
  try {
    const target = targetOf(survey, at.real, text);
    if (!isListed(survey.place(absoluteOf(survey.boundary, target)))) return undefined;
    return printLocation(survey.boundary, target);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
