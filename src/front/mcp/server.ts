/**
 * The MCP server: its tools are the verbs of the registry, its answers those of the dispatcher.
 *
 * Built on the SDK's `Protocol`, the class below its `Server`: that one brings a JSON Schema compiler which only requests
 * from server to client use, and about 10 ms of start-up with it (measured, 1.32.2). The four methods are answered here, so that
 * a malformed request gets a sentence of ours and not a dump of the SDK's validation.
 */
// @ts-types="@mcp/shared/protocol"
import { Protocol, type RequestHandlerExtra } from "@mcp/shared/protocol.js";
// @ts-types="@mcp/types"
import {
  type CallToolResult,
  ErrorCode,
  type JSONRPCRequest,
  LATEST_PROTOCOL_VERSION,
  type Notification,
  type Request,
  type Result,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Tool,
} from "@mcp/types.js";
import type { Dispatcher, Reply } from "../../dispatch/types.ts";
import { nearest } from "../../refusal.ts";
import { inputSchema } from "../../verbs/schema_tools.ts";
import type { Verb } from "../../verbs/verb.ts";
import { LineTransport, type Sink, type Source } from "./transport.ts";

/** What a server is made of. */
export interface Service {
  dispatcher: Dispatcher;
  /** The registry. Those with `tool` become tools. */
  verbs: readonly Verb[];
  /** Our version. */
  version: string;
  /** `Deno.stdin`. */
  input: Source;
  /** `Deno.stdout`. Nothing else may write to it. */
  output: Sink;
}

/** The oldest version of the protocol that is spoken. They are dates and compare as text. */
const OLDEST_VERSION = "2024-11-05";

/** Spec: 2-verbs §2.26, last paragraph. */
const INSTRUCTIONS = `\
Fettler reads, searches and changes files in folders that a person has opened, and nowhere else.
There is no working folder: call roots first. It lists the open trees, the first is the default, and what each allows.
A path is path (in the default tree) or name:path. Trees, and scopes inside them, differ in what they allow.
read gives a file's hash: pass it as expect when changing the file, so that nobody's work is lost.
Tasks are declared by a person; tasks lists them, and to run one needs execute where it runs.
The configuration belongs to a person; when they edit it, the next call follows it.
A refusal says what to do. Do that, or ask the person; do not look for another way round it.`;

/**
 * Serves one client until the end of input, when running calls have been answered, or until the client is gone.
 *
 * The dispatcher stays open: the caller closes it, and ends the process, because a read of `input` may still be pending.
 * Spec: 2-verbs §2.26; decisions 19, 34–36, 59.
 */
export async function serve(service: Service): Promise<void> {
  const transport = new LineTransport(service.input, service.output, () => service.dispatcher.idle);
  transport.onerror = (error) => console.error(`fettle serve: ${error.message}`);
  const closed = new Promise<void>((resolve) => transport.onclose = resolve);
  await new ToolServer(service).connect(transport);
  await closed;
}

class ToolServer extends Protocol<Request, Notification, Result> {
  readonly #dispatcher: Dispatcher;
  readonly #version: string;
  readonly #verbs: ReadonlyMap<string, Verb>;
  #tools?: Tool[];

  constructor({ dispatcher, verbs, version }: Service) {
    super();
    this.#dispatcher = dispatcher;
    this.#version = version;
    this.#verbs = new Map(verbs.filter((verb) => verb.tool).map((verb) => [verb.name, verb]));
    this.fallbackRequestHandler = (request, extra) => this.#answer(request, extra);
  }

  /** Every method but `ping`, which the SDK answers itself. */
  async #answer({ method, params }: JSONRPCRequest, extra: Extra): Promise<Result> {
    try {
      switch (method) {
        case "initialize":
          return this.#initialize(params?.protocolVersion);
        case "tools/list":
          return { tools: this.#tools ??= [...this.#verbs.values()].map(tool) };
        case "tools/call":
          return await this.#call(params?.name, params?.arguments, extra);
        default:
          throw new ProtocolError(ErrorCode.MethodNotFound, `no such method: ${clip(method)}`);
      }
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      console.error(`fettle serve: ${(error as Error)?.stack ?? error}`);
      throw new ProtocolError(ErrorCode.InternalError, "a defect of Fettler's; the server goes on");
    }
  }

