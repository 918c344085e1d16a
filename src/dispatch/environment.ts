/** The environment of processes that we start for ourselves. */

/** What a runtime needs to find its own files. What runs there may read none of it. */
const PASSED = [
  "PATH",
  "HOME",
  "DENO_DIR",
  "XDG_CACHE_HOME",
  "TMPDIR",
  "TEMP",
  "TMP",
  "SystemRoot",
  "LOCALAPPDATA",
  "USERPROFILE",
];

/** Nothing but what the runtime itself needs. */
export function runtimeEnvironment(): Record<string, string> {
  const passed: Record<string, string> = { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", DENO_NO_PACKAGE_JSON: "1" };
  for (const name of PASSED) {
    const value = Deno.env.get(name);
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}
