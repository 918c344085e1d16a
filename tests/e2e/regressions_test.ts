/** What sceptical testers found, each with its kind. */
import assert from "node:assert/strict";
import { fettle, isCompiled } from "../support/program.ts";
import { makeFolder, put } from "../support/tree.ts";

const guardrails = (trees: unknown) => JSON.stringify({ guardrails: { trees } });
const asRoot = Deno.build.os === "linux" && Deno.uid() === 0;
// deno-lint-ignore no-explicit-any
const pathsOf = (json: any): string[] => json.files.map((file: { path: string }) => file.path);

Deno.test("where a declared tree reaches over a found folder, the declaration decides", async () => {
  const top = makeFolder({ "proj/a.txt": "x", "home/.keep": "" });
  const key = `${top}/proj`.replace(/[^A-Za-z0-9]/g, "-");
  put(top, { [`home/.claude/projects/${key}/memory/m.md`]: "memory\n" });
  Deno.chmodSync(`${top}/home/.claude`, 0o700);
  const env = {
    HOME: `${top}/home`,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    CLAUDE_CONFIG_DIR: `${top}/home/.claude`,
  };
  const memory = ["read", "memory:m.md"];
  const through = ["read", `home:.claude/projects/${key}/memory/m.md`];
  const run = async (home: unknown, args: string[]) => {
    Deno.writeTextFileSync(
      `${top}/proj/.fettler.json`,
      guardrails({ work: { path: "." }, ...home as Record<string, unknown> }),
    );
    return (await fettle(args, { cwd: `${top}/proj`, env })).code;
  };
  assert.equal(await run({}, memory), 0);
  for (const scopes of [{ ".claude": { can: [] } }, { [`.claude/projects/${key}/memory`]: { can: [] } }]) {
    const home = { home: { path: "../home", can: ["list", "read"], scopes } };
    assert.notEqual(await run(home, memory), 0);
    assert.equal(await run(home, through), 4);
  }
  assert.equal(
    await run({ shut: { path: "../home/.claude", can: [] } }, [
      "read",
      `${top}/home/.claude/projects/${key}/memory/m.md`,
    ]),
    4,
  );
  assert.equal(await run({ home: { path: "../home", can: ["list"] } }, memory), 8);
  assert.equal(await run({ home: { path: "../home", can: ["list"] } }, through), 8);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("commas in the paths of trees and scopes", async () => {
  const top = makeFolder({ "a,b/f": "inside\n", "a,b/h,1/x": "hidden\n", "a,b/shut/o,p/y": "open\n" });
  const cwd = `${top}/a,b`;
  assert.match((await fettle(["read", "f"], { cwd })).out, /inside/);
  assert.match((await fettle(["--root", cwd, "read", "f"])).out, /inside/);
  put(cwd, {
    ".fettler.json": guardrails({
      work: { path: ".", scopes: { "h,1": { can: [] }, "shut": { can: [] }, "shut/o,p": { can: ["list", "read"] } } },
    }),
  });
  assert.equal((await fettle(["read", "h,1/x"], { cwd })).code, 4);
  assert.match((await fettle(["read", "shut/o,p/y"], { cwd })).out, /open/);
  assert.deepEqual(pathsOf((await fettle(["find", "--json"], { cwd })).json), [".fettler.json", "f", "shut/o,p/y"]);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("thousands of scopes, and paths of tens of thousands of segments", async () => {
  const scopes = Object.fromEntries(
    Array.from({ length: 5000 }, (_, i) => [`${"a rather long folder name ".repeat(2)}${i}/hidden`, { can: [] }]),
  );
  const top = makeFolder({ ".fettler.json": guardrails({ work: { path: ".", scopes } }), "a/b.txt": "x\n" });
  assert.deepEqual((await fettle(["find", "a/*", "--json"], { cwd: top })).json.count, 1);
  for (const path of ["a/".repeat(30_000), "a\\".repeat(30_000), "b/../".repeat(12_000) + "a/b.txt"]) {
    assert.equal((await fettle(["read", path], { cwd: top })).code, path.endsWith("txt") ? 0 : 3);
  }
  assert.equal((await fettle(["find", "a/".repeat(30_000)], { cwd: top })).code, 0);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("folders and files that the account may not open, the tree's own top among them", {
  ignore: !asRoot || !Deno.env.get("FETTLE_PROGRAM"),
}, async () => {
  const top = makeFolder({ "shut/f.txt": "x\n", "c.json": "" });
  Deno.chmodSync(top, 0o755);
  Deno.writeTextFileSync(`${top}/c.json`, guardrails({ shut: { path: "shut" } }));
  Deno.chmodSync(`${top}/shut`, 0o700);
  for (const args of [["find"], ["read", "f.txt"], ["search", "x"]]) {
    const { code, err } = await fettle(["--config", `${top}/c.json`, ...args], {
      uid: 65534,
      cwd: "/",
      env: { HOME: "/nonexistent" },
    });
    assert.deepEqual([code, err], [9, ""], args.join(" "));
  }
  Deno.removeSync(top, { recursive: true });
});

Deno.test(
  "a hidden folder under another name by a mount: in no list, and refused alike",
  { ignore: !asRoot },
  async () => {
    const top = makeFolder({
      "hid/s.txt": "secret\n",
      "alias/.keep": "",
      "a.txt": "secret no more\n",
      "second/.keep": "",
    });
    const mount = (...args: string[]) => new Deno.Command("mount", { args }).outputSync().success;
    if (!mount("--bind", `${top}/hid`, `${top}/alias`)) return;
    try {
      put(top, { ".fettler.json": guardrails({ work: { path: ".", scopes: { hid: { can: [] } } } }) });
      assert.deepEqual(pathsOf((await fettle(["find", "--type", "any", "--json"], { cwd: top })).json), [
        ".fettler.json",
        "a.txt",
        "second",
        "second/.keep",
      ]);
      for (const path of ["alias", "alias/s.txt", "hid/s.txt"]) {
        assert.equal(
          (await fettle(["read", path], { cwd: top })).code,
          4,
          path,
        );
      }
      assert.equal((await fettle(["search", "secret", "--json"], { cwd: top })).json.hits_count, 1);
      // A tree over the other name: what is hidden by its path stays hidden there, for walks as for reading.
      put(top, {
        ".fettler.json": guardrails({
          work: { path: ".", scopes: { hid: { can: [] } } },
          ali: { path: "alias", can: ["list", "read"] },
        }),
      });
      assert.equal((await fettle(["read", "work:hid/s.txt"], { cwd: top })).code, 4);
      assert.ok(!pathsOf((await fettle(["find", "--json"], { cwd: top })).json).includes("work:hid/s.txt"));
      assert.equal((await fettle(["read", "ali:s.txt"], { cwd: top })).code, 0);
    } finally {
      // The engine that answered may not have gone yet.
      new Deno.Command("umount", { args: ["-l", `${top}/alias`] }).outputSync();
      Deno.removeSync(top, { recursive: true });
    }
  },
);

Deno.test("links whose text climbs back through a name tell no target; links to names that are not Unicode are refused", async () => {
  const top = makeFolder({
    "pub/in/x": "",
    "pub/p.txt": "p\n",
    "hid/.keep": "",
    ".fettler.json": guardrails({ work: { path: ".", scopes: { hid: { can: [] } } } }),
  });
  put(top, {
    "l_in": { link: "pub/in" },
    "l_back": { link: "l_in/../p.txt" },
    "l_hid": { link: "hid/../pub/p.txt" },
    "loop": { link: "loop" },
  });
  const bytes = new Deno.Command("bash", { args: ["-c", `ln -s $'pub/\\xff' "$0/l_bytes"`, top] }).outputSync();
  assert.ok(bytes.success);
  const { json } = await fettle(["find", "l_*", "--depth", "1", "--json"], { cwd: top });
  const targets = json.files.map((file: { path: string; link_target?: string }) => [file.path, file.link_target]);
  assert.deepEqual(targets, [["l_back", undefined], ["l_bytes", undefined], ["l_hid", undefined], ["l_in", "pub/in"]]);
  assert.equal((await fettle(["read", "l_hid"], { cwd: top })).code, 4);
  assert.equal((await fettle(["read", "l_back"], { cwd: top })).code, 8);
  assert.equal((await fettle(["read", "l_bytes"], { cwd: top })).code, 8);
  assert.equal((await fettle(["find", "loop/*"], { cwd: top })).code, 8);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("the server's own refusals are told on standard error", async () => {
  for (const args of [["serve", "extra"], ["--zz", "serve"], ["--json", "serve"], ["serve", "--limit", "3"]]) {
    const { code, out, err } = await fettle(args, { stdin: "" });
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, /^refused: |^\{/);
  }
});

Deno.test("a launch folder that is gone, or has no Unicode name", {
  ignore: Deno.build.os !== "linux" || !Deno.env.get("FETTLE_PROGRAM"),
}, async () => {
  const top = makeFolder({});
  const program = Deno.realPathSync(Deno.env.get("FETTLE_PROGRAM")!);
  const sh = async (script: string) => {
    const { code, stdout, stderr } = await new Deno.Command("bash", { args: ["-c", script, program, top] }).output();
    return [code, new TextDecoder().decode(stdout), new TextDecoder().decode(stderr)] as const;
  };
  const [gone, out, err] = await sh(`mkdir "$1/g" && cd "$1/g" && rmdir "$1/g" && "$0" find 2> >(cat >&2)`);
  // The runtime of a compiled program may end before our first line: then it says nothing that could be taken for an answer.
  if (await isCompiled() && gone !== 3) assert.deepEqual([gone !== 0, out], [true, ""]);
  else {
    assert.deepEqual([gone, out], [3, "refused: the folder that Fettler was started in is gone\n"]);
    assert.doesNotMatch(err, /backtrace/i);
  }
  const [odd, said] = await sh(`mkdir "$1"/$'n\\xff' && cd "$1"/$'n\\xff' && "$0" find --json`);
  assert.equal(odd, 2);
  assert.equal(JSON.parse(said).outcome, "invalid");
  assert.equal((await sh(`cd "$1"/$'n\\xff' && "$0" version`))[0], 0);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("patterns too large for any engine are refused, exact text of any length is found", async () => {
  const top = makeFolder({
    "a.txt": "x".repeat(40_000) + "\n",
    "patterns": Array.from({ length: 40_000 }, (_, i) => `(pat${i})`).join("|"),
  });
  for (const pattern of ["x".repeat(32_767), "x".repeat(100_000), "(x)".repeat(20_000)]) {
    for (const more of [[], ["--literal"]]) {
      assert.equal((await fettle(["search", pattern, ...more], { cwd: top })).code, 2);
    }
  }
  assert.equal(
    (await fettle(["search", "x".repeat(40_000), "--literal", "--case-sensitive", "--json"], { cwd: top })).json
      .hits_count,
    1,
  );
  assert.equal((await fettle(["search", "--pattern-file", "patterns"], { cwd: top })).code, 2);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("context keeps to the 40,000 characters too, and what is cut is marked", async () => {
  const top = makeFolder({
    "long.txt": "a".repeat(90_000) + "\nHIT\n",
    "around.txt": "HIT\n" + ("w".repeat(99) + "\n").repeat(100_000),
  });
  const { json } = await fettle(["search", "HIT", "--context", "1", "--glob", "long.txt", "--json"], { cwd: top });
  assert.deepEqual(json.hits[0].context.map((row: { text: string; cut?: true }) => [row.text.length, row.cut]), [[
    4000,
    true,
  ], [3, undefined]]);
  const text = await fettle(["search", "HIT", "--context", "1", "--glob", "long.txt"], { cwd: top });
  assert.match(text.out, /\n\.\.\. line 1 is longer than what is shown; read it with --from 1 --to 1\n/);
  const wide =
    (await fettle(["search", "HIT", "--context", "1000000", "--glob", "around.txt", "--json"], { cwd: top })).json;
  const characters = wide.hits[0].context.reduce((sum: number, row: { text: string }) => sum + row.text.length, 0);
  assert.ok(characters > 39_000 && characters <= 40_000, `${characters}`);
  assert.deepEqual([wide.truncated, wide.budgeted], [true, true]);
  const budget = await fettle(["search", "w", "--limit", "0", "--glob", "around.txt"], { cwd: top });
  assert.match(budget.out, /stopped at 40,000 characters/);
  assert.doesNotMatch(budget.out, /limit reached/);
  // Pieces of a large file: each hit's context runs over into the next piece.
  const piece = 8 * 1024 * 1024;
  const file = Deno.openSync(`${top}/pieces.txt`, { create: true, write: true });
  const lines = new TextEncoder().encode(("w".repeat(3999) + "\n").repeat(3));
  for (let k = 1; k <= 10; k++) {
    file.seekSync(k * piece - 4, Deno.SeekMode.Start);
    file.writeSync(new TextEncoder().encode("\nHIT\n"));
    file.writeSync(lines);
  }
  file.seekSync(0, Deno.SeekMode.Start);
  file.writeSync(new TextEncoder().encode(("\n").repeat(9000)));
  file.close();
  const far =
    (await fettle(["search", "HIT", "--context", "3", "--limit", "0", "--glob", "pieces.txt", "--json"], { cwd: top }))
      .json;
  const served = far.hits.flatMap((hit: { context: { text: string }[] }) => hit.context).reduce(
    (sum: number, row: { text: string }) => sum + row.text.length,
    0,
  );
  assert.ok(served <= 40_000, `${served}`);
  assert.equal(far.truncated, true);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("globs ignore case and normal form, with wildcards and without", async () => {
  const top = makeFolder({
    "Readme.md": "hit\n",
    "Src/Main.ts": "",
    "cafe\u0301.txt": "",
    "hid/X.txt": "",
    ".fettler.json": guardrails({ work: { path: ".", scopes: { hid: { can: [] } } } }),
  });
  const find = async (...args: string[]) => pathsOf((await fettle(["find", "--json", ...args], { cwd: top })).json);
  for (const glob of ["readme.md", "readme.m?", "README.MD", "*.MD"]) {
    assert.deepEqual(await find(glob), ["Readme.md"], glob);
  }
  for (const glob of ["src/main.ts", "Src/main.ts", "src/*", "src", "SRC/**"]) {
    assert.deepEqual(await find(glob), ["Src/Main.ts"], glob);
  }
  for (const glob of ["caf\u00e9.txt", "caf\u00e9.tx?"]) assert.deepEqual(await find(glob), ["cafe\u0301.txt"], glob);
  assert.equal((await fettle(["search", "hit", "--glob", "readme.md", "--json"], { cwd: top })).json.hits_count, 1);
  assert.deepEqual(await find("HID/x.txt"), []);
  assert.equal((await fettle(["find", "hid/x.txt"], { cwd: top })).code, 4);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("what was not opened is not said to be no text", async () => {
  const top = makeFolder({
    "noread/a.txt": "needle\n",
    ".fettler.json": guardrails({ work: { path: ".", scopes: { noread: { can: ["list"] } } } }),
  });
  const { out } = await fettle(["search", "needle", "--glob", "noread/*"], { cwd: top });
  assert.match(out, /1 file unreadable\n$/);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("messages are ours, not the runtime's", async () => {
  const top = makeFolder({ "u32": new Uint8Array([0x61, 0, 0, 0]) });
  for (const root of ["/proc", "/sys", "/dev"]) {
    const { code, out } = await fettle(["--root", root, "find"], { cwd: top });
    assert.ok(code === 0 || code === 9, `${root}: ${code} ${out}`);
    assert.doesNotMatch(out, /--allow|NotCapable|Deno/);
  }
  for (const file of ["/dev/fd/0", "", top]) {
    const { code, out } = await fettle(["search", `--pattern-file=${file}`], { cwd: top, stdin: "x" });
    assert.equal(code, 3);
    assert.doesNotMatch(out, /NotCapable|IsADirectory|Error/);
  }
  assert.match(
    (await fettle(["read", "u32", "--encoding", "utf-32le-bom"], { cwd: top })).out,
    /does not begin with the byte-order mark/,
  );
  Deno.symlinkSync(".fettler.json", `${top}/.fettler.json`);
  assert.equal((await fettle(["find"], { cwd: top })).code, 2);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("more paths in one call than descriptors", { ignore: Deno.build.os !== "linux" }, async () => {
  const top = makeFolder({ "a.txt": "x\n" });
  const { json, code } = await fettle(["read", ...Array.from({ length: 3000 }, () => "a.txt"), "--json"], { cwd: top });
  assert.deepEqual([code, json.count], [0, 3000]);
  Deno.removeSync(top, { recursive: true });
});
