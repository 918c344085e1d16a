/** Values that are no secrets: what points at one, and what holds its place. Spec: 6-screens §6.6. */

const REFERENCE = /^(?:\$\{|\$\(|\{\{|<|[%$][A-Za-z_]|ENC\[|vault:|op:\/\/|arn:|env:|file:|@Microsoft\.KeyVault\()/;
const PLACEHOLDER =
  /^(?:(?:x{3,}|changeme|placeholder|redacted|test|none|null|true|false|secret|password|pass)$|your[-_]|example)/i;
const CODE = /^(?:process|env|os|Deno|config|settings|secrets|vars|var|data|local|module|self|this|import)\./;

/** The value points at a secret: a variable, a template, an address in a vault. */
export function isReference(value: string): boolean {
  return REFERENCE.test(value);
}

/** The value stands where a secret will. */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value);
}

/** The bare value is a member of something in a program. */
export function isMember(value: string): boolean {
  return CODE.test(value);
}
