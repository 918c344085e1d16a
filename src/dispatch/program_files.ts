/**
 * Where the program's own modules lie: an engine's workers load them inside the fences, so the fences let them be read.
 * They are public code; nothing of anybody's trees is among them.
 */

/** Absolute folders. None for a compiled program, which carries its modules in itself. */
export function programFolders(): string[] {
  if (Deno.build.standalone) return [];
  const main = decodeURIComponent(new URL(Deno.mainModule).pathname).replace(/^\/([A-Za-z]:)/, "$1");
  const folder = main.slice(0, main.lastIndexOf("/"));
  return isBundle() ? [folder] : [`${folder}/src`, main, `${folder}/deno.json`, runtimeCache()];
}

/** The folder of a bundled program, or the file of a compiled one; `undefined` for the sources. */
export function ownProgram(): string | undefined {
  if (Deno.build.standalone) return Deno.execPath().replaceAll("\\", "/");
  return isBundle() ? programFolders()[0] : undefined;
}

/** The program was bundled into plain modules that need no cache and no import map. */
export function isBundle(): boolean {
  return !Deno.mainModule.endsWith(".ts");
}

/** The module by which another process of this program is started: in a bundle each has its own, so that it loads nothing else. */
export function moduleOf(process: "engine" | "sealed"): string {
  return isBundle() ? new URL(`${process}.js`, Deno.mainModule).href : Deno.mainModule;
}

/** The runtime's cache, where the sources' packages lie. */
function runtimeCache(): string {
  const named = Deno.env.get("DENO_DIR");
  if (named) return named;
  const home = Deno.env.get("HOME") ?? "";
  if (Deno.build.os === "darwin") return `${home}/Library/Caches/deno`;
  if (Deno.build.os === "windows") return `${Deno.env.get("LOCALAPPDATA") ?? ""}/deno`;
  return `${Deno.env.get("XDG_CACHE_HOME") || `${home}/.cache`}/deno`;
}
