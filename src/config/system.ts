/**
 * What configuration asks of the system it runs on, in one value, so that tests can stand in for a disk, an account or
 * another operating system.
 */
import type { NameRules } from "../boundary/types.ts";
import { Absence } from "./absence.ts";

/** The facts of an entry that configuration looks at. */
export type Facts = Pick<
  Deno.FileInfo,
  "size" | "isFile" | "isDirectory" | "isSymlink" | "mtime" | "dev" | "ino" | "uid" | "mode"
>;

/** Calls throw what Deno's own calls throw. Paths are absolute. */
export interface System {
  readonly names: NameRules;
  /** The caller's numeric account; `null` where the system has none. */
  uid(): number | null;
  /** The home folder as the account database has it, whatever `HOME` says. */
  accountHome(): string | undefined;
  variable(name: string): string | undefined;
  stat(path: string): Facts;
  lstat(path: string): Facts;
  realPath(path: string): string;
  readLink(path: string): string;
  readFile(path: string): Uint8Array;
  /** At most the first `limit` bytes. */
  readStart(path: string, limit: number): Uint8Array;
  readFolder(path: string): Iterable<Pick<Deno.DirEntry, "name" | "isDirectory">>;
}

/** Asked once: an account does not move house while it works. */
let home: string | undefined;

const absence = new Absence(Deno.lstatSync, Deno.statSync);

/** The system that the program runs on. */
export const thisSystem: System = {
  names: { windows: Deno.build.os === "windows", ignoreCase: ["windows", "darwin"].includes(Deno.build.os) },
  uid: () => Deno.uid(),
  accountHome: () => home ??= homeInPasswordFile() ?? homeFromNode(),
  variable: (name) => Deno.env.get(name),
  stat: (path) => Deno.statSync(path),
  lstat: Deno.build.os === "windows" ? Deno.lstatSync : (path) => absence.lstat(path),
  realPath: (path) => Deno.realPathSync(path),
  readLink: (path) => Deno.readLinkSync(path),
  readFile: (path) => Deno.readFileSync(path),
  readStart(path, limit) {
    using file = Deno.openSync(path);
    const bytes = new Uint8Array(limit);
    let length = 0;
    for (;;) {
      const count = file.readSync(bytes.subarray(length));
      if (!count) return bytes.subarray(0, length);
      length += count;
    }
  },
  readFolder: (path) => Deno.readDirSync(path),
};

/**
 * The account's home from the file in which Linux keeps local accounts: 0.1 ms, where the first use of `node:os` costs
 * 15 ms of a start (measured). An account that is kept elsewhere is left to `node:os`.
 */
function homeInPasswordFile(): string | undefined {
  if (Deno.build.os !== "linux") return undefined;
  try {
    const account = `${Deno.uid()}`;
    for (const line of Deno.readTextFileSync("/etc/passwd").split("\n")) {
      const fields = line.split(":");
      if (fields.length === 7 && fields[2] === account) return fields[5] || undefined;
    }
  } catch {
    // Not there or not readable: asked below.
  }
  return undefined;
}

function homeFromNode(): string | undefined {
  const host = globalThis as unknown as {
    process: { getBuiltinModule(name: "node:os"): { userInfo(): { homedir: string } } };
  };
  try {
    return host.process.getBuiltinModule("node:os").userInfo().homedir || undefined;
  } catch {
    return undefined;
  }
}
