import assert from "node:assert/strict";
import { LineTransport } from "../../src/front/mcp/transport.ts";
import { Input, Output } from "./fakes.ts";

/** A transport whose SDK answers each request at once with its method, and `wait` only when told to. */
function connect(input: Input, output: Output, limit?: number, isIdle = () => true) {
  const transport = new LineTransport(input, output, isIdle, limit);
  // deno-lint-ignore no-explicit-any
  const seen: any[] = [], errors: Error[] = [];
  const closed = new Promise<void>((resolve) => transport.onclose = resolve);
  transport.onerror = (error) => errors.push(error);
  transport.onmessage = (message) => {
    seen.push(message);
    if ("id" in message && "method" in message && message.method !== "wait") {
      answer(message.id as number, message.method);
    }
  };
  const answer = (id: number, method: string) => transport.send({ jsonrpc: "2.0", id, result: { method } });
  transport.start();
  return { transport, seen, errors, closed, answer };
}

const request = (id: unknown, method = "m") => ({ jsonrpc: "2.0", id, method });

Deno.test("answers carry the client's own ids, whatever they are", async () => {
  const input = new Input(), output = new Output();
  const { closed, seen } = connect(input, output);
  const ids = [0, "", "a", 7, "7", -1, 0];
  input.send(...ids.map((id) => request(id))).end();
  await closed;
  assert.deepEqual(output.messages.map(({ id }) => id), ids);
  assert.deepEqual(seen.map(({ id }) => id), [1, 2, 3, 4, 5, 6, 7]);
});

Deno.test("what is no message is answered and the next one is served", async () => {
  for (
    const [line, code, id] of [
      ["{", -32700, null],
      ["\u0000", -32700, null],
      [new Uint8Array([0x22, 0xff, 0x22]), -32700, null],
      ["[]", -32600, null],
      [JSON.stringify([request(1), request(2)]), -32600, null],
      ["5", -32600, null],
      ["null", -32600, null],
      ['"ping"', -32600, null],
      ["{}", -32600, null],
      ['{"id":3}', -32600, 3],
      ['{"jsonrpc":"1.0","id":"x","method":"m"}', -32600, "x"],
      ['{"jsonrpc":"2.0","id":null,"method":"m"}', -32600, null],
      ['{"jsonrpc":"2.0","id":1.5,"method":"m"}', -32600, 1.5],
      ['{"jsonrpc":"2.0","id":{},"method":"m"}', -32600, null],
      ['{"jsonrpc":"2.0","id":4,"method":5}', -32600, 4],
      ['{"jsonrpc":"2.0","method":5}', -32600, null],
      ['{"jsonrpc":"2.0","id":4,"method":"m","params":[1]}', -32600, 4],
      ['{"jsonrpc":"2.0","id":4,"method":"m","params":{"_meta":5}}', -32600, 4],
    ] as [string | Uint8Array, number, unknown][]
  ) {
    const input = new Input(), output = new Output();
    const { closed } = connect(input, output);
    input.write(line).write("\n").send(request("next")).end();
    await closed;
    const [{ error, ...bad }, good] = output.messages;
    assert.equal(error?.code, code, String(line));
    assert.deepEqual(bad, { jsonrpc: "2.0", id });
    assert.equal(good.id, "next");
    assert.equal(output.messages.length, 2);
  }
});

Deno.test("a mark at the front, CRLF, empty lines and unknown members are nothing to speak of", async () => {
  const input = new Input(1), output = new Output();
  const { closed } = connect(input, output);
  input.write("\uFEFF" + JSON.stringify(request(1)) + "\r\n\r\n\n  \n").send({ ...request(2), trace: 1 }).end();
  await closed;
  assert.deepEqual(output.messages.map(({ id, result }) => [id, !!result]), [[1, true], [2, true]]);
});

Deno.test("a mark further on is no JSON", async () => {
  const input = new Input(), output = new Output();
  const { closed } = connect(input, output);
  input.write("\n\uFEFF" + JSON.stringify(request(1)) + "\n").end();
  await closed;
  assert.deepEqual(output.messages.map(({ id, error }) => [id, error.code]), [[null, -32700]]);
});

Deno.test("a last line without an ending is a message; a response is none of ours", async () => {
  const input = new Input(), output = new Output();
  const { closed, seen } = connect(input, output);
  input.send({ jsonrpc: "2.0", id: 1, result: {} }, { jsonrpc: "2.0", id: null, error: {} });
  input.write(JSON.stringify(request(1))).end();
  await closed;
  assert.equal(seen.length, 1);
  assert.deepEqual(output.messages.map(({ id }) => id), [1]);
});

Deno.test("a line beyond the limit is dropped to its end and answered", async () => {
  const input = new Input(), output = new Output();
  const { closed } = connect(input, output, 100);
  input.send({ ...request(1), params: { text: "x".repeat(100) } }, request(2));
  input.write("y".repeat(1000)).end();
  await closed;
  assert.deepEqual(output.messages.map(({ id, error }) => [id, error?.code]), [[null, -32600], [2, undefined], [
    null,
    -32600,
  ]]);
});

