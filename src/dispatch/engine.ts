/**
 * The engine process: enters the kernel fence, starts workers inside it, and from then on only moves frames.
 *
 * So it always answers: a cancel arrives, signs of life go out. Whatever touches a tree runs in a worker, which inherits the kernel
 * fence from this thread. Started by `engine_process.ts` with permission flags made from the boundary. Decisions 50 and 51.
 */
import { enterLandlock } from "../fence/landlock_linux.ts";
import { probeProcessFence } from "../fence/probe.ts";
import { encodeFrame, type Frame, FrameReader } from "../frames.ts";
import type { Refusal } from "../refusal.ts";
import { cancelled, fault, renderRefusal } from "../verbs/answer.ts";
import { faultLine } from "./fault_line.ts";
import {
  type Ask,
  CONTROL,
  type Fenced,
  type FromEngine,
  type FromWorker,
  type Opened,
  type Opening,
  type Request,
  type ToEngine,
  type ToWorker,
} from "./protocol.ts";

/** How often signs of life and progress are passed on, in milliseconds. At most ten times a second. */
const BEAT = 100;

/** Runs the engine on standard input and output. Ends the process itself. */
export async function runEngine(): Promise<never> {
  // The terminal's interrupt goes to the whole group; the main process decides what it means.
  ignoreInterrupts();
  const input = new FrameReader<ToEngine>();
  const [first, ...early] = readFirst(input);
  const opening = first.header as Opening;
  const fenced = fence(opening);
  send(fenced);
  if (fenced.breach !== undefined) Deno.exit(0);
  const engine = new Engine(opening);
  for (const frame of early) engine.take(frame);
  const piece = new Uint8Array(64 * 1024);
  for (;;) {
    const n = await Deno.stdin.read(piece);
    // Without a farewell the main process is gone, and with it whoever would read an answer.
    if (n === null) return engine.finishing ? await new Promise<never>(() => {}) : Deno.exit(0);
    for (const frame of input.push(piece.slice(0, n))) engine.take(frame);
  }
}

/** The opening has to be read before anything else runs: what follows it in the pipe waits. */
function readFirst(input: FrameReader<ToEngine>): Frame<ToEngine>[] {
  const piece = new Uint8Array(64 * 1024);
  for (;;) {
    const n = Deno.stdin.readSync(piece);
    if (n === null) Deno.exit(0);
    const frames = input.push(piece.slice(0, n));
    if (frames.length > 0) return frames;
  }
}

/** Tries the process fence, then enters the kernel fence, in this order: the one must not seem to hold for the other's sake. */
function fence({ fenced: process, read, program, libc }: Opening): Fenced {
  const open = process ? probeProcessFence([...read, ...program]) : undefined;
  if (open !== undefined) {
    return { process: false, kernel: { stands: false }, breach: `the process fence does not hold: it allows ${open}` };
  }
  if (libc === undefined) return { process, kernel: { stands: false, reason: "this system has no such fence" } };
  const kernel = enterLandlock(libc, { read, write: [], files: [libc, ...program, "/dev/urandom"] });
  switch (kernel.state) {
    case "stands":
      return { process, kernel: { stands: true } };
    case "absent":
      return { process, kernel: { stands: false, reason: kernel.reason } };
    case "broken":
      return { process, kernel: { stands: false }, breach: `the kernel fence does not hold: ${kernel.reason}` };
  }
}

/** A worker, and what it is at. */
interface Hand {
  worker: Worker;
  control: Int32Array;
  /** It has opened its trees. */
  ready: boolean;
  /** The call it runs. */
  call?: Request;
  /** It waits for the main process, so it takes up no processor. */
  asking: boolean;
  /** The count of signs of life, and progress, when they were last passed on. */
  pulse: number;
  done: number;
  mailbox?: Uint8Array;
  /** What is left of an answer that does not fit into the mailbox at once. */
  mail?: Uint8Array;
}

class Engine {
  /** The main process has said that no more comes. */
  finishing = false;
  readonly #hands: Hand[] = [];
  /** Calls that no worker has taken yet. */
  readonly #queue: Request[] = [];
  #opened = false;

  constructor(readonly opening: Opening) {
    this.#hire();
    const beat = setInterval(() => this.#beat(), BEAT);
    Deno.unrefTimer(beat);
  }

  take({ header, body }: Frame<ToEngine>) {
    if ("finish" in header) {
      this.finishing = true;
      this.#endWhenDone();
    } else if ("cancel" in header) this.#cancel(header.cancel);
    else if ("told" in header) this.#tell(header.told, encodeFrame(header.header, body));
    else {
      this.#queue.push(header as Request);
      this.#assign();
    }
  }

  #hire() {
    const { read, program, libc, fenced } = this.opening;
    const shared = new SharedArrayBuffer(CONTROL.PLACES * 4);
    const worker = new Worker(Deno.mainModule, {
      type: "module",
      // A compiled program's process has no flags, so its workers get the list; it takes no folders to be denied. Where there are
      // flags the workers have them, denied folders and all: a list beside those counts as asking for more (measured).
      deno: {
        permissions: {
          read: fenced ? "inherit" : [...read, ...program],
          ffi: fenced ? "inherit" : libc === undefined ? false : [libc],
          write: false,
          net: false,
          run: false,
          env: false,
          sys: false,
          import: false,
        },
      },
    } as WorkerOptions);
    const hand: Hand = { worker, control: new Int32Array(shared), ready: false, asking: false, pulse: 0, done: 0 };
    this.#hands.push(hand);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#hear(hand, data, shared);
    worker.onerror = (event) => {
      // It has died of a defect: its call gets an answer, the others a fresh worker.
      event.preventDefault();
      console.error(faultLine(event.error ?? new Error(event.message)));
      this.#hands.splice(this.#hands.indexOf(hand), 1);
      if (!this.#opened) Deno.exit(1);
      if (hand.call) this.#refuse(hand.call, fault());
      this.#assign();
    };
  }

  #hear(hand: Hand, data: FromWorker, control: SharedArrayBuffer) {
    if ("ready" in data) hand.worker.postMessage({ open: this.opening, control } satisfies ToWorker);
    else if ("opened" in data) this.#open(hand, data.opened);
    else if ("answer" in data) {
      hand.call = undefined;
      send(data.answer, data.body);
      this.#assign();
    } else if ("ask" in data) {
      hand.asking = true;
      hand.mailbox = new Uint8Array(data.mailbox);
      send(data.ask satisfies Ask, data.body);
      this.#assign();
    } else this.#deliver(hand);
  }

