/** find, search, read and the rest of the command line, from outside. Scenarios 55-58, 65, 96-117, 169-171; bugs 49-64. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { fettle, type Ran } from "../support/program.ts";
import { makeFolder, put } from "../support/tree.ts";

const bytes = (...values: number[]) => new Uint8Array(values);
const sha = (data: Uint8Array | string) => createHash("sha256").update(data).digest("hex");

async function inFolder(
  entries: Parameters<typeof makeFolder>[0],
  act: (run: (...args: string[]) => Promise<Ran>, top: string) => Promise<void>,
) {
  const top = makeFolder(entries);
  try {
    await act((...args) => fettle(args, { cwd: top }), top);
  } finally {
    Deno.removeSync(top, { recursive: true });
  }
}

Deno.test("every encoding, mark and ending is told truthfully", () => {
  const text = "ä\nb\n";
  const utf16 = (bigEndian: boolean) => {
    const units = [...text].map((c) => c.charCodeAt(0));
    return bytes(...[0xfeff, ...units].flatMap((u) => bigEndian ? [u >> 8, u & 255] : [u & 255, u >> 8]));
  };
  const files: Record<string, [Uint8Array | string, Record<string, unknown>]> = {
    "utf8": ["ä\nb\n", {
      encoding: "utf-8",
      line_ending: "lf",
      line_ending_mixed: false,
      final_newline: true,
      lines: 2,
    }],
    "bom": ["\ufeffä\nb\n", {
      encoding: "utf-8-bom",
      line_ending: "lf",
      final_newline: true,
      lines: 2,
      text: "ä\nb\n",
    }],
    "utf16le": [utf16(false), { encoding: "utf-16le-bom", lines: 2, text: "ä\nb\n" }],
    "utf16be": [utf16(true), { encoding: "utf-16be-bom", lines: 2, text: "ä\nb\n" }],
    "utf32le": [bytes(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0, 0x0a, 0, 0, 0), {
      encoding: "utf-32le-bom",
      lines: 1,
      text: "a\n",
    }],
    "crlf": ["a\r\nb\r\n", {
      line_ending: "crlf",
      line_ending_mixed: false,
      final_newline: true,
      lines: 2,
      text: "a\r\nb\r\n",
    }],
    "cr": ["a\rb\r", { line_ending: "cr", line_ending_mixed: false, final_newline: true, lines: 2 }],
    "mixed": ["a\r\nb\nc\rd\r\n", { line_ending: "crlf", line_ending_mixed: true, lines: 4 }],
    "no-final": ["a\nb", { line_ending: "lf", final_newline: false, lines: 2 }],
    "one": ["a", { line_ending: "none", final_newline: false, lines: 1 }],
    "empty": ["", { encoding: "utf-8", line_ending: "none", final_newline: false, lines: 0, text: "", from: 1, to: 0 }],
    "feff-inside": ["a\ufeffb\n", { encoding: "utf-8", text: "a\ufeffb\n" }],
  };
  return inFolder(Object.fromEntries(Object.entries(files).map(([name, [data]]) => [name, data])), async (run) => {
    for (const [name, [data, expected]] of Object.entries(files)) {
      const [file] = (await run("read", name, "--json")).json.files;
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(file[key], value, `${name}.${key}`);
      assert.equal(file.hash, sha(data), name);
      assert.equal(file.bytes, typeof data === "string" ? new TextEncoder().encode(data).length : data.length);
    }
    assert.match(
      (await run("read", "mixed")).out,
      /^mixed {2}text {2}utf-8 {2}crlf \(MIXED\) {2}final-newline: yes {2}lines 1-4 of 4 {2}hash [0-9a-f]{64}\n/,
    );
  });
});

Deno.test("legacy encodings by name; without it the refusal names the flag", () => {
  const latin1 = bytes(0x63, 0x61, 0x66, 0xe9, 0x0a);
  const sjis = bytes(0x93, 0xfa, 0x96, 0x7b, 0x0a);
  return inFolder({ latin1, sjis, nul: bytes(0x61, 0, 0x62), "late-nul": "x".repeat(9000) + "\0\n" }, async (run) => {
    const plain = await run("read", "latin1");
    assert.equal(plain.code, 8);
    assert.match(plain.out, /^refused: not UTF-8.*--encoding.*\(latin1\)\n$/);
    const [file] = (await run("read", "latin1", "--encoding", "Latin1", "--json")).json.files;
    assert.deepEqual([file.text, file.encoding, file.hash], ["café\n", "windows-1252", sha(latin1)]);
    assert.match((await run("read", "sjis", "--encoding", "shift_jis")).out, /1 \| 日本/);
    assert.equal((await run("read", "sjis", "--encoding", "euc-kr-x")).code, 2);
    assert.match((await run("read", "nul")).out, /^refused: .*binary/);
    assert.equal((await run("read", "late-nul")).code, 0);
    const swept = (await run("search", "caf.|日本", "--json")).json;
    assert.deepEqual([swept.hits_count, swept.files_undecodable, swept.files_binary], [0, 2, 1]);
    assert.equal((await run("search", "café", "--encoding", "latin1", "--json")).json.hits[0].text, "café");
  });
});

Deno.test("ranges, caps and budgets of read", () => {
  const many = Array.from({ length: 2500 }, (_, i) => `line ${i + 1}`).join("\n") + "\n";
  const wide = Array.from({ length: 400 }, () => "x".repeat(199)).join("\n") + "\n";
  const huge = "😀".repeat(30_000);
  return inFolder({ many, wide, huge, short: "one\ntwo\n" }, async (run) => {
    const first = await run("read", "many");
    assert.match(first.out, /lines 1-2000 of 2500/);
    assert.match(first.out, /\.\.\. 500 more lines; go on with --from 2001\n$/);
    const all = (await run("read", "many", "--to", "2500", "--json")).json.files[0];
    assert.deepEqual([all.to, all.truncated, all.lines_remaining], [2500, false, undefined]);
    const part = await run("read", "many", "--from", "10", "--to", "11");
    assert.match(
      part.out,
      /lines 10-11 of 2500.*\n {3}10 \| line 10\n {3}11 \| line 11\n\.\.\. 2489 more lines; go on with --from 12\n$/,
    );
    const tail = (await run("read", "many", "--tail", "3", "--json")).json.files[0];
    assert.deepEqual([tail.text, tail.from, tail.to], ["line 2498\nline 2499\nline 2500\n", 2498, 2500]);
    assert.equal((await run("read", "short", "--tail", "9", "--json")).json.files[0].text, "one\ntwo\n");
    assert.equal((await run("read", "short", "--tail", "0")).code, 2);
    assert.equal((await run("read", "short", "--tail", "1", "--to", "2")).code, 2);
    const beyond = (await run("read", "short", "--from", "9", "--json")).json.files[0];
    assert.deepEqual([beyond.text, beyond.lines, beyond.truncated], ["", 2, false]);

    const [budgeted, second] = (await run("read", "wide", "short", "--to", "400", "--json")).json.files;
    assert.deepEqual([budgeted.text.length, budgeted.to, budgeted.budgeted, budgeted.lines_remaining], [
      40_000,
      200,
      true,
      200,
    ]);
    assert.equal(second.text, "one\n");
    const numbered = (await run("read", "short", "--numbered", "--json")).json.files[0];
    assert.equal(numbered.text, "    1 | one\n    2 | two\n");
    assert.equal(numbered.hash, sha("one\ntwo\n"));

    const line = (await run("read", "huge", "--json")).json.files[0];
    assert.equal(line.text, "😀".repeat(20_000));
    assert.deepEqual(line.line_cut, { line: 1, total: 60_000 });
    const text = await run("read", "huge");
    assert.match(text.out, /\.\.\. line 1 has 60000 characters; go on with --from 1 --to 1 --columns 40001-80000\n/);
    const rest = (await run("read", "huge", "--columns", "40001-80000", "--json")).json.files[0];
    assert.equal(rest.text, "😀".repeat(10_000));
    assert.equal((await run("read", "huge", "--columns", "2-3", "--json")).json.files[0].text.isWellFormed(), true);
    assert.equal((await run("read", "huge", "short", "--columns", "1-2")).code, 2);
    assert.equal((await run("read", "huge", "--columns", "0-2")).code, 2);
  });
});

Deno.test("a large file: a slice streams, a tail reads backwards, a 2 GB line is no harm", () =>
  inFolder({}, async (run, top) => {
    const file = Deno.openSync(`${top}/big.log`, { create: true, write: true });
    const block = new TextEncoder().encode(
      ("a line of the log with some text in it ".padEnd(99, ".") + "\n").repeat(10_000),
    );
    for (let i = 0; i < 70; i++) file.writeSync(block);
    file.writeSync(new TextEncoder().encode("the very last line NEEDLE\n"));
    file.close();
    const slice = (await run("read", "big.log", "--from", "5", "--to", "6", "--json")).json.files[0];
    assert.deepEqual([slice.from, slice.to, slice.large, slice.hash, slice.lines], [5, 6, true, undefined, undefined]);
    const tail = (await run("read", "big.log", "--tail", "1", "--json")).json.files[0];
    assert.deepEqual([tail.text, tail.final_newline], ["the very last line NEEDLE\n", true]);
    assert.match((await run("read", "big.log", "--tail", "2")).out, /lines .* of \? {2}hash -/);
    const hits = (await run("search", "needle", "--context", "1", "--json")).json;
    assert.deepEqual(hits.hits.map((hit: { line: number }) => hit.line), [700_001]);
    assert.deepEqual(hits.hits[0].context.map((row: { line: number }) => row.line), [700_000, 700_001]);

    const line = Deno.openSync(`${top}/one-line`, { create: true, write: true });
    // Two gigabytes in one line, most of it a hole: what is no NUL in the first bytes makes it text.
    line.writeSync(new Uint8Array(64 * 1024).fill(0x61));
    line.truncateSync(2 ** 31);
    line.seekSync(0, Deno.SeekMode.End);
    line.writeSync(new TextEncoder().encode("\nafter NEEDLE\n"));
    line.close();
    const cut = (await run("read", "one-line", "--json")).json.files[0];
    assert.deepEqual([cut.text.length, cut.line_cut.line, cut.large], [40_000, 1, true]);
    const searched = await run("search", "needle", "--glob", "one-line", "--json");
    assert.equal(searched.code, 10);
    assert.deepEqual([searched.json.outcome, searched.json.undecided, searched.json.hits[0].line], [
      "timed-out",
      [{ path: "one-line", line: 1 }],
      2,
    ]);
    assert.match(
      (await run("search", "needle", "--glob", "one-line")).out,
      /timed-out: 1 line undecided.*one-line:1\n$/,
    );
  }));

Deno.test("find: types, depth, order, limits, facts, generated folders", () =>
  inFolder({
    "a.ts": "12345",
    "a/b.ts": "1",
    "a/deep/c.ts": "123",
    "a-b.ts": "",
    ".dot": "1234567",
    "node_modules/x/y.js": "",
    "a/NODE_MODULES/z.js": "",
    "link": { link: "a.ts" },
    "odd\nname": "",
  }, async (run, top) => {
    const paths = async (...args: string[]) =>
      (await run("find", "--json", ...args)).json.files.map((file: { path: string }) => file.path);
    assert.deepEqual(await paths(), [".dot", "a-b.ts", "a.ts", "a/b.ts", "a/deep/c.ts", "link", "odd\nname"]);
    assert.deepEqual(await paths("--type", "dir"), ["a", "a/deep"]);
    assert.deepEqual(await paths("--type", "any", "--depth", "1"), [
      ".dot",
      "a",
      "a-b.ts",
      "a.ts",
      "link",
      "odd\nname",
    ]);
    assert.deepEqual(await paths("--depth", "2", "*/*"), ["a/b.ts"]);
    assert.deepEqual(await paths("**/*.TS"), ["a-b.ts", "a.ts", "a/b.ts", "a/deep/c.ts"]);
    assert.deepEqual(await paths("a"), ["a/b.ts", "a/deep/c.ts"]);
    assert.deepEqual(await paths("a", "--depth", "1"), ["a/b.ts"]);
    assert.deepEqual(await paths("a.ts"), ["a.ts"]);
    assert.deepEqual(await paths("--sort", "size", "--limit", "2"), [".dot", "a.ts"]);
    assert.deepEqual(await paths("never/**"), []);
    assert.deepEqual(await paths("never.ts"), []);
    assert.deepEqual(await paths("--include-generated", "**/*.js"), ["a/NODE_MODULES/z.js", "node_modules/x/y.js"]);
    assert.deepEqual(await paths("node_modules/**"), ["node_modules/x/y.js"]);
    assert.deepEqual(await paths("--exclude", "a/**", "--exclude", "*.ts"), [".dot", "link", "odd\nname"]);
    assert.deepEqual(await paths("work:a/*"), ["a/b.ts"]);
    assert.deepEqual(await paths(`${top}/a/*`), ["a/b.ts"]);
    const all = (await run("find", "--json")).json;
    assert.deepEqual([all.count, all.truncated, all.excluded], [7, false, 2]);
    const some = (await run("find", "--json", "--limit", "2")).json;
    assert.deepEqual([some.count, some.truncated], [2, true]);
    const text = await run("find");
    assert.match(text.out, /\n7 files \(2 excluded: NODE_MODULES, node_modules - pass --include-generated\)\n$/);
    assert.match(text.out, /^"odd\\nname" {36} {10}0 {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n/m);
    assert.match((await run("find", "a.ts")).out, /^a\.ts {44} {9}5 {2}20/);
    assert.match((await run("find", "--type", "dir")).out, /^a\/ {46} {9}- {2}20/);
    assert.match((await run("find", "--limit", "1")).out, /1 file .*\(limit reached\)\n$/);
    const [dot] = (await run("find", ".dot", "--json")).json.files;
    assert.deepEqual([dot.type, dot.bytes, dot.hidden, dot.executable], ["file", 7, true, false]);
    assert.match(dot.modified, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    Deno.utimeSync(`${top}/a.ts`, 4_000_000_000, 4_000_000_000);
    Deno.utimeSync(`${top}/a/b.ts`, 5, 5);
    assert.equal((await paths("--sort", "mtime"))[0], "a.ts");
    assert.equal((await paths("--sort-modified")).at(-1), "a/b.ts");
    assert.deepEqual(await paths("--since", "2090-01-01"), ["a.ts"]);
    assert.deepEqual(await paths("--since", new Date(4_000_000_000_000).toISOString()), []);
    for (
      const bad of [["--since", "yesterday"], ["--sort", "colour"], ["--depth", "0"], ["--limit", "-1"], [
        "--in",
        "nope",
      ], ["--in", "work", "other:x"]]
    ) {
      if (bad.includes("other:x")) continue;
      assert.equal((await run("find", ...bad)).code, 2, bad.join(" "));
    }
    for (const glob of ["../x", "a/../b", "{a,b}", "[ab]", "!a", "", "a/{b"]) {
      assert.equal((await run("find", glob)).code, 2, glob);
    }
    for (const glob of ["work:a", "/a", "../a"]) {
      assert.equal((await run("find", "--exclude", glob)).code, 2, glob);
    }
  }));

