/**
 * JSON in which comments and trailing commas may stand, read into plain values. A key written twice is an error.
 *
 * Spec: 2-verbs §2.13.
 */
import { Refusal } from "../refusal.ts";
import { countEndings } from "./lines.ts";

/** Deeper than any script. */
const DEEPEST = 100;

/** Reads one value and nothing after it. @throws {Refusal} `invalid` with line and column. */
export function readRelaxedJson(text: string): unknown {
  return new Reader(text).whole();
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const value = this.#value(0);
    this.#skip();
    if (this.#at < this.#text.length) throw this.#fault("nothing more is expected here");
    return value;
  }

  #value(depth: number): unknown {
    if (depth > DEEPEST) throw this.#fault("this is nested too deep");
    this.#skip();
    if (this.#takes("{")) return this.#object(depth);
    if (this.#takes("[")) return this.#array(depth);
    const token = this.#match(STRING) ?? this.#match(OTHER);
    if (token === undefined) throw this.#fault("a value is expected here");
    try {
      return JSON.parse(token);
    } catch {
      this.#at -= token.length;
      throw this.#fault(`${JSON.stringify(token.slice(0, 20))} is no JSON value`);
    }
  }

  #object(depth: number): Record<string, unknown> {
    const fields: [string, unknown][] = [];
    const keys = new Set<string>();
    this.#items("}", () => {
      const start = this.#at;
      const key = this.#text[this.#at] === '"' ? this.#value(depth) as string : undefined;
      if (key === undefined) throw this.#fault("a key in double quotes is expected here");
      if (keys.has(key)) {
        this.#at = start;
        throw this.#fault(`the key ${JSON.stringify(key)} stands here a second time`);
      }
      keys.add(key);
      this.#skip();
      if (!this.#takes(":")) throw this.#fault("a colon is expected here");
      fields.push([key, this.#value(depth + 1)]);
    });
    // Not by assignment: a key may be `__proto__`.
    return Object.fromEntries(fields);
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#items("]", () => items.push(this.#value(depth + 1)));
    return items;
  }

  /** Items with commas between them and maybe behind the last, up to a bracket. */
  #items(close: string, item: () => void): void {
    for (;;) {
      this.#skip();
      if (this.#takes(close)) return;
      item();
      this.#skip();
      if (this.#takes(close)) return;
      if (!this.#takes(",")) throw this.#fault(`a comma or ${close} is expected here`);
    }
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skip(): void {
    this.#match(SPACE);
    if (this.#text.startsWith("/*", this.#at)) throw this.#fault("this comment has no end");
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const token = pattern.exec(this.#text)?.[0];
    this.#at += token?.length ?? 0;
    return token;
  }

  #fault(message: string): Refusal {
    const endings = countEndings(this.#text.slice(0, this.#at));
    const line = endings.ended + 1;
    const before = this.#text.slice(0, this.#at);
    const column = this.#at - Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r"));
    return new Refusal("invalid", `the script is no JSON: ${line}:${column}: ${message}`);
  }
}

const SPACE = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*/y;
const STRING = /"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"/y;
const OTHER = /[-+.\w]+/y;
