/** Verbs, a dispatcher and streams that stand in for the real ones in the tests of the MCP front end. */
import type { Dispatcher, Reply } from "../../src/dispatch/types.ts";
import type { Sink, Source } from "../../src/front/mcp/transport.ts";
import { Refusal } from "../../src/refusal.ts";
import { checkArguments } from "../../src/verbs/schema_tools.ts";
import { choice, flag, integer, list, object, type ObjectShape, optional, text } from "../../src/verbs/shape.ts";
import type { MainVerb, Verb } from "../../src/verbs/verb.ts";

const run = () => ({ json: {}, text: () => "" });
const readOnly = { readOnly: true, destructive: false, idempotent: true };

function declare<S extends ObjectShape>(verb: Omit<MainVerb<S>, "where" | "run" | "summary">): MainVerb<S> {
  return { where: "main", summary: verb.description, run, ...verb };
}

/** Answers with its arguments as JSON; knows every kind of argument. */
export const echo = declare({
  name: "echo",
  description: "Gives back what it was given.",
  schema: object({
    paths: list(text({ filled: true }), { min: 1 }),
    text: optional(text()),
    limit: optional(integer({ min: 0, max: 100 })),
    total: optional(integer()),
    type: optional(choice(["file", "dir", "any"])),
    numbered: optional(flag()),
    columns: optional(text({ pattern: /^\d+-\d+$/, must: "must be A-B" })),
    edits: optional(list(object({ find: text(), with: optional(text()) }))),
  }),
  arguments: {
    paths: { help: "Files.", word: "many" },
    text: { help: "Any text." },
    limit: { help: "At most so many.", value: "N", toolDefault: 10 },
    total: { help: "A whole number of any size." },
    type: { help: "What kind." },
    numbered: { help: "With numbers.", toolDefault: true },
    columns: { help: "Characters of a line." },
    edits: { help: "What to change." },
  },
  check(args) {
    if (args.text !== undefined && args.columns !== undefined) {
      throw new Refusal("invalid", "text and columns exclude each other");
    }
  },
  tool: readOnly,
});

/** Answers after so many milliseconds. */
export const sleep = declare({
  name: "sleep",
  description: "Takes its time.",
  schema: object({ ms: integer() }),
  arguments: { ms: { help: "How long." } },
  tool: readOnly,
});

export const image = declare({
  name: "image",
  description: "Shows a picture.",
  schema: object({}),
  arguments: {},
  tool: readOnly,
});

/** Refuses, as a verb that changes things may. */
export const refuse = declare({
  name: "refuse",
  description: "Declines.",
  schema: object({}),
  arguments: {},
  tool: { readOnly: false, destructive: true, idempotent: false },
});

/** A dispatcher that breaks its word never to reject. */
export const broken = declare({
  name: "broken",
  description: "Fails as nothing should.",
  schema: object({}),
  arguments: {},
  tool: { readOnly: false, destructive: false, idempotent: true },
});

/** Command line only. */
export const setup = declare({
  name: "setup",
  description: "No tool.",
  schema: object({}),
  arguments: {},
});

export const VERBS: readonly Verb[] = [echo, sleep, image, refuse, broken, setup];

/** One red pixel. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

export function fakeDispatcher(): Dispatcher & { started: string[]; finished: string[] } {
  const started: string[] = [], finished: string[] = [];
  return {
    started,
    finished,
    async call(verb, args, form): Promise<Reply> {
      if (verb === broken) throw new Error("SECRET detail");
      started.push(verb.name);
      const reply = (outcome: Reply["outcome"], text: string, images?: Reply["images"]) => {
        finished.push(verb.name);
        return { outcome, body: new TextEncoder().encode(text), images };
      };
      try {
        const checked = checkArguments(verb, args);
        if (verb === sleep) await new Promise((resolve) => setTimeout(resolve, checked.ms as number));
        if (verb === refuse) throw new Refusal("denied", "the system declines", "a/b.txt");
        if (verb === image) return reply("ok", "p.png  image/png", [{ mimeType: "image/png", data: PIXEL }]);
        return reply("ok", typeof checked.text === "string" ? checked.text : JSON.stringify({ ...checked, form }));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return reply(error.outcome, `${error.outcome}: ${error.message}${error.path ? ` (${error.path})` : ""}`);
      }
    },
    get idle() {
      return started.length === finished.length;
    },
    close: () => Promise.resolve(),
  };
}

/** What a client types, in memory. */
export class Input implements Source {
  #chunks: Uint8Array[] = [];
  #ended = false;
  #wake?: () => void;

  /** @param size At most so many bytes a read. */
  constructor(readonly size = 64 * 1024) {}

  write(text: string | Uint8Array): this {
    this.#chunks.push(typeof text === "string" ? new TextEncoder().encode(text) : text);
    this.#wake?.();
    return this;
  }

  send(...messages: unknown[]): this {
    return this.write(messages.map((message) => JSON.stringify(message) + "\n").join(""));
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async read(into: Uint8Array): Promise<number | null> {
    while (this.#chunks.length === 0) {
      if (this.#ended) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const chunk = this.#chunks[0];
    const length = Math.min(chunk.length, into.length, this.size);
    into.set(chunk.subarray(0, length));
    if (length === chunk.length) this.#chunks.shift();
    else this.#chunks[0] = chunk.subarray(length);
    return length;
  }
}

// What a client reads is as loose as JSON.
// deno-lint-ignore no-explicit-any
type Message = any;

/** What a client reads, in memory; takes the bytes in pieces. */
export class Output implements Sink {
  text = "";
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #waiting: (() => void)[] = [];

  /** @param size At most so many bytes a write. */
  constructor(readonly size = Infinity) {}

  async write(bytes: Uint8Array): Promise<number> {
    await Promise.resolve();
    const taken = bytes.subarray(0, this.size);
    this.text += this.#decoder.decode(taken, { stream: true });
    for (const wake of this.#waiting.splice(0)) wake();
    return taken.length;
  }

  /** Every whole line so far, parsed: a line that is no JSON fails the test. */
  get messages(): Message[] {
    return this.text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  }

  /** The first so many messages. */
  async first(count: number): Promise<Message[]> {
    while (this.messages.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.messages.slice(0, count);
  }
}
