/** Private keys. Spec: 6-screens §6.3, §6.4; scenarios 174, 183. */
import assert from "node:assert/strict";
import { addedCredentials } from "../../src/screens/credentials.ts";
import { mixed, pemLine, privateKey, says } from "./samples.ts";

const FOUND = ["1 private-key-header"];

function added(before: string, after: string): number {
  return addedCredentials({ path: "f", before, after }).length;
}

Deno.test("every begin line of a private key is found, anywhere in a line", () => {
  for (const kind of ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "]) {
    const label = `${kind}PRIVATE KEY`;
    assert.deepEqual(says(pemLine("BEGIN", label)), FOUND, label);
    assert.deepEqual(says(privateKey(label, 1, "\r\n")), FOUND, label);
    assert.deepEqual(says(JSON.stringify({ key: privateKey(label) })), FOUND, label);
  }
  assert.deepEqual(says(privateKey("PGP PRIVATE KEY BLOCK")), FOUND);
  assert.deepEqual(says("a\r\nb\n  " + privateKey()), ["3 private-key-header"]);
  assert.deepEqual(says("---" + privateKey()), FOUND);
});

Deno.test("other PEM lines pass", () => {
  for (
    const label of ["CERTIFICATE", "PUBLIC KEY", "RSA EC PRIVATE KEY", "FOO PRIVATE KEY", "PRIVATE  KEY", "private key"]
  ) {
    assert.deepEqual(says(privateKey(label)), [], label);
  }
  assert.deepEqual(says(pemLine("END")), []);
  assert.deepEqual(says(pemLine("BEGIN").slice(1)), []);
  assert.deepEqual(says(pemLine("BEGIN").slice(0, -1)), []);
  assert.deepEqual(says("BEGIN PRIVATE KEY"), []);
});

Deno.test("what is compared is the key, not its header", () => {
  const key = privateKey();
  assert.equal(added(key, privateKey("PRIVATE KEY", 2)), 1, "swapped for another");
  assert.equal(added(key, `moved\n${key}\n${key}`), 0, "moved and repeated");
  assert.equal(added(key, key.replaceAll("\n", "\r\n    ")), 0, "indented");
  assert.equal(added(key, JSON.stringify(key)), 0, "quoted in JSON");
  assert.equal(added(JSON.stringify(key), key), 0, "taken out of JSON");
  assert.equal(added(key, `${key}\n${privateKey("EC PRIVATE KEY", 2)}`), 1, "a second one");
  assert.equal(added(key, key.replace("a", "b")), 1, "changed by one letter");
});

Deno.test("without an end line within 64 KiB, the header alone", () => {
  const [begin, end] = [pemLine("BEGIN"), pemLine("END")];
  assert.equal(added(`${begin}\n${mixed(40)}`, `${begin}\n${mixed(40, undefined, 2)}`), 0);
  assert.equal(added(`${begin}\n${pemLine("END", "EC PRIVATE KEY")}`, `${begin}\nabc\n`), 0, "of another kind");
  const reach = 64 * 1024 - begin.length - end.length;
  const [a, b] = ["A".repeat(reach), "B".repeat(reach)];
  assert.equal(added(begin + a + end, begin + b + end), 1, "just within");
  assert.equal(added(begin + a + "A" + end, begin + b + "B" + end), 0, "just beyond");
});

Deno.test("a begin line before the end line begins a key of its own", () => {
  const key = privateKey();
  assert.equal(added(`${pemLine("BEGIN")}\n${key}`, `${pemLine("BEGIN")}\nabc\n${key}`), 0);
});