Deno.test("scenario 167: at the end of input what runs is answered first", async () => {
  const input = new Input(), output = new Output();
  const { closed, answer, seen } = connect(input, output);
  input.send(request("slow", "wait"), request("cancelled", "wait"));
  input.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "cancelled" } }).end();
  let ended = false;
  closed.then(() => ended = true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(ended, false);
  assert.deepEqual(seen.at(-1).params, { requestId: 2 });
  answer(2, "too late");
  answer(1, "done");
  await closed;
  assert.deepEqual(output.messages, [{ jsonrpc: "2.0", id: "slow", result: { method: "done" } }]);
});

Deno.test("cancelling what is unknown, answered, or nothing at all is ignored", async () => {
  const input = new Input(), output = new Output();
  const { closed, seen } = connect(input, output);
  const cancel = (params?: unknown) => ({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  input.send(request(0), cancel({ requestId: 0 }), cancel({ requestId: "9" }), cancel({}), cancel()).end();
  await closed;
  assert.deepEqual([seen.length, output.messages.length], [1, 1]);
});

Deno.test("lines are whole and in order, however little the client takes at a time", async () => {
  const input = new Input(), output = new Output(3);
  const { closed, transport } = connect(input, output);
  for (let i = 0; i < 25; i++) input.send(request(i));
  transport.send({ jsonrpc: "2.0", method: "note", params: { text: "日本語 \u2028 \ud800" } });
  input.end();
  await closed;
  assert.deepEqual(output.messages.slice(1).map(({ id }) => id), Array.from({ length: 25 }, (_, i) => i));
});

Deno.test("reading goes on while the client takes nothing", async () => {
  const input = new Input();
  const taken: number[] = [];
  let take = () => {};
  const gate = new Promise<void>((resolve) => take = resolve);
  const sink = { write: (bytes: Uint8Array) => gate.then(() => (taken.push(bytes.length), bytes.length)) };
  const { seen, closed } = connect(input, sink as Output);
  for (let i = 0; i < 100; i++) input.send(request(i));
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([seen.length, taken.length], [100, 0]);
  input.end();
  take();
  await closed;
  assert.equal(taken.length, 100);
});

/** An input that can be waited for, and tells by which way each message was read. */
class WaitedInput extends Input {
  ways = "";
  readonly #lines: string[] = [];
  lines(...messages: unknown[]): this {
    this.#lines.push(...messages.map((message) => JSON.stringify(message) + "\n"));
    return this;
  }
  #next(into: Uint8Array): number | null {
    const line = this.#lines.shift();
    return line === undefined ? null : new TextEncoder().encodeInto(line, into).written;
  }
  override read(into: Uint8Array): Promise<number | null> {
    this.ways += "a";
    return Promise.resolve(this.#next(into));
  }
  readSync(into: Uint8Array): number | null {
    this.ways += "s";
    return this.#next(into);
  }
}

Deno.test("the process waits for the next message only where nothing is due and nothing else goes on", async () => {
  const input = new WaitedInput();
  const { closed, answer } = connect(input, new Output());
  setTimeout(() => answer(3, "late"), 30);
  input.lines(request(1), { jsonrpc: "2.0", method: "n" }, request(2), request(3, "wait"), request(4));
  await closed;
  // The fifth is read while the fourth is not answered, and so is the end.
  assert.equal(input.ways, "ssssaa");

  const busy = new WaitedInput().lines(request(1), request(2));
  await connect(busy, new Output(), undefined, () => false).closed;
  assert.equal(busy.ways, "aaa");

  const unread = new WaitedInput().lines(request(1), request(2));
  let take = () => {};
  const gate = new Promise<void>((resolve) => take = resolve);
  const sink = { write: (bytes: Uint8Array) => gate.then(() => bytes.length) };
  setTimeout(() => take(), 30);
  await connect(unread, sink as Output).closed;
  assert.equal(unread.ways, "saa");
});

Deno.test("a client that is gone ends the connection quietly, running calls or not", async () => {
  const input = new Input();
  const sink = { write: () => Promise.reject(new Deno.errors.BrokenPipe("gone")) };
  const { closed, errors, answer } = connect(input, sink as unknown as Output);
  input.send(request(1, "wait"), request(2));
  await closed;
  await answer(1, "nobody listens");
  input.end();
  assert.deepEqual(errors, []);
});

Deno.test("an input that is not ready is read again, one that is broken is reported", async () => {
  let tries = 0;
  const output = new Output(), input = new Input();
  const busy = {
    read: (into: Uint8Array) => tries++ < 2 ? Promise.reject(new Deno.errors.WouldBlock()) : input.read(into),
  };
  const first = connect(busy as Input, output);
  input.send(request(1)).end();
  await first.closed;
  assert.equal(output.messages.length, 1);

  const bad = { read: () => Promise.reject(new Error("bad disk")) };
  const second = connect(bad as unknown as Input, new Output());
  await second.closed;
  assert.deepEqual(second.errors.map(({ message }) => message), ["bad disk"]);
});

Deno.test("an output that fails is never written to again: a part may have gone out already", async () => {
  let tries = 0;
  const sink = { write: () => (tries++, Promise.reject(new Deno.errors.WouldBlock("not ready"))) };
  const input = new Input();
  const { closed, errors } = connect(input, sink as unknown as Output);
  input.send(request(1), request(2));
  await closed;
  input.end();
  assert.deepEqual([tries, errors.map(({ message }) => message)], [1, ["not ready"]]);
});
