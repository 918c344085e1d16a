import assert from "node:assert/strict";
import fc from "fast-check";
import { serve } from "../../src/front/mcp/server.ts";
import { fakeDispatcher, Input, Output, PIXEL, VERBS } from "./fakes.ts";

function start(verbs = VERBS) {
  const input = new Input(), output = new Output(), dispatcher = fakeDispatcher();
  const done = serve({ dispatcher, verbs, version: "1.2.3", input, output });
  let id = 0;
  const ask = async (method: string, params?: unknown) => {
    const own = `r${++id}`;
    input.send({ jsonrpc: "2.0", id: own, method, params });
    for (let n = 1;; n++) {
      const found = (await output.first(n)).find((message) => message.id === own);
      if (found) return found;
    }
  };
  return { input, output, dispatcher, done, ask };
}

/** One request, its answer, the end. */
async function one(method: string, params?: unknown) {
  const server = start();
  const answer = await server.ask(method, params);
  server.input.end();
  await server.done;
  return answer;
}

const call = (name: string, args?: unknown) => one("tools/call", { name, arguments: args });

Deno.test("initialize: the client's version when known, else our newest", async () => {
  for (
    const [asked, answered] of [
      ["2024-11-05", "2024-11-05"],
      ["2025-03-26", "2025-03-26"],
      ["2025-06-18", "2025-06-18"],
      ["2025-11-25", "2025-11-25"],
      ["2024-10-07", "2025-11-25"],
      ["2099-01-01", "2025-11-25"],
      [undefined, "2025-11-25"],
      [5, "2025-11-25"],
    ]
  ) {
    const { result } = await one("initialize", { protocolVersion: asked, capabilities: { roots: {} }, clientInfo: {} });
    assert.equal(result.protocolVersion, answered);
    assert.deepEqual(result.serverInfo, { name: "fettler", version: "1.2.3" });
    assert.deepEqual(result.capabilities, { tools: {} });
  }
  assert.equal((await one("initialize")).result.protocolVersion, "2025-11-25");
});

Deno.test("scenario 165: instructions say no working folder, call roots first", async () => {
  const { instructions } = (await one("initialize", { protocolVersion: "2025-06-18" })).result;
  for (
    const words of [/no working folder/, /call roots first/, /name:path/, /expect/, /execute/, /next call/, /refusal/]
  ) {
    assert.match(instructions, words);
  }
  assert.ok(instructions.length < 1200);
});

