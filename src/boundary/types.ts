/**
 * What a boundary is made of. Plain data: it is sent to the engine process as JSON.
 *
 * Spec: 1-boundary §1.1, §1.3, §1.4.
 */

/** The seven permissions, in the order in which they are written everywhere. Spec: 1-boundary §1.4. */
export const PERMISSIONS = ["list", "read", "create", "update", "rename", "delete", "execute"] as const;

export type Permission = typeof PERMISSIONS[number];

/** Device and file number of an entry, where the system gives them. */
export interface Identity {
  dev: number;
  ino: number;
}

/** A path inside a tree with a permission set of its own. */
export interface Scope {
  /** Below the tree's top, as declared: `/` between segments, no `.`, no empty segment. */
  path: string;
  /** In the order of `PERMISSIONS`; `undefined` for a scope that only `screenings` names. */
  can?: readonly Permission[];
  /** Screen words as they take effect here, in their order; absent when no screen is stated here. An empty list: screen off. */
  screen?: readonly string[];
  /** The real folder or file the scope leads to, absolute, when it exists. */
  real?: string;
  identity?: Identity;
  /** That is a folder. */
  isFolder?: boolean;
  /** The file that declares it. */
  declared: string;
}

/** A named folder with a permission set. */
export interface Tree {
  name: string;
  /** Absolute and normalised, as declared. */
  path: string;
  /** Where that really is: every link on the way followed. */
  real: string;
  identity: Identity;
  /** In the order of `PERMISSIONS`. */
  can: readonly Permission[];
  scopes: readonly Scope[];
  /** As in `Scope`. */
  screen?: readonly string[];
  /** The file that declares it; absent for the tools level, `--root` and found folders. */
  declared?: string;
  /** For a folder of the client's that Fettler found: how. Such a tree is never the default. Spec: 1-boundary §1.15. */
  found?: string;
}

/** How names compare on the system at hand. */
export interface NameRules {
  /** Windows forms of paths: drive letters, device names, `\` always a separator. */
  windows: boolean;
  /** Names that differ only in case are one (Windows, macOS). */
  ignoreCase: boolean;
}

/** All open trees with their scopes, as declared at this moment. */
export interface Boundary {
  names: NameRules;
  /** Declared trees first, in order; the first is the default. Found folders after them. */
  trees: readonly Tree[];
  /** Folder names that find, search and replace skip. Spec: decision 5. */
  generated: readonly string[];
  /** Absolute paths of the configuration, overlay and policy files in force: governed by identity. Spec: 1-boundary §1.11. */
  inForce: readonly string[];
}
