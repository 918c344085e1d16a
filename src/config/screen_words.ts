/** The words of a screen. Spec: 6-screens §6.10. */

/** The four categories, in the order in which they are written everywhere. */
export const SCREENS = ["identifiers", "clinical", "legal", "scientific"] as const;

/** A screen as a file states it, its words in lower case. */
export type ScreenForm = boolean | readonly string[];

const RETIRED = new Map([
  ["phi", '"identifiers" and "clinical"'],
  ["pii", '"identifiers"'],
  ["sci", '"scientific"'],
]);

/** Words that a list may hold: each category, and each with a leading `-`. */
export const SCREEN_WORDS: readonly string[] = [...SCREENS, ...SCREENS.map((word) => `-${word}`)];

/** Why a member of a list is no screen word. */
export function screenWordFault(member: unknown): string {
  if (typeof member !== "string") return `a screen is made of words: ${SCREENS.join(", ")}`;
  const retired = RETIRED.get(member.replace(/^-/, "").toLowerCase());
  if (retired) return `${JSON.stringify(member)} is no longer a screen; write ${retired} instead`;
  return `${JSON.stringify(member)} is no screen; the words are ${
    SCREENS.join(", ")
  }, each plain or with a leading "-"`;
}

/** Why known words cannot stand in one list, if so. */
export function screenListFault(words: readonly string[]): string | undefined {
  const taken = words.filter((word) => word.startsWith("-")).length;
  if (taken === 0 || taken === words.length) return undefined;
  return 'words with and without a leading "-" cannot be mixed; name what is screened, or what is left out';
}

/** The categories that a screen asks for, in their order. */
export function screenedBy(form: ScreenForm): readonly string[] {
  if (typeof form === "boolean") return form ? SCREENS : [];
  if (form[0]?.startsWith("-")) return SCREENS.filter((word) => !form.includes(`-${word}`));
  return SCREENS.filter((word) => form.includes(word));
}
