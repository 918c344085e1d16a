/**
 * A pattern as a small tree of its own, and the same pattern written again so that V8's linear engine takes it.
 *
 * Groups capture nothing here, case has already gone into the sets, and no set holds a line break: so the form can run over many lines
 * at once and a match still never crosses from one into the next.
 */

import { MOST_WINDOWS, trimmed, type Window, worthOf } from "./byte_scan.ts";
import { alternatives, type Ranges, size, subtract, variants } from "./pattern_sets.ts";

/** Part of a pattern. */
export type Form =
  /** One character of a set, which never holds LF or CR. */
  | { readonly kind: "set"; readonly ranges: Ranges }
  | { readonly kind: "sequence"; readonly parts: readonly Form[] }
  | { readonly kind: "choice"; readonly options: readonly Form[] }
  | {
    readonly kind: "repeat";
    readonly part: Form;
    readonly least: number;
    readonly most: number;
    readonly lazy: boolean;
  }
  /** `^`, `$`, `\b`, `\B` as they are written. */
  | { readonly kind: "edge"; readonly source: string }
  | { readonly kind: "behind"; readonly part: Form; readonly negated: boolean };

/** A construct that has no form here; the message says which, in words that fit after "does not take". */
export class Obstacle extends Error {
  override readonly name = "Obstacle";
}

/** V8's linear engine takes counted repeats whose counts, multiplied from the outermost inwards, come to no more than this (measured). */
const LARGEST_REPEAT = 16;

/** Largest pattern, in characters after unrolling. Linear time is this times the length of the line. */
const LARGEST_FORM = 10_000;

const LINE_BREAKS: Ranges = [0x0a, 0x0a, 0x0d, 0x0d];

/** A set of characters, less the line breaks. */
export function setOf(ranges: Ranges): Form {
  return { kind: "set", ranges: subtract(ranges, LINE_BREAKS) };
}

/** Text to be matched as it stands. */
export function textOf(text: string, ignoreCase: boolean): Form {
  const parts: Form[] = [];
  for (let i = 0; i < text.length; i++) parts.push(setOf(variants(text.charCodeAt(i), ignoreCase, false)));
  return { kind: "sequence", parts };
}

/**
 * The form as the source of a pattern that needs no flag and captures nothing.
 *
 * @throws {Obstacle} a counted repeat that cannot be unrolled. Ask `demandSize` first.
 */
export function write(form: Form): string {
  return written(form).source;
}

/** @throws {Obstacle} when the form, unrolled, is too large to be quick. */
export function demandSize(form: Form): void {
  if (isLarge(form)) throw new Obstacle("a counted repeat as large as this");
}

/** Whether V8 might refuse the form, or patterns that hold it, when it first runs them. */
export function isLarge(form: Form): boolean {
  return weight(form) > LARGEST_FORM;
}

/** Text of a form, and the largest product of counts inside it. */
interface Written {
  readonly source: string;
  readonly factor: number;
}

function written(form: Form): Written {
  switch (form.kind) {
    case "set": {
      const sources = alternatives(form.ranges);
      return { source: sources.length === 1 ? sources[0] : `(?:${sources.join("|")})`, factor: 1 };
    }
    case "edge":
      return { source: form.source, factor: 1 };
    case "sequence": {
      const parts = form.parts.map(written);
      return { source: parts.map((part) => part.source).join(""), factor: largest(parts) };
    }
    case "choice": {
      const options = form.options.map(written);
      return { source: `(?:${options.map((option) => option.source).join("|")})`, factor: largest(options) };
    }
    case "behind": {
      const part = written(form.part);
      return { source: `(?<${form.negated ? "!" : "="}${part.source})`, factor: part.factor };
    }
    case "repeat":
      return repeated(form);
  }
}

function largest(parts: readonly Written[]): number {
  return parts.reduce((most, part) => Math.max(most, part.factor), 1);
}

