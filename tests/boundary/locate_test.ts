/** Where paths lie, decided without a disk. Scenarios 1, 2, 6, 7, 10, 11, 15, 16; bugs 2, 16, 17, 18. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { absoluteOf, locate } from "../../src/boundary/locate.ts";
import { printLocation } from "../../src/boundary/print.ts";
import { printCan, Survey } from "../../src/boundary/survey.ts";
import type { Boundary, NameRules, Permission, Tree } from "../../src/boundary/types.ts";
import { Refusal } from "../../src/refusal.ts";

const POSIX: NameRules = { windows: false, ignoreCase: false };
const MAC: NameRules = { windows: false, ignoreCase: true };
const WINDOWS: NameRules = { windows: true, ignoreCase: true };

type Scopes = Record<string, Permission[]>;

let number = 0;
function tree(
  name: string,
  path: string,
  can: Permission[] = ["list", "read"],
  scopes: Scopes = {},
  real = path,
): Tree {
  return {
    name,
    path,
    real,
    identity: { dev: 1, ino: ++number },
    can,
    scopes: Object.entries(scopes).map(([path, can]) => ({ path, can, declared: "f" })),
  };
}

function survey(trees: Tree[], names = POSIX): Survey {
  return new Survey({ names, trees, generated: [], inForce: [] });
}

/** `NAME:path` of the first reading, or the outcome. */
function at(survey: Survey, written: string): string {
  try {
    const [location] = locate(survey, written);
    return `${location.tree.name}:${location.segments.join("/")}`;
  } catch (error) {
    assert.ok(error instanceof Refusal, `${error}`);
    return error.outcome;
  }
}

const two = survey([
  tree("work", "/w/app", ["list", "read"], { "secret": [], "secret/open": ["list"], "deep/er": ["create"] }),
  tree("notes", "/w/notes", []),
  tree("inner", "/w/app/sub/inner", ["list"]),
]);

Deno.test("path forms of POSIX", () => {
  const cases: Record<string, string> = {
    "a/b": "work:a/b",
    "work:a/b": "work:a/b",
    "inner:x": "inner:x",
    ".": "work:",
    "work:": "work:",
    "work:.": "work:",
    "a//b/./c/": "work:a/b/c",
    "a/b/../c": "work:a/c",
    "a/..": "work:",
    "../x": "outside-root",
    "a/../../x": "outside-root",
    "./../../etc/passwd": "outside-root",
    "../app/x": "outside-root",
    "work:../notes": "outside-root",
    "/w/app/x": "work:x",
    "/w/app": "work:",
    "/w/app-old/x": "outside-root",
    "/w/app/sub/inner/x": "inner:x",
    "/w/app/sub/../y": "work:y",
    "/w/other/../app/y": "work:y",
    "/": "outside-root",
    "/etc/passwd": "outside-root",
    "work:/w/app/x": "work:x",
    "work:/w/app/sub/inner/x": "work:sub/inner/x",
    "inner:/w/app/x": "outside-root",
    "work:/etc": "outside-root",
    "notes:x": "outside-root",
    "notes:": "outside-root",
    "secret": "outside-root",
    "secret/never": "outside-root",
    "secretive": "work:secretive",
    "secret/open/x": "work:secret/open/x",
    "deep/er/x": "outside-root",
    "~/x": "work:~/x",
    "$HOME": "work:$HOME",
    "file:///etc/passwd": "work:file:/etc/passwd",
    "other:x": "work:other:x",
    "C:/x": "work:C:/x",
    "": "invalid",
    "a\0b": "invalid",
    "a\ud800b": "invalid",
  };
  for (const [written, expected] of Object.entries(cases)) assert.equal(at(two, written), expected, written);
});

Deno.test("a backslash on POSIX is a name first and a separator then, and both have to be listed", () => {
  const readings = (written: string) => locate(two, written).map((location) => location.segments.join("|"));
  assert.deepEqual(readings("a\\b/c"), ["a\\b|c", "a|b|c"]);
  assert.equal(at(two, "..\\x"), "outside-root");
  assert.equal(at(two, "a\\..\\..\\x"), "outside-root");
  assert.equal(at(two, "\\etc\\passwd"), "outside-root");
  assert.equal(at(two, "secret\\x"), "outside-root");
});

Deno.test("a tree whose declared folder is a link is known by both spellings", () => {
  const linked = survey([tree("work", "/home/me/link", ["list"], {}, "/data/app")]);
  assert.equal(at(linked, "/home/me/link/x"), "work:x");
  assert.equal(at(linked, "/data/app/x"), "work:x");
  assert.equal(at(linked, "/data/other"), "outside-root");
});

Deno.test("a tree at the root of the file system holds everything", () => {
  const root = survey([tree("all", "/", ["list"], { "etc": [] })]);
  assert.equal(at(root, "/usr/x"), "all:usr/x");
  assert.equal(at(root, "usr"), "all:usr");
  assert.equal(at(root, "/etc/passwd"), "outside-root");
  assert.equal(at(root, "/.."), "outside-root");
});

Deno.test("case is heeded on Linux, ignored on macOS; both compare composed", () => {
  const trees = () => [tree("work", "/w/app", ["list"], { "Secret": [], "caf\u00e9": [] })];
  assert.equal(at(survey(trees()), "secret"), "work:secret");
  assert.equal(at(survey(trees(), MAC), "secret"), "outside-root");
  assert.equal(at(survey(trees(), MAC), "SECRET/x"), "outside-root");
  assert.equal(at(survey(trees(), MAC), "/W/APP/x"), "work:x");
  assert.equal(at(survey(trees(), MAC), "WORK:x"), "work:x");
  assert.equal(at(survey(trees()), "WORK:x"), "work:WORK:x");
  assert.equal(at(survey(trees()), "cafe\u0301/x"), "outside-root");
});

