/** What a change adds, and how it is refused. Spec: 6-screens §6.3, §6.8, §6.9; scenarios 182, 185, 188. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { credentialRefusal } from "../../src/screens/credential_refusal.ts";
import { addedCredentials, type Range } from "../../src/screens/credentials.ts";
import { Refusal } from "../../src/refusal.ts";
import { ALPHABETS, FIXED, mixed, privateKey, says, value, webToken } from "./samples.ts";

const AWS = "AK" + "IA" + mixed(16, ALPHABETS.upperDigits);
const OTHER = "AK" + "IA" + mixed(16, ALPHABETS.upperDigits, 2);
const printable = (path: string) => path;

/** `LINE DETECTOR` of what a change adds. */
function added(before: string | undefined, after: string, changed?: readonly Range[]): string[] {
  return addedCredentials({ path: "f", before, after, changed }).map(({ line, detector }) => `${line} ${detector}`);
}

Deno.test("a secret that the file holds stands in no one's way", () => {
  const old = `a\nkey = "${AWS}"\nb\n`;
  assert.deepEqual(added(old, old), []);
  assert.deepEqual(added(old, "new\n" + old), []);
  assert.deepEqual(added(old, `b\na\n\t\tid: ${AWS}\r\n`), [], "moved and indented");
  assert.deepEqual(added(old, old + old + AWS), [], "repeated");
  assert.deepEqual(added(old, old.replace(AWS, "")), [], "taken out");
  assert.deepEqual(added(old, `${OTHER}\n${old}`), ["1 aws-access-key-id"], "a second one, that alone");
  assert.deepEqual(added(old, old.replace(AWS, OTHER)), ["2 aws-access-key-id"], "another in its place");
  assert.deepEqual(added(undefined, old), ["2 aws-access-key-id"], "a new file");
  assert.deepEqual(added("", old), ["2 aws-access-key-id"]);
});

Deno.test("of an assignment the value is compared, of a connection string the password", () => {
  const [one, two] = [value(24, 1), value(24, 2)];
  assert.deepEqual(added(`password: ${one}`, `token: "${one}"`), []);
  assert.deepEqual(added(`password: ${one}`, `password: ${two}`), ["1 assigned-password"]);
  assert.deepEqual(added(`x://a:${one}@h.io`, `y://b:${one}@g.io/db`), []);
  assert.deepEqual(added(`x://a:${one}@h.io`, `Server=h;Password=${one}`), []);
  assert.deepEqual(added(`x://a:${one}@h.io`, `x://a:${two}@h.io`), ["1 connection-string"]);
});

Deno.test("a value that was no finding before is one when it gets a name", () => {
  assert.deepEqual(added(`revision: ${value()}`, `token: ${value()}`), ["1 assigned-token"]);
});

Deno.test("a secret put together from an edit and what stands round it", () => {
  for (const [detector, make] of FIXED) {
    const secret = make(3);
    for (const cut of [1, 4, secret.length >> 1, secret.length - 1]) {
      const [head, tail] = [secret.slice(0, cut), secret.slice(cut)];
      const [before, after] = [`x\n${head}\n${tail} y`, `x\n${head}${tail} y`];
      const at = 2 + cut;
      assert.deepEqual(added(before, after, [{ start: at, end: at }]), [`2 ${detector}`], "a line break taken out");
      assert.deepEqual(
        added(`x\n${head} y`, after, [{ start: at, end: at + tail.length }]),
        [`2 ${detector}`],
        "completed",
      );
      assert.deepEqual(added(`x\n${tail} y`, after, [{ start: 2, end: at }]), [`2 ${detector}`], "begun");
    }
  }
  const boundary = `a${AWS}`;
  assert.deepEqual(
    added(boundary, `\n${AWS}`, [{ start: 0, end: 1 }]),
    ["2 aws-access-key-id"],
    "freed by a line break",
  );
  const text = `password = "${value()}"`;
  assert.deepEqual(added(text.slice(8), text, [{ start: 0, end: 8 }]), ["1 assigned-password"], "named");
});

Deno.test("a private key completed far from its begin line", () => {
  const filler = "\n".repeat(60_000);
  const [begin, end] = [privateKey().split("\n")[0], privateKey().split("\n").at(-1)!];
  const old = `${begin}${filler}abc${end}`;
  const at = begin.length + filler.length;
  assert.deepEqual(added(old, old.replace("abc", "abcd"), [{ start: at + 3, end: at + 4 }]), ["1 private-key-header"]);
});

Deno.test("changed ranges save work and change no finding", () => {
  const pieces = [
    ...[
      AWS,
      OTHER,
      AWS.slice(0, 7),
      AWS.slice(7),
      webToken({ alg: "x" }),
      value(),
      privateKey(),
      privateKey().slice(0, 40),
    ],
    ...[
      "token=",
      'secret: "',
      '"',
      "Server=a;",
      "Password=" + value(8) + ";",
      "x://u:" + value(9),
      "@h.io",
      "\n",
      "\r\n",
      "\r",
    ],
    ...[" ", "a", "-", "y".repeat(5000), "\n".repeat(5000)],
  ];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(""));
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(60), text), { maxLength: 3 });
  fc.assert(
    fc.property(text, edits, (before, edits) => {
      let after = "";
      let from = 0;
      const changed: Range[] = [];
      const placed = edits.map(([at, length, text]) => ({ at: at % (before.length + 1), length, text }))
        .sort((a, b) => a.at - b.at);
      for (const { at, length, text } of placed) {
        if (at < from) continue;
        after += before.slice(from, at) + text;
        changed.push({ start: after.length - text.length, end: after.length });
        from = Math.min(before.length, at + length);
      }
      after += before.slice(from);
      assert.deepEqual(added(before, after, changed.toReversed()), added(before, after));
    }),
    { numRuns: 500 },
  );
});

