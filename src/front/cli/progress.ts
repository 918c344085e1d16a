/** Progress of long work on a terminal: one line on standard error, gone when the answer comes. Spec: 2-verbs §2.4, decision 28. */

/** Work that is done sooner shows nothing. Milliseconds. */
const QUIET = 500;

export class ProgressMeter {
  readonly #begun = performance.now();
  #shown = false;

  /** Shows how many files are done. */
  show(done: number) {
    if (performance.now() - this.#begun < QUIET) return;
    this.#shown = true;
    this.#write(`\r${done} files\x1b[K`);
  }

  clear() {
    if (this.#shown) this.#write("\r\x1b[K");
  }

  #write(text: string) {
    Deno.stderr.writeSync(new TextEncoder().encode(text));
  }
}