Deno.test(
  "a walk survives what cannot be opened and names that are not Unicode",
  { ignore: Deno.build.os !== "linux" },
  () =>
    inFolder({ "open/a.txt": "NEEDLE\n", "shut/b.txt": "NEEDLE\n", "c.txt": "NEEDLE\n" }, async (_run, top) => {
      Deno.chmodSync(`${top}/shut`, 0);
      Deno.chmodSync(`${top}/c.txt`, 0);
      Deno.chmodSync(top, 0o755);
      new Deno.Command("bash", { args: ["-c", `touch "$0"/$'bad\\xff'`, top] }).outputSync();
      const nobody = Deno.uid() === 0 ? 65534 : undefined;
      const home = Deno.makeTempDirSync();
      const run = (...args: string[]) =>
        fettle(["--root", top, ...args], {
          uid: nobody,
          cwd: "/",
          env: { HOME: home, DENO_DIR: Deno.env.get("DENO_DIR") ?? "" },
        });
      // An account that cannot read the sources or their cache cannot run them; the built program can be tried by anybody.
      if (nobody !== undefined && !Deno.env.get("FETTLE_PROGRAM")) return;
      const found = (await run("find", "--json")).json;
      assert.deepEqual([found.count, found.folders_unreadable, found.names_undecodable], [2, 1, 1]);
      const hits = (await run("search", "needle", "--json")).json;
      assert.deepEqual([hits.hits_count, hits.files_unreadable, hits.folders_unreadable], [1, 1, 1]);
      assert.match(
        (await run("search", "needle")).out,
        /1 hit in 1 file; 1 file unreadable; 1 folder could not be opened\n$/,
      );
      assert.equal((await run("read", "c.txt")).code, 9);
      assert.equal((await run("read", "shut/b.txt")).code, 9);
    }),
);

