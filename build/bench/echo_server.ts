/**
 * An MCP server that does nothing: it answers every call with the text of its first argument, from one process and without waiting for
 * anything but its input. What a client takes with it is the client's own share.
 */
const text = Deno.args[0];
const decoder = new TextDecoder();
const encoder = new TextEncoder();
const buffer = new Uint8Array(1 << 16);

const RESULTS: Readonly<Record<string, (params: { protocolVersion?: string }) => unknown>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "echo", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [{ name: "read", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text }] }),
};

let rest = "";
for (let count = Deno.stdin.readSync(buffer); count !== null; count = Deno.stdin.readSync(buffer)) {
  const lines = (rest + decoder.decode(buffer.subarray(0, count), { stream: true })).split("\n");
  rest = lines.pop()!;
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const bytes = encoder.encode(JSON.stringify({ jsonrpc: "2.0", id, result: RESULTS[method](params) }) + "\n");
    for (let done = 0; done < bytes.length;) done += Deno.stdout.writeSync(bytes.subarray(done));
  }
}