Deno.test("path forms of Windows", () => {
  const windows = survey([tree("work", "C:\\src\\app", ["list"], { "secret": [] }), tree("other", "D:\\")], WINDOWS);
  const cases: Record<string, string> = {
    "a\\b": "work:a/b",
    "a/b": "work:a/b",
    "C:\\src\\app\\x": "work:x",
    "c:/SRC/App/x": "work:x",
    "C:\\src\\app-old\\x": "outside-root",
    "C:\\Windows\\x": "outside-root",
    "D:\\x": "other:x",
    "\\\\server\\share\\x": "outside-root",
    "/src/app/x": "outside-root",
    "SECRET\\x": "outside-root",
    "\\\\?\\C:\\src\\app\\x": "invalid",
    "\\\\.\\C:\\src": "invalid",
    "//?/C:/src/app/x": "invalid",
    "con": "invalid",
    "a\\NUL.txt": "invalid",
    "COM1": "invalid",
    "com10": "work:com10",
    "console": "work:console",
    "a.": "invalid",
    "a \\b": "invalid",
    "file.txt:hidden": "invalid",
    "C:\\src\\app\\f:stream": "invalid",
    "work:a\\b": "work:a/b",
  };
  for (const [written, expected] of Object.entries(cases)) assert.equal(at(windows, written), expected, written);
});

Deno.test("the deepest declaration decides; a scope replaces; without list it is empty; a tree beats a scope", () => {
  const nested = survey([
    tree("work", "/w", ["list", "read", "update"], {
      "a": ["list", "read"],
      "a/b": ["list", "read", "create", "update", "rename", "delete"],
      "a/b/c": [],
      "wonly": ["create", "read"],
      "t": ["list"],
    }),
    tree("t", "/w/t", ["list", "read", "delete"]),
  ]);
  const can = (path: string) => printCan(nested.place(path)!.can);
  assert.equal(can("/w/x"), "list read update");
  assert.equal(can("/w/a"), "list read");
  assert.equal(can("/w/abc"), "list read update");
  assert.equal(can("/w/a/b/x"), "list read create update rename delete");
  assert.equal(can("/w/a/b/c"), "nothing");
  assert.equal(can("/w/a/b/cd"), "list read create update rename delete");
  assert.equal(can("/w/wonly"), "nothing");
  assert.equal(can("/w/t/x"), "list read delete");
  assert.equal(nested.place("/x"), undefined);
});

Deno.test("two scopes that lead to one folder grant what both grant", () => {
  const boundary: Boundary = {
    names: POSIX,
    generated: [],
    inForce: [],
    trees: [{
      ...tree("work", "/w"),
      scopes: [
        { path: "a", can: ["list", "read"], real: "/w/b", declared: "f" },
        { path: "b", can: ["list", "delete"], real: "/w/b", declared: "f" },
      ],
    }],
  };
  assert.equal(printCan(new Survey(boundary).place("/w/b/x")!.can), "list");
});

Deno.test("screens: the closest stated one holds, also where a nearer scope states none", () => {
  const boundary: Boundary = {
    names: POSIX,
    generated: [],
    inForce: [],
    trees: [{
      ...tree("work", "/w"),
      screen: ["identifiers"],
      scopes: [
        { path: "a", can: ["list"], declared: "f" },
        { path: "off", screen: [], declared: "f" },
        { path: "off/on", can: ["list", "read"], screen: ["health"], declared: "f" },
      ],
    }],
  };
  const s = new Survey(boundary);
  assert.deepEqual(s.screen("/w/x"), ["identifiers"]);
  assert.deepEqual(s.screen("/w/a/x"), ["identifiers"]);
  assert.deepEqual(s.screen("/w/off/x"), []);
  assert.deepEqual(s.screen("/w/off/on/x"), ["health"]);
  assert.equal(printCan(s.place("/w/off/x")!.can), "list read");
});

Deno.test("paths in answers are bare with one tree and qualified with several, and read back", () => {
  const one = survey([tree("work", "/w/app")]);
  const print = (s: Survey, written: string) => printLocation(s.boundary, locate(s, written)[0]);
  assert.equal(print(one, "a/b"), "a/b");
  assert.equal(print(one, "."), ".");
  assert.equal(print(one, "work:work:x"), "work:work:x");
  assert.equal(at(one, "work:work:x"), "work:work:x");
  assert.equal(print(two, "a/b"), "work:a/b");
  assert.equal(print(two, "."), "work:");
});

Deno.test("property: what is printed is located again, and never outside its tree", () => {
  const segment = fc.constantFrom(
    "a",
    "b",
    "..",
    ".",
    "",
    "work:x",
    "secret",
    "inner",
    "sub",
    "é",
    "e\u0301",
    "\\",
    "a\\b",
    "~",
  );
  fc.assert(
    fc.property(
      fc.array(segment, { maxLength: 6 }),
      fc.constantFrom("", "/", "/w/app/", "work:", "inner:"),
      (parts, head) => {
        const written = head + parts.join("/");
        let location;
        try {
          [location] = locate(two, written);
        } catch (error) {
          assert.ok(error instanceof Refusal);
          return;
        }
        assert.ok(location.segments.every((s) => s !== "" && s !== "." && s !== ".."), written);
        const absolute = absoluteOf(two.boundary, location);
        assert.ok(absolute === location.tree.real || absolute.startsWith(location.tree.real + "/"));
        assert.ok(two.place(absolute)!.can.has("list"));
        const again = locate(two, printLocation(two.boundary, location))[0];
        assert.deepEqual([again.tree.name, again.segments], [location.tree.name, location.segments]);
      },
    ),
  );
});
