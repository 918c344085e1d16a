/**
 * A small language for the shape of a configuration file: what stands where, what it is called when it is wrong, and what
 * an editor says about it. One shape checks a file, with the place of every fault, and gives the JSON Schema.
 *
 * The same definition in zod was tried first: building and first using it took 10 ms of a start of 25 (measured in a bundle),
 * before the first verb had done anything; this takes one.
 */
import type { Node } from "./json_text.ts";
import { members } from "./json_text.ts";
import { nearest } from "../refusal.ts";

/** What a value has to be. `form` says so in words, for a value of another type. */
export type Shape =
  | { kind: "object"; form: string; keys: Readonly<Record<string, Key>>; strange?: (key: string) => string | undefined }
  | { kind: "map"; form: string; name?: Name; value: Shape }
  | { kind: "list"; form: string; member: Shape; fault?: (words: readonly string[]) => string | undefined }
  | Text
  /** A list, or a plain yes or no. */
  | { kind: "flag or list"; form: string; list: Shape }
  | { kind: "anything" };

/** One key of an object. `missing` makes it required, and says so. */
export interface Key {
  shape: Shape;
  help: string;
  missing?: string;
}

/** Which names a map's entries may bear. */
export interface Name {
  pattern?: RegExp;
  fault: (name: string) => string | undefined;
}

/** A string. Of `words` each may be written in any case. */
export interface Text {
  kind: "text";
  form: string | ((value: unknown) => string);
  words?: readonly string[];
  /** Anything more to be said against it; for one with `words`, against what is none of them. */
  fault?: (text: string) => string | undefined;
  /** Whether it may be empty, when `fault` has nothing against it. */
  mayBeEmpty?: boolean;
}

/** Keys and list positions from the top of the file. */
export type Path = readonly (string | number)[];

/** Tells a fault at an offset of the text. */
export type Tell = (offset: number, message: string) => void;

/** Checks a value and all that is in it, and tells every fault. */
export function check(shape: Shape, node: Node, path: Path, tell: Tell): void {
  const wrong = (form: string) => tell(node.offset, `${spelled(path)}: ${form}`);
  switch (shape.kind) {
    case "anything":
      return;
    case "text": {
      if (node.type !== "string") {
        return wrong(typeof shape.form === "string" ? shape.form : shape.form(node.type));
      }
      if (shape.words?.includes(node.value.toLowerCase())) return;
      const fault = shape.fault?.(node.value);
      return fault === undefined ? undefined : wrong(fault);
    }
    case "flag or list":
      if (node.type === "boolean") return;
      return node.type === "array" ? check(shape.list, node, path, tell) : wrong(shape.form);
    case "list": {
      if (node.type !== "array") return wrong(shape.form);
      let sound = true;
      node.items.forEach((item, index) =>
        check(shape.member, item, [...path, index], (offset, message) => {
          sound = false;
          tell(offset, message);
        })
      );
      const fault = sound ? shape.fault?.(node.items.map((item) => `${plainText(item)}`.toLowerCase())) : undefined;
      return fault === undefined ? undefined : wrong(fault);
    }
    case "map":
      if (node.type !== "object") return wrong(shape.form);
      for (const { key, keyOffset, value } of node.members) {
        const fault = shape.name?.fault(key);
        if (fault !== undefined) tell(keyOffset, `${spelled([...path, key])}: ${fault}`);
        check(shape.value, value, [...path, key], tell);
      }
      return;
    case "object":
      if (node.type !== "object") return wrong(shape.form);
      for (const { key, keyOffset, value } of node.members) {
        const known = Object.hasOwn(shape.keys, key) ? shape.keys[key] : undefined;
        if (known) check(known.shape, value, [...path, key], tell);
        else tell(keyOffset, unknownKey(path, key, shape.strange?.(key), Object.keys(shape.keys)));
      }
      for (const [key, { missing }] of Object.entries(shape.keys)) {
        if (missing !== undefined && !members(node).some((member) => member.key === key)) wrong(missing);
      }
  }
}

/** The JSON Schema of a shape, as far as it can say it. */
export function toJsonSchema(shape: Shape): Record<string, unknown> {
  switch (shape.kind) {
    case "anything":
      return {};
    case "text":
      if (shape.words) return { type: "string", enum: shape.words };
      return shape.mayBeEmpty ? { type: "string" } : { type: "string", minLength: 1 };
    case "flag or list":
      return { anyOf: [{ type: "boolean" }, toJsonSchema(shape.list)] };
    case "list":
      return { type: "array", items: toJsonSchema(shape.member) };
    case "map": {
      const pattern = shape.name?.pattern?.source;
      return {
        type: "object",
        ...(pattern ? { propertyNames: { pattern } } : {}),
        additionalProperties: toJsonSchema(shape.value),
      };
    }
    case "object": {
      const keys = Object.entries(shape.keys);
      const required = keys.filter(([, { missing }]) => missing !== undefined).map(([key]) => key);
      return {
        type: "object",
        properties: Object.fromEntries(
          keys.map(([key, { shape, help }]) => [key, { description: help, ...toJsonSchema(shape) }]),
        ),
        ...(required.length > 0 ? { required } : {}),
        additionalProperties: false,
      };
    }
  }
}

/** A path of keys as a person would point at it: `guardrails.trees.work.scopes["a/b"].can`. */
export function spelled(path: Path): string {
  if (path.length === 0) return "the file";
  return path.map((key, index) =>
    typeof key === "string" && /^[\w$-]+$/.test(key) ? (index ? "." : "") + key : `[${JSON.stringify(key)}]`
  ).join("");
}

function unknownKey(path: Path, key: string, strange: string | undefined, known: readonly string[]): string {
  const meant = nearest(key, known);
  const advice = strange ??
    (meant ? `did you mean "${meant}"?` : `the keys here are ${known.map((word) => `"${word}"`).join(", ")}`);
  return `unknown key ${spelled([...path, key])}; ${advice}`;
}

function plainText(node: Node): unknown {
  return node.type === "string" ? node.value : undefined;
}
