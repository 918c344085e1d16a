/**
 * Fettler: file access for an assistant, inside declared trees and nowhere else.
 *
 * Picks what this process is: the command line, the MCP server, the engine that one of these started, a worker of the engine, or
 * the sealed process.
 */
import { ENGINE_MODE } from "./src/dispatch/protocol.ts";
import { SEALED_MODE } from "./src/sealed/name.ts";

if ("WorkerGlobalScope" in globalThis) {
  const { runWorker } = await import("./src/dispatch/engine_worker.ts");
  runWorker();
} else if (Deno.args[0] === ENGINE_MODE) {
  const { runEngine } = await import("./src/dispatch/engine.ts");
  await runEngine();
} else if (Deno.args[0] === SEALED_MODE) {
  const { enterNothing } = await import("./src/fence/landlock_linux.ts");
  const { makeFilesReadOnly } = await import("./src/fence/descriptors_linux.ts");
  const { runSealed } = await import("./src/sealed/mode.ts");
  const libc = Deno.args[1];
  const enter = (libc: string) => {
    makeFilesReadOnly(libc);
    return enterNothing(libc);
  };
  await runSealed(libc === undefined ? undefined : () => enter(libc));
} else {
  giveUp("ffi");
  giveUp("net");
  giveUp("import");
  const { main } = await import("./src/front/main.ts");
  Deno.exit(await main(Deno.args));
}

/** The engine alone loads a library, and nobody connects; the executable has one set of permissions for both. */
function giveUp(name: "ffi" | "net" | "import") {
  Deno.permissions.revokeSync({ name });
}
