/** The whole program changing files: command line, official client, systems that decline. Spec 2-verbs §2.5, §2.8; acceptance 2, 10. */
import assert from "node:assert/strict";
// @ts-types="@mcp/client/index"
import { Client } from "@mcp/client/index.js";
// @ts-types="@mcp/client/stdio"
import { StdioClientTransport } from "@mcp/client/stdio.js";
import { value } from "../screens/samples.ts";
import { fettle, program } from "../support/program.ts";
import { makeFolder } from "../support/tree.ts";
import { treeOf } from "../verbs/support.ts";

const ALL = ["list", "read", "create", "update", "rename", "delete"];
const config = (scopes: Record<string, unknown> = {}) =>
  JSON.stringify({ guardrails: { trees: { work: { path: "app", can: ALL, scopes } } } });
const secretLine = () => `${["api", "key"].join("_")} = "${value()}"\n`;

async function inWorld(entries: Record<string, string | null>, act: (top: string) => Promise<void>, scopes = {}) {
  const top = makeFolder({ app: null, ".fettler.json": config(scopes), ...entries });
  try {
    await act(top);
  } finally {
    Deno.removeSync(top, { recursive: true });
  }
}

const mine = (top: string) => treeOf(`${top}/app`);

Deno.test("command line: sources of text, answers, exit codes", () =>
  inWorld({
    "mine.txt": "\ufefffrom a file\n",
    "ops.json": '{"operations":[{"op":"new","path":"n"},{"op":"new","path":"n"}]}',
  }, async (top) => {
    const run = (args: string[], stdin?: string) => fettle(args, { cwd: top, stdin });
    const codes: [number, string[], string?][] = [
      [0, ["write", "a.txt", "--text", "a\n"]],
      [0, ["write", "b.txt", "--stdin"], "piped\n"],
      [0, ["write", "c.txt", "--text-file", "mine.txt"]],
      [5, ["write", "a.txt", "--text", "b"]],
      [2, ["write", "a.txt"]],
      [2, ["write", "a.txt", "--text", "b", "--stdin"], "c"],
      [2, ["write", "a.txt", "--text", "b", "--expect", "00"]],
      [6, ["write", "a.txt", "--text", "b", "--overwrite", "--expect", "00"]],
      [3, ["write", "x.txt", "--text-file", "never.txt"]],
      [3, ["write", "never/x.txt", "--text", "b"]],
      [4, ["write", "/etc/x", "--text", "b"]],
      [11, ["write", ".mcp.json", "--text", "{}"]],
      [12, ["write", "s.txt", "--text", secretLine()]],
      [0, ["write", "s.txt", "--text", secretLine(), "--allow-credential", "--dry-run"]],
      [8, ["batch", "--script", "ops.json"]],
      [2, ["exec", "a.txt"]],
      [2, ["exec", "a.txt", "--on", "--off"]],
      [0, ["exec", "a.txt", "--on"]],
      [0, ["mkdir", "d/e"]],
      [8, ["delete", "d"]],
      [0, ["delete", "d", "--recursive"]],
    ];
    for (const [code, args, stdin] of codes) {
      const ran = await run(args, stdin);
      assert.deepEqual([ran.code, ran.err], [code, ""], `${args[0]} ${args[1]}: ${ran.out}`);
      assert.ok(!ran.out.includes(value()));
    }
    const { json, code } = await run(["delete", "b.txt", "--json"]);
    assert.deepEqual([code, json], [0, {
      ok: true,
      outcome: "ok",
      path: "b.txt",
      files: 1,
      directories: 0,
      dry_run: false,
    }]);
    assert.deepEqual(mine(top), ["a.txt=a\n", "c.txt=from a file\n", "n="]);
  }));

