/** `edit`, on both disk implementations. Spec: 2-verbs §2.8, §2.13; 6-screens §6.2, §6.3, §6.9; scenarios 58–60, 66–76, 82, 185–189. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { Refusal } from "../../src/refusal.ts";
import { type Edit, resolveEdits } from "../../src/text/edit.ts";
import { textAfter } from "../text/changed.ts";
import type { EngineSide, Form } from "../../src/verbs/verb.ts";
import { mixed } from "../screens/samples.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, type Entry, makeFolder, put, type TreeOptions } from "../support/tree.ts";
import { treeOf } from "./support.ts";

type Arguments = Record<string, unknown>;

interface World {
  top: string;
  side: EngineSide;
  outcome(args: Arguments): Promise<string>;
  // deno-lint-ignore no-explicit-any
  answer(args: Arguments): Promise<any>;
  text(args: Arguments): Promise<string>;
  /** The same refusal for real and in a dry run, and nothing changed by either. Its JSON. */
  // deno-lint-ignore no-explicit-any
  refuses(args: Arguments, outcome: string): Promise<any>;
  read(path: string): string;
  bytes(path: string): number[];
  tree(): string[];
}

function both(
  name: string,
  entries: Record<string, Entry>,
  act: (world: World) => Promise<void>,
  options: TreeOptions = {},
) {
  for (const [kind, library] of DISKS) {
    Deno.test(`${kind}: edit: ${name}`, async () => {
      const top = makeFolder({ app: null, ...entries });
      const side = sideOf(boundaryOf({ work: { ...options, path: `${top}/app` } }), library);
      const run = (args: Arguments, form?: Form) => call(side, "edit", args, form);
      const tree = () => treeOf(top);
      try {
        await act({
          top,
          side,
          tree,
          outcome: async (args) => (await run(args)).outcome,
          answer: async (args) => (await run(args)).json,
          text: async (args) => (await run(args, "text")).text,
          async refuses(args, outcome) {
            const before = tree();
            const dry = await run({ ...args, dry_run: true });
            const real = await run(args);
            assert.equal(real.outcome, outcome, JSON.stringify([args, real.text]));
            assert.deepEqual(dry.json, real.json);
            assert.deepEqual(tree(), before);
            return real.json;
          },
          read: (path) => Deno.readTextFileSync(`${top}/app/${path}`),
          bytes: (path) => [...Deno.readFileSync(`${top}/app/${path}`)],
        });
      } finally {
        side.disk.close();
        Deno.removeSync(top, { recursive: true });
      }
    });
  }
}

const hashOf = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");
const files = (...all: readonly (readonly [path: string, ...edits: Arguments[]])[]) => ({
  script: { files: all.map(([path, ...edits]) => ({ path, edits })) },
});
const utf16 = (text: string) =>
  Uint8Array.from([0xff, 0xfe, ...[...text].flatMap((c) => [c.charCodeAt(0) & 255, c.charCodeAt(0) >> 8])]);

