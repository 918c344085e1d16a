/**
 * Entries that were not there and cannot have come since: their folder is as it was. The configuration is read before every call, and
 * most of what it looks for is not there; the runtime takes 40 µs to make its error for that, and 3 to look at the folder (measured).
 *
 * A folder's times change when an entry comes. One that changed a moment ago may change again within one tick of the disk's clock, so
 * it is looked into again.
 */

/** Milliseconds after which a folder's times tell of every later change. */
const SETTLED = 1000;
/** As many as a launch ever asks for, and more. */
const MOST = 256;

/** What of a folder changes with its entries; the second time nobody can set. */
type Stamp = Pick<Deno.FileInfo, "dev" | "ino" | "mtime" | "ctime">;

/** Made once: it is the making that takes so long. */
const NOT_THERE = new Deno.errors.NotFound("there is no such entry");

export class Absence {
  /** Entries that were not there when they were last looked for, and how their folder was before that, where it tells of changes. */
  readonly #missed = new Map<string, Stamp | undefined>();

  /** @param look As `Deno.lstatSync`. @param stamp As `Deno.statSync`; asked of folders. */
  constructor(readonly look: (path: string) => Deno.FileInfo, readonly stamp: (path: string) => Stamp) {}

  /** Facts of an entry, as of this moment. @param path Absolute, with `/`. @throws Whatever `look` throws; `NotFound` mostly without asking it. */
  lstat(path: string): Deno.FileInfo {
    const before = this.#missed.has(path) ? this.#stampOf(path) : undefined;
    const last = this.#missed.get(path);
    if (before && last && isSame(before, last)) throw NOT_THERE;
    try {
      const facts = this.look(path);
      this.#missed.delete(path);
      return facts;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) this.#note(path, before);
      throw error;
    }
  }

  #note(path: string, before: Stamp | undefined) {
    if (this.#missed.size >= MOST) this.#missed.clear();
    this.#missed.set(path, before && isSettled(before) ? before : undefined);
  }

  #stampOf(path: string): Stamp | undefined {
    try {
      return this.stamp(path.slice(0, Math.max(1, path.lastIndexOf("/"))));
    } catch {
      return undefined;
    }
  }
}

function isSettled({ mtime, ctime }: Stamp): boolean {
  return mtime !== null && ctime !== null && Date.now() - Math.max(mtime.getTime(), ctime.getTime()) > SETTLED;
}

function isSame(a: Stamp, b: Stamp): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.mtime?.getTime() === b.mtime?.getTime() &&
    a.ctime?.getTime() === b.ctime?.getTime();
}
