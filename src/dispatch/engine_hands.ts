/** The engine's main thread beside its workers: hands out calls, passes cancels and answers on, tells who is alive. Decision 50. */
import { encodeFrame, type Frame } from "../frames.ts";
import type { Refusal } from "../refusal.ts";
import { cancelled, fault, renderRefusal } from "../verbs/answer.ts";
import type { EngineOutput } from "./engine_output.ts";
import { faultLine } from "./fault_line.ts";
import {
  BEAT,
  CONTROL,
  type FromWorker,
  type Hired,
  type Opening,
  type Request,
  type ToEngine,
  type Told,
} from "./protocol.ts";
import { workerOptions } from "./worker_options.ts";

/** A worker, and what it is at. */
interface Hand {
  worker: Worker;
  control: Int32Array;
  mailbox: Uint8Array;
  /** The call it runs, or ran last. */
  call?: Request;
  /** The count of signs of life, and progress, when they were last passed on. */
  pulse: number;
  done: number;
  /** What has not fit into the mailbox yet. */
  mail: Uint8Array[];
}

/** Bytes that are handed to a worker at a time. */
const MAILBOX = 256 * 1024;

export class Engine {
  /** The main process has said that no more comes. */
  finishing = false;
  readonly #hands: Hand[] = [];
  /** Calls that no worker has taken yet. */
  readonly #queue: Frame<Request>[] = [];

  /** Passes signs of life on, from the first call on: the runtime takes 4 ms to load its timers (measured). */
  #heart: ReturnType<typeof setInterval> | undefined;

  constructor(readonly opening: Opening, readonly output: EngineOutput) {}

  /** Hires the first worker, where there is none: it takes 14 ms, in which nothing is heard, and 20 more until it works (measured). */
  prepare() {
    if (this.#hands.length === 0) this.#hire();
  }

  /** No call runs or waits, and none is about to end the process. */
  get idle(): boolean {
    return !this.finishing && this.#queue.length === 0 && !this.#hands.some(isBusy);
  }

  take(frame: Frame<ToEngine>) {
    const { header, body } = frame;
    if ("finish" in header) {
      this.finishing = true;
      this.#assign();
    } else if ("cancel" in header) this.#cancel(header.cancel);
    else if ("told" in header) this.#tell(header, body);
    else {
      this.#queue.push(frame as Frame<Request>);
      this.#assign();
    }
  }

  #hire() {
    const control = new SharedArrayBuffer(CONTROL.PLACES * 4);
    const mailbox = new SharedArrayBuffer(MAILBOX);
    const worker = new Worker(this.opening.module!, workerOptions(this.opening));
    worker.postMessage({ opening: this.opening, control, mailbox, output: this.output.memory } satisfies Hired);
    const hand: Hand = {
      worker,
      control: new Int32Array(control),
      mailbox: new Uint8Array(mailbox),
      pulse: 0,
      done: 0,
      mail: [],
    };
    this.#hands.push(hand);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#hear(hand, data);
    worker.onerror = (event) => {
      // It has died of a defect: its call gets an answer, the others a fresh worker.
      event.preventDefault();
      console.error(faultLine(event.error ?? new Error(event.message)));
      this.#hands.splice(this.#hands.indexOf(hand), 1);
      if (this.#hands.length === 0) Deno.exit(1);
      if (isBusy(hand)) this.#refuse(hand.call!, fault());
      this.#assign();
    };
  }

  #hear(hand: Hand, data: FromWorker) {
    if ("replaced" in data) Deno.exit(0);
    if ("more" in data) deliver(hand);
    else this.#assign();
  }

  /** Gives waiting calls to idle workers; hires as long as there are fewer at work than there may be. */
  #assign(): void {
    for (;;) {
      const hand = this.#queue.length > 0 && this.#hands.find((hand) => !isBusy(hand));
      if (!hand) break;
      this.#give(hand, this.#queue.shift()!);
    }
    const wanted = this.#queue.length > 0 || this.finishing ? 1 : 0;
    for (const hand of this.#hands) Atomics.store(hand.control, CONTROL.WANTED, wanted);
    if (this.#queue.length > 0) {
      // One that became idle before it could see that it is wanted.
      if (this.#hands.some((hand) => !isBusy(hand))) return this.#assign();
      const atWork = this.#hands.filter((hand) => !isAsking(hand)).length;
      if (atWork < this.opening.workers) {
        this.#hire();
        this.#assign();
      }
    } else if (this.finishing && !this.#hands.some(isBusy)) Deno.exit(0);
  }

  #give(hand: Hand, { header, body }: Frame<Request>) {
    if (this.#heart === undefined) Deno.unrefTimer(this.#heart = setInterval(() => this.#beat(), BEAT));
    hand.call = header;
    hand.done = 0;
    Atomics.store(hand.control, CONTROL.CANCEL, 0);
    Atomics.store(hand.control, CONTROL.DONE, 0);
    Atomics.store(hand.control, CONTROL.BUSY, 1);
    hand.mail.push(encodeFrame(header, body));
    deliver(hand);
  }

  #cancel(id: number) {
    const waiting = this.#queue.findIndex(({ header }) => header.id === id);
    if (waiting >= 0) this.#refuse(this.#queue.splice(waiting, 1)[0].header, cancelled());
    const hand = this.#hands.find((hand) => hand.call?.id === id);
    if (hand) Atomics.store(hand.control, CONTROL.CANCEL, 1);
  }

  /** Answers a call that no worker will. */
  #refuse({ id, form }: Request, refusal: Refusal) {
    const { outcome, text } = renderRefusal(refusal, form);
    this.output.send({ id, outcome }, new TextEncoder().encode(text));
  }

  /** The main process's answer to what a worker asked. */
  #tell(told: Told, body: Uint8Array) {
    const hand = this.#hands.find((hand) => hand.call?.id === told.told && isAsking(hand));
    if (!hand) return;
    hand.mail.push(encodeFrame(told, body));
    deliver(hand);
  }

  /** Passes on what the workers' shared memory says. A call that waits for its turn cannot show life itself. */
  #beat() {
    const alive = this.#queue.map(({ header }) => header.id);
    for (const hand of this.#hands) {
      if (!hand.call || !isBusy(hand)) continue;
      const pulse = Atomics.load(hand.control, CONTROL.PULSE);
      if (pulse !== hand.pulse) alive.push(hand.call.id);
      hand.pulse = pulse;
      const done = Atomics.load(hand.control, CONTROL.DONE);
      if (hand.call.progress && done !== hand.done) this.output.send({ progress: hand.call.id, done });
      hand.done = done;
    }
    if (alive.length > 0) this.output.send({ pulse: alive });
  }
}

function isBusy({ control }: Hand): boolean {
  return Atomics.load(control, CONTROL.BUSY) !== 0;
}

function isAsking({ control }: Hand): boolean {
  return Atomics.load(control, CONTROL.ASKING) !== 0;
}

/** Puts the next piece into a worker's mailbox, where that is empty. */
function deliver({ control, mailbox, mail }: Hand) {
  if (mail.length === 0 || Atomics.load(control, CONTROL.MAIL) !== 0) return;
  const piece = mail[0].subarray(0, mailbox.length);
  if (piece.length === mail[0].length) mail.shift();
  else mail[0] = mail[0].subarray(piece.length);
  mailbox.set(piece);
  Atomics.store(control, CONTROL.PIECE, piece.length);
  Atomics.store(control, CONTROL.MAIL, 1);
  Atomics.notify(control, CONTROL.MAIL);
}