Deno.test("a text of the command line may have as many bytes as a file that is changed, and not one more", async () => {
  const most = 256 * 1024 * 1024;
  const top = makeFolder({ ".fettler.json": '{"guardrails":{"trees":{"work":{"path":"."}}}}' });
  const own = makeFolder({ "in": "" });
  Deno.writeFileSync(`${own}/in`, new Uint8Array(most).fill(0x0a));
  const write = (name: string) => fettle(["write", name, "--text-file", `${own}/in`, "--json"], { cwd: top });
  assert.equal((await write("a.txt")).json.bytes, most);
  Deno.writeFileSync(`${own}/in`, new Uint8Array(1), { append: true });
  assert.equal((await write("b.txt")).json.outcome, "refused");
  assert.deepEqual([...Deno.readDirSync(top)].map(({ name }) => name).sort(), [".fettler.json", "a.txt"]);
  for (const folder of [top, own]) Deno.removeSync(folder, { recursive: true });
});

Deno.test("official client: a small project is made, edited, renamed, searched, replaced and cleared", () =>
  inWorld({ "app/vendor/lib.ts": "export const lib = 1;\n", "app/private/p.txt": "hidden\n" }, async (top) => {
    const { command, args } = program();
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport({ command, args: [...args, "serve"], cwd: top }));
    try {
      const { tools } = await client.listTools();
      assert.ok(JSON.stringify({ tools }).length < 20_000);
      const names = tools.map(({ name }) => name);
      for (const name of ["write", "edit", "replace", "new", "mkdir", "move", "copy", "delete", "exec", "batch"]) {
        assert.ok(names.includes(name), name);
      }
      const hints = (verbs: string) =>
        new Set(
          tools.filter(({ name }) => verbs.split(" ").includes(name)).map(({ annotations }) =>
            JSON.stringify(annotations)
          ),
        );
      for (const verbs of ["find search read roots", "new mkdir exec", "write delete", "edit replace move batch"]) {
        assert.equal(hints(verbs).size, 1, verbs);
      }
      const call = async (name: string, args: Record<string, unknown>) => {
        const { content, isError } = await client.callTool({ name, arguments: args });
        const { text } = (content as { text: string }[])[0];
        return isError ? `! ${text}` : text;
      };
      const good = async (name: string, args: Record<string, unknown>) => {
        const text = await call(name, args);
        assert.doesNotMatch(text, /^! /, `${name} ${JSON.stringify(args)}`);
        return text;
      };
      await good("roots", {});
      await good("mkdir", { path: "src/util" });
      const wrote = await good("write", {
        path: "src/main.ts",
        text: "import { add } from './util/add.ts';\nconsole.log(add(1, 2));\n",
      });
      await good("write", { path: "src/util/add.ts", text: "export const add = (a: number, b: number) => a + b;\n" });
      const expect = wrote.match(/hash ([0-9a-f]{64})/)![1];
      await good("edit", { path: "src/main.ts", replace: "add(1, 2)", with: "add(2, 3)", expect });
      assert.match(await call("write", { path: "src/main.ts", overwrite: true, expect, text: "x" }), /^! stale: /);
      await good("move", { from: "src/util/add.ts", to: "src/util/sum.ts" });
      assert.match(await good("search", { patterns: ["util/add"] }), /1 hit in 1 file/);
      await good("replace", { find: "util/add", with: "util/sum", glob: "src/**" });
      await good("batch", {
        script: {
          operations: [
            { op: "copy", path: "src/util/sum.ts", to: "src/util/copy.ts" },
            { op: "new", path: "run.sh" },
            { op: "exec", path: "run.sh", executable: true },
          ],
        },
      });
      await good("delete", { path: "src/util/copy.ts" });
      for (
        const [name, args, outcome] of [
          ["write", { path: "vendor/lib.ts", text: "x", overwrite: true }, "refused"],
          ["new", { path: "vendor/n" }, "refused"],
          ["delete", { path: "private/p.txt" }, "outside-root"],
          ["new", { path: "private/never" }, "outside-root"],
          ["write", { path: ".fettler.json", text: "{}" }, "governed"],
          ["write", { path: "a", text: "a", allow_credential: true }, "invalid"],
          ["batch", { script: { operations: [{ op: "delete", path: "vendor/lib.ts" }] } }, ""],
        ] as const
      ) {
        assert.match(await call(name, args), new RegExp(`^! ${outcome}`), `${name} ${JSON.stringify(args)}`);
      }
      const secret = await call("write", { path: "s", text: secretLine() });
      assert.match(secret, /^! credential: /);
      assert.ok(!secret.includes(value()) && !secret.includes("allow"));
      assert.deepEqual(mine(top), [
        "private/",
        "private/p.txt=hidden\n",
        "run.sh=",
        "src/",
        "src/main.ts=import { add } from './util/sum.ts';\nconsole.log(add(2, 3));\n",
        "src/util/",
        "src/util/sum.ts=export const add = (a: number, b: number) => a + b;\n",
        "vendor/",
        "vendor/lib.ts=export const lib = 1;\n",
      ]);
    } finally {
      await client.close();
    }
  }, { vendor: { can: ["list", "read"] }, private: { can: [] } }));

