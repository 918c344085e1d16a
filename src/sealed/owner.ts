/**
 * The owner of a sealed process: starts it, gives it one job at a time, and kills it where it takes too long, grows too large,
 * dies, or says what it should not.
 *
 * Spec: design, "What may run away runs in its own process"; decisions 57 and 58.
 */
import { encodeFrame } from "../frames.ts";
import { BoundedFrames, isRecord } from "./bounded_frames.ts";
import type { SealedCommand } from "./command.ts";
import type { SealedRequest } from "./protocol.ts";

/** Something to be done in a sealed process. */
export interface SealedJob {
  /** Its name in the registry of `mode.ts`. */
  name: string;
  header: Record<string, unknown>;
  body: Uint8Array;
  /** Told when the process has taken the job up: what went before was waiting for other jobs, and for the process to start. */
  onBegin?(): void;
  /** Told of each progress frame, in order. The bytes may be kept. One that throws says that the frame is garbage. */
  onProgress?(header: Record<string, unknown>, body: Uint8Array): void;
}

/** When a job is given up. */
export interface SealedLimits {
  /** Milliseconds without a sign of progress: a frame of the job's, or a part of the request taken. */
  silence: number;
  /** Milliseconds for the whole job, from the time it is its turn and the process stands. `Infinity` for none. */
  total: number;
  /** Bytes of all bodies sent back together; 64 MiB unless stated. */
  mostOutput?: number;
}

/** Why there is no answer. */
export type SealedFailure = "timed-out" | "memory" | "died" | "garbage" | "cancelled";

/** What became of a job. `progress` is the header of the last progress frame. */
export type SealedAnswer =
  | { ok: true; header: Record<string, unknown>; body: Uint8Array }
  | { ok: false; why: SealedFailure; progress?: Record<string, unknown> };

/** How a process is started, and how large it may grow. */
export interface SealedOptions {
  /** Asked at each start. */
  command(): SealedCommand;
  /** Bytes resident at which it is killed; 1 GiB unless stated. Where the system does not tell, V8's own limit is all there is. */
  memory?: number;
}

/** What a sealed process has said about its seal. */
export interface SealReport {
  kernel: boolean;
  /** What the seal should have forbidden and did not. Such a process gets no job. */
  breach?: string;
}

const MOST_OUTPUT = 64 * 1024 * 1024;
const MOST_MEMORY = 1024 * 1024 * 1024;
/** Bytes resident above which a process is not kept for the next job: a fresh one costs 30 ms. */
const MOST_IDLE = 256 * 1024 * 1024;
/** Milliseconds that a process may take to start. */
const START = 15_000;
const POLL_EVERY = 100;
/** Bytes of a request written at a time. */
const PART = 256 * 1024;

/**
 * Owns at most one sealed process. Jobs run one after another, in the order they were asked for.
 *
 * ```ts
 * const owner = new SealedOwner({ command: () => sealedCommand({ v8Flags: V8_FLAGS, env: {} }) });
 * const answer = await owner.run({ name: "patterns", header, body }, { silence: 2000, total: Infinity });
 * await owner.close();
 * ```
 */
export class SealedOwner {
  readonly #options: SealedOptions;
  #last: Promise<void> = Promise.resolve();
  #process?: SealedProcess;
  #report?: SealReport;
  #isClosed = false;

  constructor(options: SealedOptions) {
    this.#options = options;
  }

  /** What the process started last said about its seal; `undefined` before the first has spoken. */
  get report(): SealReport | undefined {
    return this.#report;
  }

  /** Runs a job in the sealed process. Never rejects. After any answer the next job can be run. */
  async run(job: SealedJob, limits: SealedLimits, signal?: AbortSignal): Promise<SealedAnswer> {
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = before.then(() => turn.promise);
    try {
      await orAborted(before, signal);
      return await this.#runNow(job, limits, signal);
    } finally {
      turn.resolve();
    }
  }

  /** Kills the process; a running job and all later ones are cancelled. Resolves when the process has gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#process?.end("cancelled");
  }

  async #runNow(job: SealedJob, limits: SealedLimits, signal?: AbortSignal): Promise<SealedAnswer> {
    for (;;) {
      if (signal?.aborted || this.#isClosed) return { ok: false, why: "cancelled" };
      if (this.#process?.ended) this.#process = undefined;
      const used = this.#process !== undefined;
      const process = this.#process ??= SealedProcess.start(this.#options);
      if (!process) return { ok: false, why: "died" };
      const { answer, heard } = await process.run(job, limits, signal);
      this.#report = process.report ?? this.#report;
      if (!answer.ok || !process.mayBeKept) {
        this.#process = undefined;
        await process.end("died");
      }
      // What an earlier job left behind (bytes too many, a death while idle) is not this one's doing: once more, afresh.
      const inherited = !answer.ok && answer.why !== "cancelled" && used && !heard;
      if (!inherited) return answer;
    }
  }
}

/** A job as its process knows it. */
interface Running {
  id: number;
  job: SealedJob;
  mostOutput: number;
  /** Bytes of bodies so far. */
  output: number;
  progress?: Record<string, unknown>;
  /** The process has said that it begins. */
  heard: boolean;
  /** When there was a sign of progress. */
  lastSign: number;
  settle(answer: SealedAnswer): void;
}

/** One process, from its start to its end. */
class SealedProcess {
  report?: SealReport;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;
  readonly #frames = new BoundedFrames();
  readonly #warden?: Warden;
  readonly #spoken = Promise.withResolvers<void>();
  readonly #most: number;
  #job?: Running;
  #lastId = 0;
  #ending?: Promise<void>;

