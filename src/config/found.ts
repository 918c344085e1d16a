/**
 * The folders that Claude Code keeps for a project: `scratch`, `tool-results` and `memory`.
 *
 * Somebody else could make a folder in the temp folder first, so nothing is opened over a link there, and only below a
 * folder that is the caller's and that nobody else may write.
 *
 * Spec: 1-boundary §1.15, decision 63.
 */
import type { Permission } from "../boundary/types.ts";
import type { System } from "./system.ts";
import { LOOKING, WORKING } from "./tools_level.ts";
import type { FoundName } from "./tree_names.ts";
import { below, orNothing } from "./folders.ts";
import { absolutePath, fold, isAbsolute } from "./written_path.ts";

/** A folder of the client's that may be opened. */
export interface FoundFolder {
  name: FoundName;
  /** Absolute. */
  path: string;
  can: readonly Permission[];
  how: string;
}

/** A folder of the client's that is there and must not be opened. */
export interface PassedOver {
  name: FoundName;
  /** The entry that is in the way. */
  path: string;
  why: string;
}

export interface ClientFolders {
  found: readonly FoundFolder[];
  passedOver: readonly PassedOver[];
}

/** The project's folder as Claude Code writes it into a name: everything but ASCII letters and digits becomes `-`. */
export function projectKey(folder: string): string {
  return folder.replace(/[^A-Za-z0-9]/g, "-");
}

/**
 * Finds the client's folders, before every call. The sessions of a project are listed anew only when the folder that holds
 * them has changed.
 */
export class ClientFolderFinder {
  readonly #sessions = new Map<string, Sessions>();

  constructor(readonly system: System) {}

  /**
   * @param launch The launch folder, which is the project.
   * @param configured The folder of the configuration file, tried when nothing is found for the launch folder.
   */
  find(launch: string, configured?: string): ClientFolders {
    const first = this.#findFor(launch, "this project");
    if (first.found.length > 0 || configured === undefined || configured === launch) return first;
    const second = this.#findFor(configured, "the configuration file's folder");
    const passedOver = new Map([...first.passedOver, ...second.passedOver].map((entry) => [entry.path, entry]));
    return { found: second.found, passedOver: [...passedOver.values()] };
  }

  #findFor(project: string, whose: string): ClientFolders {
    const key = projectKey(project);
    const found: FoundFolder[] = [];
    const passedOver: PassedOver[] = [];
    const newest = `newest session of ${whose}`;

    const scratch = this.#scratch(key, passedOver);
    if (scratch) found.push({ name: "scratch", path: scratch.path, can: WORKING, how: newest });