const asRoot = Deno.build.os === "linux" && Deno.uid() === 0;

function mount(path: string, ...options: string[]): Disposable | undefined {
  if (!new Deno.Command("mount", { args: [...options, path], stderr: "null" }).outputSync().success) return undefined;
  return { [Symbol.dispose]: () => void new Deno.Command("umount", { args: ["-l", path] }).outputSync() };
}

Deno.test("the system declines: full disk, read-only mount; the old content stands and no staging is left", {
  ignore: !asRoot,
}, () =>
  inWorld({}, async (top) => {
    const app = `${top}/app`;
    using full = mount(app, "-t", "tmpfs", "-o", "size=64k", "tmpfs");
    if (!full) return;
    Deno.writeTextFileSync(`${app}/old.txt`, "old");
    Deno.mkdirSync(`${app}/folder`);
    const before = mine(top);
    const run = async (...args: string[]) => (await fettle(args, { cwd: top, stdin: "x".repeat(300_000) })).code;
    assert.equal(await run("write", "old.txt", "--stdin", "--overwrite"), 9);
    assert.equal(await run("write", "new.txt", "--stdin"), 9);
    assert.equal(await run("write", "folder", "--stdin", "--overwrite"), 8);
    assert.deepEqual(mine(top), before);
    new Deno.Command("mount", { args: ["-o", "remount,ro", app] }).outputSync();
    for (
      const args of [["write", "old.txt", "--text", "n", "--overwrite"], ["new", "n"], ["mkdir", "m"], [
        "delete",
        "old.txt",
      ], [
        "exec",
        "old.txt",
        "--on",
      ]]
    ) {
      for (const dry of [["--dry-run"], []]) {
        const { code, out, err } = await fettle([...args, ...dry], { cwd: top });
        assert.deepEqual([code, err], [9, ""], `${args[0]}: ${out}`);
      }
    }
    assert.deepEqual(mine(top), before);
  }));

// An account that cannot read the sources cannot run them; the built program can be tried by anybody.
Deno.test(
  "the account may not: nothing changes",
  { ignore: !asRoot || !Deno.env.get("FETTLE_PROGRAM") },
  () =>
    inWorld({ "app/old.txt": "old" }, async (top) => {
      for (const path of [top, `${top}/app`]) Deno.chmodSync(path, 0o755);
      const before = mine(top);
      for (
        const args of [["write", "old.txt", "--text", "n", "--overwrite"], ["new", "n"], ["mkdir", "m"], [
          "delete",
          "old.txt",
        ]]
      ) {
        for (const dry of [["--dry-run"], []]) {
          const { code, out, err } = await fettle([...args, ...dry], {
            cwd: top,
            uid: 65534,
            env: { HOME: "/nonexistent" },
          });
          assert.deepEqual([code, err], [9, ""], args[0]);
          assert.match(out, /declines: this account may not change what is in the folder/);
        }
      }
      assert.deepEqual(mine(top), before);
    }),
);
