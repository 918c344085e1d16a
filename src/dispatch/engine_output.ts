/** Standard output of the engine process, shared by its threads: whoever has a frame to send writes it, and frames never mix. */
import { encodeFrame } from "../frames.ts";
import type { FromEngine } from "./protocol.ts";

export class EngineOutput {
  readonly #lock: Int32Array;

  /** @param memory Of the thread that this one shares the output with; without it, new. */
  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.#lock = new Int32Array(memory);
  }

  /** Writes a frame whole. A main process that is gone ends this thread; the engine's main thread sees the end of its input. */
  send(header: FromEngine, body?: Uint8Array) {
    let frame = encodeFrame(header, body);
    while (Atomics.compareExchange(this.#lock, 0, 0, 1) !== 0) Atomics.wait(this.#lock, 0, 1);
    try {
      while (frame.length > 0) frame = frame.subarray(Deno.stdout.writeSync(frame));
    } catch {
      Deno.exit(0);
    } finally {
      Atomics.store(this.#lock, 0, 0);
      Atomics.notify(this.#lock, 0, 1);
    }
  }
}
