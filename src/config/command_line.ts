/** The command line of a task: its split into arguments, and the placeholders in them. Spec: 4-tasks §4.2, §4.3. */

/** A name that a placeholder may bear. */
export const REPLACEMENT_NAME = /^[A-Za-z][A-Za-z0-9._-]*$/;

const PLACEHOLDER = /\{(\{?)([A-Za-z][A-Za-z0-9._-]*)\}/g;

/**
 * The arguments of a command line, the program first.
 *
 * Blanks and tabs separate; `"` opens and closes a span, inside which `""` is one quote; nothing else is special.
 *
 * @returns `undefined` when a span is still open at the end.
 */
export function splitCommand(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let inSpan = false;
  for (let i = 0; i < line.length; i++) {
    const character = line[i];
    if (inSpan) {
      if (character !== '"') word += character;
      else if (line[i + 1] === '"') word += line[++i];
      else inSpan = false;
    } else if (character === '"') {
      inSpan = true;
      word ??= "";
    } else if (character === " " || character === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (inSpan) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}

/** The names of the placeholders in one argument, in order. `{{NAME}` is a text, not a placeholder. */
export function placeholders(word: string): string[] {
  return [...word.matchAll(PLACEHOLDER)].filter(([, doubled]) => !doubled).map(([, , name]) => name);
}

/** One argument with its placeholders filled. One pass: a value is never searched. `valueOf` is asked for declared names only. */
export function fillWord(word: string, valueOf: (name: string) => string): string {
  return word.replace(PLACEHOLDER, (found, doubled: string, name: string) => doubled ? found.slice(1) : valueOf(name));
}

/** Why a command line cannot be run, if so. Spec: 4-tasks §4.1. */
export function commandFault(line: string): string | undefined {
  if (line.includes("\0")) return "the command line cannot hold a NUL";
  const words = splitCommand(line);
  if (!words) return 'the command line has an unclosed quote; close it with " (inside a quoted span "" is one quote)';
  if (words.length === 0) return "the command line is empty; its first word is the program";
  if (words[0] === "") return "the command line's first word, the program, is empty";
  return undefined;
}
