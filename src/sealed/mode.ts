/**
 * The sealed process: gives up every right, then answers framed requests until its input ends.
 *
 * It is started, watched and killed by `owner.ts`. Whatever hostile input can drive for ever or to death runs here.
 * Spec: design, "What may run away runs in its own process"; decision 57.
 */
import { encodeFrame, FrameReader } from "../frames.ts";
import { searchLines } from "./patterns_job.ts";
import type { Sealed, SealedRequest, SealedResponse } from "./protocol.ts";
import { type EnterKernel, giveUpEverything, probeSeal } from "./seal.ts";

/** What a job hands back, and what it may send on the way: facts, and bytes. */
export interface JobResult {
  header: Record<string, unknown>;
  body?: Uint8Array;
}

/**
 * Work that a sealed process does. `header` comes from our own side; `body` may be hostile. `report` is a sign of life.
 * One that throws ends the process: what a caller should learn goes into the result.
 */
export type Job = (
  header: Record<string, unknown>,
  body: Uint8Array,
  report: (progress: JobResult) => void,
) => JobResult | Promise<JobResult>;

/** Jobs by name. */
export type Jobs = ReadonlyMap<string, Job>;

/** Every job there is. All are loaded before the seal: nothing can be loaded behind it. */
export const JOBS: Jobs = new Map<string, Job>([
  ["patterns", searchLines],
]);

/**
 * Seals this process, says whether the seal holds, and works until standard input ends.
 *
 * @param enterKernel What it throws counts as a breach.
 * @param jobs Jobs that may be asked for; code comes from nowhere else.
 */
export async function runSealed(enterKernel?: EnterKernel, jobs: Jobs = JOBS): Promise<void> {
  const sealed = await seal(enterKernel);
  send(sealed);
  if (sealed.breach === undefined) await answerAll(jobs);
}

async function seal(enterKernel?: EnterKernel): Promise<Sealed> {
  try {
    return { id: 0, kernel: giveUpEverything(enterKernel), breach: await probeSeal() };
  } catch (error) {
    return { id: 0, kernel: false, breach: `kernel: ${(error as Error).message}` };
  }
}

/** Exported for tests, which run it without a seal: everything behind the first frame. */
export async function answerAll(jobs: Jobs): Promise<void> {
  const reader = new FrameReader<SealedRequest>();
  const piece = new Uint8Array(256 * 1024);
  for (;;) {
    const n = Deno.stdin.readSync(piece);
    if (n === null) return;
    for (const { header: { id, job: name, header }, body } of reader.push(piece.slice(0, n))) {
      const job = jobs.get(name);
      if (!job) throw new Error("no such job");
      send({ id, begun: true });
      const report = (progress: JobResult) => send({ id, progress: progress.header }, progress.body);
      const answer = await job(header, body, report);
      send({ id, answer: answer.header }, answer.body);
    }
  }
}

/** Sends a frame, whole. Exported for tests. */
export function send(header: Sealed | SealedResponse, body?: Uint8Array): void {
  let frame = encodeFrame(header, body);
  while (frame.length > 0) frame = frame.subarray(Deno.stdout.writeSync(frame));
}