both("every operation, its exact text and JSON", { "app/a.txt": "one\ntwo\nthree\ntwo\n" }, async (world) => {
  const { text, answer, read, outcome } = world;
  const dry = { path: "a.txt", replace: "three", with: "3", dry_run: true };
  assert.equal(await text(dry), "would apply 1 edit to 1 file\n   edit 1  a.txt line 3  replace 1 place\n");
  assert.deepEqual(await answer(dry), {
    ok: true,
    outcome: "ok",
    dry_run: true,
    plan: [{ path: "a.txt", edit: 1, line: 3, description: "replace 1 place" }],
    files: [],
  });
  assert.equal(read("a.txt"), "one\ntwo\nthree\ntwo\n");

  const after = "one\ntwo\n3\ntwo\n";
  assert.deepEqual(await answer({ path: "a.txt", replace: "three", with: "3" }), {
    ok: true,
    outcome: "ok",
    dry_run: false,
    plan: [{ path: "a.txt", edit: 1, line: 3, description: "replace 1 place" }],
    files: [{ path: "a.txt", edits: 1, hash: hashOf(after), line_ending_mixed: false }],
  });
  assert.equal(read("a.txt"), after);

  const all = "one\n2\n3\n2\n";
  assert.equal(
    await text({ path: "a.txt", replace: "two", with: "2", all: true }),
    `applied 1 edit to 1 file\n   a.txt  hash ${hashOf(all)}\n`,
  );
  assert.equal(read("a.txt"), all);
  for (
    const [args, expected] of [
      [{ replace: "2", with: "II", between: "3-4" }, "one\n2\n3\nII\n"],
      [{ replace: "2", with: "zwei", from: 1, to: 2 }, "one\nzwei\n3\nII\n"],
      [{ replace: "II", with: "", from: 4 }, "one\nzwei\n3\n\n"],
      [{ insert_after: 0, text: "top" }, "top\none\nzwei\n3\n\n"],
      [{ insert_after: 5, text: "end\nlast" }, "top\none\nzwei\n3\n\nend\nlast\n"],
      [{ delete: "5" }, "top\none\nzwei\n3\nend\nlast\n"],
      [{ delete: "1..3" }, "3\nend\nlast\n"],
      [{ delete: "2:3" }, "3\n"],
      [{ delete: "1" }, ""],
      [{ insert_after: 0, text: "again" }, "again\n"],
    ] as const
  ) {
    assert.equal(await outcome({ path: "a.txt", ...args }), "ok", JSON.stringify(args));
    assert.equal(read("a.txt"), expected);
  }
});

both(
  "several edits all count on the file as it was read",
  { "app/a": "1\n2\n3\n4" },
  async ({ answer, read, refuses }) => {
    const edits = [
      { deleteFrom: 1 },
      { replace: "3\n", with: "drei\nvier\n" },
      { insertAfter: 4, text: "5" },
      { insertAfter: 1, text: "after one" },
    ];
    const { plan } = await answer({ path: "a", script: { edits } });
    assert.deepEqual(plan.map(({ edit, line }: { edit: number; line: number }) => [edit, line]), [[1, 1], [2, 3], [
      3,
      5,
    ], [
      4,
      2,
    ]]);
    assert.equal(read("a"), "after one\n2\ndrei\nvier\n4\n5");
    await refuses(
      { path: "a", script: { edits: [{ deleteFrom: 1, deleteTo: 3 }, { replace: "2", with: "x" }] } },
      "conflict",
    );
  },
);

both("what does not resolve", { "app/a": "two\nTwo\ntwo\n" }, async ({ refuses, outcome }) => {
  const message = async (args: Arguments, expected: string) =>
    (await refuses({ path: "a", ...args }, expected)).message;
  assert.match(await message({ replace: "three", with: "" }, "not-found"), /^edit 1: /);
  assert.match(await message({ replace: "two", with: "2" }, "conflict"), /2 times/);
  assert.match(await message({ replace: "TWO\nTWO", with: "2" }, "not-found"), /line \d/);
  await message({ replace: "", with: "2" }, "invalid");
  await message({ insert_after: 4, text: "x" }, "invalid");
  await message({ delete: "2-4" }, "invalid");
  await message({ replace: "two", with: "2", to: 9 }, "invalid");
  assert.match((await refuses({ path: "never", replace: "a", with: "b" }, "not-found")).path, /^never$/);
  await refuses({ path: "no/where", replace: "a", with: "b" }, "not-found");
  assert.equal(await outcome({ path: "a", replace: "two", with: "2", between: "2-3" }), "ok");
});

