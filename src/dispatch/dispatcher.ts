/**
 * The one way from a front end to a verb: checks arguments, reads the configuration afresh, keeps the engine that fits it.
 *
 * Spec: design, "One picture"; decisions 6, 40, 52, 53.
 */
import type { Boundary } from "../boundary/types.ts";
import { ConfigurationSource } from "../config/source.ts";
import type { Configuration, Launch } from "../config/types.ts";
import { Refusal } from "../refusal.ts";
import { answering, cancelled, fault, type Rendered, renderRefusal } from "../verbs/answer.ts";
import { checkArguments } from "../verbs/schema_tools.ts";
import type { EngineVerb, Fences, Form, MainVerb, Verb } from "../verbs/verb.ts";
import type { SealedOwner } from "../sealed/owner.ts";
import { Asked, openSealed } from "./asks.ts";
import { CallHung, EngineEnded, EngineProcess } from "./engine_process.ts";
import { faultLine } from "./fault_line.ts";
import { isBundle } from "./program_files.ts";
import type { CallOptions, Dispatcher, Reply } from "./types.ts";

const encoder = new TextEncoder();

/**
 * An engine that ends under a reading call is replaced and the call run again. Three, since the first may have been dead before
 * the call, unnoticed: so each call survives one death of its own. Decision 51.
 */
const TRIES = 3;

/** Engines that were replaced and still answer; a configuration that changes faster waits for them. */
const MOST_LEAVING = 3;

export interface DispatchOptions {
  /** Asked once, when a verb first needs the boundary. @throws {Refusal} */
  launch(): Launch;
  verbs: readonly Verb[];
  /** Calls that run at once; more are hired as they are needed. */
  workers: number;
  /** There is one call and no other. */
  once?: boolean;
  /** Milliseconds without a sign of life that a call is allowed. Tests make it shorter. */
  patience?: number;
  /** Tests only. */
  pathnames?: boolean;
}

/** Spec: decision 51. */
const PATIENCE = 30_000;

/** The dispatcher of a server. */
export interface ServerDispatcher extends Dispatcher {
  /**
   * Opens the boundary and starts the engine for it, so that the first call finds it ready.
   * @throws {Refusal} when the boundary cannot be opened.
   */
  start(): void;
}

/** Makes the dispatcher of a process. Without `start`, no engine is started before a verb needs one. */
export function openDispatcher(options: DispatchOptions): ServerDispatcher {
  return new MainDispatcher(options);
}

class MainDispatcher implements ServerDispatcher {
  #source: ConfigurationSource | undefined;
  #engine: EngineProcess | undefined;
  #boundary: Boundary | undefined;
  /** Engines that were replaced and still answer what they had been asked. */
  readonly #leaving = new Set<Promise<void>>();
  /** Settled when the last change that was asked for is done: one at a time, whichever engine it runs in. Spec: 2-verbs §2.8. */
  #changes: Promise<unknown> = Promise.resolve();
  /** Holds no process before something needs it. */
  #sealed: SealedOwner | undefined;

  constructor(readonly options: DispatchOptions) {}

  start() {
    this.#engineFor(this.#load().boundary, false);
  }

  async call(verb: Verb, given: unknown, form: Form, options: CallOptions = {}): Promise<Reply> {
    try {
      const args = checkArguments(verb, given, form);
      if (verb.where === "main") return await this.#here(verb, args, form);
      if (verb.where === "engine") return await this.#inTurn(verb, args, form, options);
      throw new Error(`the verb ${verb.name} is the front end's own`);
    } catch (error) {
      if (error instanceof Refusal) return toReply(renderRefusal(error, form));
      console.error(faultLine(error));
      return toReply(renderRefusal(fault(), form));
    }
  }

  get idle(): boolean {
    return this.#leaving.size === 0 && this.#engine?.idle !== false;
  }

