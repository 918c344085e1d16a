/**
 * Every verb under each of the 128 combinations of the seven permissions, for a tree, a scope, and a scope inside a folder that is
 * worked on as a whole. What each needs is stated here from the table of 1-boundary §1.5, and nowhere else.
 */
import assert from "node:assert/strict";
import { type Permission, PERMISSIONS } from "../../src/boundary/types.ts";
import { VERBS } from "../../src/verbs/mod.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";

interface Row {
  verb: string;
  what: string;
  /** `P` stands for the place whose permissions vary, `F:` for a tree where everything is allowed. */
  args: Record<string, unknown>;
  /** What the place has to grant, beside `list`. */
  needs: readonly Permission[];
  /** Without this one the verb passes over what is there, and is done. */
  passesWithout?: Permission;
}

const ALL: readonly Permission[] = ["list", "read", "create", "update", "rename", "delete"];

/** Each row has entries of its own, so that one world serves all of them. */
const ROWS: readonly Row[] = [
  { verb: "find", what: "a file", args: { pattern: "P/keep.txt" }, needs: [] },
  { verb: "read", what: "a file", args: { paths: ["P/keep.txt"] }, needs: ["read"] },
  { verb: "write", what: "nothing there", args: { path: "P/write-new", text: "x" }, needs: ["create"] },
  { verb: "write", what: "over", args: { path: "P/write-over", text: "x", overwrite: true }, needs: ["update"] },
  {
    verb: "edit",
    what: "a file",
    args: { path: "P/edit", script: { edits: [{ replace: "old", with: "new" }] } },
    needs: ["read", "update"],
  },
  {
    verb: "replace",
    what: "a file",
    args: { find: "unique-to-replace", with: "x", glob: "P/replace.txt" },
    needs: ["read", "update"],
    passesWithout: "read",
  },
  { verb: "exec", what: "a file", args: { path: "P/exec", executable: true }, needs: ["update"] },
  { verb: "new", what: "a file", args: { path: "P/new" }, needs: ["create"] },
  { verb: "mkdir", what: "folders", args: { path: "P/mkdir/in" }, needs: ["create"] },
  { verb: "move", what: "within", args: { from: "P/move", to: "P/moved" }, needs: ["rename", "create"] },
  { verb: "move", what: "a folder within", args: { from: "P/move-d", to: "P/moved-d" }, needs: ["rename", "create"] },
  {
    verb: "move",
    what: "over",
    args: { from: "P/move-from", to: "P/move-over", overwrite: true },
    needs: ["rename", "create", "delete"],
  },
  {
    verb: "move",
    what: "out, to where it can be read",
    args: { from: "P/move-out", to: "F:out" },
    needs: ["rename", "delete", "read"],
  },
  {
    verb: "move",
    what: "a folder out",
    args: { from: "P/move-out-d", to: "F:out-d" },
    needs: ["rename", "delete", "read"],
  },
  {
    verb: "move",
    what: "out, to where it cannot be read",
    args: { from: "P/move-blind", to: "blind:x" },
    needs: ["rename", "delete"],
  },
  { verb: "move", what: "in", args: { from: "F:move-in", to: "P/move-in" }, needs: ["create"] },
  {
    verb: "move",
    what: "in, over",
    args: { from: "F:move-in-over", to: "P/move-in-over", overwrite: true },
    needs: ["create", "delete"],
  },
  { verb: "copy", what: "within", args: { from: "P/keep.txt", to: "P/copied" }, needs: ["read", "create"] },
  { verb: "copy", what: "out", args: { from: "P/keep.txt", to: "F:copied" }, needs: ["read"] },
  { verb: "copy", what: "in", args: { from: "F:keep.txt", to: "P/copied-in" }, needs: ["create"] },
  {
    verb: "copy",
    what: "in, over",
    args: { from: "F:keep.txt", to: "P/copy-over", overwrite: true },
    needs: ["create", "delete"],
  },
  { verb: "copy", what: "a folder out", args: { from: "P/keep-d", to: "F:d", recursive: true }, needs: ["read"] },
  { verb: "copy", what: "a folder in", args: { from: "F:keep-d", to: "P/d", recursive: true }, needs: ["create"] },
  {
    verb: "copy",
    what: "a folder in, over",
    args: { from: "F:keep-d", to: "P/copy-over-d", recursive: true, overwrite: true },
    needs: ["create", "delete"],
  },
  { verb: "delete", what: "a file", args: { path: "P/delete" }, needs: ["delete"] },
  { verb: "delete", what: "an empty folder", args: { path: "P/delete-e" }, needs: ["delete"] },
  { verb: "delete", what: "a folder", args: { path: "P/delete-d", recursive: true }, needs: ["delete"] },
];

const ENTRIES = {
  "keep.txt": "k",
  "keep-d/x": "x",
  "write-over": "old",
  "edit": "old",
  "replace.txt": "unique-to-replace",
  "exec": "#!",
  "move": "m",
  "move-d/x": "x",
  "move-from": "m",
  "move-over": "m",
  "move-out": "m",
  "move-out-d/x": "x",
  "move-blind": "m",
  "move-in-over": "m",
  "copy-over": "c",
  "copy-over-d/x": "x",
  "delete": "d",
  "delete-e": null,
  "delete-d/x": "x",
};

