/**
 * The folders that are measured on. Each is made from its parameters alone, the same bytes on every machine, and kept for the next run.
 *
 * A folder `NAME/` holds `stamp.json` (what it was made by) and `tree/`. It is made as `NAME.new/` and renamed when complete, so a
 * stamp vouches for the whole. A folder that has no stamp is not ours and is never removed.
 */
import { Random } from "./random.ts";

/** To be raised with every change of what is made. */
const GENERATOR = 1;

/** Source files in nested folders, and generated folders beside them. */
export interface SourceSize {
  files: number;
  /** Bytes of a file in the mean, without its last line and needles. */
  mean: number;
  /** Files below `node_modules`; a tenth as many objects below `.git`. */
  modules: number;
  /** Bundles of one line of 1 MB. */
  bundles: number;
}

/** Small and empty files in nested folders: files and folders together. */
export interface EntriesSize {
  entries: number;
}

/** Logs of about these many bytes. */
export interface LogSize {
  big: number;
  small: number;
}

/** What is measured unless a test says otherwise. */
export const FULL = {
  source: { files: 20_000, mean: 10_500, modules: 4_000, bundles: 10 } satisfies SourceSize,
  entries: { entries: 100_000 } satisfies EntriesSize,
  logs: { big: 1_000_000_000, small: 1_000_000 } satisfies LogSize,
  project: {},
};

/** Which folders there are. */
export type TreeName = keyof typeof FULL;

/** The folders of one place, each made when it is first asked for. */
export class Trees {
  /** What the folders asked for so far were made by. */
  readonly stamps: Record<string, unknown> = {};
  readonly #top: string;

  constructor(top: string) {
    Deno.mkdirSync(top, { recursive: true });
    this.#top = Deno.realPathSync(top);
  }

