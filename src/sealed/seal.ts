/**
 * Giving up every right for good, and trying whether they are gone. Spec: design, "What may run away runs in its own process"; decision 52.
 */

/** Enters a kernel fence without any right; `false` where the system offers none. Throws when it is offered and cannot be entered. */
export type EnterKernel = () => boolean | void;

const PERMISSIONS = ["read", "write", "net", "run", "env", "sys", "ffi", "import"] as const;

/** Where the runtime keeps things on the disk without asking for a permission (measured), and what would give a thread them back. */
const STORES = ["localStorage", "sessionStorage", "caches", "Worker"] as const;

/**
 * Gives up every permission of this process. None can be had back, and a worker gets none either.
 *
 * The default hosts of `import` are not covered by giving it up (measured): the command line has to have `--deny-import`.
 *
 * @param enterKernel Enters a kernel fence; called while a library may still be loaded. Returns `false` where the system offers none.
 * @returns Whether a kernel fence was entered.
 */
export function giveUpEverything(enterKernel?: EnterKernel): boolean {
  for (const name of PERMISSIONS) if (name !== "ffi") Deno.permissions.revokeSync({ name });
  try {
    return enterKernel !== undefined && enterKernel() !== false;
  } finally {
    Deno.permissions.revokeSync({ name: "ffi" });
  }
}

/**
 * Tries what must be impossible now: a read, a connection, a worker with rights. Then takes away the stores that need no permission.
 *
 * Needs `--unstable-worker-options`: without it the runtime ends the process where a worker with rights is asked for (measured).
 *
 * @returns The name of something that is possible all the same; `undefined` when the seal holds.
 */
export async function probeSeal(): Promise<string | undefined> {
  for (const name of PERMISSIONS) {
    if (Deno.permissions.querySync({ name }).state === "granted") return name;
  }
  const root = Deno.build.os === "windows" ? "C:\\" : "/";
  const attempts: readonly [string, () => unknown][] = [
    [`read ${root}`, () => [...Deno.readDirSync(root)]],
    ["connect", async () => (await Deno.connect({ hostname: "127.0.0.1", port: 9 })).close()],
    ["worker", () => new Worker("data:text/javascript,", RIGHTS).terminate()],
  ];
  for (const [name, attempt] of attempts) if (!await isForbidden(attempt)) return name;
  for (const name of STORES) {
    delete (globalThis as Record<string, unknown>)[name];
    if (name in globalThis) return name;
  }
}

const RIGHTS = { type: "module", deno: { permissions: { read: true } } } as WorkerOptions;

/** Whether the runtime says that a permission is missing; failing for any other reason is not that. */
async function isForbidden(attempt: () => unknown): Promise<boolean> {
  try {
    await attempt();
    return false;
  } catch (error) {
    return error instanceof Deno.errors.NotCapable;
  }
}