both("flags that do not go together", { "app/a": "a\n", "app/s": '{"edits":[]}' }, async ({ outcome, tree }) => {
  const before = tree();
  const one = { replace: "a", with: "b" };
  const script = { edits: [one] };
  for (
    const args of [
      {},
      { path: "a" },
      { path: "", ...one },
      one,
      { path: "a", replace: "a" },
      { path: "a", with: "a" },
      { path: "a", ...one, delete: "1" },
      { path: "a", ...one, script },
      { path: "a", script, script_path: "s" },
      { path: "a", delete: "1", all: true },
      { path: "a", delete: "1", between: "1-2" },
      { path: "a", insert_after: 1 },
      { path: "a", ...one, text: "x" },
      { path: "a", delete: "3-1" },
      { path: "a", delete: "0" },
      { path: "a", delete: "x" },
      { path: "a", ...one, between: "1" },
      { path: "a", ...one, between: "1-1", from: 1 },
      { path: "a", ...one, from: 2, to: 1 },
      { path: "a", ...one, encoding: "utf-nine" },
      { script },
      { path: "a", script: { files: [{ path: "a", edits: [one] }] } },
      { path: "a", expect: "0", script: { ...script, expect: "0" } },
      { expect: "0", script: { files: [{ path: "a", edits: [one] }] } },
      { path: "a", script: { edits: [] } },
      { path: "a", script: { edits: [{}] } },
      { path: "a", script: { edits: [{ ...one, deleteFrom: 1 }] } },
      { path: "a", script: { edits: [one], allow_credential: true } },
      { path: "a", script: { edits: [{ ...one, allowCredential: true }] } },
      { path: "a", script_path: "s" },
    ] as Arguments[]
  ) {
    assert.equal(await outcome(args), "invalid", JSON.stringify(args));
  }
  assert.deepEqual(tree(), before);
});

both("a script from a file, with texts from files", {
  "app/a": "old\nline\n",
  "app/texts/find": "old",
  "app/texts/with": "new\n",
  "app/texts/hidden/s": "secret",
  "app/texts/shut/s": "text",
  "app/texts/bin": new Uint8Array([0, 1]),
  "app/s.json":
    '{ // comment\n "files": [{"path": "a", "edits": [{"replaceFile": "texts/find", "withFile": "texts/with"},' +
    '{"insertAfter": 2, "textFile": "texts/find"},]}],}',
  "out": "outside",
}, async ({ answer, read, refuses }) => {
  for (
    const [file, outcome] of [
      ["../out", "outside-root"],
      ["texts/hidden/s", "outside-root"],
      ["texts/shut/s", "refused"],
      [
        "texts/never",
        "not-found",
      ],
      ["texts/bin", "refused"],
      ["texts", "refused"],
    ]
  ) {
    const edits = [{ deleteFrom: 2 }, { replace: "old", withFile: file }];
    const { message } = await refuses({ path: "a", script: { edits } }, outcome);
    assert.match(message, /edit 2.*withFile/, file);
    await refuses({ script_path: file }, outcome);
  }
  assert.equal((await answer({ script_path: "s.json" })).ok, true);
  assert.equal(read("a"), "new\n\nline\nold\n");
}, { scopes: { "texts/hidden": [], "texts/shut": ["list"] } });

both("many files, all of them or none", {
  "app/a": "one\n",
  "app/b": "one\n",
  "app/c": "one\n",
  "app/only/d": "one\n",
  "app/hidden/e": "one\n",
  "app/.fettler.json": "{}\n",
  "app/x.pdf": "one\n",
  "app/bin": new Uint8Array([0, 1, 2]),
  "app/latin": new Uint8Array([0x6f, 0x6e, 0x65, 0xe9]),
  "app/folder/f": "one\n",
}, async ({ refuses, answer, read, tree, text, side }) => {
  const change = { replace: "one", with: "1" };
  for (
    const [path, outcome] of [
      ["never", "not-found"],
      ["only/d", "refused"],
      ["hidden/e", "outside-root"],
      [".fettler.json", "governed"],
      ["x.pdf", "refused"],
      ["never.zip", "refused"],
      ["bin", "refused"],
      ["latin", "refused"],
      ["folder", "refused"],
      ["../app2", "outside-root"],
    ]
  ) {
    await refuses(files(["a", change], ["b", change], [path, change]), outcome);
    await refuses(files([path, change], ["a", change]), outcome);
  }
  await refuses(files(["a", change], ["b", { replace: "two", with: "2" }], ["c", change]), "not-found");
  const stale = {
    script: { files: [{ path: "a", edits: [change] }, { path: "b", edits: [change], expect: "0".repeat(64) }] },
  };
  await refuses(stale, "stale");
  assert.equal(
    await text(files(["a", change], ["b", change, { insertAfter: 1, text: "2" }])),
    [
      "applied 3 edits to 2 files",
      `   a  hash ${hashOf("1\n")}`,
      `   b  hash ${hashOf("1\n2\n")}`,
      "",
    ].join("\n"),
  );
  assert.equal((await answer(files(["c", change]))).files[0].edits, 1);
  assert.equal(read("c"), "1\n");
  assert.ok(!tree().some((row) => row.includes(".fettle-")));
  assert.equal(
    (await call(side, "edit", { path: "c", replace: "1", with: "x", expect: hashOf("1\n").toUpperCase() })).outcome,
    "ok",
  );
}, { scopes: { only: ["list", "read"], hidden: [] } });

