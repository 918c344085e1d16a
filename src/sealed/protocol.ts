/**
 * What a sealed process and its owner say to each other, in frames.
 *
 * The process speaks first, once, about its seal. Then each request is answered by a frame that says that it
 * is begun, any number of progress frames, and one answer.
 */

/** The first frame of a sealed process. */
export interface Sealed {
  id: 0;
  /** A kernel fence was entered as well. */
  kernel: boolean;
  /** Something that the seal should forbid and does not; the process ends behind this frame. */
  breach?: string;
}

/** A request; its body is the bytes to work on. */
export interface SealedRequest {
  /** From 1, never used twice in one process. */
  id: number;
  /** A name in the registry of `mode.ts`; nothing else of a request chooses what runs. */
  job: string;
  header: Record<string, unknown>;
}

/** The request is whole and its job begins; a sign of life with what the job wants known; its answer. Bytes in the body. */
export type SealedResponse =
  | { id: number; begun: true }
  | { id: number; progress: Record<string, unknown> }
  | { id: number; answer: Record<string, unknown> };