/** What a scope inside a folder has to grant when something is done to the whole folder; missing `list` is no other than the rest. */
const WHOLE: readonly Row[] = [
  { verb: "move", what: "a folder round it", args: { from: "m", to: "m2" }, needs: ["list", "read", "delete"] },
  { verb: "copy", what: "a folder round it", args: { from: "c", to: "c2", recursive: true }, needs: ["list", "read"] },
  { verb: "delete", what: "a folder round it", args: { path: "d", recursive: true }, needs: ["list", "delete"] },
  { verb: "move", what: "a folder that lands round it", args: { from: "ml", to: "lm" }, needs: ["list", "create"] },
  {
    verb: "copy",
    what: "a folder that lands round it",
    args: { from: "cl", to: "lc", recursive: true },
    needs: ["list", "create"],
  },
];

const WHOLE_ENTRIES = { "m/s/x": "x", "c/s/x": "x", "d/s/x": "x", "ml/s/x": "x", "cl/s/x": "x" };

/** The 128 sets of permissions. */
function combinations(): Permission[][] {
  return Array.from({ length: 2 ** PERMISSIONS.length }, (_, bits) => PERMISSIONS.filter((_, i) => bits & (1 << i)));
}

function expected({ needs, passesWithout }: Row, can: readonly Permission[]): string {
  if (!can.includes("list")) return "outside-root";
  if (passesWithout && !can.includes(passesWithout)) return "ok";
  return needs.every((word) => can.includes(word)) ? "ok" : "refused";
}

/** The arguments with the place's path in them. */
function at(args: Row["args"], place: string): Record<string, unknown> {
  const path = (value: string) => value.replace(/^P\//, place).replace(/^F:/, "free:");
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === "string" ? path(value) : Array.isArray(value) ? value.map(path) : value,
    ]),
  );
}

const isThere = ({ verb }: Row) => VERBS.some(({ name }) => name === verb);

function under(prefix: string, entries: Record<string, string | null>) {
  return Object.fromEntries(Object.entries(entries).map(([path, entry]) => [prefix + path, entry]));
}

for (const [kind, library] of DISKS) {
  for (const where of ["tree", "scope"] as const) {
    Deno.test(`${kind}: permissions of a ${where}: every verb, every combination`, async () => {
      for (const can of combinations()) {
        const folder = where === "tree" ? "place" : "place/s";
        const top = makeFolder({
          "blind": null,
          ...under(`${folder}/`, ENTRIES),
          ...under("free/", { "keep.txt": "k", "keep-d/x": "x", "move-in": "m", "move-in-over": "m" }),
        });
        const side = sideOf(
          boundaryOf({
            free: `${top}/free`,
            place: { path: `${top}/place`, ...where === "tree" ? { can } : { scopes: { s: can } } },
            blind: { path: `${top}/blind`, can: ["list", "create"] },
          }),
          library,
        );
        try {
          for (const row of ROWS.filter(isThere)) {
            const args = at(row.args, where === "tree" ? "place:" : "place:s/");
            const { outcome, text } = await call(side, row.verb, args);
            assert.equal(outcome, expected(row, can), `${row.verb} ${row.what} with ${can.join(" ")}: ${text}`);
          }
        } finally {
          side.disk.close();
          Deno.removeSync(top, { recursive: true });
        }
      }
    });
  }

  Deno.test(`${kind}: permissions of a scope inside what is worked on: every combination`, async () => {
    for (const can of combinations()) {
      const top = makeFolder(WHOLE_ENTRIES);
      const scopes = Object.fromEntries(["m/s", "c/s", "d/s", "lm/s", "lc/s"].map((path) => [path, can]));
      const side = sideOf(boundaryOf({ work: { path: top, can: ALL, scopes } }), library);
      try {
        for (const row of WHOLE.filter(isThere)) {
          const { outcome, text } = await call(side, row.verb, row.args);
          const missing = row.needs.some((word) => !can.includes(word));
          // A place with `read` is none for what comes from one without; here all comes from where it could be read.
          assert.equal(outcome, missing ? "refused" : "ok", `${row.verb} ${row.what} with ${can.join(" ")}: ${text}`);
          if (missing) assert.doesNotMatch(text, /\/s\b/);
        }
      } finally {
        side.disk.close();
        Deno.removeSync(top, { recursive: true });
      }
    }
  });
}

Deno.test("every verb that changes something has its rows", () => {
  // What is not here has tests of its own for what it needs.
  const elsewhere = ["batch", "extract", "pack", "run"];
  const stated = new Set(ROWS.map(({ verb }) => verb));
  const missing = VERBS.filter(({ tool }) => tool && !tool.readOnly).map(({ name }) => name)
    .filter((name) => !stated.has(name) && !elsewhere.includes(name));
  assert.deepEqual(missing, []);
});
