/** Entry of an engine process and of its workers. */
import type { Hiring } from "../dispatch/protocol.ts";

if ("WorkerGlobalScope" in globalThis) {
  // The one message: waited for before the module that takes it is there.
  const hired = new Promise<Hiring>((resolve) => {
    addEventListener("message", (event) => resolve((event as MessageEvent<Hiring>).data), { once: true });
  });
  import("../dispatch/engine_worker.ts").then(async ({ runWorker }) => runWorker(await hired));
} else {
  const { runEngine } = await import("../dispatch/engine.ts");
  await runEngine();
}
