/** Entry of an engine process and of its workers. */
import type { Hired } from "../dispatch/protocol.ts";

if ("WorkerGlobalScope" in globalThis) {
  // The one message: waited for before the module that takes it is there.
  const hired = new Promise<Hired>((resolve) => {
    addEventListener("message", (event) => resolve((event as MessageEvent<Hired>).data), { once: true });
  });
  import("../dispatch/engine_worker.ts").then(async ({ work }) => work(await hired));
} else {
  const { runEngine } = await import("../dispatch/engine.ts");
  await runEngine();
}
