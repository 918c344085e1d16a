/**
 * The engine process: enters the kernel fence, starts workers inside it, and from then on moves frames.
 *
 * So it always answers: a cancel arrives, signs of life go out. Whatever touches a tree runs in a worker, which inherits the kernel
 * fence from this thread; but what is brief runs on the spot. Started by `engine_process.ts` with permission flags made from the boundary. Decisions 50 and 51.
 */
import { enterLandlock } from "../fence/landlock_linux.ts";
import { probeProcessFence } from "../fence/probe.ts";
import { type Frame, FrameReader } from "../frames.ts";
import { EngineOutput } from "./engine_output.ts";
import type { Fenced, Opening, ToEngine } from "./protocol.ts";

/** Runs the engine on standard input and output. Ends the process itself. */
export async function runEngine(): Promise<never> {
  // The terminal's interrupt goes to the whole group; the main process decides what it means.
  ignoreInterrupts();
  const input = new EngineInput();
  const output = new EngineOutput();
  const opening = input.next()?.header as Opening | undefined ?? Deno.exit(0);
  // A program that is one file has one set of permissions for all its processes; this one needs but a part of it.
  if (!opening.fenced) { for (const name of UNUSED) Deno.permissions.revokeSync({ name }); }
  // The sources are translated as they are loaded, for which the runtime reads /proc: before the fence. A bundle is loaded behind it.
  if (import.meta.url.endsWith(".ts")) {
    await Promise.all([
      import("./engine_hands.ts"),
      import("./engine_inline.ts"),
      import("../verbs/work.ts").then(({ loadWork }) => loadWork()),
      import("../disk/descriptor_linux.ts"),
      import("../disk/pathname.ts"),
    ]);
  }
  opening.module = Deno.mainModule;
  const fenced = fence(opening);
  output.send(fenced);
  if (fenced.breach !== undefined) Deno.exit(0);
  // Loaded only now: what waits for the fences' word need not wait for the verbs.
  if (opening.workers === 0) {
    const { runInline } = await import("./engine_inline.ts");
    await runInline(opening, output, () => input.next());
    Deno.exit(0);
  }
  const { Engine } = await import("./engine_hands.ts");
  const { openBrief } = await import("./engine_inline.ts");
  const runIfBrief = await openBrief(opening, output);
  const engine = new Engine(opening, output);
  const take = async (frames: Frame<ToEngine>[] | undefined): Promise<void> => {
    // Without a farewell the main process is gone, and with it whoever would read an answer.
    if (!frames) return engine.finishing ? await new Promise<never>(() => {}) : Deno.exit(0);
    for (const frame of frames) {
      if (!(frames.length === 1 && engine.idle && await runIfBrief?.(frame))) engine.take(frame);
    }
  };
  const first = input.some(false).then(take);
  // A brief first call has its answer before a worker could be hired: so it is waited for, but not for long.
  if (runIfBrief) await Promise.race([first, within(FIRST)]);
  engine.prepare();
  await first;
  for (;;) await take(await input.some(engine.idle));
}

/** Milliseconds that a first call is waited for. */
const FIRST = 200;

/** Settled after so many milliseconds, without the runtime's timers, which take 4 to load (measured). */
function within(milliseconds: number): Promise<unknown> {
  return Promise.resolve(Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds).value);
}

/** What no verb needs. Writing cannot be given up: a worker gets no more than its process has. */
const UNUSED = ["net", "run", "env", "sys", "import"] as const;

/** What the main process sends. */
class EngineInput {
  readonly #reader = new FrameReader<ToEngine>();
  readonly #piece = new Uint8Array(64 * 1024);
  #frames: Frame<ToEngine>[] = [];

  /** The next frame, waited for; `undefined` at the end. */
  next(): Frame<ToEngine> | undefined {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame) return frame;
      const n = Deno.stdin.readSync(this.#piece);
      if (n === null) return undefined;
      this.#frames = this.#reader.push(this.#piece.slice(0, n));
    }
  }

  /**
   * What is there, or comes next; `undefined` at the end.
   *
   * @param idle Nothing else goes on, so the thread may stop until it comes: the runtime reads otherwise by another thread, whose two
   * wake-ups were a sixth of a short call's time (measured).
   */
  async some(idle: boolean): Promise<Frame<ToEngine>[] | undefined> {
    if (this.#frames.length > 0) return this.#frames.splice(0);
    const n = idle ? Deno.stdin.readSync(this.#piece) : await Deno.stdin.read(this.#piece);
    return n === null ? undefined : this.#reader.push(this.#piece.slice(0, n));
  }
}

/** Tries the process fence, then enters the kernel fence, in this order: the one must not seem to hold for the other's sake. */
function fence({ fenced: process, read, write, program, libc }: Opening): Fenced {
  const open = process ? probeProcessFence([...read, ...program], write) : undefined;
  if (open !== undefined) {
    return { process: false, kernel: { stands: false }, breach: `the process fence does not hold: it allows ${open}` };
  }
  if (libc === undefined) return { process, kernel: { stands: false, reason: "this system has no such fence" } };
  const kernel = enterLandlock(libc, { read, write, files: [libc, ...program, "/dev/urandom"] });
  switch (kernel.state) {
    case "stands":
      return { process, kernel: { stands: true } };
    case "absent":
      return { process, kernel: { stands: false, reason: kernel.reason } };
    case "broken":
      return { process, kernel: { stands: false }, breach: `the kernel fence does not hold: ${kernel.reason}` };
  }
}

function ignoreInterrupts() {
  for (
    const signal of Deno.build.os === "windows"
      ? ["SIGINT", "SIGBREAK"] as const
      : ["SIGINT", "SIGTERM", "SIGHUP"] as const
  ) {
    Deno.addSignalListener(signal, () => {});
  }
}
