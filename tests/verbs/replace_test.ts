/** `replace`, on both disk implementations. Spec: 2-verbs §2.8, §2.14; 6-screens §6.2, §6.9; scenarios 12, 20, 50, 58, 59, 78–82, 185, 189. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { textAfter } from "../text/changed.ts";
import { substitute } from "../../src/text/substitute.ts";
import type { EngineSide, Form } from "../../src/verbs/verb.ts";
import { mixed } from "../screens/samples.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, type Entry, makeFolder, put, type TreeOptions } from "../support/tree.ts";
import { treeOf } from "./support.ts";

type Arguments = Record<string, unknown>;

interface World {
  top: string;
  side: EngineSide;
  // deno-lint-ignore no-explicit-any
  answer(find: string, put: string, more?: Arguments): Promise<any>;
  text(find: string, put: string, more?: Arguments): Promise<string>;
  /** The same refusal for real and in a dry run, and nothing changed by either. Its JSON. */
  // deno-lint-ignore no-explicit-any
  refuses(find: string, put: string, outcome: string, more?: Arguments): Promise<any>;
  read(path: string): string;
  tree(): string[];
}

function both(
  name: string,
  entries: Record<string, Entry>,
  act: (world: World) => Promise<void>,
  options: TreeOptions = {},
) {
  for (const [kind, library] of DISKS) {
    Deno.test(`${kind}: replace: ${name}`, async () => {
      const top = makeFolder({ app: null, ...entries });
      const side = sideOf(boundaryOf({ work: { ...options, path: `${top}/app` } }), library);
      const run = (args: Arguments, form?: Form) => call(side, "replace", args, form);
      const tree = () => treeOf(top);
      try {
        await act({
          top,
          side,
          tree,
          answer: async (find, put, more) => (await run({ find, with: put, ...more })).json,
          text: async (find, put, more) => (await run({ find, with: put, ...more }, "text")).text,
          async refuses(find, put, outcome, more) {
            const before = tree();
            const dry = await run({ find, with: put, ...more, dry_run: true });
            const real = await run({ find, with: put, ...more });
            assert.equal(real.outcome, outcome, real.text);
            assert.deepEqual(dry.json, real.json);
            assert.deepEqual(tree(), before);
            return real.json;
          },
          read: (path) => Deno.readTextFileSync(`${top}/app/${path}`),
        });
      } finally {
        side.disk.close();
        Deno.removeSync(top, { recursive: true });
      }
    });
  }
}

const hashOf = (content: string) => createHash("sha256").update(content).digest("hex");

both("exact text and JSON, dry and real", {
  "app/a.txt": "cat Cat cat\n",
  "app/sub/b.txt": "cat\n",
  "app/none.txt": "dog\n",
  "app/bin": new Uint8Array([0, 99, 97, 116]),
}, async ({ answer, text, tree, read }) => {
  const before = tree();
  const rows = [`   a.txt`.padEnd(44) + " 2", `   sub/b.txt`.padEnd(44) + " 1"];
  assert.equal(
    await text("cat", "bird", { dry_run: true }),
    ["would change 2 files, 3 occurrences", ...rows, "3 files searched", ""].join("\n"),
  );
  const dry = await answer("cat", "bird", { dry_run: true });
  assert.deepEqual(dry, {
    ok: true,
    outcome: "ok",
    dry_run: true,
    occurrences: 3,
    files: [{ path: "a.txt", occurrences: 2 }, { path: "sub/b.txt", occurrences: 1 }],
    count: 2,
    files_matched: 4,
    files_searched: 3,
    excluded: 0,
    files_binary: 1,
  });
  assert.deepEqual(tree(), before);
  const real = await answer("cat", "bird");
  assert.deepEqual(real, {
    ...dry,
    dry_run: false,
    files: [
      { path: "a.txt", occurrences: 2, hash: hashOf("bird Cat bird\n") },
      { path: "sub/b.txt", occurrences: 1, hash: hashOf("bird\n") },
    ],
  });
  assert.deepEqual([read("a.txt"), read("sub/b.txt"), read("none.txt")], ["bird Cat bird\n", "bird\n", "dog\n"]);
  assert.match(await text("bird", "", { glob: "sub/*" }), /^changed 1 file, 1 occurrence\n {3}sub\/b\.txt +1\n/);
  assert.equal(read("sub/b.txt"), "\n");
});