  #open(hand: Hand, opened: Omit<Opened, "id">) {
    if (!this.#opened || opened.replaced !== undefined) send({ id: 0, ...opened });
    if (opened.replaced !== undefined) Deno.exit(0);
    this.#opened = true;
    hand.ready = true;
    this.#assign();
  }

  /** Gives waiting calls to idle workers; hires as long as there are fewer at work than there may be. */
  #assign() {
    for (const hand of this.#hands) {
      if (this.#queue.length === 0) break;
      if (hand.call || !hand.ready) continue;
      hand.call = this.#queue.shift()!;
      hand.asking = false;
      Atomics.store(hand.control, CONTROL.CANCEL, 0);
      Atomics.store(hand.control, CONTROL.DONE, 0);
      hand.done = 0;
      hand.worker.postMessage({ run: hand.call } satisfies ToWorker);
    }
    const atWork = this.#hands.filter((hand) => !hand.asking).length;
    const starting = this.#hands.filter((hand) => !hand.ready).length;
    if (this.#queue.length > starting && atWork < this.opening.workers) this.#hire();
    this.#endWhenDone();
  }

  #cancel(id: number) {
    const waiting = this.#queue.findIndex((request) => request.id === id);
    if (waiting >= 0) this.#refuse(this.#queue.splice(waiting, 1)[0], cancelled());
    const hand = this.#hands.find((hand) => hand.call?.id === id);
    if (hand) Atomics.store(hand.control, CONTROL.CANCEL, 1);
  }

  /** Answers a call that no worker will. */
  #refuse({ id, form }: Request, refusal: Refusal) {
    const { outcome, text } = renderRefusal(refusal, form);
    send({ id, outcome }, new TextEncoder().encode(text));
  }

  /** The main process's answer to what a worker asked: put into its mailbox in as many pieces as it takes. */
  #tell(id: number, mail: Uint8Array) {
    const hand = this.#hands.find((hand) => hand.call?.id === id && hand.asking);
    if (!hand) return;
    hand.mail = mail;
    this.#deliver(hand);
  }

  #deliver(hand: Hand) {
    if (!hand.mail || !hand.mailbox) return;
    const piece = hand.mail.subarray(0, hand.mailbox.length);
    hand.mail = hand.mail.subarray(piece.length);
    if (hand.mail.length === 0) [hand.mail, hand.asking] = [undefined, false];
    hand.mailbox.set(piece);
    Atomics.store(hand.control, CONTROL.PIECE, piece.length);
    Atomics.store(hand.control, CONTROL.MAIL, 1);
    Atomics.notify(hand.control, CONTROL.MAIL);
  }

  /** Passes on what the workers' shared memory says. A call that waits for the main process or for its turn cannot show life itself. */
  #beat() {
    const alive = this.#queue.map((request) => request.id);
    for (const hand of this.#hands) {
      if (!hand.call) continue;
      const pulse = Atomics.load(hand.control, CONTROL.PULSE);
      if (pulse !== hand.pulse || hand.asking) alive.push(hand.call.id);
      hand.pulse = pulse;
      const done = Atomics.load(hand.control, CONTROL.DONE);
      if (hand.call.progress && done !== hand.done) send({ progress: hand.call.id, done });
      hand.done = done;
    }
    if (alive.length > 0) send({ pulse: alive });
  }

  #endWhenDone() {
    if (this.finishing && this.#queue.length === 0 && this.#hands.every((hand) => !hand.call)) Deno.exit(0);
  }
}

function ignoreInterrupts() {
  for (
    const signal of Deno.build.os === "windows"
      ? ["SIGINT", "SIGBREAK"] as const
      : ["SIGINT", "SIGTERM", "SIGHUP"] as const
  ) {
    Deno.addSignalListener(signal, () => {});
  }
}

/** Writes a frame whole. Synchronous, so frames never mix; a main process that is gone ends this one. */
function send(header: FromEngine, body?: Uint8Array) {
  try {
    let frame = encodeFrame(header, body);
    while (frame.length > 0) frame = frame.subarray(Deno.stdout.writeSync(frame));
  } catch {
    Deno.exit(0);
  }
}
