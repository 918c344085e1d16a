/**
 * The main process's side of an engine: starting it inside the process fence, asking it, noticing that it died or hangs.
 */
import { Survey } from "../boundary/survey.ts";
import type { Boundary } from "../boundary/types.ts";
import { findLibc } from "../fence/libc.ts";
import { inexpressible, permissionFlags, planFence } from "../fence/plan.ts";
import { encodeFrame, type Frame, FrameReader } from "../frames.ts";
import { Refusal } from "../refusal.ts";
import { runtimeEnvironment } from "./environment.ts";
import { isBundle, moduleOf, ownProgram, programFolders } from "./program_files.ts";
import {
  type Ask,
  ENGINE_MODE,
  type Fenced,
  type FromEngine,
  type Opened,
  type Opening,
  type Request,
  type ToEngine,
} from "./protocol.ts";
import { encodeRequest } from "./requests.ts";
import { cancelled } from "../verbs/answer.ts";
import type { Reply } from "./types.ts";
import { V8_FLAGS } from "./v8_flags.ts";

/** The engine came to an end before it had answered: it died, or was killed for another call's sake. */
export class EngineEnded extends Error {
  override readonly name = "EngineEnded";
  /** Entries that the call is known to have changed; `undefined` when it had not begun to change anything. */
  changed?: readonly string[];
}

/** The call showed no sign of life for so long that the engine was killed. Decision 51. */
export class CallHung extends Error {
  override readonly name = "CallHung";
  /** As in `EngineEnded`. */
  changed?: readonly string[];
}

export interface EngineOptions {
  /** At most so many calls at once; 0 for one call that changes nothing, on the engine's main thread. */
  workers: number;
  /** Milliseconds without a sign of life after which a call costs the engine its life. */
  patience: number;
  /** Tests only: leaves path names as the one implementation. */
  pathnames?: boolean;
}

/** A call as the engine's owner keeps it. */
export interface EngineCall extends Omit<Request, "id"> {
  signal?: AbortSignal;
  onProgress?(done: number): void;
  /** Does what only the main process can do. Never rejects. */
  onAsk(job: string, header: Record<string, unknown>, body: Uint8Array): Promise<Frame<Record<string, unknown>>>;
}

interface Waiting {
  call: EngineCall;
  resolve(reply: Reply): void;
  reject(error: EngineEnded | CallHung | Refusal): void;
  /** When it last showed a sign of life. */
  heard: number;
  /** It waits for us. */
  asking?: boolean;
  /** It has begun to change things: what is known to be done. */
  changed?: string[];
}

/** A bundle finds nothing by a configuration, and must not take up one that lies above it; the sources need theirs. */
const CONFIGURATION = isBundle() ? ["--no-config"] : [];
const RUN = ["run", "--quiet", "--cached-only", "--unstable-worker-options", V8_FLAGS, ...CONFIGURATION];

/** One engine, started for one boundary. It is never told of another. */
export class EngineProcess {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #fenced = Promise.withResolvers<Fenced>();
  readonly #opened = Promise.withResolvers<Opened>();
  readonly #patience: number;
  #watch: ReturnType<typeof setInterval> | undefined;
  /** It runs its call on its main thread, so a cancel cannot reach it. */
  readonly #inline: boolean;
  /** Settled when its pipes are closed. */
  readonly #listening: Promise<void>;
  #last = 0;
  #isOpen = false;
  #ended = false;

