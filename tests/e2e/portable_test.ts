/** A built program, moved about. Runs when `FETTLE_PROGRAM` names one. */
import assert from "node:assert/strict";
import { makeFolder } from "../support/tree.ts";

const launcher = Deno.env.get("FETTLE_PROGRAM");
const ignore = !launcher || Deno.build.os === "windows";

async function run(command: string, args: string[], options: Deno.CommandOptions = {}) {
  const { code, stdout, stderr } = await new Deno.Command(command, { args, ...options }).output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

/** Copies the program's folder, and whatever else lies in it. */
function copyProgram(to: string) {
  const from = Deno.realPathSync(launcher!).replace(/\/[^/]*$/, "");
  assert.ok(new Deno.Command("cp", { args: ["-R", from, to] }).outputSync().success);
}

/** It is started by a shell, and not by the system itself. */
function isScript(): boolean {
  using file = Deno.openSync(launcher!);
  const start = new Uint8Array(2);
  file.readSync(start);
  return new TextDecoder().decode(start) === "#!";
}

Deno.test("moved under blanks and non-ASCII letters, linked from a folder on PATH, without HOME and configuration", {
  ignore,
}, async () => {
  const top = makeFolder({
    "work/a.txt": "inside NEEDLE\n",
    "a b – ünï 文/.keep": "",
    "bin/.keep": "",
    // What a runtime that looked about would take up from the folders above.
    "deno.json": '{ "imports": { "x": "./nowhere.ts" }, "broken": ',
    "package.json": "{ not json",
  });
  const home = `${top}/a b – ünï 文/fettle moved`;
  copyProgram(home);
  Deno.symlinkSync("../a b – ünï 文/link", `${top}/bin/fettle`);
  Deno.symlinkSync("fettle moved/fettle", `${top}/a b – ünï 文/link`);
  const options = { cwd: `${top}/work`, clearEnv: true, env: { PATH: `${top}/bin:/usr/bin:/bin` } };
  const ways: (readonly [string, readonly string[], Deno.CommandOptions])[] = [
    [`${home}/fettle`, [], options],
    [`${top}/bin/fettle`, [], options],
    ["/bin/sh", ["-c", 'exec fettle "$@"', "sh"], options],
    ["./fettle", ["--root", `${top}/work`], { ...options, cwd: home }],
    ...isScript() ? [["/bin/sh", ["fettle", "--root", `${top}/work`], { ...options, cwd: home }] as const] : [],
    [`${home}/fettle`, [], { ...options, env: { ...options.env, HOME: "" } }],
    [`${home}/fettle`, [], { ...options, env: { ...options.env, HOME: `${top}/nowhere` } }],
  ];
  for (const [command, first, where] of ways) {
    const { code, out, err } = await run(command, [...first, "search", "needle"], where);
    assert.deepEqual([code, err], [0, ""], `${command}: ${out}`);
    assert.match(out, /^a\.txt:1:8\n {4}1 \| inside NEEDLE\n1 hit in 1 file\n$/);
  }
  assert.equal((await run(`${home}/fettle`, ["read", "gone"], options)).code, 3);
  Deno.removeSync(top, { recursive: true });
});

const isolates = Deno.build.os === "linux" && Deno.uid() === 0 &&
  new Deno.Command("unshare", { args: ["-n", "true"] }).outputSync().success;

Deno.test("without a network", { ignore: ignore || !isolates }, async () => {
  const top = makeFolder({ "a.txt": "inside\n", "home/.keep": "" });
  const { code, out, err } = await run("unshare", ["-n", launcher!, "--root", top, "read", "a.txt"], {
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", HOME: `${top}/home` },
  });
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /1 \| inside/);
  Deno.removeSync(top, { recursive: true });
});

Deno.test(
  "where the program lies in a tree that may be changed nothing is changed, until its folder is declared read-only",
  {
    ignore,
  },
  async () => {
    const top = makeFolder({ "a.txt": "a\n", "tools/.keep": "" });
    copyProgram(`${top}/tools/fettle`);
    const write = ["write", "b.txt", "--text", "b"];
    const refused = await run(`${top}/tools/fettle/fettle`, write, { cwd: top });
    assert.equal(refused.code, 2);
    assert.match(refused.out, /own program lies in a tree where files may be changed/);
    Deno.writeTextFileSync(
      `${top}/.fettler.json`,
      `{"guardrails":{"trees":{"work":{"path":".","scopes":{"tools":{"can":["list","read"]}}}}}}`,
    );
    const written = await run(`${top}/tools/fettle/fettle`, write, { cwd: top });
    assert.deepEqual([written.code, written.err], [0, ""], written.out);
    assert.equal((await run(`${top}/tools/fettle/fettle`, ["delete", "tools/fettle/LICENSE"], { cwd: top })).code, 8);
    Deno.removeSync(top, { recursive: true });
  },
);

Deno.test("carriage returns, bytes that are no Unicode, and U+FFFD itself: what was typed, or a refusal", {
  // The stand-in for a compiled program has a launcher of its own, which marks nothing.
  ignore: ignore || !isScript() || !Deno.readTextFileSync(launcher!).includes("FETTLE_ARGUMENTS"),
}, async () => {
  const top = makeFolder({
    "a.txt": "item\r\nitems\r\n",
    "t": "keep",
    "y\ufffd.txt": "genuine",
    ".fettler.json": '{"guardrails":{"trees":{"work":{"path":"."}}}}',
  });
  // The shell makes the bytes: an argument of ours is a text.
  const typed = (script: string) =>
    run("/bin/sh", ["-c", `b=$(printf '\\377'); r=$(printf '\\r.'); r=\${r%.}; exec "$0" ${script}`, launcher!], {
      cwd: top,
    });
  assert.equal((await typed('write "t$r" --text "x$r$r"')).code, 0);
  assert.equal(Deno.readTextFileSync(`${top}/t`), "keep");
  assert.equal(Deno.readTextFileSync(`${top}/t\r`), "x\n\n");
  assert.match((await typed('replace "item$r" x --dry-run')).out, /0 occurrences/);
  assert.equal((await typed('write "" --text "$r"')).code, 2);

  const no = await typed('write "y$b.txt" --text no --overwrite --json');
  assert.deepEqual([no.code, JSON.parse(no.out).outcome], [2, "invalid"]);
  assert.equal((await typed('write new.txt --text "$b"')).code, 2);
  assert.equal(Deno.readTextFileSync(`${top}/y\ufffd.txt`), "genuine");
  assert.match((await run(launcher!, ["read", "y\ufffd.txt", "--json"], { cwd: top })).out, /genuine/);
  assert.deepEqual([...Deno.readDirSync(top)].length, 5);
  Deno.removeSync(top, { recursive: true });
});