/** A repeat, unrolled as far as the linear engine demands: `x{40}` becomes `x{16}x{16}x{8}`. */
function repeated({ part, least, most, lazy }: Form & { kind: "repeat" }): Written {
  if (most === 0) return { source: "(?:)", factor: 1 };
  const inner = written(part);
  // Repeating what has no width changes nothing, and copies of it cost V8's compiler seconds (measured: `(?:(?<!a)|\B){18,}`, 13 s).
  if (isZeroWidth(part)) {
    return least === 0 ? { source: "(?:)", factor: 1 } : { ...inner, source: `(?:${inner.source})` };
  }
  const isOneUnit = part.kind === "set" && part.ranges.every((point) => point <= 0xffff);
  const one = isOneUnit ? inner.source : `(?:${inner.source})`;
  const step = Math.max(1, Math.floor(LARGEST_REPEAT / inner.factor));
  const mark = lazy ? "?" : "";
  const factor = LARGEST_REPEAT;
  if (least <= step && (most === Infinity || most <= step)) {
    return {
      source: one + quantifier(least, most) + mark,
      factor: inner.factor * (most === Infinity ? Math.max(least, 1) : most),
    };
  }
  if (most === Infinity) {
    const rest = Math.max(1, least % step);
    return { source: times(one, least - rest, step) + one + quantifier(rest, Infinity) + mark, factor };
  }
  const required = times(one, least, step);
  if (most - least <= step) return { source: required + one + quantifier(0, most - least) + mark, factor };
  if (isOneWay(part)) return { source: required + upTo(one, most - least, step, mark), factor };
  if (isNullable(part) || most - least > 100) {
    throw new Obstacle(`the counted repeat {${least},${most}} of such a group`);
  }
  return { source: required + nested(one, most - least, mark), factor };
}

/** `x` exactly `count` times. */
function times(one: string, count: number, step: number): string {
  const rest = count % step;
  return (one + quantifier(step, step)).repeat((count - rest) / step) + (rest > 0 ? one + quantifier(rest, rest) : "");
}

/** `x` up to `count` times where `x` can match in one way only: whole steps first, or when lazy last. */
function upTo(one: string, count: number, step: number, mark: string): string {
  if (count <= step) return one + quantifier(0, count) + mark;
  const whole = one + quantifier(step, step) + upTo(one, count - step, step, mark);
  const fewer = one + quantifier(0, step - 1) + mark;
  return mark === "" ? `(?:${whole}|${fewer})` : `(?:${fewer}|${whole})`;
}

/** `x` up to `count` times, each only after the one before: keeps the order in which a backtracking engine would try. */
function nested(one: string, count: number, mark: string): string {
  return `(?:${one}`.repeat(count) + `)?${mark}`.repeat(count);
}

function quantifier(least: number, most: number): string {
  if (least === 1 && most === 1) return "";
  if (most === Infinity) return least === 0 ? "*" : least === 1 ? "+" : `{${least},}`;
  if (least === 0 && most === 1) return "?";
  return least === most ? `{${least}}` : `{${least},${most}}`;
}

/** Characters of a form once every counted repeat is unrolled. */
function weight(form: Form): number {
  switch (form.kind) {
    case "set":
      return alternatives(form.ranges).length;
    case "edge":
      return 1;
    case "sequence":
      return form.parts.reduce((sum, part) => sum + weight(part), 0);
    case "choice":
      return form.options.reduce((sum, option) => sum + weight(option), 0);
    case "behind":
      return weight(form.part);
    case "repeat":
      return weight(form.part) * Math.max(1, form.most === Infinity ? form.least : form.most);
  }
}

/** Whether the form can match a given place in one way only. */
function isOneWay(form: Form): boolean {
  if (form.kind === "set") return true;
  if (form.kind === "sequence") return form.parts.length > 0 && form.parts.every(isOneWay);
  return form.kind === "repeat" && form.least === form.most && form.least > 0 && isOneWay(form.part);
}

