/**
 * The folders of the files that a `replace` changes, open and locked while something is done in them.
 *
 * Each folder is opened once for all its files. Up to so many stay open, locked from before the first file is staged until the last is
 * in its place. Where there are more of them, one at a time is open, for staging and again for publication: then another process may
 * change a file between the two, and publication refuses that one (`stale`).
 * Spec: 2-verbs §2.8; decision 55.
 */
import type { Location } from "../boundary/locate.ts";
import type { Place } from "../boundary/survey.ts";
import type { Identity } from "../boundary/types.ts";
import type { Facts, Folder } from "../disk/disk.ts";
import type { Door } from "../disk/mutate.ts";
import type { Found } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { reopen } from "./search_crew.ts";
import type { EngineSide } from "./verb.ts";

/** Folders that are open together. */
const MOST = 400;

/** A file of a sweep that is to be changed. */
export interface Target {
  written: Location;
  real: Location;
  place: Place;
  name: string;
  /** As answers write it. */
  path: string;
  /** Of its folder. */
  folder: Identity;
  /** Those it was judged by. */
  facts: Facts;
}

export class TargetFolders {
  readonly #open = new Map<string, { folder: Folder; identity: Identity }>();
  #all = false;

  constructor(readonly side: EngineSide, readonly door: Door) {}

  /** Opens and locks the folders of all these files, unless they are too many. @throws {Refusal} `stale`, `denied`. */
  lock(targets: readonly Target[]): void {
    const firsts = new Map(targets.map((target) => [keyOf(target.folder), target]));
    this.#all = firsts.size <= MOST;
    if (this.#all) this.door.lock([...firsts.values()].map((target) => this.found(target)));
  }

  /** The file in its folder, which is opened when it is asked for. */
  found(target: Target): Found {
    const folderOf = () => this.#folderOf(target);
    const { written, real, place, name, facts } = target;
    return {
      written,
      real,
      place,
      name,
      facts,
      get folder() {
        return folderOf();
      },
      close() {},
    };
  }

  #folderOf(target: Target): Folder {
    const key = keyOf(target.folder);
    const known = this.#open.get(key);
    if (known) return known.folder;
    if (!this.#all) this.close();
    const at = { tree: target.real.tree, segments: target.real.segments.slice(0, -1) };
    const folder = reopen(this.side, at, target.folder);
    if (!folder) {
      throw new Refusal("stale", "its folder was moved or replaced while this call was at it; try again", target.path);
    }
    this.#open.set(key, { folder, identity: target.folder });
    if (!this.#all) this.door.lock([this.found(target)]);
    return folder;
  }

  close(): void {
    for (const { folder, identity } of this.#open.values()) {
      this.door.release(identity);
      folder.close();
    }
    this.#open.clear();
  }
}

function keyOf({ dev, ino }: Identity): string {
  return `${dev}:${ino}`;
}
