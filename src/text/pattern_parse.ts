/**
 * From the text of a pattern to its form. Loaded only when a pattern is more than plain text: the parser costs 5 ms to load and 2 ms
 * for its first pattern (measured), a third of the whole start.
 */

import { type AST, RegExpParser } from "@eslint-community/regexpp";
import { type Form, Obstacle, setOf } from "./pattern_form.ts";
import { everything, foldAscii, matchedBy, pairs, type Ranges, subtract, unite, variants } from "./pattern_sets.ts";

/** What holds at one place of a pattern. */
interface Mode {
  readonly unicode: boolean;
  readonly ignoreCase: boolean;
  readonly dotAll: boolean;
  readonly multiline: boolean;
}

/**
 * The form of a pattern that V8 has already accepted.
 *
 * In Unicode mode a lone surrogate is matched by nothing, and `\b` does not count `ſ` and the Kelvin sign as letters where case is ignored.
 *
 * @throws {Obstacle} for a construct that has no linear form: look-ahead, back-references, what the parser does not know.
 */
export function parse(source: string, options: { unicode: boolean; ignoreCase: boolean }): Form {
  let pattern: AST.Pattern;
  try {
    pattern = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, 0, source.length, {
      unicode: options.unicode,
    });
  } catch {
    throw new Obstacle("a construct Fettler does not know");
  }
  return choice(pattern.alternatives, { ...options, dotAll: false, multiline: false });
}

function choice(alternatives: readonly AST.Alternative[], mode: Mode): Form {
  const options = alternatives.map(({ elements }): Form =>
    elements.length === 1
      ? element(elements[0], mode)
      : { kind: "sequence", parts: elements.map((part) => element(part, mode)) }
  );
  return options.length === 1 ? options[0] : { kind: "choice", options };
}

function element(node: AST.Element, mode: Mode): Form {
  switch (node.type) {
    case "Character":
      return setOf(variants(node.value, mode.ignoreCase, mode.unicode));
    case "CharacterSet":
      return setOf(characterSet(node, mode));
    case "CharacterClass":
      return setOf(characterClass(node, mode));
    case "CapturingGroup":
      return choice(node.alternatives, mode);
    case "Group":
      return choice(node.alternatives, node.modifiers ? modified(mode, node.modifiers) : mode);
    case "Quantifier":
      return {
        kind: "repeat",
        part: element(node.element, mode),
        least: node.min,
        most: node.max,
        lazy: !node.greedy,
      };
    case "Assertion":
      return assertion(node, mode);
    case "Backreference":
      throw new Obstacle(`the back-reference ${node.raw}`);
    case "ExpressionCharacterClass":
      throw new Obstacle(`the class ${node.raw}`);
  }
}

function assertion(node: AST.Assertion, mode: Mode): Form {
  switch (node.kind) {
    case "start":
      return { kind: "edge", source: mode.multiline ? "(?m:^)" : "^" };
    case "end":
      return { kind: "edge", source: mode.multiline ? "(?m:$)" : "$" };
    case "word":
      return { kind: "edge", source: node.negate ? "\\B" : "\\b" };
    case "lookbehind":
      return { kind: "behind", part: choice(node.alternatives, mode), negated: node.negate };
    case "lookahead":
      throw new Obstacle(`the look-ahead ${node.raw}`);
  }
}

/** The mode inside a group such as `(?i-s:…)`. */
function modified(mode: Mode, { add, remove }: AST.Modifiers): Mode {
  const flag = (name: "ignoreCase" | "dotAll" | "multiline") => add?.[name] || mode[name] && !remove?.[name];
  return {
    unicode: mode.unicode,
    ignoreCase: flag("ignoreCase"),
    dotAll: flag("dotAll"),
    multiline: flag("multiline"),
  };
}

const DIGITS: Ranges = [0x30, 0x39];
const WORDS: Ranges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** With the long s and the Kelvin sign, which Unicode mode takes for letters where case is ignored. */
const FOLDED_WORDS: Ranges = [...WORDS, 0x17f, 0x17f, 0x212a, 0x212a];
// deno-fmt-ignore
const SPACES: Ranges = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000,
  0xfeff, 0xfeff,
];
const LINE_ENDS: Ranges = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];

function characterSet(node: AST.CharacterSet, mode: Mode): Ranges {
  const all = everything(mode.unicode);
  const either = (set: Ranges, negate: boolean) => negate ? subtract(all, set) : set;
  switch (node.kind) {
    case "any":
      return mode.dotAll ? all : subtract(all, LINE_ENDS);
    case "digit":
      return either(DIGITS, node.negate);
    case "space":
      return either(SPACES, node.negate);
    case "word":
      return either(mode.unicode && mode.ignoreCase ? FOLDED_WORDS : WORDS, node.negate);
    case "property":
      return matchedBy(node.raw, (mode.ignoreCase ? "i" : "") + "u");
  }
}

/**
 * The characters of a class. Worked out here as long as folding concerns ASCII alone, since asking the engine costs 5 ms the first
 * time; asked where case is ignored and a member lies beyond.
 */
function characterClass(node: AST.CharacterClass, mode: Mode): Ranges {
  const ask = () => matchedBy(node.raw, (mode.ignoreCase ? "i" : "") + (mode.unicode ? "u" : ""));
  const written: [number, number][] = [];
  const named: [number, number][] = [];
  for (const member of node.elements) {
    if (member.type === "Character") written.push([member.value, member.value]);
    else if (member.type === "CharacterClassRange") written.push([member.min.value, member.max.value]);
    else if (member.type === "CharacterSet" && member.kind !== "property") {
      named.push(...pairs(characterSet(member, mode)));
    } else return ask();
  }
  if (mode.ignoreCase && written.some(([, high]) => high > 0x7f)) return ask();
  const folded = mode.ignoreCase ? pairs(foldAscii(written, mode.unicode)) : written;
  const outside = subtract(everything(mode.unicode), unite([...folded, ...named]));
  return node.negate ? outside : subtract(everything(mode.unicode), outside);
}