both("nothing found, no file matched, nothing to find", { "app/a": "a\n" }, async ({ answer, text, refuses }) => {
  const { ok, occurrences, count, files, files_searched } = await answer("zebra", "x");
  assert.deepEqual([ok, occurrences, count, files, files_searched], [true, 0, 0, [], 1]);
  assert.match(
    await text("a", "x", { glob: "*.ts" }),
    /^changed 0 files, 0 occurrences\n[^]*the glob matched no file\n$/,
  );
  assert.equal((await answer("a", "a")).occurrences, 1);
  await refuses("", "x", "invalid");
  await refuses("a\ud800", "x", "invalid");
  await refuses("a", "x", "invalid", { encoding: "utf-nine" });
  await refuses("a", "x", "invalid", { glob: "{a,b}" });
});

both("counts as search does", {
  "app/a.txt": "word word\nword\n",
  "app/b.ts": "word\n",
  "app/no/c.ts": "word\n",
  "app/node_modules/d.ts": "word\n",
  "app/shut/e.ts": "word\n",
  "app/hidden/f.ts": "word\n",
  "app/latin": new Uint8Array([0x77, 0x6f, 0x72, 0x64, 0xe9]),
  "app/x.pdf": new Uint8Array([0, 1, 2]),
  "app/link.ts": { link: "../out.ts" },
  "out.ts": "word\n",
}, async ({ answer, side, tree, top, read }) => {
  for (
    const more of [{}, { glob: "**/*.ts" }, { exclude: ["no/**"] }, { include_generated: true }, { encoding: "latin1" }]
  ) {
    const dry = await answer("word", "term", { ...more, dry_run: true });
    const found =
      (await call(side, "search", { patterns: ["word"], literal: true, case_sensitive: true, ...more })).json;
    const what = JSON.stringify([more, dry, found]);
    for (const key of ["files_searched", "files_unreadable", "files_binary", "files_undecodable", "excluded"]) {
      assert.equal(dry[key] ?? 0, found[key] ?? 0, `${key} ${what}`);
    }
    const paths = (all: { path: string }[]) => [...new Set(all.map(({ path }) => path))].sort();
    assert.deepEqual(paths(dry.files), paths(found.hits), what);
  }
  const before = tree();
  const real = await answer("word", "term", { exclude: ["no/**"] });
  assert.equal(real.files_unreadable, 1);
  assert.equal(read("no/c.ts"), "word\n");
  const changed = tree().filter((row, i) => row !== before[i]);
  assert.deepEqual(changed, ["app/a.txt=term term\nterm\n", "app/b.ts=term\n"]);
  assert.equal(Deno.readTextFileSync(`${top}/out.ts`), "word\n");
}, { scopes: { shut: ["list"], hidden: [] } });

both("one file that refuses, refuses all", {
  "app/a": "one\n",
  "app/only/b": "one two\n",
  "app/.mcp.json": "one three\n",
  "app/d.pdf": "one four\n",
  "app/latin": "one\n",
  "app/z": "one\n",
}, async ({ refuses, answer, top }) => {
  assert.equal((await refuses("one", "1", "governed")).path, ".mcp.json");
  assert.equal((await refuses("one", "1", "refused", { exclude: [".mcp.json", "d.pdf"] })).path, "only/b");
  assert.equal((await refuses("one", "1", "refused", { exclude: [".mcp.json", "only/**"] })).path, "d.pdf");
  assert.equal((await answer("two", "1", { glob: "a" })).occurrences, 0);
  const bytes = new Uint8Array([0x6f, 0x6e, 0x65, 0xe9]);
  put(`${top}/app`, { latin: bytes });
  const rest = { exclude: [".mcp.json", "only/**", "d.pdf"] };
  await refuses("one", "文", "refused", { ...rest, encoding: "latin1" });
  const { occurrences, files_undecodable } = await answer("one", "1", rest);
  assert.deepEqual([occurrences, files_undecodable], [2, 1]);
  assert.deepEqual([...Deno.readFileSync(`${top}/app/latin`)], [...bytes]);
  assert.equal((await answer("one", "ü", { ...rest, encoding: "latin1" })).occurrences, 1);
  assert.deepEqual([...Deno.readFileSync(`${top}/app/latin`)], [0xfc, 0xe9]);
}, { scopes: { only: ["list", "read"] } });

both("a credential refuses all, and there is no override", {}, async ({ top, refuses, text, answer }) => {
  const rest = mixed(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 5);
  const head = "AK" + "IA";
  put(`${top}/app`, { "a": "HEAD\n", "b": `x HEAD${rest}\n`, "held": `HEAD ${head}${rest}\n` });
  const { findings } = await refuses("HEAD", head, "credential");
  assert.deepEqual(findings, [{ path: "b", line: 1, detector: "aws-access-key-id" }]);
  const said = await text("HEAD", head);
  assert.ok(!said.includes(rest) && !said.includes("--allow-credential"));
  await refuses("HEAD", "H", "invalid", { allow_credential: true });
  assert.equal((await answer("HEAD", "H", { exclude: ["b"] })).occurrences, 2);
});

