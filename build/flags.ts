/** What every built program is started with. */

/** What the main process may do. The engine that it starts gets flags of its own. Spec: design, Packaging; decision 42. */
export const PERMISSIONS = ["read", "write", "run", "env", "sys", "ffi"];

/** The permissions as flags: nothing is asked for, and no module comes from elsewhere. */
export const PERMISSION_FLAGS = ["--no-prompt", "--deny-import", ...PERMISSIONS.map((name) => `--allow-${name}`)];
