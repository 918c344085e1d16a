/** edit and replace from outside: flags, streams, scripts, the tool. Scenarios 59, 63, 66-69, 72-77, 81, 189; bugs B 32, 33, 39, 42. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
// @ts-types="@mcp/client/index"
import { Client } from "@mcp/client/index.js";
// @ts-types="@mcp/client/stdio"
import { StdioClientTransport } from "@mcp/client/stdio.js";
import { mixed } from "../screens/samples.ts";
import { fettle, program, type Ran } from "../support/program.ts";
import { makeFolder } from "../support/tree.ts";
import { treeOf } from "../verbs/support.ts";

const sha = (data: string) => createHash("sha256").update(data).digest("hex");
const CONFIG = JSON.stringify({
  guardrails: { trees: { work: { path: ".", can: ["list", "read", "create", "update"] } } },
});

interface World {
  top: string;
  run(args: string[], stdin?: string): Promise<Ran>;
  read(path: string): string;
}

/** Files below `app`, which is the tree; what lies beside it is the person's own. */
async function inFolder(entries: Parameters<typeof makeFolder>[0], act: (world: World) => Promise<void>) {
  const top = makeFolder({ "app/.fettler.json": CONFIG, ...entries });
  try {
    await act({
      top,
      run: (args, stdin) => fettle(args, { cwd: `${top}/app`, stdin }),
      read: (path) => Deno.readTextFileSync(`${top}/app/${path}`),
    });
    assert.deepEqual(treeOf(top).filter((row) => row.includes(".fettle-")), []);
  } finally {
    Deno.removeSync(top, { recursive: true });
  }
}

Deno.test("edit: the flags of one operation", () =>
  inFolder({ "app/a": "1\n2\n2\n4", "app/run.sh": "x\n" }, async ({ run, read, top }) => {
    const codes = async (args: string[], code: number) =>
      assert.equal((await run(["edit", ...args])).code, code, args.join(" "));
    await codes(["a", "--replace", "2", "--with", "two"], 7);
    await codes(["a", "--replace", "2", "--with", "two", "--between", "3-3"], 0);
    await codes(["a", "--replace", "2", "--with=", "--from", "1", "--to", "2"], 0);
    assert.equal(read("a"), "1\n\ntwo\n4");
    await codes(["a", "--insert-after", "4", "--text", "5"], 0);
    await codes(["a", "--delete", "1-2"], 0);
    assert.equal(read("a"), "two\n4\n5");
    await codes(["a", "--replace", "4"], 2);
    await codes(["a", "--replace", "4", "--with"], 2);
    await codes(["a", "--replace", "4", "--with", "x", "--delete", "1"], 2);
    await codes(["a", "--insert-after", "x", "--text", "5"], 2);
    await codes(["a", "--delete", "9"], 2);
    await codes(["a", "--replace", "nothing", "--with", "x"], 3);
    await codes(["../b", "--replace", "4", "--with", "x"], 4);
    await codes(["a", "--replace", "4", "--with", "x", "--expect", "00"], 6);
    await codes([".fettler.json", "--replace", "read", "--with", "x", "--dry-run"], 11);
    const plan = await run([
      "edit",
      "a",
      "--replace",
      "4",
      "--with",
      "x",
      "--dry-run",
      "--expect",
      sha("two\n4\n5").toUpperCase(),
    ]);
    assert.equal(plan.out, "would apply 1 edit to 1 file\n   edit 1  a line 2  replace 1 place\n");
    assert.equal(read("a"), "two\n4\n5");
    Deno.chmodSync(`${top}/app/run.sh`, 0o755);
    await codes(["run.sh", "--replace", "x", "--with", "-y"], 0);
    assert.equal(Deno.statSync(`${top}/app/run.sh`).mode! & 0o777, 0o755);
  }));

Deno.test("edit: texts from files and standard input, scripts", () =>
  inFolder({
    "app/a": "alpha\r\nbeta\r\n",
    "app/b": "b\n",
    "find.txt": "\ufeffalpha\nbeta",
    "with.txt": "1\n2\n3",
    "script.json": '\ufeff{ // mine\n "edits": [{"replace": "1", "with": "one"}, {"deleteFrom": 2},], }',
    "app/script.json":
      '{"files": [{"path": "a", "edits": [{"insertAfter": 0, "text": "top"}]}, {"path": "b", "edits": [{"replace": "b"}]}]}',
  }, async ({ run, read }) => {
    assert.equal((await run(["edit", "a", "--replace-file", "../find.txt", "--with-file", "../with.txt"])).code, 0);
    assert.equal(read("a"), "1\r\n2\r\n3\r\n");
    assert.equal((await run(["edit", "a", "--script", "../script.json"])).code, 0);
    assert.equal(read("a"), "one\r\n3\r\n");
    assert.equal((await run(["edit", "a", "--replace", "3", "--with-stdin"], "\ufeffx\n\ufeffy")).code, 0);
    assert.equal(read("a"), "one\r\nx\r\n\ufeffy\r\n");
    assert.equal((await run(["edit", "a", "--replace-stdin", "--with", "z"], "x\n\ufeffy")).code, 0);
    assert.equal((await run(["edit", "a", "--insert-after", "1", "--text-stdin"], "in\n")).code, 0);
    assert.equal(read("a"), "one\r\nin\r\nz\r\n");
    const done = (await run(["edit", "--script-path", "script.json", "--json"])).json;
    assert.deepEqual(done.files, [
      { path: "a", edits: 1, hash: sha("top\r\none\r\nin\r\nz\r\n"), line_ending_mixed: false },
      { path: "b", edits: 1, hash: sha("\n"), line_ending_mixed: false },
    ]);
    const refused: [string[], number][] = [
      [["a", "--replace-stdin", "--with-stdin"], 2],
      [["a", "--replace-stdin", "--replace", "x", "--with", "y"], 2],
      [["a", "--script", "../script.json", "--script-path", "script.json"], 2],
      [["a", "--script", "../script.json", "--script", "../script.json"], 2],
      [["--script", "../script.json"], 2],
      [["a", "--script", "../none.json"], 3],
      [["a", "--script", "../find.txt"], 2],
      [["--script-path", "../script.json"], 4],
      [["a", "--with-file", "../none", "--replace", "x"], 3],
    ];
    const before = read("a");
    for (const [args, code] of refused) assert.equal((await run(["edit", ...args], "x")).code, code, args.join(" "));
    assert.equal(read("a"), before);
  }));

