/** The whole program, interrupted in the middle of a change: what it says is what it has done. Spec: 2-verbs §2.5, §2.18, §2.23. */
import assert from "node:assert/strict";
import { program } from "../support/program.ts";
import { makeFolder, put } from "../support/tree.ts";

const MANY = 3000;
const names = Array.from({ length: MANY }, (_, i) => `n${i}`);
const ignore = Deno.build.os === "windows";

const count = (folder: string) => [...Deno.readDirSync(folder)].length;

/** Starts the program and interrupts it as soon as `begun` holds. */
async function interrupted(cwd: string, args: string[], begun: () => boolean) {
  const { command, args: first } = program();
  const child = new Deno.Command(command, { args: [...first, ...args, "--json"], cwd, stdout: "piped" }).spawn();
  while (!begun()) await new Promise((resolve) => setTimeout(resolve, 1));
  child.kill("SIGINT");
  const { code, stdout } = await child.output();
  const json = JSON.parse(new TextDecoder().decode(stdout));
  assert.deepEqual([code, json.outcome], [8, "refused"], JSON.stringify(json).slice(0, 200));
  assert.match(json.message, /cancelled before it was done/);
  assert.doesNotMatch(json.message, /nothing was changed/);
  return json;
}

Deno.test("a deletion that is interrupted tells how much has gone", { ignore }, async () => {
  const top = makeFolder(Object.fromEntries(names.map((name) => [`d/${name}`, ""])));
  const { files, directories } = await interrupted(top, ["delete", "d", "--recursive"], () => count(`${top}/d`) < MANY);
  assert.deepEqual([files, directories], [MANY - count(`${top}/d`), 0]);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("a batch that is interrupted tells which operations were done", { ignore }, async () => {
  const top = makeFolder({ "d": null });
  put(top, { "s.json": JSON.stringify({ operations: names.map((name) => ({ op: "mkdir", path: `d/${name}` })) }) });
  const { completed, operations } = await interrupted(
    top,
    ["batch", "--script-path", "s.json"],
    () => count(`${top}/d`) > 0,
  );
  assert.equal(completed, count(`${top}/d`));
  assert.deepEqual([operations.length, operations.at(-1).outcome], [completed + 1, "refused"]);
  Deno.removeSync(top, { recursive: true });
});
