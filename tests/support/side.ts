/** The engine's side of a call, in process, for each disk implementation that works here. */
import { Survey } from "../../src/boundary/survey.ts";
import type { Boundary } from "../../src/boundary/types.ts";
import { openDescriptorDisk } from "../../src/disk/descriptor_linux.ts";
import { openPathnameDisk } from "../../src/disk/pathname.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { answering } from "../../src/verbs/answer.ts";
import { checkArguments } from "../../src/verbs/schema_tools.ts";
import { VERBS } from "../../src/verbs/mod.ts";
import { workOf } from "../../src/verbs/work.ts";
import type { EngineSide, EngineVerb, Form } from "../../src/verbs/verb.ts";

const libc = findLibc();

/** Names of the implementations, and how each is opened. */
export const DISKS: readonly (readonly [string, string | undefined])[] = [
  ["pathname", undefined],
  ...libc ? [["descriptor", libc] as const] : [],
];

/** Opens a boundary with one of `DISKS`. The disk is to be closed. */
export function sideOf(boundary: Boundary, library: string | undefined): EngineSide {
  const disk = library === undefined ? openPathnameDisk(boundary) : openDescriptorDisk(boundary, library);
  const call = {
    pulse() {},
    progress() {},
    changed() {},
    ask(): never {
      throw new Error("nothing is asked in these tests");
    },
  };
  return { survey: new Survey(boundary), disk, call };
}

/** Runs a verb of the engine and gives its rendered answer. A fault fails the test. */
export async function call(side: EngineSide, name: string, args: Record<string, unknown>, form: Form = "json") {
  const verb = VERBS.find((verb) => verb.name === name) as EngineVerb;
  const { outcome, text } = await answering(
    form,
    async () => (await workOf(name))!.run(checkArguments(verb, args), side),
    (error) => {
      throw error;
    },
  );
  // deno-lint-ignore no-explicit-any
  return { outcome, text, json: form === "json" ? JSON.parse(text) as any : undefined };
}
