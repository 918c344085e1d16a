/** The programs beside which Fettler is measured, where they are installed. */

/** A peer: how it is called here, and its version. */
export interface Tool {
  command: string;
  version: string;
}

/** What may be measured against. */
export type ToolName = "rg" | "fd" | "find" | "tail";

/** Names under which a peer may be installed, and what the first line of its version must say. */
const KNOWN: Readonly<Record<ToolName, { commands: readonly string[]; says: RegExp }>> = {
  rg: { commands: ["rg"], says: /^ripgrep / },
  fd: { commands: ["fd", "fdfind"], says: /^fd(find)? / },
  find: { commands: ["find", "gfind"], says: /GNU findutils/ },
  tail: { commands: ["tail", "gtail"], says: /GNU coreutils/ },
};

/** Every peer that is here. */
export function installed(): Partial<Record<ToolName, Tool>> {
  const found: Partial<Record<ToolName, Tool>> = {};
  for (const [name, { commands, says }] of Object.entries(KNOWN)) {
    for (const command of commands) {
      const version = versionOf(command);
      if (version && says.test(version)) found[name as ToolName] ??= { command, version };
    }
  }
  return found;
}

/** The first line of what a program says of its version; nothing where there is none that runs. */
export function versionOf(command: string, argument = "--version"): string | undefined {
  try {
    const { success, stdout } = new Deno.Command(command, { args: [argument], stderr: "null" }).outputSync();
    return success ? new TextDecoder().decode(stdout).split("\n")[0] : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
}
