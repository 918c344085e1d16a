/**
 * The locks between processes. A call that changes entries of a folder has that folder for itself, and shares the ones above it up to
 * the top of its tree: so nobody gives one of them another name or place meanwhile, for which he would need the folder that holds it
 * for himself. What was judged of a path holds until the change is done. Spec: 2-verbs §2.8; decision 55.
 */
import type { Location } from "../boundary/locate.ts";
import type { Identity, Tree } from "../boundary/types.ts";
import { Refusal } from "../refusal.ts";
import { type Disk, DiskError, type Facts, type Folder, isSame } from "./disk.ts";
import type { Found } from "./resolve.ts";

/** How often locks are tried while another process has one, in milliseconds. */
const RETRY = 10;

/** A folder on the way to another, opened for its lock. */
interface Step {
  folder: Folder;
  facts: Facts;
}

interface Lock {
  folder: Folder;
  exclusive: boolean;
}

/** The locks of one call. */
export class FolderLocks {
  /** By device and number. */
  readonly #held = new Map<string, Lock>();
  /** By tree and path. */
  readonly #steps = new Map<string, Step>();

  /** @param patience Milliseconds that other processes are waited for. */
  constructor(readonly disk: Disk, readonly pulse: () => void, readonly patience: number) {}

  /**
   * Locks the folders that hold these entries, and those above them. The former stay so as
   * long as the entries are open, the latter until this is closed.
   *
   * @throws {Refusal} `denied` when another process does not end its change.
   * @throws {DiskError} `replaced` when a folder is not where it was found any more.
   */
  lock(entries: readonly Found[]): void {
    const wanted = new Map<string, Lock & { facts: Facts }>();
    const ways: { steps: Step[]; segments: readonly string[]; end: Facts }[] = [];
    for (const { folder, real, name } of entries) {
      const end = orMoved(() => folder.facts());
      const key = keyOf(end);
      if (wanted.get(key)?.exclusive || this.#held.get(key)?.exclusive) continue;
      const segments = name === "" ? real.segments : real.segments.slice(0, -1);
      ways.push({ steps: this.#above({ tree: real.tree, segments }), segments, end });
      wanted.set(key, { folder: this.#held.get(key)?.folder ?? folder, exclusive: true, facts: end });
    }
    for (const { folder, facts } of ways.flatMap(({ steps }) => steps)) {
      const key = keyOf(facts);
      if (!wanted.has(key) && !this.#held.has(key)) wanted.set(key, { folder, exclusive: false, facts });
    }
    this.#take([...wanted.values()].sort(({ facts: a }, { facts: b }) => a.dev - b.dev || a.ino - b.ino));
    for (const [key, { folder, exclusive }] of wanted) this.#held.set(key, { folder, exclusive });
    for (const { steps, segments, end } of ways) {
      steps.forEach(({ folder }, i) => {
        const there = folder.look(segments[i]);
        if (!there || !isSame(there, steps[i + 1]?.facts ?? end)) throw moved();
      });
    }
  }

  /** A folder whose entries were locked is about to be closed, and its lock goes with it. With the last one go those above them. */
  release(folder: Identity): void {
    this.#held.delete(keyOf(folder));
    if (![...this.#held.values()].some(({ exclusive }) => exclusive)) this.close();
  }

  /** Lets go of all that was opened here. */
  close(): void {
    for (const { folder } of this.#steps.values()) folder.close();
    this.#steps.clear();
    this.#held.clear();
  }

  /** Takes all or none, so that nobody waits for another who waits for him. */
  #take(locks: readonly Lock[]): void {
    const until = performance.now() + this.patience;
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    for (;;) {
      const missing = locks.findIndex(({ folder, exclusive }) => !orMoved(() => folder.tryLock(!exclusive)));
      if (missing < 0) return;
      for (const { folder } of locks.slice(0, missing)) folder.unlock();
      if (performance.now() > until) {
        throw new Refusal(
          "denied",
          "another process of Fettler's has been changing files in the same folder for half a minute; nothing was changed, try again",
        );
      }
      this.pulse();
      Atomics.wait(sleeper, 0, 0, RETRY);
    }
  }

  /** The folders from the top of a tree down to the one that holds a folder; none for the top itself. */
  #above({ tree, segments }: Location): Step[] {
    const steps: Step[] = [];
    for (let depth = 0; depth < segments.length; depth++) {
      steps.push(this.#step(tree, segments.slice(0, depth), steps.at(-1)?.folder));
    }
    return steps;
  }

  #step(tree: Tree, segments: readonly string[], parent: Folder | undefined): Step {
    const key = [tree.name, ...segments].join("\0");
    let step = this.#steps.get(key);
    if (!step) {
      const folder = parent ? orMoved(() => parent.folder(segments[segments.length - 1])) : this.disk.top(tree);
      this.#steps.set(key, step = { folder, facts: folder.facts() });
    }
    return step;
  }
}

function orMoved<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof DiskError && ["missing", "not-folder"].includes(error.fault)) throw moved();
    throw error;
  }
}

function moved(): DiskError {
  return new DiskError("replaced", "the folder is not where it was any more");
}

function keyOf({ dev, ino }: Identity): string {
  return `${dev}:${ino}`;
}
