/** What every thread of the engine that runs verbs does: opens the trees for itself, runs a verb, sends the answer. */
import { Survey } from "../boundary/survey.ts";
import { DiskError } from "../disk/disk.ts";
import { openDisk } from "../disk/mod.ts";
import { answering, fault, renderRefusal } from "../verbs/answer.ts";
import type { Call, EngineSide } from "../verbs/verb.ts";
import { workOf } from "../verbs/work.ts";
import type { EngineOutput } from "./engine_output.ts";
import { faultLine } from "./fault_line.ts";
import type { Opened, Opening, Request } from "./protocol.ts";

const encoder = new TextEncoder();

/** The trees, open; or why they are not the ones that the boundary names. */
export async function openSide(
  { boundary, libc }: Opening,
): Promise<{ side?: Omit<EngineSide, "call">; opened: Opened }> {
  try {
    const disk = await openDisk(boundary, libc);
    return { side: { survey: new Survey(boundary), disk }, opened: { id: 0, disk: disk.kind } };
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    return { opened: { id: 0, replaced: error.message } };
  }
}

/** Runs a verb and sends what comes of it. */
export async function answer(
  { id, verb, args, form }: Request,
  side: Omit<EngineSide, "call">,
  call: Call,
  output: EngineOutput,
): Promise<void> {
  const work = await workOf(verb);
  const { outcome, text, images } = work
    ? await answering(form, () => work.run(args, { ...side, call, form }), (error) => console.error(faultLine(error)))
    : renderRefusal(fault(), form);
  output.send({ id, outcome, images }, encoder.encode(text));
}