both("the same file twice", {
  "app/d/a": "one\n",
  "app/link": { link: "d/a" },
  "app/to-d": { link: "d" },
}, async ({ refuses, answer, top }) => {
  for (const other of ["d/a", "./d//a", "link", "to-d/a", `${top}/app/d/a`, "work:d/a", "d/../d/a"]) {
    await refuses(files(["d/a", { replace: "one", with: "1" }], [other, { insertAfter: 1, text: "2" }]), "conflict");
  }
  const { files: changed } = await answer(files(["link", { replace: "one", with: "1" }]));
  assert.equal(changed.length, 1);
  assert.equal(Deno.readTextFileSync(`${top}/app/d/a`), "1\n");
  assert.equal(Deno.readLinkSync(`${top}/app/link`), "d/a");
});

both("endings, marks and encodings stay", {
  "app/crlf": "a\r\nb\r\n",
  "app/mixed": "a\r\nb\nc\r\n",
  "app/sixteen": utf16("añ\r\nb\r\n"),
  "app/mark": new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0x0a]),
  "app/latin": new Uint8Array([0xe9, 0x0a, 0x62, 0x0a]),
}, async ({ answer, text, bytes, read, refuses }) => {
  assert.equal((await answer({ path: "crlf", replace: "a\nb", with: "x\ny\nz" })).ok, true);
  assert.equal(read("crlf"), "x\r\ny\r\nz\r\n");
  assert.equal((await answer({ path: "crlf", insert_after: 3, text: "end\n" })).ok, true);
  assert.equal(read("crlf"), "x\r\ny\r\nz\r\nend\r\n");
  assert.match(
    await text({ path: "mixed", replace: "b", with: "B\nB2" }),
    /hash [0-9a-f]{64} {2}\(MIXED line endings\)\n$/,
  );
  assert.equal(read("mixed"), "a\r\nB\r\nB2\nc\r\n");
  assert.equal((await answer({ path: "sixteen", replace: "b", with: "ü\nc" })).ok, true);
  assert.deepEqual(bytes("sixteen"), [...utf16("añ\r\nü\r\nc\r\n")]);
  assert.equal((await answer({ path: "mark", insert_after: 0, text: "é" })).ok, true);
  assert.deepEqual(bytes("mark"), [0xef, 0xbb, 0xbf, 0xc3, 0xa9, 0x0a, 0x61, 0x0a]);
  await refuses({ path: "latin", replace: "b", with: "ü" }, "refused");
  assert.match(
    (await refuses({ path: "latin", replace: "b", with: "文", encoding: "latin1" }, "refused")).message,
    /line 2/,
  );
  assert.equal((await answer({ path: "latin", replace: "é\nb", with: "é\nü", encoding: "windows-1252" })).ok, true);
  assert.deepEqual(bytes("latin"), [0xe9, 0x0a, 0xfc, 0x0a]);
});

