/** Entry of an engine process and of its workers. */
if ("WorkerGlobalScope" in globalThis) {
  const { runWorker } = await import("../dispatch/engine_worker.ts");
  runWorker();
} else {
  const { runEngine } = await import("../dispatch/engine.ts");
  await runEngine();
}

export {};
