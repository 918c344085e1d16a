/** The workflows agree with what they build, and may do no more than they need. By their text: a parser would be one more dependency. */
import assert from "node:assert/strict";
import { TARGETS } from "../../build/compile.ts";

const top = new URL("../../", import.meta.url);
const folder = new URL(".github/workflows/", top);
const workflows = [...Deno.readDirSync(folder)].map(({ name }) => ({
  name,
  text: Deno.readTextFileSync(new URL(name, folder)),
}));
const release = Deno.readTextFileSync(new URL("release.yml", folder));

/** The lines of a job, without its name. */
function job(name: string): string {
  const [, lines] = new RegExp(`\\n  ${name}:\\n((?:    .*\\n|\\n)+)`).exec(release)!;
  return lines;
}

Deno.test("every target is tested on a system of its kind, on what is in the archive", () => {
  const matrix = [...job("test").matchAll(/- \{ target: ([a-z0-9-]+), runner: ([a-z0-9.-]+) \}/g)]
    .map(([, target, runner]) => [target, runner]);
  assert.deepEqual(
    matrix.map(([target]) => target).filter((target) => !target.endsWith("-portable")),
    Object.keys(TARGETS),
  );
  const systems: Record<string, RegExp> = {
    "linux-x64": /^ubuntu-[0-9.]+$/,
    "linux-x64-portable": /^ubuntu-[0-9.]+$/,
    "linux-arm64": /^ubuntu-[0-9.]+-arm$/,
    "macos-x64": /^macos-[0-9]+-intel$/,
    "macos-arm64": /^macos-1[4-9]$/,
    "windows-x64": /^windows-[0-9]+$/,
  };
  for (const [target, runner] of matrix) assert.match(runner, systems[target], target);
  assert.match(job("test"), /needs: compile/);
  assert.match(job("test"), /FETTLE_PROGRAM: unpacked\/portable\/fettle/);
  assert.match(job("publish"), /needs: test\n {4}if: github\.ref_type == 'tag'/);
  assert.match(job("compile"), /deno task build --complete/);
  assert.match(job("compile"), /archive\.ts \$\{TAG:\+--tag "\$TAG"\}/);
});

Deno.test("rights are the least, actions pinned by major, no expression stands in a script", () => {
  for (const { name, text } of workflows) {
    assert.match(text, /\npermissions:\n {2}contents: read\n/, name);
    assert.doesNotMatch(text, /\t|[ ]+\n/, name);
    for (const [line, at] of text.matchAll(/uses: (.*)/g)) {
      assert.match(at, /^(actions|denoland)\/[a-z-]+@v[0-9]+$/, `${name}: ${line}`);
    }
    // Names that a person may choose, such as a tag's, come into a script as variables.
    for (const [line] of text.matchAll(/^ *-? *run: .*(?:\n {10,}.*)*/gm)) {
      for (const [, inside] of line.matchAll(/\$\{\{\s*(.*?)\s*\}\}/g)) assert.match(inside, /^matrix\.[a-z]+$/, line);
    }
  }
  const writing = [...release.matchAll(/: write/g)];
  assert.equal(writing.length, 1);
  assert.match(job("publish"), /permissions:\n {6}contents: write\n/);
  // What was checked out cannot be pushed to.
  for (const { text } of workflows) {
    assert.equal(
      [...text.matchAll(/actions\/checkout/g)].length,
      [...text.matchAll(/persist-credentials: false/g)].length,
    );
  }
});

Deno.test("one version of the runtime everywhere", () => {
  const [, stated] = /^npx -y deno@([0-9.]+) task test$/m.exec(Deno.readTextFileSync(new URL("README.md", top)))!;
  assert.match(release, new RegExp(`DENO_VERSION: ${stated.replaceAll(".", "\\.")}\n`));
});
