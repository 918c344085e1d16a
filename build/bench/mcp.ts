/**
 * Calls to an MCP server, by two clients: the official one, whose own share is large, and a lean one that writes and reads lines.
 */
// @ts-types="@mcp/client/index"
import { Client } from "@mcp/client/index.js";
// @ts-types="@mcp/client/stdio"
import { StdioClientTransport } from "@mcp/client/stdio.js";
import type { Command } from "./measure.ts";

/** A server that was started and greeted. */
export interface Session {
  /** Calls a tool; the text of its answer. */
  call(name: string, args: Record<string, unknown>): Promise<string>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Ways to start a server and talk to it. */
export const CLIENTS: Readonly<Record<"official" | "lean", (server: Command) => Promise<Session>>> = {
  official,
  lean,
};

interface Result {
  content: { text: string }[];
  isError?: boolean;
}

async function official({ program, args, cwd }: Command): Promise<Session> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: program, args: [...args], cwd }));
  return {
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args }) as unknown as Result),
    ping: async () => {
      await client.ping();
    },
    close: () => client.close(),
  };
}

async function lean({ program, args, cwd }: Command): Promise<Session> {
  const child = new Deno.Command(program, { args: [...args], cwd, stdin: "piped", stdout: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.getReader();
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  let [rest, id] = ["", 0];
  const nextLine = async () => {
    for (let end = rest.indexOf("\n");; end = rest.indexOf("\n")) {
      if (end >= 0) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 1);
        return line;
      }
      const { value } = await reader.read();
      if (value === undefined) throw new Error(`${program} ended in the middle of a call`);
      rest += decoder.decode(value, { stream: true });
    }
  };
  const send = (message: unknown) => writer.write(encoder.encode(JSON.stringify(message) + "\n"));
  const request = async (method: string, params: unknown) => {
    await send({ jsonrpc: "2.0", id: ++id, method, params });
    for (;;) {
      const answer = JSON.parse(await nextLine());
      if (answer.id !== id) continue;
      if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
      return answer.result;
    }
  };
  await request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  });
  await send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return {
    call: async (name, args) => textOf(await request("tools/call", { name, arguments: args })),
    ping: () => request("ping", {}),
    close: async () => {
      await writer.close();
      await reader.cancel();
      await child.status;
    },
  };
}

function textOf({ content, isError }: Result): string {
  if (isError) throw new Error(content[0].text);
  return content[0].text;
}

/** Milliseconds from the start of a server to its answer to a first call, and the answer. */
export async function firstAnswer(server: Command, name: string, args: Record<string, unknown>) {
  const begun = performance.now();
  const session = await lean(server);
  const text = await session.call(name, args);
  const ms = performance.now() - begun;
  await session.close();
  return { ms, text };
}

/** Times of single calls in milliseconds. The acts take turns in batches, so that a busy moment strikes all alike. */
export async function callTimes<K extends string>(
  acts: Readonly<Record<K, () => Promise<unknown>>>,
  { calls = 2_000, warmUp = 300, batch = 50 } = {},
): Promise<Record<K, number[]>> {
  const all = Object.entries(acts) as [K, () => Promise<unknown>][];
  for (const [, act] of all) for (let i = 0; i < warmUp; i++) await act();
  const times = Object.fromEntries(all.map(([name]) => [name, []])) as unknown as Record<K, number[]>;
  for (let done = 0; done < calls; done += batch) {
    for (const [name, act] of all) {
      for (let i = 0; i < batch; i++) {
        const begun = performance.now();
        await act();
        times[name].push(performance.now() - begun);
      }
    }
  }
  return times;
}