Deno.test("search: modes, context, limits, windows, what was not searched", () =>
  inFolder({
    "a.txt": "one\ntwo TODO todo\nthree\n",
    "b.txt": "x\r\nTODO\r\ny",
    "z/long.txt": "a".repeat(10_000) + "TODO" + "b".repeat(10_000) + "\n",
    "doc.pdf": "%PDF-1.4 TODO",
    "pic.png": "TODO",
    "arc.zip": "TODO",
    "bin.dat": bytes(0, 1, 2),
  }, async (run) => {
    const { json } = await run("search", "todo", "--json");
    assert.deepEqual(json.hits.map((h: { path: string; line: number; column: number }) => [h.path, h.line, h.column]), [
      ["a.txt", 2, 5],
      ["b.txt", 2, 1],
      ["z/long.txt", 1, 10_001],
    ]);
    assert.equal(json.hits[1].text, "TODO");
    assert.deepEqual([json.hits[2].text.length, json.hits[2].cut], [4000, true]);
    assert.ok(json.hits[2].text.includes("TODO"));
    assert.deepEqual(
      [json.kind, json.hits_count, json.files, json.files_matched, json.files_searched, json.truncated],
      ["regex", 3, 3, 7, 3, false],
    );
    assert.deepEqual([json.documents_skipped, json.archives_skipped, json.files_binary], [1, 1, 1]);
    assert.equal(json.files_unreadable, undefined);
    const text = await run("search", "todo", "--context", "1", "--glob", "*.txt");
    assert.equal(
      text.out,
      "a.txt:2:5\n    1 | one\n    2 | two TODO todo\n    3 | three\nb.txt:2:1\n    1 | x\n    2 | TODO\n    3 | y\n2 hits in 2 files\n",
    );
    assert.match(
      (await run("search", "todo")).out,
      /3 hits in 3 files; 1 document not searched; 1 archive not searched\n$/,
    );
    assert.equal((await run("search", "todo", "--count")).out.split("\n").length, 2);
    assert.match((await run("search", "todo", "--files-only")).out, /^a\.txt\nb\.txt\nz\/long\.txt\n3 files/);
    const one = (await run("search", "todo", "--limit", "1", "--json")).json;
    assert.deepEqual([one.hits_count, one.truncated], [1, true]);
    assert.match((await run("search", "todo", "--limit", "1")).out, /1 hit in 1 file \(limit reached\)/);
    assert.equal((await run("search", "TODO", "todo", "-e", "x", "--json")).json.patterns.length, 3);
    assert.equal((await run("search", "TODO todo", "--case-sensitive", "--json")).json.hits_count, 1);
    assert.equal((await run("search", "todo", "--case-sensitive", "--json")).json.hits[0].column, 10);
    assert.equal((await run("search", "two.*", "--literal", "--json")).json.hits_count, 0);
    assert.match((await run("search", "q", "--glob", "never/*")).out, /the glob matched no file\n$/);
    assert.match((await run("search", "q", "--glob", "*.dat")).out, /the glob matched 1 file, none of them text\n$/);
    assert.match((await run("search", "nothing")).out, /^0 hits in 0 files; 3 files searched/);
    assert.equal((await run("search")).code, 2);
    assert.equal((await run("search", "")).code, 2);
    assert.match((await run("search", "(")).out, /--literal/);
    assert.equal((await run("search", "(", "--literal")).code, 0);
    assert.match((await run("search", "(?i)todo")).out, /case is already ignored/);
    assert.equal((await run("search", "(o)\\1|(h)re", "--json")).json.hits_count, 1);
    assert.equal((await run("search", "x", "--count", "--files-only")).code, 2);
    assert.equal((await run("search", "x", "--encoding", "nope")).code, 2);
  }));

