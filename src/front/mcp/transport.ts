/**
 * JSON-RPC over standard input and output, one message a line: the SDK's `Transport`.
 *
 * Our own because the SDK's answers malformed lines with nothing, dies on one of 11 MiB and drops running calls at the end
 * of input (measured, 1.32.2). What is no message is answered here and never reaches the SDK.
 *
 * Requests get numbers of ours on their way in and their own ids back on the way out. The SDK does not cancel a request
 * whose id is `0`, and mixes up two that have the same id; the numbers also tell which requests are still to be answered.
 */
// @ts-types="@mcp/shared/transport"
import type { Transport } from "@mcp/shared/transport.js";
// @ts-types="@mcp/types"
import {
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCNotificationSchema,
  JSONRPCRequestSchema,
  type RequestId,
} from "@mcp/types.js";
import { type Line, Lines, TOO_LONG } from "./lines.ts";

/**
 * Where messages come from; `Deno.stdin` is one. Not a stream: `Deno.stdin.readable` starts 5 ms later (measured).
 */
export interface Source {
  /** Reads into the buffer; how many bytes, or `null` at the end. */
  read(into: Uint8Array): Promise<number | null>;
  /** The same, with the whole process waiting. */
  readSync?(into: Uint8Array): number | null;
}

/** Where answers go; `Deno.stdout` is one. */
export interface Sink {
  /** Writes some of the bytes; how many, at least one. */
  write(bytes: Uint8Array): Promise<number>;
}

/** The longest message in bytes. Spec: 2-verbs §2.26, decision 59. */
export const LONGEST_MESSAGE = 64 * 1024 * 1024;

/** How long an answer is waited for before the next message is, in milliseconds. */
const BRIEFLY = 2;

/** After how long an input that another process made non-blocking is read again, in milliseconds. */
const PATIENCE = 5;