  async close(): Promise<void> {
    this.#leave();
    await Promise.all(this.#leaving);
    this.#sealed?.close();
  }

  async #here(verb: MainVerb, args: Record<string, unknown>, form: Form): Promise<Reply> {
    const side = { configuration: () => this.#load(), fences: () => this.#fences(), verbs: this.options.verbs };
    return toReply(await answering(form, () => verb.run(args, side), (error) => console.error(faultLine(error))));
  }

  #inTurn(verb: EngineVerb, args: Record<string, unknown>, form: Form, options: CallOptions): Promise<Reply> {
    if (reads(verb)) return this.#there(verb, args, form, options);
    const change = this.#changes.then(() => {
      if (options.signal?.aborted) throw cancelled();
      return this.#there(verb, args, form, options);
    });
    this.#changes = change.catch(() => {});
    return change;
  }

  async #there(verb: EngineVerb, args: Record<string, unknown>, form: Form, options: CallOptions): Promise<Reply> {
    for (let tries = 1;; tries++) {
      const engine = await this.#engineInTurn(reads(verb));
      const asked = new Asked(this.#sealed ??= openSealed(), options.signal, this.#patience);
      const onAsk = asked.answer.bind(asked);
      try {
        // Both are sent at once: the engine answers its opening first, so the first call waits for one round trip only.
        const answer = engine.request({ verb: verb.name, args, form, ...options, onAsk });
        answer.catch(() => {});
        const { breach } = await engine.fences;
        if (breach !== undefined) throw breached(breach);
        const { replaced } = await engine.opened;
        if (replaced === undefined) return await answer;
        this.#leave();
        if (tries === TRIES) throw new Refusal("not-found", replaced);
      } catch (error) {
        if (error instanceof CallHung) throw hung(this.#patience, error.changed);
        if (!(error instanceof EngineEnded)) throw error;
        if (error.changed) throw interrupted(error.changed);
        if (tries === TRIES) throw died();
      }
    }
  }

  get #patience(): number {
    return this.options.patience ?? PATIENCE;
  }

  /** Read afresh for every call. */
  #load(): Configuration {
    this.#source ??= new ConfigurationSource(this.options.launch());
    return this.#source.load();
  }

  /** The engine for the boundary of this moment. Waits where too many that were replaced are still at work. */
  async #engineInTurn(reads: boolean): Promise<EngineProcess> {
    for (;;) {
      const { boundary } = this.#load();
      if (boundary === this.#boundary || this.#leaving.size < MOST_LEAVING) return this.#engineFor(boundary, reads);
      await Promise.race(this.#leaving);
    }
  }

  /** The engine for a boundary: the present one, or a new one where what may be touched has changed. */
  #engineFor(boundary: Boundary, reads: boolean): EngineProcess {
    if (this.#engine && !this.#engine.ended && this.#boundary === boundary) return this.#engine;
    this.#leave();
    this.#boundary = boundary;
    const { once, pathnames } = this.options;
    // A compiled program's engine has no flags of its own: there only a worker can be given a list. And the runtime translates the
    // sources when it loads them, which it cannot on a main thread behind the kernel fence (it looks up its stack's limits in /proc).
    const workers = once && reads && isBundle() && !Deno.build.standalone ? 0 : this.options.workers;
    return this.#engine = new EngineProcess(boundary, { workers, pathnames, patience: this.#patience });
  }

  #leave() {
    if (!this.#engine) return;
    const leaving: Promise<void> = this.#engine.close().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    this.#engine = undefined;
  }

  /** Which fences stand: what the engine for the boundary of this moment found when it tried them. */
  async #fences(): Promise<Fences> {
    const { process, kernel, breach } = await this.#engineFor(this.#load().boundary, true).fences.catch((error) => {
      throw error instanceof CallHung ? hung(this.#patience) : error instanceof EngineEnded ? died() : error;
    });
    if (breach !== undefined) throw breached(breach);
    return {
      verbs: true,
      process,
      ...process ? {} : { process_reason: "a compiled program can give its engine no permission flags" },
      kernel: kernel.stands,
      ...kernel.stands ? {} : { kernel_reason: kernel.reason ?? "it was not entered" },
    };
  }
}

function reads(verb: EngineVerb): boolean {
  return verb.tool?.readOnly === true;
}

function died(): Refusal {
  return new Refusal(
    "fault",
    "the process that was to do the work ended again and again; nothing was changed by this call",
  );
}

function hung(patience: number, changed?: readonly string[]): Refusal {
  const ended = `the call showed no sign of life for ${Math.round(patience / 1000)} s and was ended`;
  if (changed) return new Refusal("timed-out", `${ended}; ${done(changed)}`, undefined, { changed });
  return new Refusal("timed-out", `${ended}; nothing was changed`);
}

/** A change is not run again: nobody knows how far it had come beyond what it told. */
function interrupted(changed: readonly string[]): Refusal {
  return new Refusal(
    "fault",
    `the process that did the work ended in the middle of a change; ${done(changed)}`,
    undefined,
    { changed },
  );
}

function done(changed: readonly string[]): string {
  const known = changed.length === 0 ? "what was changed by then is not known" : `changed were ${changed.join(", ")}`;
  return `${known}; each file is whole, as it was or as it was to be; look before you go on`;
}

function breached(what: string): Refusal {
  return new Refusal("fault", `${what}; Fettler serves no path behind a fence that is broken`);
}

function toReply({ outcome, text, images }: Rendered): Reply {
  return { outcome, body: encoder.encode(text), images };
}
