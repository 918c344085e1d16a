/**
 * Fettler: file access for an assistant, inside declared trees and nowhere else.
 *
 * Picks what this process is: the command line, the MCP server, or the engine that one of these started.
 */
import { ENGINE_MODE } from "./src/dispatch/protocol.ts";

if (Deno.args[0] === ENGINE_MODE) {
  const { runEngine } = await import("./src/dispatch/engine.ts");
  await runEngine();
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