both("texts over several lines, and endings of the file", {
  "app/lf": "a\nb\nc\n",
  "app/crlf": "a\r\nb\r\nc\r\n",
  "app/mixed": "x\r\na\nb\r\nc\r\n",
  "app/apart": "a\n\nb\n",
  "app/long": "y".repeat(300_000) + "\na\nb\n" + "z\n".repeat(100_000),
}, async ({ answer, read }) => {
  const { files } = await answer("a\nb", "1\n2\n3");
  assert.deepEqual(files.map(({ path }: { path: string }) => path), ["crlf", "lf", "long", "mixed"]);
  assert.equal(read("lf"), "1\n2\n3\nc\n");
  assert.equal(read("crlf"), "1\r\n2\r\n3\r\nc\r\n");
  assert.equal(read("mixed").replaceAll("\r", ""), "x\n1\n2\n3\nc\n");
  assert.equal(read("apart"), "a\n\nb\n");
  for (const { path, hash } of files) assert.equal(hash, hashOf(read(path)), path);
});

both("other names of a file keep the old content", { "app/a": "old\n" }, async ({ top, answer, read }) => {
  Deno.linkSync(`${top}/app/a`, `${top}/other`);
  assert.deepEqual((await answer("old", "new")).files[0].metadata_not_preserved, ["hard-links"]);
  assert.deepEqual([read("a"), Deno.readTextFileSync(`${top}/other`)], ["new\n", "old\n"]);
});

const piece = fc.constantFrom("a", "b", "ab", "é", "🙂", "\n", "\r\n", "\r", " ");
const anyText = fc.array(piece, { maxLength: 12 }).map((all) => all.join(""));
const anyFind = fc.array(piece, { minLength: 1, maxLength: 3 }).map((all) => all.join(""));

both("random files do on the disk what they do as texts", {}, async ({ top, answer, tree }) => {
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 4 }), anyFind, anyText, async (texts, find, into) => {
      texts.forEach((text, i) => put(`${top}/app`, { [`f${i}`]: text, [`g${i}`]: text }));
      const made = texts.map((text) => substitute(text, find, into));
      const after = texts.map((text, i) => textAfter(text, made[i].changes));
      const answered = await answer(find, into, { glob: "f*" });
      const count = made.reduce((sum, { occurrences }) => sum + occurrences, 0);
      assert.equal(answered.occurrences, count);
      if (count > 0) changed++;
      assert.deepEqual(tree(), [
        "app/",
        ...after.map((text, i) => `app/f${i}=${text}`),
        ...texts.map((text, i) => `app/g${i}=${text}`),
      ]);
      for (const { name } of [...Deno.readDirSync(`${top}/app`)]) Deno.removeSync(`${top}/app/${name}`);
    }),
    { numRuns: 300, interruptAfterTimeLimit: 5000 },
  );
  assert.ok(changed > 0);
});

both("a file that would be too large is refused with its size, and none is changed", {
  "app/a": "Q",
  "app/q": "Q".repeat(300_000),
}, async ({ refuses }) => {
  assert.deepEqual(await refuses("Q", "x".repeat(1000), "refused"), {
    ok: false,
    outcome: "refused",
    message: "the file would have 300000000 bytes; files of up to 256 MiB are changed",
    path: "q",
  });
});

both("a NUL is not brought in", { "app/a": "a\nb\n" }, async ({ refuses, answer }) => {
  const { message, path } = await refuses("b", "b\0", "refused");
  assert.match(message, /^line 2 would hold a NUL, which no text holds/);
  assert.equal(path, "a");
  assert.equal((await answer("zebra", "\0")).occurrences, 0);
});

both("a million places, in the only file and in one of two", { "app/a": "1,2\n".repeat(500_000) }, async (world) => {
  const { answer, read, top } = world;
  const places = (await answer(",", ";")).files.map(({ occurrences }: { occurrences: number }) => occurrences);
  assert.deepEqual(places, [500_000]);
  assert.equal(read("a"), "1;2\n".repeat(500_000));
  put(`${top}/app`, { b: ";" });
  assert.equal((await answer(";", "::")).occurrences, 500_001);
  assert.deepEqual([read("a"), read("b")], ["1::2\n".repeat(500_000), "::"]);
});
