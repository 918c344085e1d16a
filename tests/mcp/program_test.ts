/** The server as a process of its own, with the official client and with bytes typed by hand. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
// @ts-types="@mcp/client/index"
import { Client } from "@mcp/client/index.js";
// @ts-types="@mcp/client/stdio"
import { StdioClientTransport } from "@mcp/client/stdio.js";
import { PIXEL } from "./fakes.ts";

const PROGRAM = fileURLToPath(new URL("program.ts", import.meta.url));
const ARGS = ["run", "--no-prompt", "--no-lock", "--allow-all", PROGRAM];

async function withClient(act: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: "test", version: "1" }, { capabilities: { roots: {} } });
  await client.connect(new StdioClientTransport({ command: Deno.execPath(), args: ARGS }));
  try {
    await act(client);
  } finally {
    await client.close();
  }
}

/** Types bytes, closes the input and gives what came back. */
async function type(chunks: Iterable<Uint8Array<ArrayBuffer>>) {
  const child = new Deno.Command(Deno.execPath(), { args: ARGS, stdin: "piped", stdout: "piped", stderr: "piped" })
    .spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  for (const chunk of chunks) await writer.write(chunk);
  await writer.close();
  const { code, stdout, stderr } = await output;
  const text = new TextDecoder().decode(stdout);
  assert.ok(text === "" || text.endsWith("\n"));
  return {
    code,
    stderr: new TextDecoder().decode(stderr),
    messages: text.split("\n").slice(0, -1).map((line) => JSON.parse(line)),
  };
}

const bytes = (...messages: unknown[]) =>
  new TextEncoder().encode(messages.map((m) => (typeof m === "string" ? m : JSON.stringify(m)) + "\n").join(""));
const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });

Deno.test("the official client lists and calls", async () => {
  await withClient(async (client) => {
    assert.deepEqual(client.getServerVersion(), { name: "fettler", version: "1.2.3" });
    assert.match(client.getInstructions() ?? "", /call roots first/);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ["echo", "sleep", "image", "refuse", "broken"]);
    const text = "--with=ünï\u0000日本";
    const echoed = await client.callTool({ name: "echo", arguments: { paths: ["-"], text } });
    assert.deepEqual(echoed.content, [{ type: "text", text }]);
    const shown = await client.callTool({ name: "image", arguments: {} });
    assert.deepEqual((shown.content as unknown[])[1], { type: "image", mimeType: "image/png", data: PIXEL });
    assert.equal((await client.callTool({ name: "refuse", arguments: {} })).isError, true);
    assert.equal((await client.callTool({ name: "nothing", arguments: {} })).isError, true);
    await client.ping();
  });
});

Deno.test("the official client's calls run side by side and can be cancelled", async () => {
  await withClient(async (client) => {
    const order: string[] = [];
    const slow = client.callTool({ name: "sleep", arguments: { ms: 300 } }).then(() => order.push("slow"));
    const controller = new AbortController();
    const cancelled = client.callTool({ name: "sleep", arguments: { ms: 300 } }, undefined, {
      signal: controller.signal,
    });
    const fast = client.callTool({ name: "sleep", arguments: { ms: 1 } }).then(() => order.push("fast"));
    await fast;
    controller.abort("enough");
    await assert.rejects(cancelled);
    await slow;
    assert.deepEqual(order, ["fast", "slow"]);
  });
});

Deno.test("scenario 166: 25 pings, 25 whole lines; what is no message is answered; the server lives", async () => {
  const pings = Array.from({ length: 25 }, (_, i) => ping(i));
  const { code, stderr, messages } = await type([
    bytes(...pings, "{", "[]", { ...ping(99), method: "no/such" }, ping(100)),
  ]);
  const answered = messages.filter(({ result }) => result).map(({ id }) => id);
  assert.deepEqual(answered, [...pings.map(({ id }) => id), 100]);
  const declined = messages.filter(({ error }) => error).map(({ id, error }) => [id, error.code]);
  assert.deepEqual(declined, [[null, -32700], [null, -32600], [99, -32601]]);
  assert.deepEqual([code, stderr], [0, ""]);
});

Deno.test("a message of 100 MB is dropped and answered; one of 60 MB is served", async () => {
  function* message(size: number) {
    yield new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"');
    const piece = new Uint8Array(1024 * 1024).fill(0x61);
    for (let i = 0; i < size; i++) yield piece;
    yield new TextEncoder().encode('"}}\n');
  }
  const { code, messages } = await type([...message(100), ...message(60), bytes(ping(2))]);
  assert.deepEqual(messages.map(({ id, error }) => [id, error?.code]), [[null, -32600], [1, undefined], [
    2,
    undefined,
  ]]);
  assert.equal(code, 0);
});

Deno.test("scenario 167: at the end of input a slow call is still answered, then the exit is 0", async () => {
  const sleep = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "sleep", arguments: { ms: 300 } } };
  const { code, messages } = await type([bytes(sleep)]);
  assert.deepEqual(messages.map(({ id, result }) => [id, result.isError]), [[1, undefined]]);
  assert.equal(code, 0);
});

Deno.test("nothing typed: nothing said, exit 0", async () => {
  assert.deepEqual(await type([]), { code: 0, stderr: "", messages: [] });
});

Deno.test("a client that closes its end of the pipe ends the server quietly", async () => {
  const child = new Deno.Command(Deno.execPath(), { args: ARGS, stdin: "piped", stdout: "piped", stderr: "piped" })
    .spawn();
  await child.stdout.cancel();
  const writer = child.stdin.getWriter();
  await writer.write(bytes(ping(1)));
  const { code } = await child.status;
  assert.equal(code, 0);
  assert.equal(await new Response(child.stderr).text(), "");
  await writer.close().catch(() => {});
});
