/**
 * Whether the process fence holds, tried and not assumed. Runs in the engine before its first request.
 *
 * Spec: design, "Three fences"; decision 52.
 */

const OTHERS = ["net", "run", "env", "sys", "write", "import"] as const;

/** Tries what the flags must forbid. Returns the name of something that is possible and must not be; `undefined` when all holds. */
export function probeProcessFence(allowed: readonly string[], writable: readonly string[]): string | undefined {
  for (const name of OTHERS) {
    if (Deno.permissions.querySync({ name }).state === "granted") return name;
  }
  // A folder above every allowed one, or beside them: its opening has to fail for want of permission.
  const above = Deno.build.os === "windows" ? "C:\\" : "/";
  if (!allowed.includes("/") && opens(above)) return `read ${above}`;
  // Not tried: what could be written there is not ours to write.
  const write = Deno.permissions.querySync({ name: "write", path: above });
  if (!writable.includes("/") && write.state === "granted") return `write ${above}`;
  return undefined;
}

function opens(folder: string): boolean {
  try {
    for (const _ of Deno.readDirSync(folder)) break;
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotCapable);
  }
}
