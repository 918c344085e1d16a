/**
 * A worker of the engine: opens the trees for itself, then runs one verb after another.
 *
 * Started inside the kernel fence, with a permission list of its own. It blocks as it likes: the engine's main thread never waits
 * for it, and sees by shared memory that it is alive. Decision 50.
 */
import { Survey } from "../boundary/survey.ts";
import { DiskError } from "../disk/disk.ts";
import { openDisk } from "../disk/mod.ts";
import { FrameReader } from "../frames.ts";
import { answering, cancelled, fault, renderRefusal } from "../verbs/answer.ts";
import { VERBS } from "../verbs/mod.ts";
import type { Call, EngineSide, EngineVerb } from "../verbs/verb.ts";
import { faultLine } from "./fault_line.ts";
import { CONTROL, type FromWorker, type Opening, type Request, type ToWorker } from "./protocol.ts";

/** The parts of a worker's global scope that are used, which the type library for windows does not know. */
interface Scope {
  onmessage: (event: MessageEvent<ToWorker>) => Promise<void>;
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
}

const scope = globalThis as unknown as Scope;
const encoder = new TextEncoder();

/** Bytes of an answer that the main process hands over at a time. */
const MAILBOX = 1024 * 1024;

/** Runs the worker. Returns at once; the work is done as messages come. */
export function runWorker(): void {
  let control: Int32Array;
  let side: Omit<EngineSide, "call">;
  scope.onmessage = async ({ data }) => {
    if ("open" in data) {
      control = new Int32Array(data.control);
      const opened = await open(data.open);
      if (opened) side = opened;
    } else {
      await answer(data.run, side, control);
    }
  };
  scope.postMessage({ ready: true });
}

async function open({ boundary, libc }: Opening): Promise<Omit<EngineSide, "call"> | undefined> {
  try {
    const disk = await openDisk(boundary, libc);
    const side = { survey: new Survey(boundary), disk };
    scope.postMessage({ opened: { disk: disk.kind } });
    return side;
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    scope.postMessage({ opened: { replaced: error.message } });
    return undefined;
  }
}

async function answer({ id, verb: name, args, form }: Request, side: Omit<EngineSide, "call">, control: Int32Array) {
  const verb = VERBS.find((verb): verb is EngineVerb => verb.name === name && verb.where === "engine");
  const call = new RunningCall(id, control);
  const { outcome, text, images } = verb
    ? await answering(form, () => verb.run(args, { ...side, call }), (error) => console.error(faultLine(error)))
    : renderRefusal(fault(), form);
  const body = encoder.encode(text);
  scope.postMessage({ answer: { id, outcome, images }, body }, [body.buffer]);
}

class RunningCall implements Call {
  #mailbox: SharedArrayBuffer | undefined;

  constructor(readonly id: number, readonly control: Int32Array) {}

  pulse() {
    Atomics.add(this.control, CONTROL.PULSE, 1);
    if (Atomics.load(this.control, CONTROL.CANCEL) !== 0) throw cancelled();
  }

  progress(done: number) {
    Atomics.store(this.control, CONTROL.DONE, done);
  }

  ask(
    job: string,
    header: Record<string, unknown>,
    body: Uint8Array,
  ): { header: Record<string, unknown>; body: Uint8Array } {
    this.#mailbox ??= new SharedArrayBuffer(MAILBOX);
    Atomics.store(this.control, CONTROL.MAIL, 0);
    scope.postMessage({ ask: { ask: this.id, job, header }, body, mailbox: this.#mailbox });
    const reader = new FrameReader<Record<string, unknown>>();
    for (;;) {
      // Woken by a piece of the answer, or now and then to see whether the call was cancelled meanwhile.
      while (Atomics.wait(this.control, CONTROL.MAIL, 0, 50) === "timed-out") {
        if (Atomics.load(this.control, CONTROL.CANCEL) !== 0) throw cancelled();
      }
      const piece = new Uint8Array(this.#mailbox, 0, Atomics.load(this.control, CONTROL.PIECE)).slice();
      const [frame] = reader.push(piece);
      if (frame?.header.cancelled) throw cancelled();
      if (frame) return frame;
      Atomics.store(this.control, CONTROL.MAIL, 0);
      scope.postMessage({ more: true });
    }
  }
}
