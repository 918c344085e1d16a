/**
 * Fettler: file access for an assistant, inside declared trees and nowhere else.
 *
 * Picks what this process is: the command line and the MCP server, the engine that one of these started, a worker of the engine, or
 * the sealed process. The portable build, which starts each of them by a module of its own, does not come through here.
 */
import { ENGINE_MODE } from "./src/dispatch/protocol.ts";
import { SEALED_MODE } from "./src/sealed/name.ts";

if ("WorkerGlobalScope" in globalThis || Deno.args[0] === ENGINE_MODE) await import("./src/entries/engine.ts");
else if (Deno.args[0] === SEALED_MODE) await import("./src/entries/sealed.ts");
else await import("./src/entries/front.ts");