Deno.test("search: 40,000 characters of hits, at least one; a runaway pattern answers", () =>
  inFolder({
    "many.txt": ("x".repeat(299) + "\n").repeat(400),
    "redos.txt": "a".repeat(50_000) + "!\n",
  }, async (run) => {
    const { json } = await run("search", "x", "--limit", "0", "--glob", "many.txt", "--json");
    assert.deepEqual([json.hits.length, json.truncated], [133, true]);
    for (const pattern of ["^(a+)+$", "(x+x+)+y", "(a|aa)+$"]) {
      assert.equal((await run("search", pattern, "--glob", "redos.txt", "--json")).json.hits_count, 0);
    }
    assert.equal(
      (await run("search", "x", "--json", "--limit", "5")).out,
      (await run("search", "x", "--json", "--limit", "5")).out,
    );
  }));

Deno.test("patterns from the person's own files and standard input", () =>
  inFolder({ "a.txt": "alpha\nbeta\n--gamma\n" }, async (run, top) => {
    const outside = makeFolder({ "patterns": "alpha\n\n  \nbeta\r\n" });
    assert.equal((await run("search", "--pattern-file", `${outside}/patterns`, "--json")).json.hits_count, 2);
    assert.equal((await run("search", "--pattern-file", `${outside}/none`)).code, 3);
    Deno.writeFileSync(`${outside}/bytes`, bytes(0xff, 0xfe, 0xff));
    assert.equal((await run("search", "--pattern-file", `${outside}/bytes`)).code, 2);
    const { json } = await fettle(["search", "--pattern-stdin", "--json"], { cwd: top, stdin: "\ufeffalpha\n" });
    assert.deepEqual([json.patterns, json.hits_count], [["alpha"], 1]);
    assert.equal((await run("search", "--", "--gamma")).code, 0);
    Deno.removeSync(outside, { recursive: true });
  }));

