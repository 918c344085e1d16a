/**
 * Where what the verbs of the engine do is found: in modules of their own, loaded by the process that does it when it is first asked.
 *
 * Declarations import none of it. So the main process holds no code that touches a tree, and the engine of a reading call does not
 * load what changes things. Two modules, not one for each verb: every module costs 0.15 ms at start (measured).
 */
import type { Work } from "./verb.ts";

type Works = Readonly<Record<string, Work>>;

let [reads, changes]: Promise<Works>[] = [];
// Kept: the runtime takes a turn of its event loop for what it has long loaded, 0.03 ms of a call of 0.5 (measured).
const reading = () => reads ??= import("./reading.ts");
const changing = () => changes ??= import("./changing.ts");

const WORKS: Readonly<Record<string, () => Promise<Works>>> = {
  find: reading,
  search: reading,
  read: reading,
  write: changing,
  edit: changing,
  replace: changing,
  new: changing,
  mkdir: changing,
  move: changing,
  copy: changing,
  delete: changing,
  exec: changing,
  batch: changing,
};

/** What a verb does, by its name; `undefined` for one that is not the engine's. */
export async function workOf(verb: string): Promise<Work | undefined> {
  return Object.hasOwn(WORKS, verb) ? (await WORKS[verb]())[verb] : undefined;
}

/** Whether a call is one that is soon over and asks nothing. One that changes something never is. */
export async function isBrief(verb: string, args: Record<string, unknown>): Promise<boolean> {
  if (!Object.hasOwn(WORKS, verb) || WORKS[verb] !== reading) return false;
  return (await workOf(verb))?.brief?.(args) ?? false;
}

/** Loads all of it, for a program that can load nothing later. */
export async function loadWork(): Promise<void> {
  await Promise.all([reading(), changing()]);
}