Deno.test("a random secret put into random text is found, and the refusal holds nothing of it", () => {
  const made = fc.tuple(fc.constantFrom(...FIXED), fc.integer({ min: 1, max: 9999 }));
  const context = fc.string({ unit: fc.constantFrom("a", "Z", "9", " ", "\n", "\r\n", '"', ",", "é", "=", "(") });
  fc.assert(
    fc.property(context, made, context, fc.constantFrom(" ", '"', "\n", "=", "("), (before, made, after, edge) => {
      const [[detector, make], seed] = made;
      const secret = make(seed);
      const text = before + edge + secret + edge + after;
      const found = addedCredentials({ path: "a/b.txt", before: before + after, after: text });
      const line = (before + edge).split(/\r\n|\r|\n/).length;
      assert.deepEqual(found, [{ path: "a/b.txt", line, detector }]);

      const refusal = credentialRefusal(found, { override: true, printable });
      const told = JSON.stringify([refusal.message, refusal.path, refusal.fields, refusal.stack, found]);
      for (let at = 0; at + 8 <= secret.length; at++) assert.ok(!told.includes(secret.slice(at, at + 8)));
    }),
  );
});

Deno.test("the words of a refusal", () => {
  const refusal = credentialRefusal([{ path: "config.json", line: 14, detector: "aws-access-key-id" }], {
    override: true,
    printable,
  });
  assert.equal(
    refusal.message,
    "config.json would gain a credential: line 14 (aws-access-key-id). What was found is withheld, so that no log or " +
      "transcript holds it. Write a reference such as ${NAME}, or repeat with --allow-credential if it is none",
  );
  assert.equal(refusal.outcome, "credential");
  assert.deepEqual(refusal.fields, {
    path: "config.json",
    findings: [{ path: "config.json", line: 14, detector: "aws-access-key-id" }],
    more: false,
  });
});

Deno.test("three findings are named, the file with each when there are several, and no flag that the call does not take", () => {
  const findings = [1, 2, 3, 4].map((line) => ({ path: "a", line, detector: "d" }));
  const begin = (count: number, path = "a") => {
    const found = findings.slice(0, count).map((finding, index) => index === 1 ? { ...finding, path } : finding);
    const refusal = credentialRefusal(found, { override: false, printable: (path) => `<${path}>` });
    assert.ok(!refusal.message.includes("allow"));
    assert.equal(refusal.fields!.more, count > 3);
    assert.equal((refusal.fields!.findings as unknown[]).length, Math.min(3, count));
    return refusal.message.slice(0, refusal.message.indexOf(". What"));
  };
  assert.equal(begin(1), "<a> would gain a credential: line 1 (d)");
  assert.equal(begin(3), "<a> would gain credentials: line 1 (d), line 2 (d), line 3 (d)");
  assert.equal(begin(4), "<a> would gain credentials: line 1 (d), line 2 (d), line 3 (d) and more");
  assert.equal(begin(2, "b"), "several files would gain credentials: <a> line 1 (d), <b> line 2 (d)");
});

Deno.test("a check that cannot end in time refuses and claims nothing", () => {
  let clock = 0;
  const change = { path: "f", before: undefined, after: `${AWS}\n`.repeat(200_000) };
  const refusal = (step: number) => {
    try {
      addedCredentials(change, { now: () => clock += step });
    } catch (error) {
      assert.ok(error instanceof Refusal);
      return error;
    }
  };
  assert.equal(refusal(1), undefined);
  assert.match(refusal(100)!.message, /could not be checked/);
  assert.deepEqual([refusal(100)!.outcome, refusal(100)!.path, refusal(100)!.fields], ["credential", "f", undefined]);
});

Deno.test("the pulse is felt between pieces, and what it throws ends the search", () => {
  let pulses = 0;
  addedCredentials({ path: "f", before: undefined, after: "a\n".repeat(2_000_000) }, { pulse: () => void pulses++ });
  assert.ok(pulses > 3);
  const stop = new Error("cancelled");
  assert.throws(() =>
    addedCredentials({ path: "f", before: undefined, after: "a" }, {
      pulse: () => {
        throw stop;
      },
    }), stop);
});

Deno.test("a text of several pieces has its lines and its secrets", () => {
  const line = "some line of ordinary text\r\n";
  const text = (line.repeat(50_000) + AWS + "\r\n" + line.repeat(50_000)).repeat(2) + OTHER;
  assert.deepEqual(says(text), ["50001 aws-access-key-id", "200003 aws-access-key-id"]);
});

Deno.test("the sources of this repository hold no credential", () => {
  const top = new URL("../../", import.meta.url);
  let files = 0;
  const visit = (folder: string) => {
    for (const entry of Deno.readDirSync(new URL(folder, top))) {
      const path = folder + entry.name;
      if (entry.isDirectory) visit(path + "/");
      else if (/\.(ts|md|json)$/.test(entry.name)) {
        files++;
        assert.deepEqual(says(Deno.readTextFileSync(new URL(path, top))), [], path);
      }
    }
  };
  for (const folder of ["src/", "tests/", "build/"]) visit(folder);
  for (const file of ["README.md", "deno.json", "deno.lock"]) {
    assert.deepEqual(says(Deno.readTextFileSync(new URL(file, top))), [], file);
  }
  assert.ok(files > 100);
});
