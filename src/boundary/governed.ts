/**
 * The names that no verb may create, change, move, replace or remove. Closed and compiled in.
 *
 * Spec: 1-boundary §1.11, decisions 10 and 39.
 */
import { keyOf, segmentsOf, slashed } from "./names.ts";
import { Refusal } from "../refusal.ts";
import type { Boundary } from "./types.ts";

/** Matched on the last segment or the last two, at any depth. */
export const GOVERNED_NAMES = [
  ".fettler.json",
  ".fettler.local.json",
  ".mcp.json",
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".vscode/mcp.json",
  ".cursor/mcp.json",
  ".gemini/settings.json",
  ".codex/config.toml",
  ".github/mcp.json",
] as const;

const GOVERNED = new Set<string>(GOVERNED_NAMES);
const FOLDERS = new Map<string, string[]>();
for (const name of GOVERNED_NAMES) {
  const cut = name.indexOf("/");
  if (cut > 0) FOLDERS.set(name.slice(0, cut), [...FOLDERS.get(name.slice(0, cut)) ?? [], name.slice(cut + 1)]);
}

/**
 * A segment as governed names compare it: a mounted file system may ignore case and default-ignorable characters. By way of capitals,
 * so that `ſ` is an `s` and `ﬁ` is `fi`, as where cases are folded in full.
 */
function folded(segment: string): string {
  const shown = segment.normalize("NFC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return shown.normalize("NFC").toUpperCase().toLowerCase();
}

/**
 * What makes an absolute path governed: one of the names, or the path of a file in force; `undefined` when nothing does.
 * To be asked of the written path and of the real location.
 */
export function governedBy(boundary: Boundary, absolute: string): string | undefined {
  const segments = segmentsOf(absolute);
  const last = folded(segments.at(-1) ?? "");
  if (GOVERNED.has(last)) return last;
  const two = `${folded(segments.at(-2) ?? "")}/${last}`;
  if (GOVERNED.has(two)) return two;
  const key = keyOf(boundary.names, absolute);
  return boundary.inForce.find((file) => keyOf(boundary.names, slashed(boundary.names, file)) === key);
}

/** The entries that a folder of this name may not hold after a rename; empty for most names. */
export function governedInside(folderName: string): readonly string[] {
  return FOLDERS.get(folded(folderName)) ?? [];
}

/** Whether an entry of this name in a folder of that name is governed; for what lies in a folder that is moved or removed. */
export function isGovernedEntry(folderName: string, name: string): boolean {
  const last = folded(name);
  return GOVERNED.has(last) || GOVERNED.has(`${folded(folderName)}/${last}`);
}

/** The refusal (11) of a change to a governed name. */
export function governedRefusal(path: string): Refusal {
  return new Refusal(
    "governed",
    "this is one of the files that tell Fettler and the assistant's client what they may do. Fettler does not edit them; " +
      `a person does, with an editor. The files are: ${GOVERNED_NAMES.join(", ")}, and the configuration in force`,
    path,
  );
}

/** Names of our own staging, reserved in every tree. Spec: 2-verbs §2.8. */
export function isStaging(name: string): boolean {
  return name.length === 44 && /^\.fettle-[0-9a-f]{32}\.tmp$/i.test(name);
}