/** A transport of one connection. Spec: 2-verbs §2.26. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #source: Source;
  readonly #sink: Sink;
  readonly #limit: number;
  readonly #isIdle: () => boolean;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #encoder = new TextEncoder();

  /** Requests still to be answered: our number, and the client's id. */
  readonly #open = new Map<number, RequestId>();
  #requests = 0;
  /** Called when the last open request has been answered, or can be no more. */
  #answered?: () => void;

  #atFront = true;
  /** Settled once all that was sent has been written. Never rejects. */
  #written: Promise<void> = Promise.resolve();
  #gone = false;
  #closing?: Promise<void>;

  /**
   * @param isIdle Whether the process has nothing to do but to wait for the next message.
   * @param limit The longest message in bytes, for tests.
   */
  constructor(source: Source, sink: Sink, isIdle: () => boolean, limit: number = LONGEST_MESSAGE) {
    this.#source = source;
    this.#sink = sink;
    this.#isIdle = isIdle;
    this.#limit = limit;
  }

  /** Begins to read. The SDK calls it when it connects. */
  start(): Promise<void> {
    void this.#listen();
    return Promise.resolve();
  }

  /**
   * Writes a message as one line, whole, after those before it. An answer to a request that was cancelled is dropped, and so
   * is everything once the client is gone.
   */
  send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message) return this.#write(message);
    const number = message.id as number;
    const id = this.#open.get(number);
    if (id === undefined) return Promise.resolve();
    this.#settle(number);
    return this.#write({ ...message, id });
  }

  /** Ends the connection once what was sent is written. A read may still be under way: whoever owns the process ends it. */
  close(): Promise<void> {
    return this.#closing ??= this.#finish();
  }

  async #finish(): Promise<void> {
    await this.#written;
    this.onclose?.();
  }

  /** Reads to the end of input, then waits for the answers that are due. */
  async #listen(): Promise<void> {
    const lines = new Lines(this.#limit);
    const buffer = new Uint8Array(64 * 1024);
    try {
      while (!this.#closing) {
        const length = await this.#read(buffer);
        if (length === null) break;
        for (const line of lines.feed(buffer.subarray(0, length))) this.#take(line);
      }
      for (const line of lines.end()) this.#take(line);
    } catch (error) {
      this.onerror?.(error as Error);
    }
    if (!this.#closing) await this.#allAnswered();
    await this.close();
  }

  /**
   * Reads the next bytes. Where nothing else can happen before they come, the whole process waits for them: the runtime reads
   * otherwise by a thread of its own, whose two wake-ups were a sixth of a short call's time (measured). So that it comes to that in
   * the ordinary run of calls, one after another, it is first waited briefly for the answers that are due.
   */
  async #read(into: Uint8Array): Promise<number | null> {
    if (this.#source.readSync && await this.#isQuiet() && this.#isIdle()) {
      try {
        return this.#source.readSync(into);
      } catch (error) {
        if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      }
    }
    return await patiently(this.#source, into);
  }

  /** Whether all that is due is soon answered and written. A client may well write on before it reads anything. */
  async #isQuiet(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), BRIEFLY);
    void this.#allAnswered().then(() => this.#written).then(() => resolve(!this.#gone));
    const isQuiet = await promise;
    clearTimeout(timer);
    return isQuiet && this.#open.size === 0;
  }

  /** Settled when no request is open, or the client is gone. */
  async #allAnswered(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#answered = resolve);
  }

  #take(line: Line): void {
    if (this.#closing) return;
    if (line === TOO_LONG) {
      this.#atFront = false;
      return this.#decline(
        ErrorCode.InvalidRequest,
        `a message may have ${this.#limit} bytes at most; this one was dropped`,
      );
    }
    let message: unknown;
    try {
      let text = this.#decoder.decode(line);
      if (this.#atFront && text.startsWith("\uFEFF")) text = text.slice(1);
      this.#atFront = false;
      if (text.trim() === "") return;
      message = JSON.parse(text);
    } catch {
      this.#atFront = false;
      return this.#decline(ErrorCode.ParseError, "the line is not JSON in UTF-8");
    }
    this.#pass(message);
  }

  /** Hands a request or a notification to the SDK; unknown members beside the protocol's own are left out. */
  #pass(message: unknown): void {
    if (Array.isArray(message)) {
      return this.#decline(ErrorCode.InvalidRequest, "batches are not taken: one message a line");
    }
    const { jsonrpc, id, method, params, result, error } = Object(message) as Record<string, unknown>;
    // Nothing is asked of a client, so a response answers nothing; to answer it might go on for ever.
    if (method === undefined && (result !== undefined || error !== undefined)) return;
    const request = JSONRPCRequestSchema.safeParse({ jsonrpc, id, method, ...(params !== undefined && { params }) });
    if (request.success) {
      const number = ++this.#requests;
      this.#open.set(number, request.data.id);
      return this.onmessage?.({ ...request.data, id: number });
    }
    const notification = JSONRPCNotificationSchema.safeParse({
      jsonrpc,
      method,
      ...(params !== undefined && { params }),
    });
    if (!notification.success || id !== undefined) {
      const echo = typeof id === "string" || typeof id === "number" ? id : null;
      return this.#decline(ErrorCode.InvalidRequest, "not a request or notification of JSON-RPC 2.0", echo);
    }
    if (method === "notifications/cancelled") this.#cancel(notification.data.params?.requestId);
    else this.onmessage?.(notification.data);
  }

  /** Tells the SDK, under the number it knows; from now on the request is not to be answered. */
  #cancel(id: unknown): void {
    const number = this.#openNumber(id);
    if (number === undefined) return;
    this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: number } });
    this.#settle(number);
  }

  /** The latest open request of this id. */
  #openNumber(wanted: unknown): number | undefined {
    let found: number | undefined;
    for (const [number, id] of this.#open) if (id === wanted) found = number;
    return found;
  }

  #settle(number: number): void {
    this.#open.delete(number);
    if (this.#open.size === 0) this.#answered?.();
  }

  #decline(code: number, message: string, id: RequestId | null = null): void {
    void this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #write(message: unknown): Promise<void> {
    const bytes = this.#encoder.encode(JSON.stringify(message) + "\n");
    return this.#written = this.#written.then(() => this.#writeAll(bytes)).catch((error) => this.#lose(error));
  }

  /**
   * A write that fails is never repeated: `Deno.stdout.write` may have written a part before it fails, on a pipe that another
   * process made non-blocking for example, and does not say how much (measured).
   */
  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0 && !this.#gone;) {
      const length = await this.#sink.write(rest);
      if (length === 0) throw new Deno.errors.WriteZero("standard output takes nothing more");
      rest = rest.subarray(length);
    }
  }

  /** The client cannot be reached any more: that is its right, and the end of the connection. */
  #lose(error: Error): void {
    this.#gone = true;
    if (!(error instanceof Deno.errors.BrokenPipe)) this.onerror?.(error);
    this.#answered?.();
    void this.close();
  }
}

/** Reads, again and again while the input, which another process may have made non-blocking, has nothing yet. */
async function patiently(source: Source, into: Uint8Array): Promise<number | null> {
  for (;;) {
    try {
      return await source.read(into);
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      await new Promise((resolve) => setTimeout(resolve, PATIENCE));
    }
  }
}
