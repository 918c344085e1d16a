/** The version of this release; `deno.json` states the same, and a test compares them. */
export const VERSION = "0.1.0";