  /** @throws {Refusal} `invalid` for a boundary that cannot be served on this system. */
  constructor(boundary: Boundary, options: EngineOptions) {
    this.#patience = options.patience;
    this.#inline = options.workers === 0;
    const libc = options.pathnames ? undefined : findLibc();
    const whole = planFence(new Survey(boundary));
    // A call that changes nothing gets an engine that cannot.
    const plan = this.#inline ? { ...whole, write: [], denyWrite: [] } : whole;
    const program = programFolders();
    // A tree that no flag names can be served by pinned handles all the same; our own modules are loaded by the runtime.
    const unnamed = inexpressible([...program, ...libc ? [] : plan.read]);
    if (unnamed.length > 0) {
      const what = program.includes(unnamed[0]) ? "Fettler cannot run from" : "on this system Fettler cannot open";
      throw new Refusal("invalid", `${what} a folder with a comma in its path: ${unnamed[0]}`);
    }
    demandProgramKept(plan.write, plan.denyWrite);
    // A compiled program's permissions were fixed when it was made: it can be given no flags.
    const fenced = !Deno.build.standalone;
    const flags = [...RUN, ...permissionFlags(plan, program, libc), moduleOf("engine")];
    this.#child = start({
      args: [...fenced ? flags : [], ENGINE_MODE],
      // The launch folder may be gone; every path the engine is told is absolute.
      cwd: Deno.build.os === "windows" ? undefined : "/",
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      clearEnv: true,
      env: runtimeEnvironment(),
    });
    this.#input = this.#child.stdin.getWriter();
    this.#fenced.promise.catch(() => {});
    this.#opened.promise.catch(() => {});
    this.#listening = this.#listen();
    this.#send(
      {
        boundary,
        libc,
        read: plan.read,
        write: plan.write,
        program,
        fenced,
        workers: options.workers,
      } satisfies Opening,
    );
    // Once all that the engine waits for is sent: the runtime takes 4 ms to load its timers (measured).
    queueMicrotask(() => {
      const opening = setTimeout(() => this.#giveUp(), this.#patience);
      this.#opened.promise.finally(() => clearTimeout(opening)).catch(() => {});
    });
  }

  /** Which fences it found standing when it tried them, before anything else. @throws {EngineEnded} */
  get fences(): Promise<Fenced> {
    return this.#fenced.promise;
  }

  /** What it found when it opened its trees. @throws {EngineEnded} */
  get opened(): Promise<Opened> {
    return this.#opened.promise;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** It has ended, or has opened its trees and is asked nothing. */
  get idle(): boolean {
    return this.#ended || this.#isOpen && this.#waiting.size === 0;
  }

  /** Runs a verb there. @throws {EngineEnded | CallHung}, or what says that it was cancelled. */
  request(call: EngineCall): Promise<Reply> {
    if (this.#ended) return Promise.reject(new EngineEnded("the engine has ended"));
    const id = ++this.#last;
    const { verb, args, form, signal, onProgress } = call;
    const frame = encodeRequest({ id, verb, args, form, progress: onProgress !== undefined });
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.#waiting.set(id, { call, resolve, reject, heard: performance.now() });
    this.#write(frame);
    if (signal?.aborted) this.#cancel(id);
    else signal?.addEventListener("abort", () => this.#cancel(id), { once: true });
    // Goes on for a while when nothing is waited for: starting it anew for each call is what costs.
    this.#watch ??= setInterval(() => this.#lookForHung(), Math.min(1000, this.#patience / 4));
    return promise;
  }

  #cancel(id: number) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    if (!this.#inline) return this.#send({ cancel: id });
    this.#waiting.delete(id);
    waiting.reject(cancelled());
    this.#giveUp();
  }

  /** Lets it answer what it was asked, then end. Settled when nothing of it is left. */
  async close(): Promise<void> {
    this.#send({ finish: true });
    await this.#child.status;
    await this.#listening;
  }

  #send(frame: ToEngine, body?: Uint8Array) {
    this.#write(encodeFrame(frame, body));
  }

  #write(frame: Uint8Array) {
    // A pipe that broke is noticed where its other end is read.
    this.#input.write(frame).catch(() => {});
  }

  async #listen() {
    const reader = new FrameReader<FromEngine>();
    try {
      for await (const piece of this.#child.stdout) {
        for (const frame of reader.push(piece)) this.#hear(frame);
      }
    } catch {
      // A frame that cannot be read, or a broken pipe: the same as an engine that died.
      this.#kill();
    }
    this.#end(new EngineEnded("the engine has ended"));
    await this.#input.close().catch(() => {});
  }

  #hear({ header, body }: Frame<FromEngine>) {
    if ("outcome" in header) {
      const waiting = this.#waiting.get(header.id);
      this.#waiting.delete(header.id);
      waiting?.resolve({ outcome: header.outcome, body, images: header.images });
    } else if ("pulse" in header) {
      for (const id of header.pulse) this.#alive(id);
    } else if ("progress" in header) {
      this.#alive(header.progress)?.call.onProgress?.(header.done);
    } else if ("changed" in header) {
      const changed = this.#waiting.get(header.changed);
      if (changed) (changed.changed ??= []).push(...header.path === undefined ? [] : [header.path]);
    } else if ("ask" in header) {
      this.#answer(header, body);
    } else if ("kernel" in header) {
      this.#fenced.resolve(header);
    } else {
      this.#isOpen = true;
      this.#opened.resolve(header);
    }
  }

  #alive(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting) waiting.heard = performance.now();
    return waiting;
  }

  async #answer({ ask, job, header }: Ask, body: Uint8Array) {
    const waiting = this.#waiting.get(ask);
    if (!waiting) return;
    waiting.asking = true;
    const told = await waiting.call.onAsk(job, header, body);
    waiting.asking = false;
    waiting.heard = performance.now();
    if (!this.#ended) this.#send({ told: ask, header: told.header }, told.body);
  }

  #stopWatching() {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** A call that shows no life is told so, and the engine with it is given up; the others are to be run again. */
  #lookForHung() {
    if (this.#waiting.size === 0) return this.#stopWatching();
    const limit = performance.now() - this.#patience;
    const hung = [...this.#waiting.entries()].filter(([, { heard, asking }]) => heard < limit && !asking);
    if (hung.length === 0) return;
    for (const [id, waiting] of hung) {
      this.#waiting.delete(id);
      waiting.reject(Object.assign(new CallHung("no sign of life"), { changed: waiting.changed }));
    }
    this.#giveUp();
  }

  /** It hangs, or never came to open its trees. */
  #giveUp() {
    this.#kill();
    // Who waits for the opening itself is told that it hung; settled before, this changes nothing.
    this.#fenced.reject(new CallHung("no sign of life"));
    this.#opened.reject(new CallHung("no sign of life"));
    this.#end(new EngineEnded("the engine was given up"));
  }

  #kill() {
    try {
      this.#child.kill("SIGKILL");
    } catch { /* it has gone */ }
  }

  #end(error: EngineEnded) {
    this.#ended = true;
    this.#stopWatching();
    this.#fenced.reject(error);
    this.#opened.reject(error);
    const left = [...this.#waiting.entries()];
    for (const [id, waiting] of left) {
      this.#waiting.delete(id);
      waiting.reject(Object.assign(new EngineEnded(error.message), { changed: waiting.changed }));
    }
  }
}

/** Starts this program once more. @throws {Refusal} `denied` where the system does not let it. */
function start(options: Deno.CommandOptions): Deno.ChildProcess {
  try {
    return new Deno.Command(Deno.execPath(), options).spawn();
  } catch {
    throw new Refusal(
      "denied",
      "the system does not let Fettler start a process of its own; its limits may be too low",
    );
  }
}

/**
 * Whoever can write the program can rewrite its rules. The sources are exempt: they are there to be worked on.
 * @throws {Refusal} `invalid` where the program lies in a folder that may be changed.
 */
function demandProgramKept(write: readonly string[], denied: readonly string[]) {
  const own = ownProgram();
  const below = (place: string) => own === place || own?.startsWith(place.endsWith("/") ? place : `${place}/`);
  if (own === undefined || !write.some(below) || denied.some(below)) return;
  throw new Refusal(
    "invalid",
    `Fettler's own program lies in a tree where files may be changed (${own}); move it elsewhere, or declare its folder ` +
      'as a scope with "can": ["list", "read"]',
  );
}
