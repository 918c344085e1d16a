/** The one way from a front end to a verb. */
import type { Outcome } from "../refusal.ts";
import type { Form, Verb } from "../verbs/verb.ts";

/** A finished answer, ready to be written. */
export interface Reply {
  outcome: Outcome;
  /** UTF-8, in the form that was asked for. `text` and `json` end in a newline, `tool` does not. */
  body: Uint8Array;
  /** Native images, base64, of a `tool` answer. */
  images?: readonly { mimeType: string; data: string }[];
}

/** What a caller may want of a call beside its answer. */
export interface CallOptions {
  /** Ends the call at its next safe point. It is answered all the same, with `refused`. */
  signal?: AbortSignal;
  /** Told now and then, at most ten times a second, how many files or the like are done. */
  onProgress?(done: number): void;
}

/** Runs verbs where they belong: reads the configuration, keeps the fence, owns the engine process. */
export interface Dispatcher {
  /**
   * Runs one verb. Never rejects: a refusal and a fault are replies.
   *
   * @param args Checked against the verb's schema here, before anything else; a front end may pass what it was given.
   */
  call(verb: Verb, args: unknown, form: Form, options?: CallOptions): Promise<Reply>;
  /** Nothing is under way that this process would have to attend to: no call, no engine that opens its trees or is to end. */
  readonly idle: boolean;
  /** Ends the engine once running calls are answered. */
  close(): Promise<void>;
}
