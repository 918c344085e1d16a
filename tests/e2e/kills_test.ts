/**
 * Processes killed at random moments of a change: every file is whole, as it was or as it was to be, and the next run of the same verb
 * leaves nothing of ours. Spec: 2-verbs §2.8. `FETTLE_KILLS` says how often.
 */
import assert from "node:assert/strict";
import { program } from "../support/program.ts";
import { makeFolder } from "../support/tree.ts";

const KILLS = Number(Deno.env.get("FETTLE_KILLS") ?? 45);
const LINES = 20_000;
const FILES = 12;

/** A file of one version: each of its lines names it, so that a mixture is seen. */
function content(version: number): string {
  return `version ${version} of this line\n`.repeat(LINES);
}

/** The version that a file has. @throws When it is not whole. */
function versionOf(path: string): number {
  const text = Deno.readTextFileSync(path);
  const version = Number(/^version (\d+) /.exec(text)?.[1]);
  assert.ok(text === content(version), `${path} is not whole: ${text.length} characters`);
  return version;
}

/** A verb that makes its files one version newer. */
interface Change {
  folder: string;
  files: string[];
  args(from: number, to: number): string[];
}

const own = makeFolder({ "new.txt": "" });
const CHANGES: readonly Change[] = [
  {
    folder: "w",
    files: ["w/a.txt"],
    args: (_, to) => {
      Deno.writeTextFileSync(`${own}/new.txt`, content(to));
      return ["write", "w/a.txt", "--text-file", `${own}/new.txt`, "--overwrite"];
    },
  },
  {
    folder: "e",
    files: ["e/a.txt"],
    args: (from, to) => ["edit", "e/a.txt", "--all", "--replace", `version ${from} `, "--with", `version ${to} `],
  },
  {
    folder: "r",
    files: Array.from({ length: FILES }, (_, i) => `r/${i}.txt`),
    args: (from, to) => ["replace", `version ${from} `, `version ${to} `, "--glob", "r/*.txt"],
  },
];

Deno.test("killed at random moments of write, edit and replace", { ignore: Deno.build.os !== "linux" }, async () => {
  const top = makeFolder({
    ".fettler.json": '{"guardrails":{"trees":{"work":{"path":"."}}}}',
    ...Object.fromEntries(CHANGES.flatMap(({ files }) => files.map((file) => [file, content(0)]))),
  });
  const versions = CHANGES.map(() => 0);
  const lasted = CHANGES.map(() => 0);
  /** Kills that found the change undone, done in part, and done. */
  const found = [0, 0, 0];
  for (let i = 0; i < KILLS; i++) {
    const which = i % CHANGES.length;
    const { folder, files, args } = CHANGES[which];
    const [from, to] = [versions[which], versions[which] + 1];
    const path = (file: string) => `${top}/${file}`;
    const staged = () => [...Deno.readDirSync(path(folder))].filter(({ name }) => name.startsWith(".fettle-"));

    if (lasted[which] > 0) {
      const child = start(top, args(from, to));
      await new Promise((resolve) => setTimeout(resolve, lasted[which] * (0.3 + 0.8 * Math.random())));
      await killAll(child, i % 2 === 0);
      const now = files.map((file) => versionOf(path(file)));
      assert.ok(now.every((version) => version === from || version === to), `${now} after ${from} → ${to}`);
      const done = now.filter((version) => version === to).length;
      found[done === 0 ? 0 : done < now.length ? 1 : 2]++;
      for (const file of files) Deno.writeTextFileSync(path(file), content(from));
    }
    const begun = performance.now();
    const { code } = await start(top, args(from, to)).output();
    lasted[which] = performance.now() - begun;
    assert.equal(code, 0);
    assert.deepEqual(files.map((file) => versionOf(path(file))), files.map(() => to));
    assert.deepEqual(staged(), [], `after ${args(from, to)[0]}`);
    versions[which] = to;
  }
  console.log(`killed: ${found[0]} found nothing done, ${found[1]} a part of the files, ${found[2]} all`);
  for (const folder of [top, own]) Deno.removeSync(folder, { recursive: true });
});

function start(cwd: string, args: readonly string[]): Deno.ChildProcess {
  const { command, args: first } = program();
  return new Deno.Command(command, { args: [...first, ...args], cwd, stdin: "null", stdout: "piped", stderr: "null" })
    .spawn();
}

/** Kills the engine, and with it or after it the process that started it; waits until both are gone. */
async function killAll(child: Deno.ChildProcess, both: boolean): Promise<void> {
  const engines = childrenOf(child.pid);
  const kill = (pid: number) => {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch { /* it has ended */ }
  };
  if (both) kill(child.pid);
  engines.forEach(kill);
  await child.output();
  while (engines.some((pid) => isAlive(pid))) await new Promise((resolve) => setTimeout(resolve, 5));
}

function childrenOf(pid: number): number[] {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).split(" ").map(Number).filter(Boolean);
  } catch {
    return [];
  }
}

/** A zombie of somebody else's counts as gone. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}
