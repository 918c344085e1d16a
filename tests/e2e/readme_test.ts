/** Samples of the README print what they say. */
import assert from "node:assert/strict";
import { fettle } from "../support/program.ts";

const top = decodeURIComponent(new URL("../../", import.meta.url).pathname);

Deno.test("samples of the README", async () => {
  const readme = Deno.readTextFileSync(`${top}README.md`);
  const samples = [...readme.matchAll(/```\n\$ fettle (.*)\n([\s\S]*?)```/g)];
  assert.ok(samples.length > 0);
  for (const [, line, expected] of samples) {
    const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
    assert.equal((await fettle(args, { cwd: top })).out, expected, line);
  }
});

Deno.test("the version is stated once", async () => {
  const { version } = JSON.parse(Deno.readTextFileSync(`${top}deno.json`));
  assert.equal((await fettle(["version"])).out, `fettle ${version}\n`);
});