  #initialize(wanted: unknown): Result {
    const known = SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version >= OLDEST_VERSION);
    return {
      protocolVersion: known.find((version) => version === wanted) ?? LATEST_PROTOCOL_VERSION,
      capabilities: { tools: {} },
      serverInfo: { name: "fettler", version: this.#version },
      instructions: INSTRUCTIONS,
    };
  }

  async #call(name: unknown, given: unknown, extra: Extra): Promise<CallToolResult> {
    if (typeof name !== "string") {
      throw new ProtocolError(ErrorCode.InvalidParams, "tools/call needs the name of a tool");
    }
    const verb = this.#verbs.get(name);
    if (!verb) return this.#unknown(name);
    // The answer of a cancelled call is dropped by the SDK, as the protocol has it.
    const options = { signal: extra.signal, onProgress: progressTo(extra) };
    return result(await this.#dispatcher.call(verb, withDefaults(verb, given ?? {}), "tool", options));
  }

  #unknown(name: string): CallToolResult {
    const names = [...this.#verbs.keys()];
    const meant = nearest(name.slice(0, 100), names);
    const hint = meant ? `did you mean ${meant}?` : `there are ${names.join(", ")}`;
    return { content: [{ type: "text", text: `invalid: unknown tool ${clip(name)}; ${hint}` }], isError: true };
  }

  // What the SDK would check before it asks the client for something, which never happens.
  protected override assertCapabilityForMethod(): void {}
  protected override assertNotificationCapability(): void {}
  protected override assertRequestHandlerCapability(): void {}
  protected override assertTaskCapability(): void {}
  /** A call that asks to be run as a task is run as any other: we declare no such capability. */
  protected override assertTaskHandlerCapability(): void {}
}

type Extra = RequestHandlerExtra<Request, Notification>;

/** Sends progress to a client that asked for it; how often is decided where it comes from. Spec: 2-verbs §2.26. */
function progressTo({ _meta, sendNotification }: Extra): ((done: number) => void) | undefined {
  const token = _meta?.progressToken;
  if (token === undefined) return undefined;
  return (done) => {
    const params = { progressToken: token, progress: done, message: `${done} files` };
    sendNotification({ method: "notifications/progress", params }).catch(() => {});
  };
}

/** A JSON-RPC error as the SDK sends it: `code` and `message`. The SDK's own puts words of its own before the message. */
class ProtocolError extends Error {
  constructor(readonly code: ErrorCode, message: string) {
    super(message);
  }
}

function tool(verb: Verb): Tool {
  const { readOnly, destructive, idempotent } = verb.tool!;
  return {
    name: verb.name,
    description: verb.description,
    inputSchema: inputSchema(verb) as Tool["inputSchema"],
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: false,
    },
  };
}

/** What a tool call gets where it says nothing. Anything but an object is left for the check of arguments to refuse. */
function withDefaults(verb: Verb, given: unknown): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const args = { ...given as Record<string, unknown> };
  for (const [name, { toolDefault }] of Object.entries(verb.arguments)) {
    if (toolDefault !== undefined && !Object.hasOwn(args, name)) args[name] = toolDefault;
  }
  return args;
}

/** Byte for byte: a mark at the front of an answer is part of it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function result(reply: Reply): CallToolResult {
  const images = (reply.images ?? []).map(({ mimeType, data }) => ({ type: "image" as const, mimeType, data }));
  return {
    content: [{ type: "text", text: decoder.decode(reply.body) }, ...images],
    ...(reply.outcome !== "ok" && { isError: true }),
  };
}

/** A client's own word, quoted, escaped and not longer than it needs to be. */
function clip(word: string): string {
  return JSON.stringify(word.length > 80 ? word.slice(0, 80) + "…" : word);
}
