/**
 * JSON with comments and trailing commas, read with the place of every value and every key.
 *
 * Our own reader: it keeps keys that are written twice, their order and their places, which a value does not; and it
 * stops at the first thing that is not JSON, since what follows is mostly its consequence.
 *
 * Spec: 1-boundary §1.13.
 */

interface At {
  /** In UTF-16 units from the start of the text. */
  offset: number;
}

/** A value in the text. */
export type Node =
  | At & { type: "string"; value: string }
  | At & { type: "number"; value: number }
  | At & { type: "boolean"; value: boolean }
  | At & { type: "null" }
  | At & { type: "array"; items: Node[] }
  | At & { type: "object"; members: Member[] };

/** A key and its value. One key may stand in an object more than once. */
export interface Member {
  key: string;
  keyOffset: number;
  value: Node;
}

/** What keeps a text from being JSON, and where. */
export class NotJson extends Error {
  constructor(readonly offset: number, message: string) {
    super(message);
  }
}

/** Deeper than any configuration, and shallow enough for every recursion over the result. */
const DEEPEST = 100;

/**
 * Reads one value and nothing after it.
 *
 * @throws {NotJson} at the first place that cannot be read.
 */
export function readJson(text: string): Node {
  return new JsonReader(text).whole();
}

/** The members of an object in the order of the text; none for anything else. */
export function members(node: Node | undefined): readonly Member[] {
  return node?.type === "object" ? node.members : [];
}

/** The value of a key; of a key written twice the first. */
export function child(node: Node | undefined, key: string): Node | undefined {
  return members(node).find((member) => member.key === key)?.value;
}

// The reader takes runs with patterns rather than characters one by one: twice as fast before anything is compiled.
const BLANKS = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[^]*?\*\/)*/y;
// deno-lint-ignore no-control-regex -- these are what JSON forbids in a string.
const PLAIN = /[^"\\\0-\x1f]*/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORD = /[\w$.+-]+/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class JsonReader {
  #at = 0;

  constructor(readonly text: string) {}

  whole(): Node {
    this.#blank();
    const value = this.#value(0);
    this.#blank();
    if (this.#at < this.text.length) throw new NotJson(this.#at, "the file should end here");
    return value;
  }

  #value(depth: number): Node {
    const offset = this.#at;
    if (depth > DEEPEST) throw new NotJson(offset, "nested too deeply");
    switch (this.text[offset]) {
      case "{":
        return { type: "object", offset, members: this.#members(depth) };
      case "[":
        return { type: "array", offset, items: this.#items(depth) };
      case '"':
        return { type: "string", offset, value: this.#string() };
      case undefined:
        throw new NotJson(offset, "the file ends where a value is expected");
    }
    const word = this.#run(WORD);
    if (word === "true" || word === "false") return { type: "boolean", offset, value: word === "true" };
    if (word === "null") return { type: "null", offset };
    if (NUMBER.test(word)) return { type: "number", offset, value: Number(word) };
    throw new NotJson(offset, word === "" ? "a value is expected here" : `${JSON.stringify(word)} is no value`);
  }

  #members(depth: number): Member[] {
    const found: Member[] = [];
    this.#at++;
    for (;;) {
      this.#blank();
      if (this.#take("}")) return found;
      const keyOffset = this.#at;
      if (this.text[keyOffset] !== '"') {
        throw new NotJson(keyOffset, 'a key in double quotes, or "}", is expected here');
      }
      const key = this.#string();
      this.#blank();
      if (!this.#take(":")) throw new NotJson(this.#at, 'a ":" is expected here');
      this.#blank();
      found.push({ key, keyOffset, value: this.#value(depth + 1) });
      this.#blank();
      if (!this.#take(",") && this.text[this.#at] !== "}") throw new NotJson(this.#at, 'a "," or "}" is expected here');
    }
  }

  #items(depth: number): Node[] {
    const found: Node[] = [];
    this.#at++;
    for (;;) {
      this.#blank();
      if (this.#take("]")) return found;
      found.push(this.#value(depth + 1));
      this.#blank();
      if (!this.#take(",") && this.text[this.#at] !== "]") throw new NotJson(this.#at, 'a "," or "]" is expected here');
    }
  }

  #string(): string {
    const start = this.#at++;
    let value = "";
    for (;;) {
      value += this.#run(PLAIN);
      const character = this.text[this.#at];
      if (character === undefined || character === "\n" || character === "\r") {
        throw new NotJson(start, "this string is not closed");
      }
      if (character < " ") throw new NotJson(this.#at, "a string cannot hold a control character as it is");
      this.#at++;
      if (character === '"') return value;
      value += this.#escape();
    }
  }

  #escape(): string {
    const offset = this.#at - 1;
    const letter = this.text[this.#at++];
    if (letter !== "u") {
      if (letter !== undefined && Object.hasOwn(ESCAPES, letter)) return ESCAPES[letter];
      throw new NotJson(offset, "this escape is unknown; a backslash itself is written \\\\");
    }
    const digits = this.text.slice(this.#at, this.#at += 4);
    if (!/^[0-9A-Fa-f]{4}$/.test(digits)) throw new NotJson(offset, "a \\u escape has four hexadecimal digits");
    return String.fromCharCode(parseInt(digits, 16));
  }

  /** Passes blanks, line breaks and comments. */
  #blank(): void {
    this.#run(BLANKS);
    if (this.text[this.#at] !== "/") return;
    throw new NotJson(
      this.#at,
      this.text[this.#at + 1] === "*" ? "this comment is not closed" : "a comment begins with // or /*",
    );
  }

  /** Passes and gives back what a sticky pattern takes here. */
  #run(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.text)?.[0] ?? "";
    this.#at += taken.length;
    return taken;
  }

  #take(character: string): boolean {
    if (this.text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }
}
