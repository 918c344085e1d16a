/** Help from other threads in a long call. */

/** Does one job of a task. The result is at most 64 KiB; an empty one says that it could not be done. */
export type Assist = (job: unknown) => Uint8Array<ArrayBuffer>;

/** Threads that help a call. */
export interface Crew {
  /** Whether somebody has time for a job. */
  room(): boolean;
  /** Hands a job over, as JSON. Returns a ticket for its result; `undefined` when nobody has time, or it is too large. */
  give(job: unknown): number | undefined;
  /**
   * The result of a job, once. With `wait` it is waited for, for a while. `undefined` when there is none (yet): after a wait, do the
   * job yourself.
   */
  result(ticket: number, wait: boolean): Uint8Array | undefined;
}
