/** Which names a tree may bear. Spec: 1-boundary §1.8. */

/** Names of the client's folders, which Fettler gives. Spec: 1-boundary §1.15. */
export const FOUND_NAMES = ["scratch", "tool-results", "memory"] as const;

export type FoundName = typeof FOUND_NAMES[number];

/** Two characters or more, an ASCII letter first. */
export const TREE_NAME = /^[A-Za-z][A-Za-z0-9._-]+$/;

/** Why no tree may bear this name, if so. Reserved names are reserved in any case: their folders compare so somewhere. */
export function treeNameFault(name: string): string | undefined {
  const shown = JSON.stringify(name);
  if (!TREE_NAME.test(name)) {
    return `${shown} cannot name a tree; a name has two characters or more, a letter first, ` +
      `then letters, digits, ".", "_" and "-"`;
  }
  if ((FOUND_NAMES as readonly string[]).includes(name.toLowerCase())) {
    return `${shown} is reserved for a folder of the client's; give the tree another name`;
  }
  return undefined;
}