  /** @returns `undefined` when the program cannot be started at all. */
  static start(options: SealedOptions): SealedProcess | undefined {
    try {
      return new SealedProcess(options);
    } catch {
      return undefined;
    }
  }

  private constructor({ command, memory = MOST_MEMORY }: SealedOptions) {
    const { command: program, args, env } = command();
    // Its error output could be hostile text, and nobody reads it.
    this.#child = new Deno.Command(program, {
      args,
      env,
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.getReader();
    this.#input.closed.catch(() => {});
    this.#most = memory;
    this.#warden = Warden.over(this.#child.pid);
    this.#listen();
  }

  get ended(): boolean {
    return this.#ending !== undefined;
  }

  /** Whether it stands and has said nothing too much. */
  get mayBeKept(): boolean {
    return !this.ended && !this.#frames.unfinished;
  }

  /** Runs a job. `heard` tells whether the process began it. */
  async run(
    job: SealedJob,
    limits: SealedLimits,
    signal?: AbortSignal,
  ): Promise<{ answer: SealedAnswer; heard: boolean }> {
    const { promise, resolve } = Promise.withResolvers<SealedAnswer>();
    const running: Running = {
      id: ++this.#lastId,
      job,
      mostOutput: limits.mostOutput ?? MOST_OUTPUT,
      output: 0,
      heard: false,
      lastSign: 0,
      settle: resolve,
    };
    this.#job = running;
    const abort = () => this.end("cancelled");
    signal?.addEventListener("abort", abort, { once: true });
    const start = setTimeout(() => this.end("died"), START);
    const watches = [() => clearTimeout(start)];
    try {
      await Promise.race([this.#spoken.promise, promise]);
      clearTimeout(start);
      if (!this.ended) {
        running.lastSign = performance.now();
        watches.push(this.#watchSilence(running, limits.silence), this.#watchTotal(limits.total), this.#watchMemory());
        this.#send(running);
      }
      const answer = await promise;
      this.#shedMemory();
      return { answer, heard: running.heard };
    } finally {
      for (const stop of watches) stop();
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Kills it, for a reason that a running job is told. Resolves when it has gone. */
  end(why: SealedFailure): Promise<void> {
    return this.#ending ??= this.#end(why);
  }

  async #end(why: SealedFailure): Promise<void> {
    const job = this.#job;
    this.#job = undefined;
    // Not before `#ending` is set: whoever is told must find that it ends.
    queueMicrotask(() => {
      job?.settle({ ok: false, why, ...job.progress && { progress: job.progress } });
      this.#spoken.resolve();
    });
    const warden = this.#warden?.dismiss();
    kill(this.#child);
    await Promise.all([
      this.#output.cancel().catch(() => {}),
      this.#input.abort().catch(() => {}),
      this.#child.status,
      warden,
    ]);
  }

  async #send({ id, job }: Running): Promise<void> {
    const frame = encodeFrame({ id, job: job.name, header: job.header } satisfies SealedRequest, job.body);
    for (let at = 0; at < frame.length && this.#job?.id === id; at += PART) {
      try {
        await this.#input.write(frame.subarray(at, at + PART));
      } catch {
        // A pipe that broke is noticed where the other one is read.
        return;
      }
      if (this.#job?.id === id) this.#job.lastSign = performance.now();
    }
  }

  async #listen(): Promise<void> {
    let why: SealedFailure = "died";
    try {
      for (;;) {
        const { done, value } = await this.#output.read();
        if (done) break;
        const most = this.#job ? this.#job.mostOutput - this.#job.output : 0;
        if (!this.#frames.push(value, most).every(({ header, body }) => this.#take(header, body))) {
          why = "garbage";
          break;
        }
        if (!this.#job && this.report && this.#frames.unfinished) break;
      }
    } catch {
      why = "garbage";
    }
    await this.end(why);
  }

  /** Takes a frame; false when it has no business here. */
  #take(header: Record<string, unknown>, body: Uint8Array): boolean {
    if (!this.report) {
      if (header.id !== 0 || body.length > 0) return false;
      this.report = { kernel: header.kernel === true };
      if (header.breach !== undefined) {
        this.report.breach = String(header.breach);
        this.end("died");
      } else this.#spoken.resolve();
      return true;
    }
    const job = this.#job;
    if (!job || header.id !== job.id) return false;
    job.output += body.length;
    if (job.output > job.mostOutput) return false;
    job.lastSign = performance.now();
    if (header.begun === true && !job.heard) {
      job.job.onBegin?.();
      return job.heard = true;
    }
    if (!job.heard) return false;
    if (isRecord(header.progress)) {
      job.progress = header.progress;
      job.job.onProgress?.(header.progress, body);
      return true;
    }
    if (!isRecord(header.answer)) return false;
    this.#job = undefined;
    job.settle({ ok: true, header: header.answer, body });
    return true;
  }

  #watchSilence(job: Running, silence: number): () => void {
    let timer: ReturnType<typeof setTimeout>;
    let forgiven = -1;
    const waitFor = (time: number) => {
      const due = performance.now() + time;
      timer = setTimeout(() => {
        const now = performance.now();
        const rest = job.lastSign + silence - now;
        const late = now - due;
        if (rest > 0) waitFor(rest);
        else if (late > LATE && forgiven !== job.lastSign) {
          // We were too busy to listen. That time is not the process's, and a sign may be waiting to be read.
          forgiven = job.lastSign;
          waitFor(Math.min(late, silence));
        } else this.end("timed-out");
      }, Math.max(1, time));
    };
    waitFor(silence);
    return () => clearTimeout(timer);
  }

  #watchTotal(total: number): () => void {
    if (total > LONGEST_TIMER) return () => {};
    const timer = setTimeout(() => this.end("timed-out"), total);
    return () => clearTimeout(timer);
  }

  /** A process that has grown large is not kept while there is nothing for it to do. */
  async #shedMemory(): Promise<void> {
    await this.#warden?.ask();
    if (!this.#job && this.#warden && this.#warden.resident > MOST_IDLE) await this.end("died");
  }

  #watchMemory(): () => void {
    const timer = setInterval(async () => {
      await this.#warden?.ask();
      if ((this.#warden?.resident ?? 0) > this.#most) this.end("memory");
    }, POLL_EVERY);
    return () => clearInterval(timer);
  }
}

/** Milliseconds by which a timer may be late in an unhurried process. */
const LATE = 50;
/** Beyond this many milliseconds a timer fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * A shell that tells how much memory a process holds, and kills it when we are killed ourselves: a process that never reads its input
 * again would outlive us for ever.
 *
 * Why a shell: below `/proc` the runtime lets only a program read that has every permission (measured), which ours has given up.
 */
class Warden {
  /** Bytes of the process that are resident, as of the last answer. */
  resident = 0;
  readonly #shell: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;
  #asked?: Promise<void>;

  /** @returns `undefined` where the system has no such shell. */
  static over(pid: number): Warden | undefined {
    try {
      return Deno.build.os === "windows" ? undefined : new Warden(pid);
    } catch {
      return undefined;
    }
  }

  private constructor(pid: number) {
    this.#shell = new Deno.Command("/bin/sh", {
      // We may be killed between asking and being told: that must not end the shell before it has done its duty.
      args: ["-c", `trap '' PIPE; while read -r _; do ${TELL}; done; kill -9 "$1"`, "warden", String(pid)],
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#input = this.#shell.stdin.getWriter();
    this.#input.closed.catch(() => {});
    this.#output = this.#shell.stdout.getReader();
  }

  /** Brings `resident` up to date; never rejects. */
  ask(): Promise<void> {
    return this.#asked ??= this.#ask().finally(() => this.#asked = undefined);
  }

  async #ask(): Promise<void> {
    try {
      await this.#input.write(QUESTION);
      const { value } = await this.#output.read();
      const kibibytes = value && Number.parseInt(new TextDecoder().decode(value));
      if (kibibytes) this.resident = kibibytes * 1024;
    } catch { /* it has gone */ }
  }

  /** Ends it without its killing anything. Resolves when it has gone. */
  async dismiss(): Promise<void> {
    kill(this.#shell);
    await Promise.all([
      this.#output.cancel().catch(() => {}),
      this.#input.abort().catch(() => {}),
      this.#shell.status,
    ]);
  }
}

const QUESTION = new TextEncoder().encode("?\n");

/** One line of output in every case: KiB resident, or 0. */
const TELL = Deno.build.os === "linux"
  ? `n=0; while read -r k v _; do if [ "$k" = VmRSS: ]; then n=$v; break; fi; done < "/proc/$1/status"; echo "$n"`
  : `echo $(/bin/ps -o rss= -p "$1") 0`;

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch { /* it has gone */ }
}

/** Waits for one thing, or for the signal. */
async function orAborted(wait: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (!signal) return await wait;
  const { promise, resolve } = Promise.withResolvers<void>();
  const abort = () => resolve();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) resolve();
  await Promise.race([wait, promise]);
  signal.removeEventListener("abort", abort);
}