  /** The path of a folder, which is made if there is none or one of another stamp. */
  at(name: TreeName): string {
    const { folder, stamp } = keep(this.#top, name, FULL[name]);
    this.stamps[name] = stamp;
    return folder;
  }
}

/** Finds or makes one folder. */
export function keep<N extends TreeName>(
  top: string,
  name: N,
  size: (typeof FULL)[N],
): { folder: string; made: boolean; stamp: unknown } {
  const home = `${top}/${name}`;
  const stamp = { generator: GENERATOR, name, size };
  const old = readStamp(home);
  if (old === JSON.stringify(stamp)) return { folder: `${home}/tree`, made: false, stamp };
  if (old !== undefined) Deno.removeSync(home, { recursive: true });
  const fresh = `${home}.new`;
  if (exists(fresh)) Deno.removeSync(fresh, { recursive: true });
  MAKERS[name](new Writer(`${fresh}/tree`), size as never);
  Deno.writeTextFileSync(`${fresh}/stamp.json`, JSON.stringify(stamp));
  Deno.renameSync(fresh, home);
  return { folder: `${home}/tree`, made: true, stamp };
}

function readStamp(home: string): string | undefined {
  if (!exists(home)) return undefined;
  try {
    return Deno.readTextFileSync(`${home}/stamp.json`);
  } catch (cause) {
    throw new Error(`${home} was not made by this program; name another folder in FETTLE_BENCH_DIR`, { cause });
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const MAKERS: { [N in TreeName]: (into: Writer, size: (typeof FULL)[N]) => void } = {
  source: makeSource,
  entries: makeEntries,
  logs: makeLogs,
  project: makeProject,
};

/** Writes files below a folder and makes the folders on the way. */
class Writer {
  readonly #top: string;
  readonly #made = new Set<string>();

  constructor(top: string) {
    this.#top = top;
    this.folder("");
  }

  folder(path: string): void {
    if (this.#made.has(path)) return;
    Deno.mkdirSync(`${this.#top}/${path}`, { recursive: true });
    this.#made.add(path);
  }

  file(path: string, content: string | Uint8Array): void {
    const full = this.#place(path);
    if (typeof content === "string") Deno.writeTextFileSync(full, content);
    else Deno.writeFileSync(full, content);
  }

  /** Writes a file that is too large to be held. */
  parts(path: string, parts: Iterable<string>): void {
    using file = Deno.createSync(this.#place(path));
    for (const part of parts) writeAll(file, new TextEncoder().encode(part));
  }

  #place(path: string): string {
    this.folder(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    return `${this.#top}/${path}`;
  }
}

function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
}

const WORDS =
  ("access actor amount anchor answer archive asset award badge balance basket batch beacon border bottle branch bridge " +
    "bucket bundle button cable canvas carrier castle center chapter circle client clock cloud cluster column corner counter " +
    "courier cover credit cursor cycle degree device dial digit domain draft drawer driver editor effect engine entry estate " +
    "export fabric factor fleet folder forest frame garden gateway glass grain grid harbor header height hinge index inlet " +
    "island jacket journal kernel ladder lantern layer ledger lever limit linen locker magnet margin market meadow member " +
    "meter mirror module motor needle notice number object office orbit order outlet packet panel parcel patch pattern " +
    "pencil pillar pocket portal prism profile quarry quota radar ratio record region relay ribbon rocket router sample " +
    "screen section sensor shadow shelf signal socket spiral sponge spring stable station statue stream summit switch " +
    "table target temple thread ticket timber token tower track tunnel turbine valley vault vector vessel village wagon " +
    "window winter zone").split(" ");

const capital = (word: string) => word[0].toUpperCase() + word.slice(1);

/** Nested folder names, none deeper than seven below the first. */
function folders(random: Random, first: string, count: number): string[] {
  const all = [first];
  while (all.length < count) {
    const above = random.pick(all);
    if (above.split("/").length < 8) all.push(`${above}/${random.pick(WORDS)}${all.length}`);
  }
  return all;
}

const EXTENSIONS = [
  "ts",
  "ts",
  "ts",
  "ts",
  "js",
  "js",
  "py",
  "go",
  "rs",
  "c",
  "java",
  "css",
  "md",
  "txt",
  "json",
  "yaml",
];

/** Lines of a kind of file, without any of the needles. A few have letters outside ASCII. */
function lines(extension: string): string[] {
  const random = new Random(`lines ${extension}`);
  const word = () => random.pick(WORDS);
  const name = () => `${word()}${capital(word())}`;
  const prose = () => Array.from({ length: 5 + random.below(9) }, word).join(" ");
  const line = (): string => {
    const n = random.below(10_000);
    switch (extension) {
      case "md":
      case "txt":
        return random.pick([
          `${capital(prose())}.`,
          `- ${prose()} (${n})`,
          "",
          `${prose()} – „${word()}“ für ${word()}`,
        ]);
      case "json":
      case "yaml":
        return `  "${word()}_${word()}": { "${word()}": ${n}, "${word()}": "${prose()}" },`;
      case "css":
        return random.pick([`.${word()}-${word()} {`, `  ${word()}-${word()}: ${n % 90}px;`, "}"]);
      case "py":
        return random.pick([
          `def ${word()}_${word()}(${word()}, ${word()}=${n}):`,
          `    ${word()}_${word()} = self.${word()}.${word()}("${prose()}", ${n})`,
          `    # ${prose()}`,
          "",
        ]);
      default:
        return " ".repeat(2 * random.below(4)) + random.pick([
          `const ${name()} = ${word()}.${name()}(${n}, "${word()}-${n % 100}");`,
          `if (${word()}.${word()} !== ${n} && ${name()}(${word()}_${word()})) {`,
          `// ${prose()}`,
          `return ${name()}(${word()}, [${n}, ${n % 97}]).${word()};`,
          "}",
          "",
        ]);
    }
  };
  return Array.from({ length: 3_000 }, () => random.below(400) === 0 ? `// naïve ${prose()} 文字 ${word()}` : line());
}

/** What is to be found in the file of this number, beside its ordinary lines. */
function needles(random: Random, i: number): string[] {
  const found: string[] = [];
  if (i % 40 === 11) found.push(`// NEEDLE_ALPHA_${i} ${random.pick(WORDS)}`);
  if (i % 200 === 57) found.push(`// in small letters: needle_alpha_${i}`);
  if (i % 5_000 === 2_345) found.push(`const rareNeedleOmega = ${i};`);
  if (i % 50 === 31) found.push(`  ${random.pick(WORDS)}_probe(${random.pick(WORDS)}, ${random.below(100)});`);
  if (i % 25 === 4) {
    found.push(`// since 20${10 + i % 15}-0${1 + i % 9}-${10 + i % 18}T08:00:00Z, ${random.pick(WORDS)}`);
  }
  if (i % 5 === 2) {
    for (let n = i % 3; n >= 0; n--) {
      found.push(`  ${random.pick(WORDS)}_init(${random.pick(WORDS)}, ${random.below(100)});`);
    }
  }
  return found;
}

function makeSource(into: Writer, { files, mean, modules, bundles }: SourceSize): void {
  const random = new Random("source");
  const pools = new Map(EXTENSIONS.map((extension) => [extension, lines(extension)]));
  const places = folders(random, "src", Math.ceil(files / 16));
  // Sizes from 0.5 to 40 KB, most of them small. The power sets the mean; multiples of the golden ratio are spread evenly, so it is met.
  const [least, most] = [512, 40_960];
  const power = (most - least) / (mean - least) - 1;
  for (let i = 0; i < files; i++) {
    const extension = random.pick(EXTENSIONS);
    const pool = pools.get(extension)!;
    const size = least + (most - least) * (i * 0.6180339887 % 1) ** power;
    const text: string[] = [];
    for (let length = 0; length < size; length += text.at(-1)!.length + 1) text.push(random.pick(pool));
    for (const line of needles(random, i)) text.splice(random.below(text.length + 1), 0, line);
    into.file(`${random.pick(places)}/${random.pick(WORDS)}-${i}.${extension}`, text.join("\n") + "\n");
  }
  makeGenerated(into, modules, bundles);
}

/** Folders that searches pass over unless told otherwise: packages, objects of a repository, bundles of one line. */
function makeGenerated(into: Writer, modules: number, bundles: number): void {
  const random = new Random("generated");
  const pool = lines("js");
  for (let i = 0; i < modules; i++) {
    const text = Array.from({ length: 20 + random.below(180) }, () => random.pick(pool));
    if (i % 20 === 3) text.push(`// NEEDLE_ALPHA_module_${i}`);
    const parent = i % 9 === 0 ? `package${i % 200}/node_modules/nested` : `package${i % 200}`;
    into.file(`node_modules/${parent}/lib/${random.pick(WORDS)}${i}.js`, text.join("\n") + "\n");
  }
  for (let i = 0; i < bundles; i++) {
    const calls: string[] = i === 0 ? ["NEEDLE_ALPHA_bundle()"] : [];
    for (let length = 0; length < 1e6; length += calls.at(-1)!.length + 1) {
      calls.push(`${random.pick(WORDS)}(${random.below(10_000)})`);
    }
    into.file(`artifacts/bundle-${i}.min.js`, calls.join(";"));
  }
  for (let i = 0; i < modules / 10; i++) {
    const bytes = Uint8Array.from({ length: 500 + random.below(2_500) }, () => random.below(256));
    bytes[0] = 0;
    into.file(`.git/objects/${(i % 256).toString(16).padStart(2, "0")}/${i}`, bytes);
  }
}

function makeEntries(into: Writer, { entries }: EntriesSize): void {
  const random = new Random("entries");
  const places = folders(random, "top", Math.ceil(entries / 50));
  for (const place of places) into.folder(place);
  for (let i = 0; i < entries - places.length; i++) {
    const extension = i % 300 === 17 ? "spec.ts" : random.pick(EXTENSIONS);
    into.file(`${random.pick(places)}/${random.pick(WORDS)}_${i}.${extension}`, "x".repeat(i % 3 === 0 ? 0 : i % 601));
  }
}

function makeLogs(into: Writer, { big, small }: LogSize): void {
  into.parts("big/app.log", logOf(big));
  into.parts("small/app.log", logOf(small));
}

/** A log in parts of about 1 MB. Each part's first line is its own, every 64th part has a needle, and the end is known. */
function* logOf(bytes: number): Iterable<string> {
  const random = new Random("log");
  const entry = (i: number) =>
    `2026-0${1 + i % 9}-1${i % 10}T0${i % 9}:00:00.${100 + i % 900}Z ${
      random.pick(["INFO", "INFO", "INFO", "WARN"])
    } ` +
    `[${random.pick(WORDS)}-${i % 32}] ${random.pick(WORDS)} ${random.pick(WORDS)} took ${random.below(5_000)} ms\n`;
  const ordinary: string[] = [];
  for (let length = 0; length < 1e6; length += ordinary.at(-1)!.length) ordinary.push(entry(ordinary.length));
  const body = ordinary.join("");
  for (let part = 0; part * 1e6 < bytes; part++) {
    yield `part ${part}${part % 64 === 5 ? ` NEEDLE_ALPHA_${part}` : ""}\n`;
    yield body;
  }
  yield Array.from({ length: 30 }, (_, i) => `end ${30 - i} of a log of ${bytes} bytes\n`).join("");
}

/** A small project with a boundary, for what is measured without much of a tree. */
function makeProject(into: Writer): void {
  into.file(".fettler.json", '{ "guardrails": { "trees": { "work": { "path": "." } } } }\n');
  into.file("small.txt", textOf(4_096));
  for (const [i, word] of WORDS.slice(0, 20).entries()) into.file(`src/${word}.ts`, textOf(500 + 100 * i));
}

function textOf(bytes: number): string {
  let text = "";
  for (const line of lines("ts")) {
    if (text.length + line.length + 1 <= bytes - 80 && /^[ -~]+$/.test(line)) text += line + "\n";
  }
  return text + "/".repeat(bytes - text.length - 1) + "\n";
}
