/** A world for tests of the verbs that change one path, on both disk implementations. */
import type { EngineSide } from "../../src/verbs/verb.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, type Entry, makeFolder, type TreeOptions } from "../support/tree.ts";
import { treeOf } from "./support.ts";

export interface World {
  top: string;
  side: EngineSide;
  /** The outcome of a call. */
  does(verb: string, args: Record<string, unknown>): Promise<string>;
  // deno-lint-ignore no-explicit-any
  json(verb: string, args: Record<string, unknown>): Promise<any>;
  text(verb: string, args: Record<string, unknown>): Promise<string>;
  /** Every entry below the tree. */
  tree(): string[];
}

/** One test for each implementation; the tree `work` is the folder `app` of a world of its own. */
export function both(
  name: string,
  entries: Record<string, Entry>,
  options: Partial<TreeOptions>,
  act: (world: World) => Promise<void>,
  ignore = false,
) {
  for (const [kind, library] of DISKS) {
    Deno.test(`${kind}: ${name}`, { ignore }, async () => {
      const top = makeFolder({ app: null, ...entries });
      const side = sideOf(boundaryOf({ work: { ...options, path: `${top}/app` } }), library);
      try {
        await act({
          top,
          side,
          does: async (verb, args) => (await call(side, verb, args)).outcome,
          json: async (verb, args) => (await call(side, verb, args)).json,
          text: async (verb, args) => (await call(side, verb, args, "text")).text,
          tree: () => treeOf(`${top}/app`),
        });
      } finally {
        side.disk.close();
        Deno.removeSync(top, { recursive: true });
      }
    });
  }
}

/** Lower-case hexadecimal SHA-256. */
export async function sha(of: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof of === "string" ? new TextEncoder().encode(of) : of;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
