/** A program that serves the verbs of the tests on standard input and output. */
import { serve } from "../../src/front/mcp/server.ts";
import { fakeDispatcher, VERBS } from "./fakes.ts";

await serve({ dispatcher: fakeDispatcher(), verbs: VERBS, version: "1.2.3", input: Deno.stdin, output: Deno.stdout });
Deno.exit(0);
