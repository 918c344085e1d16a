/** Assignments. Spec: 6-screens §6.5, §6.6; scenarios 176 to 180. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { secretName } from "../../src/screens/secret_name.ts";
import { ALPHABETS, mixed, pemLine, says, value } from "./samples.ts";

const VALUE = value();

Deno.test("names that count, and what of them is told", () => {
  const names: Record<string, string> = {
    password: "password",
    PASSWD: "passwd",
    pwd: "pwd",
    DB_PASSWORD: "password",
    client_secret: "secret",
    AWS_SECRET_ACCESS_KEY: "access_key",
    dbPassword: "password",
    "spring.datasource.password": "password",
    "X-Api-Key": "api-key",
    apiKey: "apikey",
    APIKey: "apikey",
    api__key: "api_key",
    authToken: "authtoken",
    auth_token_old: "auth_token",
    oauth2Token: "token",
    password2: "password",
    token_2: "token",
    secret_token: "token",
    token_secret: "secret",
    passphrase: "passphrase",
    "private.key": "private.key",
    signingKey: "signingkey",
    ENCRYPTION_KEY: "encryption_key",
    "--token": "token",
    DB1PASSWORD: "password",
    password_hash: "password",
  };
  for (const [name, told] of Object.entries(names)) assert.equal(secretName(name), told, name);

  const others = [
    "tokenizer",
    "passwordless",
    "secretary",
    "password_policy",
    "secret_name",
    "token_url",
    "tokenId",
    "key",
  ];
  others.push(
    "DBPassword",
    "publicKey",
    "revision",
    "secret_file2",
    "passwordLength",
    "TOKEN_TTL",
    "keyToken_path",
    "api",
    "",
  );
  for (const name of others) assert.equal(secretName(name), undefined, name);
});

Deno.test("forms of assignment", () => {
  const found = [
    `password = "${VALUE}"`,
    `password='${VALUE}'`,
    "password: `" + VALUE + "`",
    `"password": "${VALUE}",`,
    `'password' => '${VALUE}'`,
    `password := "${VALUE}"`,
    `password:="${VALUE}"`,
    `let password: string = "${VALUE}";`,
    `"password" : string : "${VALUE}"`,
    `password\t=\t${VALUE}`,
    `export PASSWORD=${VALUE};`,
    `{password:${VALUE}}`,
    `f(password=${VALUE}, b)`,
    `db.password = ${VALUE}`,
    `https://host/?a=b&password=${VALUE}`,
    `password = "${VALUE}`.replace('"', "") + "\r\n",
    `password = ${VALUE}"`,
    `  - password: ${VALUE}`,
    `a = b; c: d = e; password = "${VALUE}"`,
    `password = "a,;)b${VALUE}"`,
    `password = "it's(${VALUE}"`,
  ];
  for (const text of found) assert.deepEqual(says(text), ["1 assigned-password"], text.replace(VALUE, "…"));

  const passing = [
    `password == "${VALUE}"`,
    `password==${VALUE}`,
    `password != "${VALUE}"`,
    `password === "${VALUE}"`,
    `password "${VALUE}"`,
    `password =\n"${VALUE}"`,
    `password\n= "${VALUE}"`,
    `password = "${VALUE}`,
    `password = "${VALUE}\n"`,
    `password = "${VALUE} and more"`,
    `password = "${VALUE}\u00a0x"`,
    `password = b"${VALUE}"`,
    `password: Map<string> = "${VALUE}"`,
    `other: string = "${VALUE}"`,
  ];
  for (const text of passing) assert.deepEqual(says(text), [], text.replace(VALUE, "…"));
});

Deno.test("values that are no secrets pass", () => {
  const lowercase = mixed(24, "abcdefghijklmnopqrstuvwxyz");
  const passing = [
    "",
    "null",
    "changeme",
    "your-token-here-" + VALUE,
    "YOUR_" + VALUE,
    "example" + VALUE,
    "x".repeat(30),
  ];
  passing.push(
    "${" + VALUE + "}",
    "$(" + VALUE,
    "{{" + VALUE,
    "<" + VALUE,
    "%" + VALUE + "%",
    "$" + VALUE,
    "$_" + VALUE,
  );
  passing.push("ENC[" + VALUE, "vault:" + VALUE, "op://" + VALUE, "arn:" + VALUE, "env:" + VALUE, "file:" + VALUE);
  passing.push(
    "@Microsoft.KeyVault(" + VALUE,
    value(19),
    lowercase,
    mixed(40, "0123456789"),
    "aaaaaaaaaaaaaaaaaaaa1111",
  );
  for (const text of passing) {
    assert.deepEqual(says(`token = "${text}"`), [], text.slice(0, 5));
    assert.deepEqual(says(`token=${text}`), [], text.slice(0, 5));
  }
  const code = [
    "process.env." + VALUE,
    `read(${VALUE})`,
    `map[${VALUE}`,
    "self." + VALUE,
    "config." + VALUE,
    "this." + VALUE,
  ];
  for (const text of code) {
    assert.deepEqual(says(`token = ${text}`), [], text.slice(0, 5));
    assert.deepEqual(says(`token = "${text}"`), ["1 assigned-token"], text.slice(0, 5));
  }
  for (
    const text of ["$2" + VALUE, "%2" + VALUE, "processes." + VALUE, "xxx" + VALUE, "x".repeat(70) + mixed(600)]
  ) {
    assert.deepEqual(says(`token = "${text}"`), ["1 assigned-token"], text.slice(0, 5));
  }
});

Deno.test("hexadecimal values of twenty digits and more", () => {
  for (const length of [20, 32, 40, 64]) {
    const hex = "a1" + mixed(length - 2, ALPHABETS.hex, length);
    assert.deepEqual(says(`token: ${hex}`), ["1 assigned-token"], String(length));
    assert.deepEqual(says(`token: ${hex.toUpperCase()}`), ["1 assigned-token"], String(length));
    assert.deepEqual(says(`revision: ${hex}`), [], String(length));
  }
  const uuid = [8, 4, 4, 4, 12].map((length, index) => "1e" + mixed(length - 2, ALPHABETS.hex, index + 1)).join("-");
  assert.deepEqual(says(`secret=${uuid}`), ["1 assigned-secret"]);
  assert.deepEqual(says(`token: ${"deadbeef".repeat(4)}`), []);
  assert.deepEqual(says(`token: ${"dead-beef-0".repeat(4)}`), []);
  assert.deepEqual(says(`token: ${"1a2b".repeat(5)}`), []);
});

Deno.test("where two detectors match overlapping text, the fixed shape is kept", () => {
  const key = "AK" + "IA" + mixed(16, ALPHABETS.upperDigits);
  assert.deepEqual(says(`access_key = "${key}"`), ["1 aws-access-key-id"]);
  assert.deepEqual(says(`password = "${"postgres"}://app:${VALUE}@db.acme.io/x1"`), ["1 connection-string"]);
  assert.deepEqual(says(`https://a:${key}@db.acme.io`), ["1 aws-access-key-id"]);
  assert.deepEqual(says(`Server=db;Password=${VALUE};`), ["1 connection-string"]);
  assert.deepEqual(says(`token = "${VALUE}"; token="${key}"`), ["1 assigned-token", "1 aws-access-key-id"]);
  assert.deepEqual(says(`private_key = "${pemLine("BEGIN")}"`), ["1 private-key-header"]);
});

Deno.test("assignments in one another are one finding", () => {
  assert.deepEqual(says(`password="token=${VALUE}"`), ["1 assigned-password"]);
  assert.deepEqual(says(`password=aa,token=${VALUE}`), ["1 assigned-token"]);
  assert.deepEqual(says(`password=token=secret=${VALUE}`), ["1 assigned-password"]);
  assert.deepEqual(says(`password=(token=${VALUE}`), ["1 assigned-token"]);
});

Deno.test("a random value is found behind a secret-like name in any text", () => {
  const character = fc.constantFrom(...ALPHABETS.alphanumeric);
  const random = fc.uniqueArray(character, { minLength: 20, maxLength: 40 }).map((list) => list.join(""))
    .filter((text) => /[0-9]/.test(text) && /[A-Za-z]/.test(text) && !/^(your[-_]|example)/i.test(text));
  const text = fc.string({ unit: fc.constantFrom("a", " ", "\n", "\r\n", '"', "=", ":", ";", "é", "{", "token", ".") });
  fc.assert(fc.property(text, random, text, fc.constantFrom('"', "'", "`"), (before, secret, after, quote) => {
    const found = says(`${before}\npassword = ${quote}${secret}${quote}${after}`);
    assert.ok(found.some((finding) => finding.endsWith(" assigned-password")));
  }));
});