Deno.test("tools/list: verbs with a tool, hints, no more", async () => {
  const { tools } = (await one("tools/list")).result;
  assert.deepEqual(tools.map((tool: { name: string }) => tool.name), ["echo", "sleep", "image", "refuse", "broken"]);
  assert.deepEqual(tools[3], {
    name: "refuse",
    description: "Declines.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  });
  assert.equal(tools[0].inputSchema.required[0], "paths");
});

Deno.test("tools/call: the dispatcher's text, with what a tool call gets by default", async () => {
  const { result } = await call("echo", { paths: ["--limit=5", "-"] });
  assert.deepEqual(result, {
    content: [{
      type: "text",
      text: JSON.stringify({ paths: ["--limit=5", "-"], limit: 10, numbered: true, form: "tool" }),
    }],
  });
  const stated = await call("echo", { paths: ["a"], numbered: false });
  assert.equal(JSON.parse(stated.result.content[0].text).numbered, false);
});

Deno.test("scenario 165: text lands byte-exact, before initialize as well", async () => {
  const text = "\uFEFFÄ日本語🎉 \u2028\u0000\r\n--dashes</script>&\u00a0";
  assert.equal((await call("echo", { paths: ["a"], text })).result.content[0].text, text);
});

Deno.test("an image is an image part beside its text", async () => {
  assert.deepEqual((await call("image")).result, {
    content: [{ type: "text", text: "p.png  image/png" }, { type: "image", mimeType: "image/png", data: PIXEL }],
  });
});

Deno.test("scenario 163: a refusal is an error result", async () => {
  assert.deepEqual((await call("refuse")).result, {
    content: [{ type: "text", text: "denied: the system declines (a/b.txt)" }],
    isError: true,
  });
});

Deno.test("scenario 162: unknown, missing and mistyped arguments are results of outcome invalid", async () => {
  for (
    const [args, text] of [
      [{ paths: ["a"], limt: 1 }, 'invalid: unknown argument "limt", did you mean "limit"?'],
      [undefined, 'invalid: missing argument "paths"'],
      [{ paths: "a" }, 'invalid: "paths" must be a list, not text'],
      ["--paths a", "invalid: the arguments must be one object"],
      [[1], "invalid: the arguments must be one object"],
    ]
  ) {
    assert.deepEqual((await call("echo", args)).result, { content: [{ type: "text", text }], isError: true });
  }
});

Deno.test("scenario 166: an unknown tool is a result, an unknown method an error", async () => {
  const text = async (name: string) => (await call(name)).result;
  assert.deepEqual(await text("ecko"), {
    content: [{ type: "text", text: 'invalid: unknown tool "ecko"; did you mean echo?' }],
    isError: true,
  });
  assert.match((await text("setup")).content[0].text, /^invalid: unknown tool "setup"; there are echo, sleep,/);
  assert.match((await text("x\n".repeat(999))).content[0].text, /^invalid: unknown tool "(x\\n){40}…"; there are/);
  for (
    const method of [
      "resources/list",
      "prompts/get",
      "logging/setLevel",
      "tasks/list",
      "server/discover",
      "",
      "toString",
    ]
  ) {
    assert.equal((await one(method)).error.code, -32601, method);
  }
  for (const params of [undefined, {}, { name: 5 }, { arguments: {} }]) {
    assert.deepEqual((await one("tools/call", params)).error, {
      code: -32602,
      message: "tools/call needs the name of a tool",
    });
  }
  assert.deepEqual((await one("ping")).result, {});
});

Deno.test("our own defect tells nothing but that it is one", async () => {
  const written: unknown[] = [];
  const { error } = console;
  console.error = (...words: unknown[]) => written.push(...words);
  try {
    assert.deepEqual((await call("broken")).error, {
      code: -32603,
      message: "a defect of Fettler's; the server goes on",
    });
  } finally {
    console.error = error;
  }
  assert.match(String(written), /SECRET/);
});

Deno.test("a call that asks to be run as a task is run as any other", async () => {
  const { result } = await one("tools/call", { name: "image", arguments: {}, task: { ttl: 1000 } });
  assert.equal(result.content.length, 2);
});

Deno.test("reading never waits for a call: a fast one overtakes a slow one, and changes of mind are heard", async () => {
  const { input, output, done, dispatcher } = start();
  const sleep = (id: number, ms: number) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "sleep", arguments: { ms } },
  });
  input.send(sleep(0, 60), sleep(1, 60), sleep(2, 1), { jsonrpc: "2.0", id: 3, method: "ping" });
  input.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 0, reason: "enough" } });
  input.send({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
  input.send({ jsonrpc: "2.0", method: "notifications/initialized" }, { jsonrpc: "2.0", method: "no/such" });
  await output.first(3);
  await new Promise((resolve) => setTimeout(resolve, 30));
  input.end();
  await done;
  assert.deepEqual(output.messages.map(({ id }) => id), [3, 2, 1]);
  assert.deepEqual(dispatcher.finished, ["sleep", "sleep", "sleep"]);
});

Deno.test("scenario 168: nothing is ever asked of the client", async () => {
  const { input, output, done, ask } = start();
  await ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: { roots: { listChanged: true }, sampling: {} },
  });
  input.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  input.send({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
  await ask("tools/call", { name: "image" });
  input.end();
  await done;
  assert.ok(output.messages.every((message) => message.method === undefined));
});

Deno.test("no message ends the server, and every request is answered once", async () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom("echo", "sleep", "__proto__", -0, {}));
  const method = fc.oneof(
    fc.constantFrom(
      "initialize",
      "ping",
      "tools/list",
      "tools/call",
      "notifications/cancelled",
      "notifications/progress",
    ),
    value,
  );
  const params = fc.record(
    { name: value, arguments: value, _meta: value, task: value, requestId: value, protocolVersion: value },
    { requiredKeys: [] },
  );
  const message = fc.record(
    { jsonrpc: fc.constant("2.0"), id: value, method, params: fc.oneof(params, value) },
    { requiredKeys: ["jsonrpc"] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 8 }), async (messages) => {
      const { input, output, done } = start([]);
      input.send(...messages, { jsonrpc: "2.0", id: "last", method: "ping" }).end();
      await done;
      const answers = output.messages;
      assert.equal(answers.filter(({ id }) => id === "last").length, 1);
      const isRequest = (m: Record<string, unknown>) =>
        typeof m.method === "string" && (typeof m.id === "string" || Number.isSafeInteger(m.id));
      const cancels = messages.some((m) => m.method === "notifications/cancelled");
      const requests = messages.filter((m) => isRequest(m as Record<string, unknown>)).length;
      const answered = answers.filter(({ id }) => id !== null && id !== "last").length;
      assert.ok(answered >= requests || cancels, JSON.stringify([messages, answers]));
    }),
    { numRuns: 300 },
  );
});
