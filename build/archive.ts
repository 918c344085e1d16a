/**
 * Packs what `deno task build` has made: `deno run --allow-all build/archive.ts [--tag vX.Y.Z]` writes into `dist/archives/` one
 * archive for each program that is there, and `SHA256SUMS`. With a tag, the version has to be the same one.
 *
 * The formats are written here, so that any system can pack for any other: `.tar.gz`, and `.zip` for Windows.
 */
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { VERSION } from "../src/version.ts";
import { removeOld, TOP } from "./bundle.ts";
import type { Manifest } from "./compile.ts";

/** A file of an archive. */
export interface Member {
  /** Path below the archive's top, with slashes. */
  name: string;
  bytes: Uint8Array;
  executable: boolean;
}

/** What is packed with every program. */
const BESIDE = ["LICENSE", "README.md", "CHANGELOG.md"];

/** Packs everything that is in a folder made by `build.ts`; names of the files made. @throws For a tag of another version. */
export async function archiveAll(dist: URL, tag?: string): Promise<string[]> {
  if (tag !== undefined && tag !== `v${VERSION}`) throw new Error(`the tag is ${tag}, and the version is ${VERSION}`);
  const archives = new URL("archives/", dist);
  await removeOld(archives);
  await Deno.mkdir(archives, { recursive: true });
  const beside = BESIDE.map((name) => member(name, new URL(name, TOP)));
  const sums: string[] = [];
  for (const [name, members] of await programs(dist)) {
    const top = `fettle-${VERSION}-${name}`;
    const all = [...members, ...beside].map((member) => ({ ...member, name: `${top}/${member.name}` }));
    const file = name.startsWith("windows-") ? `${top}.zip` : `${top}.tar.gz`;
    const bytes = file.endsWith(".zip") ? zip(all) : new Uint8Array(gzipSync(tar(all)));
    await Deno.writeFile(new URL(file, archives), bytes);
    sums.push(`${await sha256(bytes)}  ${file}\n`);
  }
  await Deno.writeTextFile(new URL("SHA256SUMS", archives), sums.join(""));
  return sums.map((line) => line.slice(66, -1));
}

/** The programs that are there, and the files of each. */
async function programs(dist: URL): Promise<[string, Member[]][]> {
  const { version, targets } = JSON.parse(await Deno.readTextFile(new URL("compile.json", dist))) as Manifest;
  if (version !== VERSION) throw new Error(`dist/ holds ${version}, and the version is ${VERSION}: build it first`);
  const compiled = targets.filter(({ missing }) => missing === undefined)
    .map(({ target, file }): [string, Member[]] => [target, [member(file.split("/")[1], new URL(file, dist), true)]]);
  const { os, arch } = Deno.build;
  const system = `${os === "darwin" ? "macos" : os}-${arch === "x86_64" ? "x64" : "arm64"}`;
  return [...compiled, [`${system}-portable`, portable(new URL("portable/", dist))]];
}

function portable(folder: URL, below = ""): Member[] {
  const entries = [...Deno.readDirSync(new URL(below, folder))].sort((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap(({ name, isDirectory }): Member[] => {
    const path = `${below}${name}`;
    if (isDirectory) return portable(folder, `${path}/`);
    return name === "LICENSE" ? [] : [member(path, new URL(path, folder), !/\.(js|cmd)$/.test(name))];
  });
}

function member(name: string, file: URL, executable = false): Member {
  return { name, bytes: Deno.readFileSync(file), executable };
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

const encoder = new TextEncoder();
const BLOCK = 512;

/** A POSIX tar archive: the same bytes for the same files, whoever packs them and when. Exported for its test. */
export function tar(members: readonly Member[]): Uint8Array<ArrayBuffer> {
  const parts = members.flatMap(({ name, bytes, executable }) => {
    const header = new Uint8Array(BLOCK);
    const put = (text: string, at: number) => header.set(encoder.encode(text), at);
    const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
    if (encoder.encode(name).length > 100) throw new Error(`too long a name for the archive: ${name}`);
    put(name, 0);
    put(executable ? "0000755" : "0000644", 100);
    put("0000000", 108);
    put("0000000", 116);
    put(octal(bytes.length, 11), 124);
    put(octal(EPOCH.unix, 11), 136);
    put("        0", 148);
    put("ustar\x0000", 257);
    put(`${octal(header.reduce((sum, byte) => sum + byte, 0), 6)}\0`, 148);
    return [header, bytes, new Uint8Array((BLOCK - bytes.length % BLOCK) % BLOCK)];
  });
  return join([...parts, new Uint8Array(2 * BLOCK)]);
}

/** 1980-01-01, the first day that both formats know. */
const EPOCH = { unix: 315532800, dos: 0x21 };

/** A zip archive, of files below 4 GiB. Exported for its test. */
export function zip(members: readonly Member[]): Uint8Array<ArrayBuffer> {
  const files: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const { name, bytes, executable } of members) {
    const path = encoder.encode(name);
    const packed = deflateRawSync(bytes);
    // Version 2.0, names in UTF-8, deflated; no extra field.
    const facts = [u16(20), u16(0x800), u16(8), u16(0), u16(EPOCH.dos), u32(crc32(bytes))];
    const sizes = [u32(packed.length), u32(bytes.length), u16(path.length), u16(0)];
    const file = join([u32(0x04034b50), ...facts, ...sizes, path, packed]);
    // Made on a Unix, whose modes the high half of the attributes holds.
    const mode = u32((executable ? 0o100755 : 0o100644) * 0x10000);
    directory.push(
      join([u32(0x02014b50), u16(0x314), ...facts, ...sizes, u16(0), u16(0), u16(0), mode, u32(at), path]),
    );
    files.push(file);
    at += file.length;
  }
  const index = join(directory);
  const count = u16(members.length);
  return join([...files, index, u32(0x06054b50), u16(0), u16(0), count, count, u32(index.length), u32(at), u16(0)]);
}

function u16(value: number): Uint8Array {
  return new Uint8Array([value, value >> 8]);
}

function u32(value: number): Uint8Array {
  return new Uint8Array([value, value >>> 8, value >>> 16, value >>> 24]);
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

if (import.meta.main) {
  const [flag, tag] = Deno.args;
  if (Deno.args.length > 0 && (flag !== "--tag" || !tag)) throw new Error("usage: archive.ts [--tag vX.Y.Z]");
  for (const file of await archiveAll(new URL("dist/", TOP), tag)) console.log(`dist/archives/${file}`);
}
