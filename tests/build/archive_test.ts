/** Archives, taken apart by what the system has for it. */
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { archiveAll, tar, zip } from "../../build/archive.ts";
import { VERSION } from "../../src/version.ts";
import { makeFolder } from "../support/tree.ts";

const MEMBERS = [
  { name: "top/fettle", bytes: new Uint8Array(70_000).map((_, i) => i * i), executable: true },
  { name: "top/LICENSE", bytes: new TextEncoder().encode("free\n"), executable: false },
  { name: "top/empty – ünï.txt", bytes: new Uint8Array(), executable: false },
  { name: "top/lib/block.js", bytes: new Uint8Array(512).fill(0x20), executable: false },
];

function has(...words: string[]): boolean {
  try {
    return new Deno.Command(words[0], { args: words.slice(1), stdout: "null", stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

const FORMATS = [
  { name: "tar", pack: tar, unpack: ["tar", "-xf"], ignore: !has("tar", "--version") },
  { name: "zip", pack: zip, unpack: ["unzip", "-q"], ignore: !has("unzip", "-v") },
];

for (const { name, pack, unpack, ignore } of FORMATS) {
  Deno.test(`${name}: what goes in comes out, with its mode`, { ignore }, () => {
    const top = makeFolder({ "archive": pack(MEMBERS), "out/.keep": "" });
    const [command, ...args] = unpack;
    const { success, stderr } = new Deno.Command(command, { args: [...args, "../archive"], cwd: `${top}/out` })
      .outputSync();
    assert.deepEqual([success, new TextDecoder().decode(stderr)], [true, ""]);
    for (const { name, bytes, executable } of MEMBERS) {
      assert.deepEqual(Deno.readFileSync(`${top}/out/${name}`), bytes, name);
      if (Deno.build.os === "windows") continue;
      assert.equal((Deno.statSync(`${top}/out/${name}`).mode! & 0o111) !== 0, executable, name);
    }
    assert.deepEqual(pack(MEMBERS), pack(MEMBERS));
    Deno.removeSync(top, { recursive: true });
  });
}

Deno.test("every program that is there is packed and summed; a tag of another version is refused", async () => {
  const targets = [
    { target: "linux-arm64", file: "linux-arm64/fettle", bytes: 3 },
    { target: "windows-x64", file: "windows-x64/fettle.exe", bytes: 3 },
    { target: "macos-x64", file: "macos-x64/fettle", missing: "no runtime" },
  ];
  const top = makeFolder({
    "compile.json": JSON.stringify({ version: VERSION, targets }),
    "linux-arm64/fettle": "elf",
    "windows-x64/fettle.exe": "exe",
    "portable/fettle": "#!/bin/sh\n",
    "portable/LICENSE": "free\n",
    "portable/lib/front.js": "1;\n",
  });
  const dist = pathToFileURL(`${top}/`);
  await assert.rejects(archiveAll(dist, `v${VERSION}.1`), /the tag is .*, and the version is/);
  const files = await archiveAll(dist, `v${VERSION}`);
  assert.deepEqual(files.slice(0, 2), [`fettle-${VERSION}-linux-arm64.tar.gz`, `fettle-${VERSION}-windows-x64.zip`]);
  assert.match(files[2], /^fettle-[0-9.]+-[a-z]+-(x64|arm64)-portable\.tar\.gz$/);
  assert.equal(files.length, 3);
  const sums = Deno.readTextFileSync(`${top}/archives/SHA256SUMS`).split("\n");
  for (const [i, file] of files.entries()) {
    const bytes = Deno.readFileSync(`${top}/archives/${file}`);
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    assert.equal(sums[i], `${sum}  ${file}`);
  }
  Deno.writeTextFileSync(`${top}/compile.json`, JSON.stringify({ version: "0.0.0", targets }));
  await assert.rejects(archiveAll(dist), /build it first/);
  Deno.removeSync(top, { recursive: true });
});
