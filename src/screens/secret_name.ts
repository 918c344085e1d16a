/** Names that say that their value is a secret. Spec: 6-screens §6.5. */

const ONE_WORD = new Set([
  ...["password", "passwd", "pwd", "secret", "token", "passphrase"],
  ...["apikey", "accesskey", "authtoken", "privatekey", "signingkey", "encryptionkey"],
]);
const TWO_WORDS = new Set(["api key", "access key", "auth token", "private key", "signing key", "encryption key"]);

/** Last words of names whose value is about the secret. */
const ABOUT = new Set([
  ...[
    "name",
    "id",
    "url",
    "uri",
    "endpoint",
    "path",
    "file",
    "dir",
    "type",
    "length",
    "size",
    "policy",
    "hint",
    "field",
  ],
  ...[
    "label",
    "prompt",
    "placeholder",
    "ref",
    "arn",
    "version",
    "expiry",
    "expires",
    "ttl",
    "count",
    "regex",
    "pattern",
  ],
]);

/** Holds one of the words, perhaps; turns most identifiers down before they are divided. */
const LIKELY = /pass|pwd|secret|token|key/i;

/** A word ends at `_`, `-`, `.`, and where an upper-case letter follows a lower-case one or a digit. */
const WORDS = /[A-Z]+[a-z0-9]*|[a-z0-9]+/g;

/**
 * The secret-like part of an identifier, in lower case, the rightmost if there are several; `undefined` when it has none, or when its
 * last word says that the value is no secret.
 *
 * @example
 * ```ts
 * secretName("AWS_SECRET_ACCESS_KEY"); // "access_key"
 * secretName("dbPassword2"); // "password"
 * secretName("token_url"); // undefined
 * ```
 */
export function secretName(identifier: string): string | undefined {
  if (!LIKELY.test(identifier)) return undefined;
  const words = [...withoutNumber(identifier).matchAll(WORDS)];
  const lower = words.map(([word]) => word.toLowerCase());
  if (ABOUT.has(lower[lower.length - 1])) return undefined;
  for (let last = words.length - 1; last >= 0; last--) {
    if (last > 0 && TWO_WORDS.has(`${lower[last - 1]} ${lower[last]}`)) {
      const adjacent = words[last - 1].index + lower[last - 1].length === words[last].index;
      return lower[last - 1] + (adjacent ? "" : identifier[words[last].index - 1]) + lower[last];
    }
    if (ONE_WORD.has(lower[last])) return lower[last];
  }
  return undefined;
}

function withoutNumber(identifier: string): string {
  let end = identifier.length;
  while (end > 0 && identifier[end - 1] >= "0" && identifier[end - 1] <= "9") end--;
  return identifier.slice(0, end);
}
