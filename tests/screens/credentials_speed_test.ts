/** The net takes linear time, whatever the text. Spec: 6-screens §6.8. */
import assert from "node:assert/strict";
import { addedCredentials } from "../../src/screens/credentials.ts";
import { base64url, pemLine } from "./samples.ts";

const MEGABYTE = 1024 * 1024;
/** Milliseconds: several times what the worst of these takes on a busy machine, and a small part of what quadratic time would. */
const LIMIT = 3000;

const UNITS: readonly string[] = [
  ...["A", "=", ":", "-", "_", ".", ";", " ", "\t", "\r", "\n", '"', "x", "0", "\u00e9", "://", "a=", '="', "='`\""],
  ...[
    "AKIA",
    " AKIA",
    "ghp_",
    " gh",
    "github_pat_",
    "xoxb-",
    "/xoxb-",
    "sk_live_",
    "AIza",
    ".AIza",
    "eyJ",
    ".eyJ",
    " eyJ",
  ],
  ...[
    "token=",
    "token=x",
    'token="',
    "token='a\"",
    "token:token=",
    "token=a1b2c3d4",
    "token    =",
    "a.b_c-",
    "=token:a:",
  ],
  ...[
    "x://a:",
    "x://a:b@",
    "x://a:" + "bbbbbb@h;",
    "Password=",
    "Password" + "=abcdef1;",
    "Server=a;" + "Password=b2",
    "Password=abcdef1\n",
  ],
  ...["BEGIN ", "-----BEGIN ", pemLine("BEGIN"), pemLine("BEGIN") + "\n\\n", pemLine("END"), "\\"],
  ...[
    `.${base64url('{"a":1}')}`,
    `.${base64url('{"alg":[')}`,
    ` ${base64url('{"alg":1}')}.${base64url('{"b":1,"c":2}')}.`,
  ],
  ...["Server=a;Server", "password : string : ", "a;Pwd" + "=aaaaaaa\n", "'Pwd" + "=aaaaaaa;Uid="],
];

Deno.test("a megabyte of anything is looked through in linear time", () => {
  for (const unit of UNITS) {
    for (const lead of ["", "Server=;token = "]) {
      const text = lead + unit.repeat(Math.ceil(MEGABYTE / unit.length));
      const start = performance.now();
      addedCredentials({ path: "f", before: undefined, after: text }, { now: () => 0 });
      const time = performance.now() - start;
      assert.ok(time < LIMIT, `${JSON.stringify(lead + unit)}: ${Math.round(time)} ms`);
    }
  }
});

Deno.test("an edit in a large text costs next to nothing", () => {
  const line = "const value = compute(other, 17); // and so on\n";
  const text = line.repeat(Math.ceil(32 * MEGABYTE / line.length));
  const middle = text.indexOf("\n", text.length >> 1) + 1;
  const after = text.slice(0, middle) + "one more\n" + text.slice(middle);
  assert.ok(after.charCodeAt(0) > 0); // flattens it
  const change = { path: "f", before: text, after, changed: [{ start: middle, end: middle + 9 }] };
  const start = performance.now();
  for (let turn = 0; turn < 100; turn++) assert.deepEqual(addedCredentials(change), []);
  assert.ok(performance.now() - start < LIMIT);
});
