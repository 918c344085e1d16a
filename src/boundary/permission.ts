/** The question of stage 5: does the place grant it? Spec: 1-boundary §1.6. */
import { type Place, printCan } from "./survey.ts";
import type { Permission } from "./types.ts";
import { Refusal } from "../refusal.ts";

/**
 * @param path As the caller may pass it back; the refusal names it.
 * @throws {Refusal} `refused`, naming what is missing, what decided, what is granted, and who can change it.
 */
export function demand(place: Place, needed: readonly Permission[], path: string): void {
  const missing = needed.filter((word) => !place.can.has(word));
  if (missing.length === 0) return;
  const { tree, scope } = place;
  const decided = scope ? `the scope '${scope.path}' of the tree '${tree.name}'` : `the tree '${tree.name}'`;
  const declared = scope?.declared ?? tree.declared;
  const change = declared
    ? `a person changes that in ${declared.split(/[/\\]/).at(-1)}`
    : "a person declares more in a .fettler.json";
  throw new Refusal(
    "refused",
    `this needs ${missing.join(" and ")}, and ${decided} grants ${printCan(place.can)}; ${change}`,
    path,
  );
}

/** Whether the place grants a permission. */
export function grants(place: Place, word: Permission): boolean {
  return place.can.has(word);
}

const CHANGING: readonly Permission[] = ["create", "update", "rename", "delete"];

/** Whether the place lets anything in it be changed. */
export function grantsChange(place: Pick<Place, "can">): boolean {
  return CHANGING.some((word) => place.can.has(word));
}
