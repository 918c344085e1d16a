/** What tests of changing verbs share. */

/** Every entry below a folder, in path order: a folder with `/`, a link with its text, a file with its content. */
export function treeOf(top: string, prefix = ""): string[] {
  const entries = [...Deno.readDirSync(top)].sort((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap(({ name, isDirectory, isSymlink, isFile }) => {
    const at = `${top}/${name}`;
    if (isDirectory) return [`${prefix}${name}/`, ...treeOf(at, `${prefix}${name}/`)];
    if (isSymlink) return [`${prefix}${name} -> ${Deno.readLinkSync(at)}`];
    return [isFile ? `${prefix}${name}=${Deno.readTextFileSync(at)}` : `${prefix}${name} special`];
  });
}
