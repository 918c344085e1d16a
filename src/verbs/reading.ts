/** What the reading verbs do, in one module: fewer are loaded sooner. */
export * as find from "./find_run.ts";
export * as read from "./read_run.ts";
export * as search from "./search_run.ts";
