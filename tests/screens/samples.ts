/**
 * Made-up secrets for the tests. All are put together when the tests run: no file of the repository holds what a secret scanner, or
 * the net itself, would take for one.
 */
import { addedCredentials } from "../../src/screens/credentials.ts";

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS = "0123456789";

export const ALPHABETS = {
  upperDigits: UPPER + DIGITS,
  alphanumeric: UPPER + UPPER.toLowerCase() + DIGITS,
  base64url: UPPER + UPPER.toLowerCase() + DIGITS + "_-",
  hex: DIGITS + "abcdef",
};

/** Characters of an alphabet in a fixed disorder: each turn goes through all of it, with a letter and a digit in any twenty. */
export function mixed(length: number, alphabet: string = ALPHABETS.alphanumeric, seed = 1): string {
  let text = "";
  let state = seed * 7919 + 17;
  let pool: string[] = [];
  while (text.length < length) {
    if (pool.length === 0) pool = [...alphabet];
    state = (state * 1103515245 + 12345) % 2147483648;
    text += pool.splice(state % pool.length, 1)[0];
  }
  return text;
}

/** A value that is random enough when assigned. */
export function value(length = 24, seed = 1): string {
  return "a1" + mixed(length - 2, ALPHABETS.alphanumeric, seed);
}

export function base64url(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** A web token with this header, signed or not. */
export function webToken(header: unknown, signature = mixed(43, ALPHABETS.base64url)): string {
  return [base64url(JSON.stringify(header)), base64url('{"sub":"someone"}'), signature].join(".");
}

const DASHES = "-".repeat(5);

/** A PEM line: `BEGIN` or `END`, and what it is of. */
export function pemLine(word: "BEGIN" | "END", label = "PRIVATE KEY"): string {
  return `${DASHES}${word} ${label}${DASHES}`;
}

/** A private key of several lines. */
export function privateKey(label = "PRIVATE KEY", seed = 1, lineBreak = "\n"): string {
  const body = [1, 2, 3].map((line) => mixed(64, ALPHABETS.alphanumeric, seed * 10 + line));
  return [pemLine("BEGIN", label), ...body, pemLine("END", label)].join(lineBreak);
}

/** One secret of each fixed shape. */
export const FIXED: readonly (readonly [detector: string, make: (seed: number) => string])[] = [
  ["aws-access-key-id", (seed) => "AK" + "IA" + mixed(16, ALPHABETS.upperDigits, seed)],
  ["aws-access-key-id", (seed) => "AS" + "IA" + mixed(16, ALPHABETS.upperDigits, seed)],
  ...[..."pousr"].map((kind) =>
    ["github-token", (seed: number) => `gh${kind}_` + mixed(36, ALPHABETS.alphanumeric, seed)] as const
  ),
  ["github-token", (seed) => "github_" + "pat_" + mixed(82, ALPHABETS.alphanumeric + "_", seed)],
  ...[..."baprs"].map((kind) =>
    ["slack-token", (seed: number) => `xox${kind}-` + mixed(24, ALPHABETS.alphanumeric, seed)] as const
  ),
  ["stripe-live-key", (seed) => "sk_" + "live_" + mixed(24, ALPHABETS.alphanumeric, seed)],
  ["google-api-key", (seed) => "AI" + "za" + mixed(35, ALPHABETS.base64url, seed)],
  ["json-web-token", (seed) => webToken({ alg: "HS256", typ: "JWT" }, mixed(43, ALPHABETS.base64url, seed))],
];

/** What the net says of a whole new text: `LINE DETECTOR`, in order. */
export function says(text: string): string[] {
  return addedCredentials({ path: "f", before: undefined, after: text }).map(({ line, detector }) =>
    `${line} ${detector}`
  );
}
