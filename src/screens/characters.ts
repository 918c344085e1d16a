/**
 * Classes of characters, and runs of them.
 *
 * The detectors step through text with these and not with regular expressions: a run is read once and never given back, so the time
 * is linear by construction. Letters and digits are those of ASCII. Spec: 6-screens §6.1.
 */

/** A set of UTF-16 units: a flag for each unit of ASCII, and one for all others. */
export interface CharacterClass {
  readonly ascii: Uint8Array;
  readonly others: boolean;
}

/** The class of the characters listed; a regular expression's class lists them, tried on ASCII here and never on text. */
function classOf(listed: RegExp, others = false): CharacterClass {
  let ascii: Uint8Array | undefined;
  return {
    // Made when it is first asked for: all of them together cost a millisecond of every start.
    get ascii() {
      return ascii ??= Uint8Array.from({ length: 128 }, (_, unit) => Number(listed.test(String.fromCharCode(unit))));
    },
    others,
  };
}

export const LETTER = classOf(/[A-Za-z]/);
export const DIGIT = classOf(/[0-9]/);
export const HEX_DIGIT = classOf(/[0-9A-Fa-f]/);
export const UPPER_OR_DIGIT = classOf(/[A-Z0-9]/);
export const ALPHANUMERIC = classOf(/[A-Za-z0-9]/);
export const ALPHANUMERIC_OR_HYPHEN = classOf(/[A-Za-z0-9-]/);
export const WORD = classOf(/[A-Za-z0-9_]/);
export const BASE64URL = classOf(/[A-Za-z0-9_-]/);
export const IDENTIFIER = classOf(/[A-Za-z0-9_.-]/);
export const SCHEME = classOf(/[A-Za-z0-9+.-]/);
export const BLANK = classOf(/[ \t]/);
export const LINE_BREAK = classOf(/[\r\n]/);
export const QUOTE = classOf(/["'`]/);

/** What a bare value is made of, white space outside ASCII apart. Spec: 6-screens §6.5. */
export const BARE = classOf(/[^\s"'`,;)}\]]/, true);

/** What a part of an address is made of, white space outside ASCII apart. Spec: 6-screens §6.7. */
export const ADDRESS_PART = classOf(/[^\s"'`/@<>]/, true);

/** What stands between quotes, white space outside ASCII apart. */
export const NOT_WHITE = classOf(/\S/, true);

/** The unit at `at` belongs to the class. False before the start and behind the end. */
export function isIn(set: CharacterClass, text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit < 128 ? set.ascii[unit] === 1 : set.others && unit === unit && !isWideSpace(unit);
}

/** Where the run of the class that begins at `from` ends; `from` itself where there is none. Looks no further than `limit`. */
export function runEnd(set: CharacterClass, text: string, from: number, limit = text.length): number {
  let at = from;
  while (at < limit && isIn(set, text, at)) at++;
  return at;
}

/** Where the run of the class that ends before `to` begins; `to` itself where there is none. */
export function runStart(set: CharacterClass, text: string, to: number): number {
  let at = to;
  while (at > 0 && isIn(set, text, at - 1)) at--;
  return at;
}

/** White space that is not in ASCII, as `\s` has it. */
function isWideSpace(unit: number): boolean {
  if (unit < 0x2000) return unit === 0xa0 || unit === 0x1680;
  return unit <= 0x200a || unit === 0x2028 || unit === 0x2029 || unit === 0x202f || unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff;
}