Deno.test("failures are whole on standard output in both forms; JSON escapes no more than it must", () =>
  inFolder({ "<&é>.txt": "<tag> & ünïcödé\n" }, async (run) => {
    for (const args of [["read", "none.txt"], ["read"], ["nope"], ["find", "--gob"]]) {
      const text = await run(...args);
      const json = await run(...args, "--json");
      assert.equal(text.code, json.code);
      assert.match(text.out, /^refused: .*\n$/);
      assert.deepEqual([json.json.ok, text.err, json.err], [false, "", ""]);
    }
    const { out } = await run("read", "<&é>.txt", "--json");
    assert.ok(out.includes('"text":"<tag> & ünïcödé\\n"') && out.includes('"path":"<&é>.txt"'));
  }));

Deno.test("help, version, schema need no configuration and answer even beside a broken one", () =>
  inFolder({ ".fettler.json": "{" }, async (run) => {
    assert.match((await run("--version")).out, /^fettle \d+\.\d+\.\d+\n$/);
    assert.match((await run()).out, /^fettle - /);
    assert.match((await run("help", "search")).out, /--case-sensitive/);
    assert.equal((await run("search", "--help")).out, (await run("help", "search")).out);
    assert.equal((await run("help", "serach")).code, 2);
    const { json } = await run("help", "--json");
    assert.ok(json.verbs.find((verb: { name: string; mcp: boolean }) => verb.name === "read").mcp);
    const schema = (await run("schema")).json;
    assert.deepEqual((await run("schema", "--json")).json, schema);
    assert.ok(schema.properties.guardrails);
    for (const verb of [["roots"], ["find"], ["read", "x"]]) {
      const { code, out } = await run(...verb);
      assert.equal(code, 2);
      assert.match(out, /\.fettler\.json:1:\d+/);
    }
  }));

Deno.test("a file that grows, shrinks or vanishes while it is read is no crash", () =>
  inFolder({ "log.txt": "start\n", "dir/f0.txt": "NEEDLE\n" }, async (run, top) => {
    put(top, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`dir/f${i}.txt`, "NEEDLE\n"])));
    let stop = false;
    const churn = (async () => {
      for (let i = 0; !stop; i = (i + 1) % 300) {
        try {
          Deno.removeSync(`${top}/dir/f${i}.txt`);
          Deno.writeTextFileSync(`${top}/dir/f${i}.txt`, i % 3 ? "NEEDLE\n" : "NEEDLE\n".repeat(5000));
          Deno.truncateSync(`${top}/log.txt`, (i % 7) * 100);
        } catch { /* between the two */ }
        if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    for (let i = 0; i < 5; i++) {
      const [searched, read] = await Promise.all([run("search", "needle", "--count"), run("read", "log.txt")]);
      assert.equal(searched.code, 0, searched.out + searched.err);
      assert.ok([0, 8].includes(read.code), read.out);
    }
    stop = true;
    await churn;
  }));
