/** What the changing verbs do, in one module: fewer are loaded sooner. */
export * as batch from "./batch_run.ts";
export * as copy from "./copy_run.ts";
export * as delete from "./delete_run.ts";
export * as edit from "./edit_run.ts";
export * as exec from "./exec_run.ts";
export * as mkdir from "./mkdir_run.ts";
export * as move from "./move_run.ts";
export * as new from "./new_run.ts";
export * as replace from "./replace_run.ts";
export * as write from "./write_run.ts";