Deno.test("edit and replace: what looks like a credential, and the person's word", () =>
  inFolder({ "app/a": "x\n" }, async ({ run, read }) => {
    const key = "AK" + "IA" + mixed(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 6);
    const args = ["edit", "a", "--replace", "x", "--with", key];
    const refused = await run(args);
    assert.equal(refused.code, 12);
    assert.match(refused.out, /^refused: a would gain a credential: line 1 .*--allow-credential/);
    assert.equal((refused.out + refused.err).includes(key), false);
    assert.equal((await run(["replace", "x", key])).code, 12);
    assert.equal((await run(["replace", "x", key, "--allow-credential"])).code, 2);
    assert.equal(read("a"), "x\n");
    assert.equal((await run([...args, "--allow-credential"])).code, 0);
    assert.equal(read("a"), `${key}\n`);
  }));

Deno.test("replace: words, globs and totals", () =>
  inFolder({ "app/a.txt": "-x -x\n", "app/d/b.md": "-x\n", "app/d/c.txt": "-x\r\n" }, async ({ run, read }) => {
    const dry = (await run(["replace", "--glob", "**/*.txt", "--dry-run", "--json", "--", "-x", "--y"])).json;
    assert.deepEqual([dry.dry_run, dry.occurrences, dry.count], [true, 3, 2]);
    const real = await run(["replace", "--glob", "**/*.txt", "--", "-x", "--y"]);
    assert.match(real.out, /^changed 2 files, 3 occurrences\n {3}a\.txt {36} 2\n {3}d\/c\.txt {34} 1\n/);
    assert.deepEqual([read("a.txt"), read("d/b.md"), read("d/c.txt")], ["--y --y\n", "-x\n", "--y\r\n"]);
    assert.equal((await run(["replace", "zzz", "y"])).code, 0);
    assert.equal((await run(["replace", "", "y"])).code, 2);
    assert.equal((await run(["replace", "a"])).code, 2);
    assert.equal((await run(["replace", "a", "b", "c"])).code, 2);
    assert.match((await run(["replace", "a", "b", "--glob", "*.none"])).out, /the glob matched no file\n$/);
  }));

Deno.test("edit: of two at once with one expect, one wins", () =>
  inFolder({ "app/a": "a\n" }, async ({ run, read }) => {
    const edits = ["b", "c"].map((with_) =>
      run(["edit", "a", "--replace", "a", "--with", with_, "--expect", sha("a\n")])
    );
    const codes = (await Promise.all(edits)).map(({ code }) => code);
    assert.deepEqual(codes.toSorted(), [0, 6]);
    assert.equal(read("a"), codes[0] === 0 ? "b\n" : "c\n");
  }));

Deno.test("edit and replace over MCP", () =>
  inFolder(
    { "app/a": "a\nb\na\n", "app/s.json": '{"edits": [{"insertAfter": 0, "text": "top"}]}' },
    async ({ top, read }) => {
      const { command, args } = program();
      const client = new Client({ name: "test", version: "1" });
      await client.connect(new StdioClientTransport({ command, args: [...args, "serve"], cwd: `${top}/app` }));
      const call = async (name: string, args: Record<string, unknown>) => {
        const { content, isError } = await client.callTool({ name, arguments: args });
        return `${isError ? "error " : ""}${(content as { text: string }[])[0].text}`;
      };
      try {
        assert.match(
          await call("edit", { path: "a", replace: "a", with: "x" }),
          /^error conflict: edit 1: .*2 times.*\(a\)$/,
        );
        assert.equal(
          await call("edit", { path: "a", replace: "a", with: "x", all: true }),
          `applied 1 edit to 1 file\n   a  hash ${sha("x\nb\nx\n")}`,
        );
        const script = { edits: [{ replace: "b", with: "-b" }, { deleteFrom: 3 }] };
        assert.match(await call("edit", { path: "a", script, dry_run: true }), /^would apply 2 edits to 1 file\n/);
        assert.match(await call("edit", { path: "a", script, expect: sha("x\nb\nx\n") }), /^applied 2 edits/);
        assert.match(await call("edit", { path: "a", script_path: "s.json" }), /^applied 1 edit/);
        assert.equal(read("a"), "top\nx\n-b\n");
        for (const more of [{ between: "1-1" }, { from: 1 }, { allow_credential: true }, { colour: 1 }]) {
          assert.match(
            await call("edit", { path: "a", replace: "x", with: "y", ...more }),
            /^error invalid: unknown argument/,
          );
        }
        assert.match(await call("edit", { path: "a", replace: "x" }), /^error invalid: /);
        assert.match(await call("edit", { path: "a", script: "{}" }), /^error invalid: /);
        assert.match(
          await call("replace", { find: "x", with: "y", allow_credential: true }),
          /^error invalid: unknown argument/,
        );
        assert.match(await call("replace", { find: "-b", with: "--c" }), /^changed 1 file, 1 occurrence\n {3}a /);
        assert.equal(read("a"), "top\nx\n--c\n");
      } finally {
        await client.close();
      }
    },
  ));
