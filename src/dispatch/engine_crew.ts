/**
 * Threads that help one call: a thread that runs a long verb hires them, hands them jobs in shared memory and takes back what they found.
 *
 * They look, they do not decide: what a job's result means for the answer is the verb's business, and a result that does not come
 * costs only time, since the verb can do every job itself. Kept for the thread's next long call. Hiring blocks for 14 ms (measured).
 */
import type { Assist, Crew } from "../verbs/crew.ts";
import type { Call } from "../verbs/verb.ts";
import { workOf } from "../verbs/work.ts";
import { faultLine } from "./fault_line.ts";
import { openSide } from "./engine_verbs.ts";
import type { Hired, Opening } from "./protocol.ts";
import { workerOptions } from "./worker_options.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Jobs that one helper has at once: enough to keep it going while the owner is at a job of its own. */
const SLOTS = 4;
/** Bytes of a job or of its result. */
const ROOM = 64 * 1024;
/** Words of a slot, and what its first one says. */
const WORDS = 2;
const STATE = { FREE: 0, GIVEN: 1, DONE: 2 } as const;
/** The word behind the slots': whether the helper has opened its trees. */
const READY = SLOTS * WORDS;
const HEAD = (READY + 1) * 4;

/** After so many milliseconds without a result the owner does the job itself, and gives that helper no other in this call. */
const PATIENCE = 1000;
/** Milliseconds between two hirings: one that comes early enough makes the next one needless. */
const BETWEEN = 15;
/** More threads than this wait for each other in the kernel more than they help. */
const MOST = 7;

/** One helper, as its owner sees it. */
class Helper {
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  /** The slot for the next job; both sides go round in the same order. */
  #next = 0;
  /** Whose job each slot holds. */
  readonly #calls: (object | undefined)[] = [];
  /** The call whose task it was told. */
  told?: object;
  /** It did not answer in time in this call. */
  slow?: object;

  constructor(opening: Opening) {
    const shared = new SharedArrayBuffer(HEAD + SLOTS * ROOM);
    this.#words = new Int32Array(shared, 0, READY + 1);
    this.#bytes = new Uint8Array(shared, HEAD);
    const worker = new Worker(opening.module!, workerOptions(opening));
    worker.onerror = (event) => event.preventDefault();
    worker.postMessage({ opening, jobs: shared } satisfies Hired);
  }

  get ready(): boolean {
    return Atomics.load(this.#words, READY) !== 0;
  }

  /** Whether it can take a job of this call now. A result that an earlier call did not fetch is dropped. */
  freeFor(call: object): boolean {
    const state = Atomics.load(this.#words, this.#next * WORDS);
    return state === STATE.FREE || state === STATE.DONE && this.#calls[this.#next] !== call;
  }

  /** Hands a job over. Returns its slot; `undefined` when it has no room. */
  give(call: object, job: string): number | undefined {
    const { read, written } = encoder.encodeInto(job, this.#room(this.#next));
    if (read < job.length) return undefined;
    const slot = this.#next;
    this.#next = (slot + 1) % SLOTS;
    this.#calls[slot] = call;
    Atomics.store(this.#words, slot * WORDS + 1, written);
    Atomics.store(this.#words, slot * WORDS, STATE.GIVEN);
    Atomics.notify(this.#words, slot * WORDS);
    return slot;
  }

  /** The result of a slot's job, waited for so long; `undefined` when it is not there. */
  result(slot: number, wait: number): Uint8Array | undefined {
    const at = slot * WORDS;
    if (Atomics.load(this.#words, at) === STATE.GIVEN) {
      if (wait === 0 || Atomics.wait(this.#words, at, STATE.GIVEN, wait) === "timed-out") return undefined;
    }
    const result = this.#room(slot).slice(0, Atomics.load(this.#words, at + 1));
    Atomics.store(this.#words, at, STATE.FREE);
    return result;
  }

  #room(slot: number): Uint8Array {
    return this.#bytes.subarray(slot * ROOM, (slot + 1) * ROOM);
  }
}

/** The helpers of this thread. */
const helpers: Helper[] = [];
let hiredAt = 0;

/** A crew for one call. There is at most one call in a thread. */
export function openCrew(opening: Opening, verb: string, task: unknown): Crew | undefined {
  const most = Math.min(MOST, navigator.hardwareConcurrency - 1);
  if (most < 1) return undefined;
  const call = {};
  const first = JSON.stringify({ verb, task });
  if (first.length > ROOM / 8) return undefined;
  const hire = () => {
    helpers.push(new Helper(opening));
    hiredAt = performance.now();
  };
  if (helpers.length === 0) hire();
  const isFree = (helper: Helper) => helper.ready && helper.slow !== call && helper.freeFor(call);
  const tickets: { helper: Helper; slot: number }[] = [];
  return {
    room() {
      if (helpers.some((helper) => isFree(helper))) return true;
      const all = helpers.every((helper) => helper.ready);
      if (all && helpers.length < most && performance.now() - hiredAt > BETWEEN) hire();
      return false;
    },
    give(job) {
      const helper = helpers.find(isFree);
      const slot = helper?.give(call, JSON.stringify(helper.told === call ? { job } : { verb, task, job }));
      if (!helper || slot === undefined) return undefined;
      helper.told = call;
      return tickets.push({ helper, slot }) - 1;
    },
    result(ticket, wait) {
      const { helper, slot } = tickets[ticket];
      const result = helper.slow === call ? undefined : helper.result(slot, wait ? PATIENCE : 0);
      if (!result) {
        if (wait) helper.slow = call;
        return undefined;
      }
      return result;
    },
  };
}

/** Runs a helper, for as long as the process lives. What goes wrong with a job is an empty result. */
export async function runAssistant({ opening, jobs }: Extract<Hired, { jobs: SharedArrayBuffer }>): Promise<void> {
  const words = new Int32Array(jobs, 0, READY + 1);
  const bytes = new Uint8Array(jobs, HEAD);
  const { side } = await openSide(opening);
  if (!side) return;
  Atomics.store(words, READY, 1);
  let assist: Assist | undefined;
  for (let slot = 0;; slot = (slot + 1) % SLOTS) {
    const at = slot * WORDS;
    for (let state = Atomics.load(words, at); state !== STATE.GIVEN; state = Atomics.load(words, at)) {
      Atomics.wait(words, at, state);
    }
    const room = bytes.subarray(slot * ROOM, (slot + 1) * ROOM);
    let result = new Uint8Array();
    try {
      const { verb, task, job } = JSON.parse(decoder.decode(room.slice(0, Atomics.load(words, at + 1))));
      if (verb !== undefined) assist = (await workOf(verb))?.assist?.(task, { ...side, call: SILENT });
      result = assist?.(job) ?? result;
    } catch (error) {
      console.error(faultLine(error));
    }
    room.set(result.subarray(0, ROOM));
    Atomics.store(words, at + 1, result.length);
    Atomics.store(words, at, STATE.DONE);
    Atomics.notify(words, at);
  }
}

/** A helper's own call: whoever gave the job shows the signs of life. */
const SILENT: Call = {
  pulse() {},
  progress() {},
  changed(): never {
    throw new Error("a helper changes nothing");
  },
  ask(): never {
    throw new Error("a helper asks nothing");
  },
};
