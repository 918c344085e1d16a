/** What was not there is looked for again as soon as it may have come. */
import assert from "node:assert/strict";
import { Absence } from "../../src/config/absence.ts";
import { makeFolder } from "../support/tree.ts";

const isThere = (absence: Absence, path: string) => {
  try {
    return absence.lstat(path).isFile;
  } catch (error) {
    assert.ok(error instanceof Deno.errors.NotFound);
    return false;
  }
};

/** Looks at the real disk and counts how often it is asked for an entry. */
function counting() {
  const asked: string[] = [];
  const absence = new Absence((path) => (asked.push(path), Deno.lstatSync(path)), Deno.statSync);
  return { asked, absence };
}

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("an entry that is not there is looked for while its folder has just changed, then no more until that changes", async () => {
  const top = makeFolder({ "a/x": "" });
  const { asked, absence } = counting();
  for (let i = 0; i < 4; i++) assert.equal(isThere(absence, `${top}/a/b`), false);
  assert.equal(asked.length, 4);
  await later(1100);
  for (let i = 0; i < 4; i++) assert.equal(isThere(absence, `${top}/a/b`), false);
  assert.equal(asked.length, 5);

  Deno.writeTextFileSync(`${top}/a/b`, "");
  // Whoever made it may set the folder's first time back, but not the second.
  Deno.utimeSync(`${top}/a`, 0, 0);
  assert.equal(isThere(absence, `${top}/a/b`), true);
  Deno.removeSync(`${top}/a/b`);
  assert.equal(isThere(absence, `${top}/a/b`), false);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("another folder at the same place, a folder that is gone, the top of the disk", async () => {
  const top = makeFolder({ "a/x": "", "other/b": "" });
  const { absence } = counting();
  await later(1100);
  for (let i = 0; i < 3; i++) {
    assert.equal(isThere(absence, `${top}/a/b`), false);
    assert.equal(isThere(absence, `${top}/never/b`), false);
    assert.equal(isThere(absence, "/no such entry of the root"), false);
  }
  Deno.renameSync(`${top}/a`, `${top}/away`);
  assert.equal(isThere(absence, `${top}/a/b`), false);
  Deno.renameSync(`${top}/other`, `${top}/a`);
  assert.equal(isThere(absence, `${top}/a/b`), true);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("whatever comes at whatever moment is seen by the next look", async () => {
  const top = makeFolder({ "a/x": "" });
  const { absence } = counting();
  const path = `${top}/a/b`;
  for (let i = 0; i < 40; i++) {
    await later(i % 4 === 3 ? 1050 : Math.random() * 5);
    assert.equal(isThere(absence, path), false);
    assert.equal(isThere(absence, path), false);
    Deno.writeTextFileSync(path, "");
    assert.equal(isThere(absence, path), true);
    Deno.removeSync(path);
  }
  Deno.removeSync(top, { recursive: true });
});