both(
  "documents refuse, notebooks do not",
  { "app/n.ipynb": '{"cells": []}\n', "app/a": "x" },
  async ({ refuses, answer, top }) => {
    for (const suffix of ["png", "pdf", "xlsx", "docx", "zip", "gz", "PDF"]) {
      put(`${top}/app`, { [`d.${suffix}`]: "plain text\n" });
      await refuses({ path: `d.${suffix}`, replace: "plain", with: "x" }, "refused");
    }
    assert.equal((await answer({ path: "n.ipynb", replace: "[]", with: "[1]" })).ok, true);
  },
);

both("only what an edit adds is a credential", {}, async ({ top, refuses, answer, text, read, side, tree }) => {
  const [half, rest] = ["AK" + "IA", mixed(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 3)];
  const other = half + mixed(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 4);
  put(`${top}/app`, { "held": `key ${other}\nrest\n`, "parts": `x HALF-REST y\n`, "a": "a\n", "b": "b\n" });
  const assembled = {
    path: "parts",
    script: { edits: [{ replace: "HALF-", with: half }, { replace: "REST", with: rest }] },
  };
  const refused = await refuses(assembled, "credential");
  assert.deepEqual(refused.findings, [{ path: "parts", line: 1, detector: "aws-access-key-id" }]);
  assert.equal(refused.more, false);
  assert.ok(!JSON.stringify(refused).includes(rest));
  assert.ok(!(await text(assembled)).includes(rest));
  assert.match(await text(assembled), /--allow-credential/);
  const tool = await call({ ...side, form: "tool" } as EngineSide, "edit", assembled, "tool");
  assert.ok(!tool.text.includes("--allow-credential") && !tool.text.includes(rest));
  const secret = { insertAfter: 1, text: half + rest };
  const third = await refuses(
    files(["a", { replace: "a", with: "c" }], ["b", { insertAfter: 0, text: "d" }], [
      "held",
      secret,
    ]),
    "credential",
  );
  assert.equal(third.findings.length, 1);
  assert.equal(third.findings[0].path, "held");
  assert.equal((await answer({ path: "held", replace: "rest", with: `again ${other}` })).ok, true);
  await refuses(files(["a", { insertAfter: 0, text: other }]), "credential");
  assert.equal((await answer({ ...assembled, allow_credential: true })).ok, true);
  assert.equal(read("parts"), `x ${half}${rest} y\n`);
  assert.ok(!tree().some((row) => row.includes(".fettle-")));
});

both(
  "a file keeps its mode, and other names keep the old content",
  { "app/a": "a\n" },
  async ({ top, answer, read }) => {
    Deno.chmodSync(`${top}/app/a`, 0o751);
    Deno.linkSync(`${top}/app/a`, `${top}/app/b`);
    const { files: [file] } = await answer({ path: "a", replace: "a", with: "x" });
    assert.deepEqual(file.metadata_not_preserved, ["hard-links"]);
    assert.equal(Deno.statSync(`${top}/app/a`).mode! & 0o777, 0o751);
    assert.deepEqual([read("a"), read("b")], ["x\n", "a\n"]);
  },
);

const endings = fc.constantFrom("\n", "\r\n", "\r");
const words = fc.constantFrom("a", "b", "ab", " ", "é", "🙂", "\u2028", "x.y", "");
const anyText = fc.array(fc.tuple(words, endings).map(([word, ending]) => word + ending), { maxLength: 8 }).map((all) =>
  all.join("")
);
const anyEdit: fc.Arbitrary<Arguments> = fc.oneof(
  fc.record({ replace: fc.oneof(words, anyText), with: anyText, all: fc.boolean() }),
  fc.record({ insertAfter: fc.nat(9), text: anyText }),
  fc.record({ deleteFrom: fc.integer({ min: 1, max: 8 }) }),
);
const planned = (edit: Arguments): Edit =>
  "replace" in edit
    ? { kind: "replace", find: edit.replace as string, with: edit.with as string, all: edit.all as boolean }
    : "insertAfter" in edit
    ? { kind: "insert", after: edit.insertAfter as number, text: edit.text as string }
    : { kind: "delete", from: edit.deleteFrom as number };

