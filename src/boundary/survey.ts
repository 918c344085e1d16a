/**
 * Which place decides a path: the index over all trees and scopes of a boundary.
 *
 * Pure: it never touches the disk. Paths here are absolute, in Fettler's form (`/` between segments), below some tree's real folder.
 * Spec: 1-boundary §1.3.
 */
import { join, keyOf, slashed } from "./names.ts";
import { type Boundary, type Identity, type Permission, PERMISSIONS, type Scope, type Tree } from "./types.ts";

/** A tree or scope whose permission set decides a path. */
export interface Place {
  tree: Tree;
  /** Absent when the tree itself decides. */
  scope?: Scope;
  /** Absolute path of the place as it is declared below the tree's real folder. */
  path: string;
  /** The set as it takes effect: empty when it lacks `list`. */
  can: ReadonlySet<Permission>;
}

const NOTHING: ReadonlySet<Permission> = new Set();

/** Whether what lies in this place exists for a caller at all. */
export function isListed(place: Place | undefined): place is Place {
  return place !== undefined && place.can.has("list");
}

/** All places of a boundary, indexed. Built once for each boundary. */
export class Survey {
  readonly #places = new Map<string, Place>();
  readonly #screens = new Map<string, readonly string[]>();
  readonly #identities = new Map<string, Place>();
  /** For every folder on the way to a place: the keys of its direct entries that lead to one. */
  readonly #ways = new Map<string, Set<string>>();
  /** Lengths of the keys of each index, longest first: only there a key can end. */
  readonly #lengths = new Map<ReadonlyMap<string, unknown>, readonly number[]>();

  constructor(readonly boundary: Boundary) {
    for (const tree of boundary.trees) {
      const top = slashed(boundary.names, tree.real);
      for (const scope of tree.scopes) {
        const written = join(top, scope.path);
        const real = scope.real && slashed(boundary.names, scope.real);
        if (scope.can) {
          const place = { tree, scope, path: written, can: effective(scope.can) };
          this.#add(written, place);
          // A scope covers the path as written and the folder it leads to.
          if (real && this.#key(real) !== this.#key(written)) this.#add(real, place);
          if (scope.identity) this.#identities.set(identityKey(scope.identity), place);
        }
        if (scope.screen) {
          this.#screens.set(this.#key(written), scope.screen);
          if (real) this.#screens.set(this.#key(real), scope.screen);
        }
      }
    }
    // Trees last: a tree beats a scope on the same folder; a declared tree beats a found one.
    for (const tree of [...boundary.trees].reverse()) {
      const top = slashed(boundary.names, tree.real);
      const place = { tree, path: top, can: effective(tree.can) };
      this.#places.set(this.#key(top), place);
      this.#way(top);
      this.#identities.set(identityKey(tree.identity), place);
      if (tree.screen) this.#screens.set(this.#key(top), tree.screen);
    }
    for (const index of [this.#places, this.#screens]) {
      const lengths = new Set([...index.keys()].map((key) => key.length));
      this.#lengths.set(index, [...lengths].sort((a, b) => b - a));
    }
  }

  /** The deepest tree or scope that contains an absolute path; `undefined` outside all of them. */
  place(absolute: string): Place | undefined {
    return this.#closest(this.#places, absolute);
  }

  /** The screen words in force at an absolute path: those of the closest place that states any. Spec: 1-boundary §1.13.3. */
  screen(absolute: string): readonly string[] {
    return this.#closest(this.#screens, absolute) ?? [];
  }

  /** Whether a tree or scope is declared at this very entry of a folder, or somewhere below it. */
  leads(folder: string, name: string): boolean {
    const ways = this.#ways.get(this.#key(folder));
    return ways !== undefined && ways.has(keyOf(this.boundary.names, name));
  }

  /** Whether any entry of a folder leads to a declaration: if none does, the folder's own place decides all below it. */
  leadsAnywhere(folder: string): boolean {
    return this.#ways.has(this.#key(folder));
  }

  /** The listed places below a folder that have no listed place between, in path order. Spec: 1-boundary §1.3 rule 6. */
  listedBelow(folder: string): Place[] {
    const prefix = this.#key(folder === "/" ? "" : folder) + "/";
    const below = new Map<string, Place>();
    for (const [key, place] of this.#places) {
      if (key.startsWith(prefix) && isListed(place)) below.set(key, { ...place, path: this.#spelled(place, key) });
    }
    const keys = [...below.keys()].sort();
    return keys.filter((key) => !keys.some((other) => other !== key && key.startsWith(other + "/")))
      .map((key) => below.get(key)!);
  }

  /** Every place that is declared below a folder, listed or not, whether or not it is there. Spec: 1-boundary §1.5. */
  placesBelow(folder: string): Place[] {
    const prefix = this.#key(folder === "/" ? "" : folder) + "/";
    return [...this.#places].filter(([key]) => key.startsWith(prefix)).map(([, place]) => place);
  }

  /** The place whose own folder or file this is, known by device and file number. Spec: 1-boundary §1.3 rule 8. */
  byIdentity(identity: Identity): Place | undefined {
    return this.#identities.get(identityKey(identity));
  }

  /** The path of a place that bears this key: as declared, or the real one when the key is that of the real folder. */
  #spelled(place: Place, key: string): string {
    if (this.#key(place.path) === key || !place.scope?.real) return place.path;
    return slashed(this.boundary.names, place.scope.real);
  }

  #key(absolute: string): string {
    return keyOf(this.boundary.names, absolute);
  }

  #add(path: string, place: Place) {
    const key = this.#key(path);
    const other = this.#places.get(key);
    // Two scopes that lead to one folder grant what both grant.
    const can = other ? new Set([...place.can].filter((word) => other.can.has(word))) : place.can;
    this.#places.set(key, { ...place, can: effective([...can]) });
    this.#way(path);
  }

  #way(path: string) {
    let key = this.#key(path);
    for (let cut = key.lastIndexOf("/"); cut >= 0 && key.length > 1; cut = key.lastIndexOf("/")) {
      const name = key.slice(cut + 1);
      key = cut === 0 ? "/" : key.slice(0, cut);
      const ways = this.#ways.get(key);
      if (ways) ways.add(name);
      else this.#ways.set(key, new Set([name]));
    }
  }

  /** What is indexed at the path or nearest above it. A path of 100,000 segments costs no more than one of ten. */
  #closest<T>(index: ReadonlyMap<string, T>, absolute: string): T | undefined {
    const key = this.#key(absolute);
    for (const length of this.#lengths.get(index)!) {
      if (length > key.length) continue;
      const found = length === key.length || key[length] === "/" || length === 1
        ? index.get(key.slice(0, length))
        : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** A set without `list` counts as empty. Spec: 1-boundary §1.3 rule 5. */
function effective(can: readonly Permission[]): ReadonlySet<Permission> {
  return can.includes("list") ? new Set(can) : NOTHING;
}

function identityKey(identity: Identity): string {
  return `${identity.dev}:${identity.ino}`;
}

/** A permission set as it is printed: blank-separated in the fixed order, `nothing` when it is empty. */
export function printCan(can: Iterable<Permission>): string {
  const held = new Set(can);
  return PERMISSIONS.filter((word) => held.has(word)).join(" ") || "nothing";
}
