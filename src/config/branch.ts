/** Which branch a tree is on, told from its repository's `HEAD` alone. Spec: 1-boundary §1.14.1. */
import { below } from "./folders.ts";
import { type System, thisSystem } from "./system.ts";
import { absolutePath, parentOf } from "./written_path.ts";

/** What `roots` says of a tree's repository; nothing where there is none, or none that can be read. */
export interface Branch {
  branch?: string;
  /** The first seven digits, for a `HEAD` that is on no branch. */
  detached?: string;
  /** The folder that holds `.git`, where that is above the tree's top. */
  repository?: string;
}

/** Much more than a `HEAD` or the line of a `.git` file ever holds. */
const LIMIT = 4096;

/**
 * The branch of the nearest repository at or above a tree's top.
 *
 * Reads that repository's `HEAD`, and a `.git` file where one stands for the folder; at most 4096 bytes of each.
 *
 * @param top Absolute path of the tree's top.
 */
export function branchOf(top: string, system: System = thisSystem): Branch {
  for (let folder = top;; folder = parentOf(folder, system.names)) {
    const head = headBelow(folder, system);
    if (head !== undefined) {
      const found = parseHead(head);
      return found && folder !== top ? { ...found, repository: folder } : found ?? {};
    }
    if (parentOf(folder, system.names) === folder) return {};
  }
}

/** The line of `HEAD`, empty where it cannot be read; `undefined` where no `.git` stands. */
function headBelow(folder: string, system: System): string | undefined {
  const git = below(folder, ".git", system.names);
  try {
    const entry = system.stat(git);
    if (entry.isDirectory) return onlyLine(below(git, "HEAD", system.names), system);
    const directory = /^gitdir: (.+)$/.exec(onlyLine(git, system))?.[1];
    if (!directory) return "";
    return onlyLine(below(absolutePath(directory, folder, system.names), "HEAD", system.names), system);
  } catch (error) {
    return error instanceof Deno.errors.NotFound && !hasEntry(git, system) ? undefined : "";
  }
}

function hasEntry(path: string, system: System): boolean {
  try {
    system.lstat(path);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound);
  }
}

/** Empty for what is no regular file, is longer than any of these, is not UTF-8, or has more than one line. */
function onlyLine(file: string, system: System): string {
  if (!system.stat(file).isFile) return "";
  const bytes = system.readStart(file, LIMIT);
  if (bytes.length === LIMIT) return "";
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  return /^([^\r\n]*)(\r?\n)?$/.exec(text)?.[1] ?? "";
}

function parseHead(head: string): Branch | undefined {
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(head)) return { detached: head.slice(0, 7) };
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
  // A repository that keeps its refs elsewhere writes `.invalid`; no branch begins with a dot or holds such characters.
  if (!branch || branch.startsWith(".") || /[\s\p{C}]/u.test(branch)) return undefined;
  return { branch };
}