/** Whether the form can match nothing at all. */
function isNullable(form: Form): boolean {
  switch (form.kind) {
    case "set":
      return false;
    case "edge":
    case "behind":
      return true;
    case "sequence":
      return form.parts.every(isNullable);
    case "choice":
      return form.options.some(isNullable);
    case "repeat":
      return form.least === 0 || isNullable(form.part);
  }
}

/** Whether the form can match nothing but a place. */
function isZeroWidth(form: Form): boolean {
  switch (form.kind) {
    case "set":
      return false;
    case "edge":
    case "behind":
      return true;
    case "sequence":
      return form.parts.every(isZeroWidth);
    case "choice":
      return form.options.every(isZeroWidth);
    case "repeat":
      return form.most === 0 || isZeroWidth(form.part);
  }
}

/** Whether `^` or `$` is anywhere in the form. */
export function hasAnchor(form: Form): boolean {
  switch (form.kind) {
    case "set":
      return false;
    case "edge":
      return !/^\\b$/i.test(form.source);
    case "sequence":
      return form.parts.some(hasAnchor);
    case "choice":
      return form.options.some(hasAnchor);
    case "behind":
    case "repeat":
      return hasAnchor(form.part);
  }
}

/** Whether the form repeats without a small bound, so that a failed start may cost many steps back. */
export function hasLoop(form: Form): boolean {
  switch (form.kind) {
    case "set":
    case "edge":
      return false;
    case "sequence":
      return form.parts.some(hasLoop);
    case "choice":
      return form.options.some(hasLoop);
    case "behind":
      return true;
    case "repeat":
      return form.most > LARGEST_REPEAT || form.most > 1 && (form.least !== form.most || !isOneWay(form.part));
  }
}

/** Whether a match may begin with such a repeat: every start in the text is then tried at length. */
export function beginsWithLoop(form: Form): boolean {
  switch (form.kind) {
    case "set":
    case "edge":
      return false;
    case "behind":
      return true;
    case "repeat":
      return hasLoop(form) && form.most > 1 || beginsWithLoop(form.part);
    case "choice":
      return form.options.some(beginsWithLoop);
    case "sequence":
      for (const part of form.parts) {
        if (beginsWithLoop(part)) return true;
        if (!isNullable(part)) return false;
      }
      return false;
  }
}

/** Text that a match must hold, character by character, each with its few variants. */
export type Needle = readonly Ranges[];

/** Most variants a character of a needle may have: a letter's cases. */
const FEW = 4;

/** What needles are made of, and which of them are worth looking for. */
interface Measure {
  /** A set as a character of a needle; `undefined` for one that ends the needle. */
  member(ranges: Ranges): Ranges | undefined;
  /** How telling a choice of needles is; below 1 it is none. */
  worth(needles: readonly Needle[]): number;
}

/** Needles to be looked for in decoded text, by an expression or `indexOf`. */
const IN_TEXT: Measure = {
  member: (ranges) => size(ranges) <= FEW && ranges.every((point) => point <= 0xffff) ? ranges : undefined,
  /** The length of the shortest, variants and blanks counting less. */
  worth(needles) {
    const lengths = needles.map((needle) =>
      needle.reduce((sum, ranges) => sum + (ranges[0] === 0x20 ? 0.25 : size(ranges) > 2 ? 0.25 : 1), 0)
    );
    return needles.length > 8 || needles.length === 0 ? 0 : Math.min(...lengths);
  },
};

/** Needles to be looked for in the bytes of ASCII texts: of sets of any size, since two telling places of a needle are enough. */
const IN_ASCII: Measure = {
  // Line breaks are in no set; the scanner counts on it.
  member: (ranges) => subtract(ranges, BEYOND_ASCII),
  worth: (needles) =>
    needles.length > MOST_WINDOWS || needles.length === 0 ? 0 : Math.min(...needles.map((needle) => worthOf(needle))),
};

