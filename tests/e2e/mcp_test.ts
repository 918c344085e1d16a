/** The whole program behind the official client. Scenarios 54, 160-168; bugs 5, 6, 7, 23, 66-71; acceptance 3 and 5 of reading. */
import assert from "node:assert/strict";
// @ts-types="@mcp/client/index"
import { Client } from "@mcp/client/index.js";
// @ts-types="@mcp/client/stdio"
import { StdioClientTransport } from "@mcp/client/stdio.js";
import { VERBS } from "../../src/verbs/mod.ts";
import { fettle, program } from "../support/program.ts";
import { makeFolder, put } from "../support/tree.ts";

interface Called {
  text: string;
  isError: boolean;
}

type Call = (name: string, args?: Record<string, unknown>) => Promise<Called>;

/** A client of the real server, started in a folder. */
async function withServer(cwd: string, act: (call: Call, client: Client) => Promise<void>, flags: string[] = []) {
  const { command, args } = program();
  const client = new Client({ name: "test", version: "1" }, { capabilities: { roots: { listChanged: true } } });
  await client.connect(new StdioClientTransport({ command, args: [...args, ...flags, "serve"], cwd }));
  const call: Call = async (name, args = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const parts = content as { type: string; text: string }[];
    assert.deepEqual(parts.map((part) => part.type), ["text"]);
    return { text: parts[0].text, isError: isError === true };
  };
  try {
    await act(call, client);
  } finally {
    await client.close();
  }
}

const CONFIG = { guardrails: { trees: { work: { path: ".", scopes: { secret: { can: [] } } } } } };

function project(config: unknown = CONFIG): string {
  return makeFolder({
    ".fettler.json": JSON.stringify(config),
    "a.txt": "alpha\nbeta TODO\n",
    "--dashes.txt": "dashes\n",
    "naïve – 文.txt": "ünïcödé 😀\n",
    "secret/s.txt": "TODO hidden\n",
  });
}