both("random edits of random files do on the disk what they do to texts", {}, async ({ top, answer, tree }) => {
  const file = fc.tuple(anyText, fc.array(anyEdit, { minLength: 1, maxLength: 2 }));
  let applied = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 3 }), anyText, async (all, untouched) => {
      put(`${top}/app`, { untouched });
      all.forEach(([text], i) => put(`${top}/app`, { [`f${i}`]: text }));
      const before = tree();
      let expected: string[] | string;
      try {
        expected = all.map(([text, edits]) => textAfter(text, resolveEdits(text, edits.map(planned)).changes));
      } catch (error) {
        assert.ok(error instanceof Refusal, String(error));
        expected = error.outcome;
      }
      const answered = await answer(files(...all.map(([, edits], i) => [`f${i}`, ...edits] as const)));
      if (typeof expected === "string") {
        assert.equal(answered.outcome, expected);
        assert.deepEqual(tree(), before);
      } else {
        applied++;
        assert.equal(answered.ok, true);
        assert.deepEqual(tree(), [
          "app/",
          ...expected.map((text, i) => `app/f${i}=${text}`),
          `app/untouched=${untouched}`,
        ]);
        // deno-lint-ignore no-explicit-any
        assert.deepEqual(answered.files.map(({ hash }: any) => hash), expected.map(hashOf));
      }
      for (const { name } of [...Deno.readDirSync(`${top}/app`)]) Deno.removeSync(`${top}/app/${name}`);
    }),
    { numRuns: 300, interruptAfterTimeLimit: 5000 },
  );
  assert.ok(applied > 0);
});

both("a file that would be too large is refused with its size", {
  "app/q": "Q".repeat(300_000),
  "app/long": "x".repeat(1000),
  "app/other": "a\n",
}, async ({ refuses }) => {
  const message = "the file would have 300000000 bytes; files of up to 256 MiB are changed";
  const put = "x".repeat(1000);
  assert.deepEqual(await refuses({ path: "q", replace: "Q", with: put, all: true }, "refused"), {
    ok: false,
    outcome: "refused",
    message,
    path: "q",
  });
  const all = { replace: "Q", withFile: "long", all: true };
  const other = ["other", { insertAfter: 0, text: "x" }] as const;
  assert.equal((await refuses(files(other, ["q", all]), "refused")).message, message);
});

both("a NUL is not brought in, by whatever way, and one that is there can be taken out", {
  "app/a": "a\nb\n",
  "app/nul": "x".repeat(9000) + "\0",
  "app/late": "x".repeat(9000) + "\ny\0",
}, async ({ refuses, answer, read }) => {
  for (
    const args of [
      { path: "a", replace: "b", with: "x\0" },
      { path: "a", replace: "b", with: "\n\0", all: true },
      { path: "a", insert_after: 2, text: "\0" },
      // It is told before a credential.
      { path: "a", insert_after: 1, text: "AK" + "IA" + mixed(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 3) + "\0" },
      files(["a", { replace: "b", withFile: "nul" }]),
    ]
  ) {
    const { message, path } = await refuses(args, "refused");
    assert.match(message, /^edit 1: line [23] would hold a NUL, which no text holds/);
    assert.equal(path, "a");
  }
  assert.equal((await answer({ path: "late", replace: "y\0", with: "y" })).outcome, "ok");
  assert.equal(read("late"), "x".repeat(9000) + "\ny");
});

both("a cancelled edit of many places changes nothing", { "app/a": "1,2\n".repeat(500_000) }, async (world) => {
  const { side, tree, outcome } = world;
  const before = tree();
  const args = { path: "a", replace: ",", with: ";", all: true };
  const { call } = side;
  let pulses = 0;
  side.call = { ...call, pulse: () => void pulses++ };
  assert.equal(await outcome({ ...args, dry_run: true }), "ok");
  assert.ok(pulses > 20, String(pulses));
  for (let at = 1; at <= pulses; at += 7) {
    let left = at;
    side.call = {
      ...call,
      pulse() {
        if (--left === 0) throw new Refusal("refused", "cancelled");
      },
    };
    assert.equal(await outcome(args), "refused");
    assert.deepEqual(tree(), before);
  }
});