    const projects = this.#project(key, passedOver);
    if (projects) {
      const results = this.#results(projects, scratch?.session, passedOver);
      if (results) {
        const how = results.session === scratch?.session ? "session of the scratch folder" : newest;
        found.push({ name: "tool-results", path: results.path, can: LOOKING, how });
      }
      const memory = this.#step(projects, "memory", "memory", passedOver);
      if (memory) found.push({ name: "memory", path: memory, can: WORKING, how: `memory of ${whose}` });
    }
    return { found, passedOver };
  }

  /** The newest scratchpad below the first temp folder that leads to one. */
  #scratch(key: string, passedOver: PassedOver[]): InSession | undefined {
    for (const temp of this.#temps()) {
      const lists = this.#bases().flatMap((base) => {
        const own = this.#step(temp, base, "scratch", passedOver);
        if (!own || !this.#isPrivate(own, passedOver)) return [];
        const project = this.#step(own, key, "scratch", passedOver);
        return project ? [project] : [];
      });
      const candidates = lists.flatMap((project) => {
        const newest = this.#newest(project, "scratchpad", "scratch", passedOver);
        return newest ? [newest] : [];
      });
      candidates.sort((a, b) => b.time - a.time);
      if (candidates.length > 0) return candidates[0];
    }
    return undefined;
  }

  #results(project: string, session: string | undefined, passedOver: PassedOver[]): InSession | undefined {
    if (session !== undefined) {
      const folder = this.#step(project, session, "tool-results", passedOver);
      const path = folder && this.#step(folder, "tool-results", "tool-results", passedOver);
      if (path) return { session, path, time: 0 };
    }
    return this.#newest(project, "tool-results", "tool-results", passedOver);
  }

  /** `HOME/.claude/projects/KEY`, or the same below the folder that stands for `HOME/.claude`. */
  #project(key: string, passedOver: PassedOver[]): string | undefined {
    const { system } = this;
    const configured = system.variable("CLAUDE_CONFIG_DIR");
    let client: string | undefined;
    if (configured) client = isAbsolute(configured) ? configured : undefined;
    else {
      const home = system.variable(system.names.windows ? "USERPROFILE" : "HOME") ?? system.accountHome();
      if (home && isAbsolute(home)) client = this.#step(home, ".claude", "memory", passedOver);
    }
    const projects = client && this.#step(client, "projects", "memory", passedOver);
    return projects && this.#step(projects, key, "memory", passedOver);
  }

  #temps(): string[] {
    const { system } = this;
    const named = system.names.windows ? [system.variable("TEMP")] : [system.variable("TMPDIR"), "/tmp"];
    return [
      ...new Set(named.flatMap((path) => path && isAbsolute(path) ? [absolutePath(path, path, system.names)] : [])),
    ];
  }

  #bases(): string[] {
    const uid = this.system.uid();
    return uid === null ? ["claude"] : ["claude", `claude-${uid}`];
  }

  /** Only the caller can have put anything there. Systems without numeric accounts keep their temp folders apart. */
  #isPrivate(folder: string, passedOver: PassedOver[]): boolean {
    const { system } = this;
    const uid = system.uid();
    if (uid === null) return true;
    const facts = orNothing(() => system.lstat(folder));
    if (!facts) return false;
    const why = facts.uid !== uid
      ? "it belongs to another account"
      : ((facts.mode ?? 0) & 0o022) !== 0
      ? "others may write in it"
      : undefined;
    if (why) passedOver.push({ name: "scratch", path: folder, why });
    return why === undefined;
  }

  /** A folder's folder of this name, by the system's case rule; `undefined` when it is not there, or a link. */
  #step(folder: string, name: string, sought: FoundName, passedOver: PassedOver[]): string | undefined {
    const { system } = this;
    const path = below(folder, name, system.names);
    try {
      const facts = system.lstat(path);
      if (facts.isDirectory) return path;
      if (facts.isSymlink) passedOver.push({ name: sought, path, why: "it is a link" });
    } catch (error) {
      if (system.names.ignoreCase && error instanceof Deno.errors.NotFound) return this.#otherwiseSpelled(folder, name);
    }
    return undefined;
  }

  #otherwiseSpelled(folder: string, name: string): string | undefined {
    const { system } = this;
    const wanted = fold(name, system.names);
    try {
      for (const entry of system.readFolder(folder)) {
        if (entry.isDirectory && fold(entry.name, system.names) === wanted) {
          return below(folder, entry.name, system.names);
        }
      }
    } catch {
      // Not a folder that can be listed: nothing is found in it.
    }
    return undefined;
  }

  /** The folder of this name in the newest session that holds one. */
  #newest(project: string, name: string, sought: FoundName, passedOver: PassedOver[]): InSession | undefined {
    const sessions = this.#sessionsOf(project);
    const known = sessions.holder.get(name);
    if (known !== undefined && sessions.kept) {
      // Where none held one, only the newest session can have got it since.
      const first = known ?? sessions.newestFirst[0];
      const path = first && this.#step(first.path, name, sought, passedOver);
      if (path) return { session: first.session, path, time: first.time };
      if (known === null) return undefined;
    }
    for (const { session, path: folder, time } of sessions.newestFirst) {
      const path = this.#step(folder, name, sought, passedOver);
      if (!path) continue;
      sessions.holder.set(name, { session, path: folder, time });
      return { session, path, time };
    }
    sessions.holder.set(name, null);
    return undefined;
  }

  #sessionsOf(project: string): Sessions {
    const { system } = this;
    const facts = orNothing(() => system.lstat(project));
    const changed = facts?.mtime?.getTime() ?? 0;
    const stamp = `${facts?.dev}:${facts?.ino}:${changed}`;
    const known = this.#sessions.get(project);
    if (known?.kept && known.stamp === stamp) return known;
    const sessions: Sessions = {
      stamp,
      // A folder that changed a moment ago may change again within one tick of the disk's clock.
      kept: Math.abs(Date.now() - changed) > 1000,
      newestFirst: this.#listSessions(project),
      holder: new Map(),
    };
    this.#sessions.set(project, sessions);
    return sessions;
  }

  #listSessions(project: string): InSession[] {
    const { system } = this;
    const listed: InSession[] = [];
    try {
      for (const entry of system.readFolder(project)) {
        if (!entry.isDirectory) continue;
        const path = below(project, entry.name, system.names);
        listed.push({ session: entry.name, path, time: system.lstat(path).mtime?.getTime() ?? 0 });
      }
    } catch {
      // Listed as far as it went: a session that goes away meanwhile is no session.
    }
    return listed.sort((a, b) => b.time - a.time || (a.session < b.session ? 1 : -1));
  }
}

interface InSession {
  session: string;
  path: string;
  /** Milliseconds: when the session's folder last changed. */
  time: number;
}

interface Sessions {
  stamp: string;
  /** Whether the list may be used again while the stamp stays. */
  kept: boolean;
  newestFirst: readonly InSession[];
  /** By the name of the folder sought: the session that holds it, `null` for none. */
  holder: Map<string, InSession | null>;
}
