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
import { runInline } from "./engine_inline.ts";
import { EngineOutput } from "./engine_output.ts";
import { faultLine } from "./fault_line.ts";
import {
  BEAT,
  CONTROL,
  type Fenced,
  type FromWorker,
  type Hiring,
  type Opening,
  type Request,
  type ToEngine,
  type Told,
} from "./protocol.ts";

/** Runs the engine on standard input and output. Ends the process itself. */
export async function runEngine(): Promise<never> {
  // The terminal's interrupt goes to the whole group; the main process decides what it means.
  ignoreInterrupts();
  const input = new EngineInput();
  const output = new EngineOutput();
  const opening = input.next()?.header as Opening | undefined ?? Deno.exit(0);
  // A program that is one file has one set of permissions for all its processes; this one needs but a part of it.
  if (!opening.fenced) { for (const name of UNUSED) Deno.permissions.revokeSync({ name }); }
  const fenced = fence(opening);
  output.send(fenced);
  if (fenced.breach !== undefined) Deno.exit(0);
  if (opening.workers === 0) {
    await runInline(opening, output, () => input.next());
    Deno.exit(0);
  }
  const engine = new Engine(opening, output);
  for (;;) {
    const frames = await input.some();
    // Without a farewell the main process is gone, and with it whoever would read an answer.
    if (!frames) return engine.finishing ? await new Promise<never>(() => {}) : Deno.exit(0);
    for (const frame of frames) engine.take(frame);
  }
}

/** What no verb needs. Writing cannot be given up: a worker gets no more than its process has. */
const UNUSED = ["net", "run", "env", "sys", "import"] as const;

/** What the main process sends. */
class EngineInput {
  readonly #reader = new FrameReader<ToEngine>();
  readonly #piece = new Uint8Array(64 * 1024);
  #frames: Frame<ToEngine>[] = [];

  /** The next frame, waited for; `undefined` at the end. */
  next(): Frame<ToEngine> | undefined {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame) return frame;
      const n = Deno.stdin.readSync(this.#piece);
      if (n === null) return undefined;
      this.#frames = this.#reader.push(this.#piece.slice(0, n));
    }
  }

  /** What is there, or comes next, while other things go on; `undefined` at the end. */
  async some(): Promise<Frame<ToEngine>[] | undefined> {
    if (this.#frames.length > 0) return this.#frames.splice(0);
    const n = await Deno.stdin.read(this.#piece);
    return n === null ? undefined : this.#reader.push(this.#piece.slice(0, n));
  }
}

/** Tries the process fence, then enters the kernel fence, in this order: the one must not seem to hold for the other's sake. */
function fence({ fenced: process, read, write, program, libc }: Opening): Fenced {
  const open = process ? probeProcessFence([...read, ...program]) : undefined;
  if (open !== undefined) {
    return { process: false, kernel: { stands: false }, breach: `the process fence does not hold: it allows ${open}` };
  }
  if (libc === undefined) return { process, kernel: { stands: false, reason: "this system has no such fence" } };
  const kernel = enterLandlock(libc, { read, write, files: [libc, ...program, "/dev/urandom"] });
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

class Engine {
  /** The main process has said that no more comes. */
  finishing = false;
  readonly #hands: Hand[] = [];
  /** Calls that no worker has taken yet. */
  readonly #queue: Request[] = [];

  constructor(readonly opening: Opening, readonly output: EngineOutput) {
    this.#hire();
    const beat = setInterval(() => this.#beat(), BEAT);
    Deno.unrefTimer(beat);
  }

  take({ header, body }: Frame<ToEngine>) {
    if ("finish" in header) {
      this.finishing = true;
      this.#assign();
    } else if ("cancel" in header) this.#cancel(header.cancel);
    else if ("told" in header) this.#tell(header, body);
    else {
      this.#queue.push(header as Request);
      this.#assign();
    }
  }

  #hire() {
    const { read, write, program, libc, fenced } = this.opening;
    const control = new SharedArrayBuffer(CONTROL.PLACES * 4);
    const mailbox = new SharedArrayBuffer(MAILBOX);
    const worker = new Worker(Deno.mainModule, {
      type: "module",
      // A compiled program's process has no flags, so its workers get the list; it takes no folders to be denied. Where there are
      // flags the workers have them, denied folders and all: a list beside those counts as asking for more (measured).
      deno: {
        permissions: {
          read: fenced ? "inherit" : [...read, ...program],
          ffi: fenced ? "inherit" : libc === undefined ? false : [libc],
          write: fenced ? "inherit" : [...write],
          net: false,
          run: false,
          env: false,
          sys: false,
          import: false,
        },
      },
    } as WorkerOptions);
    worker.postMessage({ opening: this.opening, control, mailbox, output: this.output.memory } satisfies Hiring);
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

  #give(hand: Hand, call: Request) {
    hand.call = call;
    hand.done = 0;
    Atomics.store(hand.control, CONTROL.CANCEL, 0);
    Atomics.store(hand.control, CONTROL.DONE, 0);
    Atomics.store(hand.control, CONTROL.BUSY, 1);
    hand.mail.push(encodeFrame(call));
    deliver(hand);
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
    const alive = this.#queue.map((request) => request.id);
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

function ignoreInterrupts() {
  for (
    const signal of Deno.build.os === "windows"
      ? ["SIGINT", "SIGBREAK"] as const
      : ["SIGINT", "SIGTERM", "SIGHUP"] as const
  ) {
    Deno.addSignalListener(signal, () => {});
  }
}
