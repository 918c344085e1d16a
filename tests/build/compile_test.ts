/** The compiled programs as far as they can be made here: what is embedded, with which flags, and that it is all that is needed. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { pathToFileURL } from "node:url";
import { COMPILE_FLAGS, compileAll, type Manifest, targetOf, TARGETS } from "../../build/compile.ts";
import { pretence } from "../../build/standin.ts";
import { PERMISSION_FLAGS } from "../../build/flags.ts";
import { V8_FLAGS } from "../../src/dispatch/v8_flags.ts";
import { makeFolder } from "../support/tree.ts";

const here = targetOf(Deno.execPath());

/** A folder for builds, as an address. */
function makePlace(): URL {
  return pathToFileURL(`${makeFolder({})}/`);
}

async function inPlace(test: (place: URL) => Promise<void>) {
  const place = makePlace();
  await test(place);
  Deno.removeSync(place, { recursive: true });
}

Deno.test("the targets are named alike everywhere, and an executable tells which one it is for", () => {
  assert.deepEqual(Object.keys(TARGETS), ["linux-x64", "linux-arm64", "macos-x64", "macos-arm64", "windows-x64"]);
  const system = Deno.build.target.replace("-msvc", "").split("-");
  assert.ok(TARGETS[here].startsWith(system[0]));
  const header = (bytes: string, at: Readonly<Record<number, number[]>>) => {
    const all = new Uint8Array(256);
    all.set(new TextEncoder().encode(bytes));
    for (const [place, values] of Object.entries(at)) all.set(values, Number(place));
    return all;
  };
  const top = makeFolder({
    "linux-x64": header("\x7fELF", { 18: [62, 0] }),
    "linux-arm64": header("\x7fELF", { 18: [183, 0] }),
    "macos-x64": header("", { 0: [0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1] }),
    "macos-arm64": header("", { 0: [0xcf, 0xfa, 0xed, 0xfe, 12, 0, 0, 1] }),
    "windows-x64": header("MZ", { 0x3c: [128], 128: [0x50, 0x45, 0, 0, 0x64, 0x86] }),
    "text": "#!/bin/sh\n",
    "short": "x",
    "riscv": header("\x7fELF", { 18: [243, 0] }),
  });
  for (const target of Object.keys(TARGETS)) assert.equal(targetOf(`${top}/${target}`), target);
  for (const name of ["text", "short", "riscv"]) assert.throws(() => targetOf(`${top}/${name}`), /DENORT_BIN names no/);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("with a runtime at hand everything is embedded, and nothing is baked in but what should be", () =>
  inPlace(async (place) => {
    // This very runtime: what is made of it does not run, but carries what is embedded.
    const manifest = await compileAll(place, { targets: [here], denort: Deno.execPath() });
    assert.deepEqual(JSON.parse(Deno.readTextFileSync(new URL("compile.json", place))), manifest);
    const [{ target, file, bytes, missing }] = manifest.targets;
    assert.deepEqual([target, missing], [here, undefined]);
    assert.deepEqual(manifest.flags, COMPILE_FLAGS);
    const program = Buffer.from(Deno.readFileSync(new URL(file, place)).buffer).toString("latin1");
    assert.equal(program.length, bytes);
    for (const { file, bytes } of manifest.modules) {
      const module = Buffer.from(Deno.readFileSync(new URL(`modules/${file}`, place)).buffer).toString("latin1");
      assert.equal(module.length, bytes);
      assert.ok(program.includes(module), file);
    }

    const start = program.lastIndexOf('{"argv":');
    const baked = JSON.parse(program.slice(start, endOfObject(program, start)));
    const { permissions } = baked;
    const allowed = Object.keys(permissions).filter((key) => /^allow_/.test(key) && permissions[key]);
    const names = PERMISSION_FLAGS.filter((flag) => flag.startsWith("--allow-")).map((flag) => flag.slice(8));
    // Some hosts are allowed by themselves, and denied by name of none: all.
    assert.deepEqual(allowed.sort(), [...names, "import"].map((name) => `allow_${name}`).sort());
    assert.deepEqual([permissions.deny_import, permissions.prompt], [[], false]);
    for (const flag of V8_FLAGS.slice("--v8-flags=".length).split(",")) assert.ok(baked.v8_flags.includes(flag), flag);
    assert.deepEqual(baked.unstable_config.features, ["worker-options"]);
    assert.deepEqual([baked.entrypoint_key, baked.argv, baked.code_cache_key], ["main.js", [], null]);
    const { import_map, package_jsons, jsr_pkgs } = baked.workspace_resolver;
    assert.deepEqual([import_map, package_jsons, jsr_pkgs, baked.env_vars_from_env_file], [null, {}, [], {}]);
  }));

/** Where the JSON object that starts at a place ends. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  for (let at = start, quoted = false;; at++) {
    if (quoted && text[at] === "\\") at++;
    else if (text[at] === '"') quoted = !quoted;
    else if (!quoted && text[at] === "{") depth++;
    else if (!quoted && text[at] === "}" && --depth === 0) return at + 1;
  }
}

Deno.test("the embedded modules are all that the running program loads, in each of its modes", {
  ignore: Deno.build.os === "windows",
}, () =>
  inPlace(async (place) => {
    const manifest = await compileAll(place, { targets: [] });
    // Nothing but the listed modules, in a tree: workers read them there, where a compiled program has them in memory.
    const top = makeFolder({ "lib/.keep": "", "a.txt": "needle needle\n" });
    for (const { file } of manifest.modules) {
      Deno.copyFileSync(new URL(`modules/${file}`, place), `${top}/lib/${file}`);
    }
    Deno.writeTextFileSync(`${top}/lib/standin.js`, pretence({ inMemory: false }));
    const flags = ["--quiet", "--no-config", "--no-lock", "--no-remote", "--no-npm", "--cached-only"];
    const run = [...flags, ...PERMISSION_FLAGS, "--unstable-worker-options", V8_FLAGS].join(" ");
    const start = `#!/bin/sh\nexec "${Deno.execPath()}" run ${run} "${top}/lib/standin.js" "$@"\n`;
    Deno.writeTextFileSync(`${top}/fettle`, start);
    Deno.chmodSync(`${top}/fettle`, 0o755);
    const fettle = async (args: string[], input = "") => {
      const child = new Deno.Command(`${top}/fettle`, {
        // Read-only, since the program itself lies there.
        args: ["--no-config", ...args],
        cwd: top,
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      })
        .spawn();
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(input));
      await writer.close();
      const { code, stdout, stderr } = await child.output();
      assert.equal(new TextDecoder().decode(stderr), "", args.join(" "));
      return { code, out: new TextDecoder().decode(stdout) };
    };

    // The main process, the engine and its workers, the pattern parser, the sealed process, the server.
    assert.deepEqual(await fettle(["version"]), { code: 0, out: `fettle ${manifest.version}\n` });
    assert.equal((await fettle(["help", "search"])).code, 0);
    const { fences } = JSON.parse((await fettle(["roots", "--json"])).out);
    assert.match(fences.process_reason, /compiled program/);
    assert.match((await fettle(["read", "a.txt"])).out, /needle needle/);
    assert.match((await fettle(["find", "*.txt"])).out, /a\.txt/);
    assert.match((await fettle(["search", "n[e]+dle", "--glob", "*.txt"])).out, /1 hit in 1 file/);
    assert.match((await fettle(["search", "(ne)edle(?= n)", "--glob", "*.txt"])).out, /1 hit in 1 file/);
    const version = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } };
    const { out } = await fettle(
      ["serve"],
      [
        { jsonrpc: "2.0", id: 1, method: "initialize", params: version },
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "read", arguments: { paths: ["a.txt"] } } },
      ].map((message) => JSON.stringify(message) + "\n").join(""),
    );
    assert.match(out, /needle needle/);
    Deno.removeSync(top, { recursive: true });
  }));

Deno.test("a runtime that cannot be had is told, with everything else done; any other failure is one", () =>
  inPlace(async (place) => {
    const empty = makeFolder({ "text": "no program\n" });
    // No cached runtime, and no way to one. The cache is not empty of packages: the bundle is made with the other one.
    const env = { DENO_DIR: empty, HTTPS_PROXY: "http://127.0.0.1:9", HTTP_PROXY: "http://127.0.0.1:9" };
    const manifest: Manifest = await compileAll(place, {
      targets: ["linux-arm64", "windows-x64"],
      denort: undefined,
      env,
    });
    assert.deepEqual(manifest.targets.map(({ target, file, bytes }) => [target, file, bytes]), [
      ["linux-arm64", "linux-arm64/fettle", undefined],
      ["windows-x64", "windows-x64/fettle.exe", undefined],
    ]);
    for (const { missing } of manifest.targets) {
      assert.match(missing!, /^error sending request for url \(https:.*denort-/);
    }
    assert.ok(manifest.modules.some(({ file }) => file === "main.js"));
    assert.deepEqual([...Deno.readDirSync(place)].map((entry) => entry.name).sort(), ["compile.json", "modules"]);

    await assert.rejects(
      compileAll(place, { targets: [here], denort: `${empty}/text` }),
      /DENORT_BIN names no program/,
    );
    await assert.rejects(compileAll(place, { targets: [here], denort: `${empty}/gone` }), Deno.errors.NotFound);
    Deno.removeSync(empty, { recursive: true });
  }));
