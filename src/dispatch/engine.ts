/**
 * The engine process: opens the trees, then answers requests one after another until its input ends.
 *
 * Started by `engine_process.ts` with permission flags made from the boundary. Reading the pipe and the disk is synchronous.
 */
import { Survey } from "../boundary/survey.ts";
import { DiskError } from "../disk/disk.ts";
import { openDisk } from "../disk/mod.ts";
import { probeProcessFence } from "../fence/probe.ts";
import { answering, fault, renderRefusal } from "../verbs/answer.ts";
import { VERBS } from "../verbs/mod.ts";
import type { EngineSide, EngineVerb } from "../verbs/verb.ts";
import { faultLine } from "./fault_line.ts";
import { encodeFrame, FrameReader } from "../frames.ts";
import type { Opened, Opening, Request, Response } from "./protocol.ts";

const encoder = new TextEncoder();

/** Runs the engine on standard input and output. Returns when the input ends. */
export async function runEngine(): Promise<void> {
  const reader = new FrameReader<Opening | Request>();
  let side: EngineSide | undefined;
  const piece = new Uint8Array(64 * 1024);
  for (;;) {
    const n = Deno.stdin.readSync(piece);
    if (n === null) return;
    for (const { header } of reader.push(piece.slice(0, n))) {
      if (!side) {
        const { opened, engine } = open(header as Opening);
        send(opened);
        side = engine;
        if (!side) return;
      } else {
        await answer(header as Request, side);
      }
    }
  }
}

function open({ boundary, libc, fenced }: Opening): { opened: Opened; engine?: EngineSide } {
  const breach = fenced && probeProcessFence(fenced);
  if (breach !== undefined) return { opened: { id: 0, breach } };
  try {
    const disk = openDisk(boundary, libc);
    const opened: Opened = { id: 0, disk: disk.kind, process: fenced !== undefined };
    return { opened, engine: { survey: new Survey(boundary), disk } };
  } catch (error) {
    if (error instanceof DiskError) return { opened: { id: 0, replaced: error.message } };
    throw error;
  }
}

async function answer({ id, verb: name, args, form }: Request, side: EngineSide) {
  const verb = VERBS.find((verb): verb is EngineVerb => verb.name === name && verb.where === "engine");
  const { outcome, text, images } = verb
    ? await answering(form, () => verb.run(args, side), (error) => console.error(faultLine(error)))
    : renderRefusal(fault(), form);
  send({ id, outcome, images }, encoder.encode(text));
}

function send(header: Opened | Response, body?: Uint8Array) {
  let frame = encodeFrame(header, body);
  while (frame.length > 0) frame = frame.subarray(Deno.stdout.writeSync(frame));
}
