/** What the main process, the engine and the engine's workers say to each other. */
import type { Boundary } from "../boundary/types.ts";
import type { Outcome } from "../refusal.ts";
import type { Form } from "../verbs/verb.ts";

/** The word in `argv` that makes the program the engine. Not a verb: nobody types it. */
export const ENGINE_MODE = "__engine";

/** The first frame to a new engine. */
export interface Opening {
  boundary: Boundary;
  /** The C library for the descriptor implementation and the kernel fence; without it path names are used and there is no such fence. */
  libc?: string;
  /** What the permissions of process and workers name. */
  read: readonly string[];
  write: readonly string[];
  /** Folders and files of the program itself, which workers load. */
  program: readonly string[];
  /** The process was given flags, which are to be tried. */
  fenced: boolean;
  /** What workers are started from. Filled in by the engine's main thread: a worker, which may hire helpers, is not told by the runtime. */
  module?: string;
  /** At most so many calls at once; 0 for one call after another on the main thread. */
  workers: number;
}

/** A verb to be run. `progress` asks for `Progress` frames. */
export interface Request {
  id: number;
  verb: string;
  args: Record<string, unknown>;
  form: Form;
  progress?: boolean;
  /** Arguments that lie in the body, one behind the other: their names and bytes. `requests.ts` puts them in and takes them out. */
  texts?: readonly (readonly [string, number])[];
}

/** To the engine: end a call at its next safe point. It is answered like any other. */
export interface Cancel {
  cancel: number;
}

/** To the engine: no more requests come; answer what was asked, then end. Input that ends without it means that the main process died. */
export interface Finish {
  finish: true;
}

/** To the engine: the answer to an `Ask`; the body is its result. */
export interface Told {
  told: number;
  header: Record<string, unknown>;
}

/** The engine's first word: which fences it has tried and found standing. */
export interface Fenced {
  /** The process was given flags, and they hold. */
  process: boolean;
  kernel: KernelReport;
  /** A fence that was offered and does not hold, with what it should forbid. The engine ends then. */
  breach?: string;
}

/** The engine's second word: its trees are open. */
export interface Opened {
  id: 0;
  disk?: "descriptor" | "pathname";
  /** A tree's folder is not the one that the boundary names: look again and start another engine. */
  replaced?: string;
}

/** Whether the kernel fence stands, or why the system offers none. */
export interface KernelReport {
  stands: boolean;
  reason?: string;
}

/** An answer; its body is the rendered text. */
export interface Response {
  id: number;
  outcome: Outcome;
  images?: readonly { mimeType: string; data: string }[];
}

/** From the engine, every so often: the calls that have shown a sign of life since the last time, or wait their turn. One that asks is known to be alive. */
export interface Pulse {
  pulse: readonly number[];
}

/** From the engine: how far a call is. */
export interface Progress {
  progress: number;
  done: number;
}

/** From the engine: a call is about to change something, or has changed this entry. */
export interface Changed {
  changed: number;
  path?: string;
}

/** From the engine, in the middle of a call: something that only the main process can have done. The body goes with it. Decision 41. */
export interface Ask {
  ask: number;
  job: string;
  header: Record<string, unknown>;
}

export type ToEngine = Opening | Request | Cancel | Finish | Told;
export type FromEngine = Fenced | Opened | Response | Pulse | Progress | Changed | Ask;

/** How often signs of life and progress are passed on, in milliseconds. At most ten times a second. */
export const BEAT = 100;

/** What a worker is given, once: to run verbs, or to help another one with its verb (`engine_crew.ts`). */
export type Hired = Hiring | { opening: Opening; jobs: SharedArrayBuffer };

export interface Hiring {
  opening: Opening;
  /** `CONTROL.PLACES` words. */
  control: SharedArrayBuffer;
  /** For frames to it. */
  mailbox: SharedArrayBuffer;
  /** Of the engine's output. */
  output: SharedArrayBuffer;
}

/** To a worker, by its mailbox. */
export type ToWorker = Request | Told;

/** From a worker to the engine's main thread; its answers it sends to the main process itself. */
export type FromWorker =
  /** A tree's folder is not the one that the boundary names, which has been told. */
  | { replaced: true }
  /** It is done with its call; sent only where `WANTED` says so. */
  | { idle: true }
  /** It waits for the main process. */
  | { asking: true }
  /** The mailbox is empty, and more is to come. */
  | { more: true };

/** Places in a worker's control memory, each of 32 bits. */
export const CONTROL = {
  /** Set by the engine: end the present call. */
  CANCEL: 0,
  /** Counted up by the worker at every safe point. */
  PULSE: 1,
  /** Set by the worker: how far it is. */
  DONE: 2,
  /** 0: the mailbox is empty; 1: a piece of a frame lies in it. */
  MAIL: 3,
  /** Bytes of that piece. */
  PIECE: 4,
  /** Set by the engine when it hands over a call, cleared by the worker once that is answered. */
  BUSY: 5,
  /** Set by the worker while its call waits for the main process. */
  ASKING: 6,
  /** Set by the engine: tell when the call is done. */
  WANTED: 7,
  /** How many there are. */
  PLACES: 8,
} as const;
