/** Web tokens. Spec: 6-screens §6.4; scenarios 174, 175. */
import assert from "node:assert/strict";
import { base64url, mixed, says, webToken } from "./samples.ts";

const SIGNED = webToken({ alg: "RS256", kid: "k1" });

Deno.test("a signed token is found, however its header is written", () => {
  assert.deepEqual(says(SIGNED), ["1 json-web-token"]);
  assert.deepEqual(says(`Bearer ${SIGNED}.`), ["1 json-web-token"]);
  assert.deepEqual(says(webToken({ typ: "JWT", alg: "none" })), ["1 json-web-token"]);
  const escaped = base64url(String.raw`{"\u0061lg":"HS256"}`);
  assert.deepEqual(says([escaped, ...SIGNED.split(".").slice(1)].join(".")), ["1 json-web-token"]);
});

Deno.test("what is no signed token passes", () => {
  const [header, payload, signature] = SIGNED.split(".");
  const passing: Record<string, string> = {
    unsigned: `${header}.${payload}.`,
    "two parts": `${header}.${payload}`,
    "short signature": `${header}.${payload}.${signature.slice(0, 15)}`,
    "no header": `eyJ${mixed(20)}.${payload}.${signature}`,
    "header without alg": webToken({ typ: "JWT", name: "algae" }),
    "alg is no string": webToken({ alg: 5 }),
    "a letter before": `a${SIGNED}`,
    "a hyphen before": `-${SIGNED}`,
    "payload is no object": `${header}.${mixed(20)}.${signature}`,
    "short payload": `${header}.eyJhIjo.${signature}`,
    "a header cut short": `${header.slice(0, -1)}.${payload}.${signature}`,
    "a line break between": `${header}.\n${payload}.${signature}`,
  };
  for (const [what, text] of Object.entries(passing)) assert.deepEqual(says(text), [], what);
});

Deno.test("the second of two tokens joined by a dot is part of the first", () => {
  assert.deepEqual(says(`${SIGNED}.${SIGNED}`), ["1 json-web-token"]);
});
