/**
 * Calls that the engine's main thread runs itself. Only such as change nothing, and only in a process that has permission flags: a
 * compiled program is held by the lists of its workers.
 *
 * - The one call of an engine that is for one: a worker would cost a third of the time that reading a small file takes (14 of 45 ms,
 *   measured). If it is cancelled, that costs the process its life.
 * - Brief ones, while nothing else is asked: to hand one to a worker takes the wake-ups of two more threads, 0.1 ms (measured).
 */
import type { Frame } from "../frames.ts";
import { cancelled } from "../verbs/answer.ts";
import type { Call } from "../verbs/verb.ts";
import type { EngineOutput } from "./engine_output.ts";
import { openCrew } from "./engine_crew.ts";
import { answer, openSide } from "./engine_verbs.ts";
import { decodeRequest } from "./requests.ts";
import { isBrief } from "../verbs/work.ts";
import { BEAT, type Opening, type Request, type ToEngine } from "./protocol.ts";

/**
 * Runs the calls that come, one after another, until there are no more. What a verb waits for, it waits for here.
 *
 * @param next The next frame; `undefined` at the end of input.
 */
export async function runInline(
  opening: Opening,
  output: EngineOutput,
  next: () => Frame<ToEngine> | undefined,
): Promise<void> {
  const { side, opened } = await openSide(opening);
  output.send(opened);
  if (!side) return;
  for (let frame = next(); frame && !("finish" in frame.header); frame = next()) {
    if (!("verb" in frame.header)) continue;
    const request = decodeRequest(frame as Frame<Request>);
    await answer(request, side, new InlineCall(request, opening, output, next), output);
  }
}

/**
 * Opens the trees for the main thread too, and says so. Returns what runs a frame's call if it is a brief one, and whether it was;
 * `undefined` where this thread may run none.
 */
export async function openBrief(
  opening: Opening,
  output: EngineOutput,
): Promise<((frame: Frame<ToEngine>) => Promise<boolean>) | undefined> {
  if (!opening.fenced) return undefined;
  const { side, opened } = await openSide(opening);
  output.send(opened);
  if (!side) Deno.exit(0);
  const next = (): never => {
    throw new Error("a brief call asks nothing");
  };
  return async ({ header }) => {
    if (!("verb" in header) || !await isBrief(header.verb, header.args)) return false;
    await answer(header, side, new InlineCall(header, opening, output, next), output);
    return true;
  };
}

/** How many safe points are passed before the clock is looked at. */
const PULSES = 16;

class InlineCall implements Call {
  #pulses = 0;
  #beat = performance.now();
  #done = 0;
  #told = 0;

  constructor(
    readonly request: Request,
    readonly opening: Opening,
    readonly output: EngineOutput,
    readonly next: () => Frame<ToEngine> | undefined,
  ) {}

  crew(task: unknown) {
    return openCrew(this.opening, this.request.verb, task);
  }

  pulse() {
    if (++this.#pulses % PULSES !== 0) return;
    const now = performance.now();
    if (now - this.#beat < BEAT) return;
    this.#beat = now;
    const { id, progress } = this.request;
    if (progress && this.#done !== this.#told) this.output.send({ progress: id, done: this.#done });
    else this.output.send({ pulse: [id] });
    this.#told = this.#done;
  }

  progress(done: number) {
    this.#done = done;
  }

  changed(): never {
    throw new Error("a change in an engine that is for reading");
  }

  ask(job: string, header: Record<string, unknown>, body: Uint8Array) {
    const { id } = this.request;
    this.output.send({ ask: id, job, header }, body);
    for (let frame = this.next(); frame; frame = this.next()) {
      if (!("told" in frame.header) || frame.header.told !== id) continue;
      if (frame.header.header.cancelled) break;
      return { header: frame.header.header, body: frame.body };
    }
    throw cancelled();
  }
}
