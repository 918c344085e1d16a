/**
 * A worker of the engine: opens the trees for itself, then runs one verb after another.
 *
 * Started inside the kernel fence. It blocks as it likes: the engine's main thread never waits for it, and sees by shared memory that
 * it is alive. It is woken by that memory too and writes its answers itself: a message each way would cost 0.2 ms of a call of 0.5
 * (measured). Decision 50.
 */
import { type Frame, FrameReader } from "../frames.ts";
import { cancelled } from "../verbs/answer.ts";
import type { Call } from "../verbs/verb.ts";
import { EngineOutput } from "./engine_output.ts";
import { answer, openSide } from "./engine_verbs.ts";
import { decodeRequest } from "./requests.ts";
import { openCrew, runAssistant } from "./engine_crew.ts";
import {
  CONTROL,
  type FromWorker,
  type Hired,
  type Hiring,
  type Opening,
  type Request,
  type Told,
  type ToWorker,
} from "./protocol.ts";

/** The part of a worker's global scope that is used, which the type library for windows does not know. */
const scope = globalThis as unknown as { postMessage(message: FromWorker): void };

/** Does what the worker was hired for, for as long as the process lives. */
export function work(hired: Hired): Promise<void> {
  return "jobs" in hired ? runAssistant(hired) : runVerbs(hired);
}

async function runVerbs({ opening, control, mailbox, output }: Hiring): Promise<void> {
  const words = new Int32Array(control);
  const mail = new Mail(words, new Uint8Array(mailbox));
  const out = new EngineOutput(output);
  const { side, opened } = await openSide(opening);
  out.send(opened);
  if (!side) return scope.postMessage({ replaced: true });
  for (;;) {
    const frame = mail.next();
    // What was told to a call that did not wait for it any more.
    if ("told" in frame.header) continue;
    const request = decodeRequest(frame as Frame<Request>);
    await answer(request, side, new RunningCall(request, opening, words, mail, out), out);
    Atomics.store(words, CONTROL.BUSY, 0);
    if (Atomics.load(words, CONTROL.WANTED) !== 0) scope.postMessage({ idle: true });
  }
}

/** What the engine's main thread hands over, piece by piece where it does not fit into the mailbox at once. */
class Mail {
  readonly #reader = new FrameReader<ToWorker>();

  constructor(readonly control: Int32Array, readonly mailbox: Uint8Array) {}

  /** Waits for a frame. With `impatient`, which is asked every so often, what it throws ends the wait. */
  next(impatient?: () => void): Frame<ToWorker> {
    for (;;) {
      while (Atomics.wait(this.control, CONTROL.MAIL, 0, impatient ? 50 : undefined) === "timed-out") impatient?.();
      const piece = this.mailbox.slice(0, Atomics.load(this.control, CONTROL.PIECE));
      Atomics.store(this.control, CONTROL.MAIL, 0);
      const [frame] = this.#reader.push(piece);
      if (frame) return frame;
      scope.postMessage({ more: true });
    }
  }
}

class RunningCall implements Call {
  /** It has told of an entry that it changed. */
  #changed = false;

  constructor(
    readonly request: Request,
    readonly opening: Opening,
    readonly control: Int32Array,
    readonly mail: Mail,
    readonly output: EngineOutput,
  ) {}

  get id(): number {
    return this.request.id;
  }

  crew(task: unknown) {
    return openCrew(this.opening, this.request.verb, task);
  }

  pulse() {
    Atomics.add(this.control, CONTROL.PULSE, 1);
    this.#demandWanted();
  }

  progress(done: number) {
    Atomics.store(this.control, CONTROL.DONE, done);
  }

  changed(path?: string) {
    this.#changed ||= path !== undefined;
    this.output.send({ changed: this.id, path });
  }

  ask(job: string, header: Record<string, unknown>, body: Uint8Array): Omit<Told, "told"> & { body: Uint8Array } {
    Atomics.store(this.control, CONTROL.ASKING, 1);
    // It takes up no processor while it waits, so another may be hired.
    scope.postMessage({ asking: true });
    this.output.send({ ask: this.id, job, header }, body);
    try {
      for (;;) {
        const { header, body } = this.mail.next(() => this.#demandWanted());
        if (!("told" in header) || header.told !== this.id) continue;
        if (header.header.cancelled) throw cancelled(this.#changed);
        return { header: header.header, body };
      }
    } finally {
      Atomics.store(this.control, CONTROL.ASKING, 0);
    }
  }

  /** @throws {Refusal} `refused` when the call was cancelled. */
  #demandWanted() {
    if (Atomics.load(this.control, CONTROL.CANCEL) !== 0) throw cancelled(this.#changed);
  }
}