const BEYOND_ASCII: Ranges = [0x0a, 0x0a, 0x0d, 0x0d, 0x80, 0x10ffff];

/** The form's needles when it is nothing but text, one for each alternative; else `undefined`. */
export function plainText(form: Form): readonly Needle[] | undefined {
  const options = form.kind === "choice" ? form.options : [form];
  const needles = options.map((option) => isText(option) ? needed(option, IN_TEXT).whole : undefined);
  return needles.every((needle) => needle !== undefined && needle.length > 0) ? needles as Needle[] : undefined;
}

function isText(form: Form): boolean {
  return form.kind === "set" || form.kind === "sequence" && form.parts.every(isText);
}

/**
 * Needles of which every match holds at least one, the most telling that can be had; `undefined` where a match need hold none.
 */
export function required(form: Form): readonly Needle[] | undefined {
  return requiredBy(form, IN_TEXT);
}

/** The same for texts that are wholly ASCII: windows for the byte scanner. */
export function windows(form: Form): readonly Window[] | undefined {
  return requiredBy(form, IN_ASCII)?.map(trimmed);
}

function requiredBy(form: Form, measure: Measure): readonly Needle[] | undefined {
  const { whole, any } = needed(form, measure);
  return best([whole && [whole], any], measure);
}

/** What a form must match: the `whole` of it, as one needle (zero-width parts have an empty one), or `any` of several. */
interface Needed {
  readonly whole?: Needle;
  readonly any?: readonly Needle[];
}

function needed(form: Form, measure: Measure): Needed {
  switch (form.kind) {
    case "set": {
      const member = measure.member(form.ranges);
      return member ? { whole: [member] } : {};
    }
    case "edge":
    case "behind":
      return { whole: [] };
    case "sequence": {
      const found: (readonly Needle[] | undefined)[] = [];
      let run: Ranges[] = [];
      let unbroken = true;
      for (const part of form.parts) {
        const { whole, any } = needed(part, measure);
        if (whole) {
          run.push(...whole);
          continue;
        }
        // `x+` in `ax+b` ends the text `ax` and begins the text `xb`.
        const looped = part.kind === "repeat" && part.least > 0 ? needed(part.part, measure).whole : undefined;
        unbroken = false;
        found.push([[...run, ...(looped ?? [])]], any);
        run = [...(looped ?? [])];
      }
      return unbroken ? { whole: run } : { any: best([...found, [run]], measure) };
    }
    case "choice": {
      const options = form.options.map((option) => needed(option, measure));
      if (options.length === 1) return options[0];
      const each = options.map(({ whole, any }) => best([whole && [whole], any], measure));
      return each.every((needles) => needles !== undefined) ? { any: each.flat() as Needle[] } : {};
    }
    case "repeat": {
      if (form.least === 0) return {};
      const { whole, any } = needed(form.part, measure);
      if (!whole) return { any };
      const times: Needle = Array.from({ length: Math.min(form.least, 32) }, () => whole).flat();
      return form.least === form.most && form.least <= 32 ? { whole: times } : { any: best([[times]], measure) };
    }
  }
}

/** The candidate whose shortest needle is longest; empty ones do not count. */
function best(
  candidates: readonly (readonly Needle[] | undefined)[],
  { worth }: Measure,
): readonly Needle[] | undefined {
  let chosen: readonly Needle[] | undefined;
  for (const needles of candidates) {
    if (needles && worth(needles) >= (chosen ? worth(chosen) + 0.01 : 1)) chosen = needles;
  }
  return chosen;
}

/** Needles as one pattern without flags, and as text where it is one needle without variants. */
export function needleSource(needles: readonly Needle[]): { text?: string; source: string } {
  const source = needles.map((needle) => needle.map((ranges) => alternatives(ranges)[0]).join("")).join("|");
  const single = needles.length === 1 && needles[0].every((ranges) => size(ranges) === 1);
  return single ? { text: needles[0].map(([unit]) => String.fromCharCode(unit)).join(""), source } : { source };
}
