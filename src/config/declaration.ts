/** What one configuration file declares, checked on its own and brought into one form. Spec: 1-boundary §1.12.3, §1.13. */
import type { Permission } from "../boundary/types.ts";
import type { Place, Source } from "./faults.ts";

export interface DeclaredScope {
  /** Below the tree's top: `/` between segments, no `.`, no empty segment. */
  path: string;
  /** In the order of `PERMISSIONS`. */
  can: readonly Permission[];
  place: Place;
}

export interface DeclaredTree {
  name: string;
  /** Absolute and normalised. */
  path: string;
  /** In the order of `PERMISSIONS`; absent for the default. */
  can?: readonly Permission[];
  scopes: readonly DeclaredScope[];
  place: Place;
  pathPlace: Place;
}

export interface DeclaredTask {
  name: string;
  run: string;
  /** As written. */
  cwd?: string;
  place: Place;
}

export interface DeclaredReplacement {
  name: string;
  value: string;
  place: Place;
}

export interface ScreenedScope {
  /** As in `DeclaredScope`. */
  path: string;
  /** In the order of `SCREENS`. */
  screen: readonly string[];
  place: Place;
}

export interface ScreenedTree {
  name: string;
  screen?: readonly string[];
  scopes: readonly ScreenedScope[];
  /** Whether it was stated in the older form. */
  older: boolean;
  place: Place;
}

export interface Guardrails {
  trees: readonly DeclaredTree[];
  tasks: readonly DeclaredTask[];
  replacements: readonly DeclaredReplacement[];
  generated?: readonly string[];
  place: Place;
}

export interface Screenings {
  trees: readonly ScreenedTree[];
  /** Absolute. */
  models?: string;
  place: Place;
}

/** One file. A section is there when the file states it, or something of it in the older form. */
export interface Declaration {
  source: Source;
  guardrails?: Guardrails;
  screenings?: Screenings;
}
