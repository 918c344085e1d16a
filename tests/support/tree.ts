/** Real folders for tests, and boundaries over them. */
import type { Boundary, Permission, Scope, Tree } from "../../src/boundary/types.ts";

/** What stands at a path: text or bytes of a file, `null` for a folder, or a link. */
export type Entry = string | Uint8Array | null | { link: string };

/** Makes a fresh folder holding these entries; its real path. Folders on the way are made. */
export function makeFolder(entries: Readonly<Record<string, Entry>>): string {
  const top = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "fettle-test-" }));
  put(top, entries);
  return top;
}

/** Puts entries into a folder. */
export function put(top: string, entries: Readonly<Record<string, Entry>>) {
  for (const [path, entry] of Object.entries(entries)) {
    const at = `${top}/${path}`;
    Deno.mkdirSync(entry === null ? at : at.slice(0, at.lastIndexOf("/")), { recursive: true });
    if (typeof entry === "string") Deno.writeTextFileSync(at, entry);
    else if (entry instanceof Uint8Array) Deno.writeFileSync(at, entry);
    else if (entry !== null) Deno.symlinkSync(entry.link, at);
  }
}

export interface TreeOptions {
  can?: readonly Permission[];
  scopes?: Readonly<Record<string, readonly Permission[]>>;
  screen?: readonly string[];
}

const ALL: readonly Permission[] = ["list", "read", "create", "update", "rename", "delete"];

/** A boundary over folders; scopes that exist get their real path and identity, as the configuration room gives them. */
export function boundaryOf(
  trees: Readonly<Record<string, string | (TreeOptions & { path: string })>>,
  names = { windows: false, ignoreCase: false },
): Boundary {
  return {
    names,
    trees: Object.entries(trees).map(([name, of]): Tree => {
      const { path, can = ALL, scopes = {}, screen } = typeof of === "string"
        ? { path: of } as TreeOptions & { path: string }
        : of;
      const real = Deno.realPathSync(path);
      const { dev, ino } = Deno.statSync(real);
      const declared = "/nowhere/.fettler.json";
      return {
        name,
        path,
        real,
        identity: { dev, ino: ino! },
        can,
        declared,
        ...screen ? { screen } : {},
        scopes: Object.entries(scopes).map(([scope, can]): Scope => ({
          path: scope,
          can,
          declared,
          ...onDisk(`${real}/${scope}`),
        })),
      };
    }),
    generated: [".git", "bin", "obj", "artifacts", "node_modules"],
    inForce: [],
  };
}

function onDisk(path: string): Pick<Scope, "real" | "identity" | "isFolder"> {
  try {
    const real = Deno.realPathSync(path);
    const { dev, ino, isDirectory } = Deno.statSync(real);
    return { real, identity: { dev, ino: ino! }, isFolder: isDirectory };
  } catch {
    return {};
  }
}