Deno.test("lists the tools, reads, searches; outside and hidden are four identical texts", async () => {
  const top = project();
  await withServer(top, async (call, client) => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), VERBS.filter((verb) => verb.tool).map((verb) => verb.name));
    assert.match((await call("roots")).text, /^levels\n[\s\S]*work .*\(default\)/);
    assert.match(
      (await call("read", { paths: ["a.txt"] })).text,
      /^a\.txt {2}text {2}utf-8 {2}lf .*\n {4}1 \| alpha\n {4}2 \| beta TODO$/,
    );
    assert.match((await call("read", { paths: ["a.txt"], numbered: false })).text, /\nalpha\nbeta TODO$/);
    assert.equal((await call("search", { patterns: ["todo"] })).text, "a.txt:2:6\n    2 | beta TODO\n1 hit in 1 file");
    assert.match((await call("find", { pattern: "*.txt" })).text, /3 files$/);
    const shut = [];
    for (const path of ["/etc/passwd", "/never/there", "secret/s.txt", "secret/never.txt"]) {
      shut.push(await call("read", { paths: [path] }));
    }
    assert.deepEqual(new Set(shut.map((answer) => JSON.stringify(answer))).size, 1);
    assert.deepEqual(shut[0], {
      text: "outside-root: the path lies outside every declared tree; ask for the roots to see the boundary",
      isError: true,
    });
  });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("text is only text: dashes, non-ASCII, names that look like flags", async () => {
  const top = project();
  await withServer(top, async (call) => {
    assert.match((await call("read", { paths: ["--dashes.txt"] })).text, /1 \| dashes/);
    assert.match((await call("read", { paths: ["naïve – 文.txt"] })).text, /1 \| ünïcödé 😀/);
    assert.match((await call("search", { patterns: ["--json"] })).text, /^0 hits in 0 files/);
    assert.match((await call("search", { patterns: ["-e"] })).text, /0 hits/);
  });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("what makes no sense is an answer the model sees, and the server lives", async () => {
  const top = project();
  await withServer(top, async (call, client) => {
    const wrong: [string, Record<string, unknown>, RegExp][] = [
      ["read", {}, /^invalid: .*paths/],
      ["read", { paths: "a.txt" }, /^invalid: .*paths/],
      ["read", { paths: [] }, /^invalid: .*paths/],
      ["read", { paths: ["a.txt"], from: "1" }, /^invalid: .*from/],
      ["read", { paths: ["a.txt"], from: 0 }, /^invalid: .*from/],
      ["read", { paths: ["a.txt"], from: 1.5 }, /^invalid: .*from/],
      ["read", { paths: ["a.txt"], from: 3, to: 2 }, /^invalid: .*above/],
      ["read", { paths: ["a.txt"], tail: 1, from: 1 }, /^invalid: .*tail/],
      ["read", { paths: ["a.txt"], columns: "2-1" }, /^invalid: .*A-B/],
      ["read", { paths: ["a.txt"], root: "/" }, /^invalid: .*root/],
      ["read", { paths: ["a.txt"], config: "/x" }, /^invalid: .*config/],
      ["read", { paths: [""] }, /^invalid: .*empty/],
      ["read", { paths: ["a.txt"], encoding: "klingon" }, /^invalid: .*klingon/],
      ["find", { sort: "colour" }, /^invalid: .*sort/],
      ["find", { in: "wrok" }, /^invalid: .*did you mean 'work'/],
      ["find", { pattern: "*.{ts,js}" }, /^invalid: .*\{/],
      ["find", { since: "yesterday" }, /^invalid: .*yesterday/],
      ["search", { patterns: ["("] }, /^invalid: /],
      ["search", { patterns: ["a"], count: true, files_only: true }, /^invalid: /],
      ["raed", {}, /^invalid: .*read/],
      ["write", { path: "x" }, /^invalid: .*text/],
      ["write", { path: "x", text: "y", allow_credential: true }, /^invalid: unknown argument .*allow_credential/],
      ["edit", { path: "a.txt", insert_after: 0, text: "y" }, /^invalid: unknown argument/],
      ["run", { task: "x" }, /^invalid: /],
    ];
    for (const [name, args, pattern] of wrong) {
      const { text, isError } = await call(name, args);
      assert.match(text, pattern, `${name} ${JSON.stringify(args)}`);
      assert.ok(isError);
    }
    await assert.rejects(client.request({ method: "resources/list" }, { parse: (x: unknown) => x } as never), /-32601/);
    await client.ping();
  });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("tools/list: under 20 KB, flat schemas, closed names, all hints, no way to name a boundary", async () => {
  const top = project();
  await withServer(top, async (_call, client) => {
    const list = await client.listTools();
    const raw = JSON.stringify(list);
    assert.ok(raw.length < 20_000, `${raw.length}`);
    for (const word of ['"$ref"', '"$defs"', '"anyOf"', '"oneOf"', '"$schema"', "outputSchema"]) {
      assert.ok(!raw.includes(word), word);
    }
    for (const tool of list.tools) {
      assert.match(tool.name, /^[a-z_]+$/);
      assert.equal(tool.inputSchema.type, "object");
      assert.equal(tool.inputSchema.additionalProperties, false);
      const properties = tool.inputSchema.properties as Record<string, { type: string; description: string }>;
      for (const [name, property] of Object.entries(properties)) {
        assert.ok(property.type && property.description, `${tool.name}.${name}`);
        assert.doesNotMatch(name, /root|config|policy|level|allow/);
      }
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations!;
      const reads = ["roots", "find", "search", "read"].includes(tool.name);
      assert.deepEqual([readOnlyHint, openWorldHint], [reads, false], tool.name);
      assert.equal(typeof idempotentHint, "boolean");
      const harmless = reads || ["new", "mkdir", "exec"].includes(tool.name) ||
        tool.name === "copy" && !destructiveHint;
      assert.equal(destructiveHint, !harmless, tool.name);
    }
    assert.deepEqual(list.tools.map(({ name }) => name), [
      "roots",
      "find",
      "search",
      "read",
      "write",
      "edit",
      "replace",
      "new",
      "mkdir",
      "move",
      "copy",
      "delete",
      "exec",
      "batch",
    ]);
  });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("the configuration binds the next call: revoked, broken, gone, mended, a tree's folder replaced", async () => {
  const top = project();
  const write = (text: string) => Deno.writeTextFileSync(`${top}/.fettler.json`, text);
  await withServer(top, async (call) => {
    const read = () => call("read", { paths: ["a.txt"] });
    assert.ok(!(await read()).isError);
    write(JSON.stringify({ guardrails: { trees: { work: { path: ".", can: ["list"] } } } }));
    assert.match((await read()).text, /^refused: this needs read/);
    assert.ok(!(await call("find")).isError);
    write('{ "guardrails": { "trees": ');
    for (const name of ["find", "roots"]) assert.match((await call(name)).text, /^invalid: .*\.fettler\.json:1:\d+/);
    assert.match((await read()).text, /^invalid: /);
    Deno.removeSync(`${top}/.fettler.json`);
    assert.match((await read()).text, /^not-found: /);
    write(JSON.stringify(CONFIG));
    assert.ok(!(await read()).isError);
    put(top, { "lib/x.txt": "first\n" });
    write(JSON.stringify({ guardrails: { trees: { lib: { path: "lib" } } } }));
    assert.match((await call("read", { paths: ["x.txt"] })).text, /first/);
    Deno.renameSync(`${top}/lib`, `${top}/lib-old`);
    assert.match((await call("read", { paths: ["x.txt"] })).text, /^not-found: /);
    put(top, { "lib/x.txt": "second\n" });
    assert.match((await call("read", { paths: ["x.txt"] })).text, /second/);
  });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("--root stays whatever appears in the folder; a server without a file takes up one that appears", async () => {
  const top = makeFolder({ "a.txt": "x\n" });
  await withServer(top, async (call) => {
    Deno.writeTextFileSync(
      `${top}/.fettler.json`,
      JSON.stringify({ guardrails: { trees: { work: { path: ".", can: [] } } } }),
    );
    assert.match((await call("roots")).text, /declared by --root/);
    assert.match((await call("read", { paths: ["a.txt"] })).text, /1 \| x/);
  }, ["--root", "."]);
  Deno.removeSync(`${top}/.fettler.json`);
  await withServer(top, async (call) => {
    assert.match((await call("read", { paths: ["a.txt"] })).text, /1 \| x/);
    Deno.writeTextFileSync(
      `${top}/.fettler.json`,
      JSON.stringify({ guardrails: { trees: { work: { path: ".", can: [] } } } }),
    );
    assert.match((await call("read", { paths: ["a.txt"] })).text, /^outside-root/);
  });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("a boundary that cannot be opened at start: standard error, the outcome's code, nothing on standard output", async () => {
  const top = makeFolder({ ".fettler.json": "{" });
  const { code, out, err } = await fettle(["serve"], { cwd: top });
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /\.fettler\.json:1:\d+/);
  assert.equal((await fettle(["serve"], { cwd: "/" })).code, 2);
  assert.equal((await fettle(["serve", "--config", "nowhere.json"], { cwd: top })).code, 3);
  Deno.removeSync(top, { recursive: true });
});

/** Types lines to a server, ends its input and gives what it wrote, each line of it JSON. */
async function type(cwd: string, input: Uint8Array | string) {
  const { code, out, err } = await fettle(["serve"], { cwd, stdin: input });
  assert.ok(out === "" || out.endsWith("\n"));
  return { code, err, messages: out.split("\n").slice(0, -1).map((line) => JSON.parse(line)) };
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const callRead = (id: number) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "read", arguments: { paths: ["a.txt"] } },
});
const lines = (...messages: unknown[]) =>
  messages.map((m) => (typeof m === "string" ? m : JSON.stringify(m)) + "\n").join("");

Deno.test("running calls are answered after the end of input; nothing but the protocol on standard output", async () => {
  const top = project();
  const { code, err, messages } = await type(
    top,
    "\ufeff" + lines(initialize, "not json", "[]", callRead(2), { jsonrpc: "2.0", id: 3, method: "ping" }),
  );
  assert.equal(code, 0);
  assert.equal(err, "");
  const byId = new Map(messages.map((message) => [message.id, message]));
  assert.equal(byId.get(1).result.serverInfo.name, "fettler");
  assert.match(byId.get(1).result.instructions, /roots/);
  assert.match(byId.get(2).result.content[0].text, /alpha/);
  assert.deepEqual(byId.get(3).result, {});
  assert.deepEqual(messages.filter((message) => message.id === null).map((message) => message.error.code), [
    -32700,
    -32600,
  ]);
  assert.equal((await type(top, "")).code, 0);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("a message of 100 MB is refused and the next one answered", async () => {
  const top = project();
  const huge = new Uint8Array(100 * 1024 * 1024).fill(0x61);
  const head = new TextEncoder().encode(lines(initialize));
  const tail = new TextEncoder().encode("\n" + lines(callRead(2)));
  const input = new Uint8Array(head.length + huge.length + tail.length);
  input.set(head);
  input.set(huge, head.length);
  input.set(tail, head.length + huge.length);
  const { code, messages } = await type(top, input);
  assert.equal(code, 0);
  assert.deepEqual(messages.map((message) => message.error?.code ?? message.id).toSorted(), [-32600, 1, 2]);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("the engine dies under calls: they are answered all the same", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const top = project();
  await withServer(top, async (call, client) => {
    const { pid } = client.transport as StdioClientTransport;
    const kill = () => new Deno.Command("pkill", { args: ["-KILL", "-P", String(pid)] }).outputSync().success;
    assert.ok(!(await call("read", { paths: ["a.txt"] })).isError);
    for (let i = 0; i < 3; i++) {
      const calls = [call("read", { paths: ["a.txt"] }), call("search", { patterns: ["todo"] })];
      let killed = kill();
      for (let tries = 0; !killed && tries < 100; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        killed = kill();
      }
      assert.ok(killed);
      for (const { text, isError } of await Promise.all(calls)) assert.ok(!isError, text);
    }
  });
  Deno.removeSync(top, { recursive: true });
});
