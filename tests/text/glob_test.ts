/** What globs mean. Spec: 2-verbs §2.6; scenarios 96, 97, 98. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Refusal } from "../../src/refusal.ts";
import { compileGlob, type GlobOptions } from "../../src/text/glob.ts";

function matches(glob: string, path: string, options?: GlobOptions): boolean {
  return compileGlob(glob, options).matches(path);
}

Deno.test("scenario 96: the glob table", () => {
  const table: [glob: string, yes: string[], no: string[]][] = [
    ["*", ["a", ".env", "a.b"], ["a/b"]],
    ["*.ts", ["a.ts", ".ts", "A.TS"], ["src/a.ts", "a.tsx", "ats"]],
    ["src/*", ["src/a", "SRC/.x"], ["src", "src/a/b", "a/src/b"]],
    ["src/**/*.ts", ["src/a.ts", "src/b/a.ts", "src/b/c/d.ts"], ["a.ts", "xsrc/a.ts", "src/a.js"]],
    ["**/*.ts", ["a.ts", "x/y/z.Ts", "x/.ts"], ["a.ts/b", "a.tsx"]],
    ["**/test/**", ["test/a", "a/test/b/c"], ["test", "atest/b", "a/tests/b"]],
    ["**/a/b.c", ["a/b.c", "x/a/b.c", "a/a/b.c"], ["xa/b.c", "b.c"]],
    ["a**z", ["az", "a/b/z", "abcz"], ["za", "a/z/b"]],
    ["a**/z", ["a/z", "ab/c/z"], ["az", "z"]],
    ["src/**", ["src/a", "src/a/b"], ["src", "srca"]],
    ["**", ["a", "a/b"], []],
    ["?.txt", ["a.txt", "é.txt", "e\u0301.txt", "😀.txt"], ["ab.txt", ".txt", "/.txt"]],
    ["x?1?.txt", ["x{1}.txt", "x[1].txt"], ["x1.txt", "x/1/.txt"]],
    ["a.c", ["a.c", "A.C", "a.c/below"], ["abc", "a.cd"]],
    ["src", ["src", "src/a", "SRC/a/b"], ["srcs", "a/src"]],
    ["src/text/", ["src/text/a.ts"], ["src/texts"]],
    ["./src//*.ts", ["src/a.ts"], ["a.ts"]],
    ["src\\**\\*.ts", ["src/a.ts", "src/b/a.ts"], ["a.ts"]],
    [".", ["a", "a/b"], []],
    ["Straße/ΟΔΟΣ*", ["straße/οδος", "STRAẞE/οδοσ.txt"], ["strasse/οδος"]],
    ["*\u1e96*", ["aH\u0331b", "h\u0331"], ["h"]],
    ["caf\u00e9*", ["CAFE\u0301", "Cafe\u0301s"], ["cafe"]],
    ["cafe*", ["cafes"], ["cafe\u0301"]],
    ["*e", ["Cafe"], ["cafe\u0301"]],
  ];
  for (const [glob, yes, no] of table) {
    for (const path of yes) assert.equal(matches(glob, path), true, `${glob} means ${path}`);
    for (const path of no) assert.equal(matches(glob, path), false, `${glob} does not mean ${path}`);
  }
});

Deno.test("scenario 97: what is refused, with its character", () => {
  const table: [glob: string, said: RegExp, options?: GlobOptions][] = [
    ["", /empty/],
    ["  ", /empty/],
    ["!a", /begins with !/],
    ["work:!a", /begins with !/],
    ["a/../b", /\.\. segment/],
    ["..\\b", /\.\. segment/],
    ["x{1}.txt", /has \{/],
    ["x}", /has \}/],
    ["[ab]", /has \[/],
    ["a]", /has \]/],
    ["a\0", /NUL/],
    ["name:a", /names a tree/, { exclude: true }],
    ["/a", /absolute/, { exclude: true }],
    ["\\a", /absolute/, { exclude: true }],
    ["C:\\a", /absolute/, { exclude: true, windows: true }],
  ];
  for (const [glob, said, options] of table) {
    assert.throws(() => compileGlob(glob, options), (error) => {
      assert(error instanceof Refusal);
      assert.equal(error.outcome, "invalid");
      assert.match(error.message, said);
      return true;
    }, glob);
  }
  assert.equal(matches("a..b/...", "a..b/..."), true);
  assert.equal(matches("a!b", "a!b"), true);
});

Deno.test("scenario 98: the start folder, the tree, the absolute form", () => {
  const facts = (glob: string, options?: GlobOptions) => {
    const { tree, unknownTree, absolute, start, startPath, wild } = compileGlob(glob, options);
    return { tree, unknownTree, absolute, start, startPath, wild };
  };
  const plain = { tree: undefined, unknownTree: undefined, absolute: false };
  assert.deepEqual(facts("src/te?t/*.ts"), { ...plain, start: ["src"], startPath: "src", wild: true });
  assert.deepEqual(facts("src/./a.ts"), { ...plain, start: ["src", "a.ts"], startPath: "src/a.ts", wild: false });
  assert.deepEqual(facts("**"), { ...plain, start: [], startPath: "", wild: true });
  assert.deepEqual(facts("lib:a/*"), { ...plain, tree: "lib", start: ["a"], startPath: "a", wild: true });
  assert.deepEqual(facts("lib:"), { ...plain, tree: "lib", start: [], startPath: "", wild: false });
  assert.deepEqual(facts("lib:a*", { isTree: () => false }), {
    ...plain,
    unknownTree: "lib",
    start: [],
    startPath: "",
    wild: true,
  });
  assert.deepEqual(facts("c:a/*"), { ...plain, start: ["c:a"], startPath: "c:a", wild: true });
  assert.deepEqual(facts("/t/work/*"), {
    ...plain,
    absolute: true,
    start: ["t", "work"],
    startPath: "/t/work",
    wild: true,
  });
  assert.deepEqual(facts("/*"), { ...plain, absolute: true, start: [], startPath: "/", wild: true });
  assert.deepEqual(facts("lib:/t/a"), {
    ...plain,
    tree: "lib",
    absolute: true,
    start: ["t", "a"],
    startPath: "/t/a",
    wild: false,
  });
  assert.deepEqual(facts("C:\\*", { windows: true }), {
    ...plain,
    absolute: true,
    start: ["C:"],
    startPath: "C:/",
    wild: true,
  });
  assert.deepEqual(facts("\\\\srv\\share\\*", { windows: true }), {
    ...plain,
    absolute: true,
    start: ["srv", "share"],
    startPath: "//srv/share",
    wild: true,
  });

  const placed = compileGlob("/t/work/src/**/*.ts").at(["src"]);
  assert.equal(placed.absolute, false);
  assert.equal(placed.matches("src/a/b.ts"), true);
  assert.equal(placed.matches("t/work/src/b.ts"), false);
  const odd = compileGlob("/t/x/*").at(["a*b"]);
  assert.equal(odd.matches("a*b/c"), true);
  assert.equal(odd.matches("axb/c"), false);
});

Deno.test("a glob to leave out takes a matched folder with everything below it", () => {
  assert.equal(matches("**/build", "a/build/x/y", { exclude: true }), true);
  assert.equal(matches("**/build", "a/build", { exclude: true }), true);
  assert.equal(matches("**/build", "a/builds/x", { exclude: true }), false);
  assert.equal(matches("*.min.js", "x.min.js/a", { exclude: true }), true);
  assert.equal(matches("*.min.js", "x.min.js/a"), false);
  assert.equal(matches("12:30*", "12:30.log", { exclude: true }), true);
});

Deno.test("folders that cannot hold a match need not be entered", () => {
  const table: [glob: string, enter: string[], skip: string[]][] = [
    ["src/*.ts", ["", "src", "SRC"], ["src/x", "s", "srcs", "docs"]],
    ["src/*/a/*.ts", ["src", "src/x", "src/x/a"], ["src/x/b", "src/x/a/c"]],
    ["src/**/*.ts", ["src", "src/x/y"], ["doc"]],
    ["src/a**b/c", ["src", "src/a", "src/ax/y"], ["src/x"]],
    ["src", ["", "src", "src/a/b"], ["lib"]],
    ["src/a", ["src", "src/a/b"], ["src/b"]],
    ["*", [""], ["a"]],
    ["caf\u00e9/*", ["CAFE\u0301"], ["cafe"]],
  ];
  for (const [glob, enter, skip] of table) {
    for (const folder of enter) {
      assert.equal(compileGlob(glob).couldMatchBelow(folder), true, `${glob} enters ${folder}`);
    }
    for (const folder of skip) {
      assert.equal(compileGlob(glob).couldMatchBelow(folder), false, `${glob} skips ${folder}`);
    }
  }
});

/** The table of §2.6 read word for word, one character at a time, trying everything. */
function model(glob: readonly string[], path: readonly string[], atStart = true): boolean {
  if (glob.length === 0) return path.length === 0;
  const [head, ...rest] = glob;
  if (head === "*" && glob[1] === "*") {
    const whole = atStart && glob[2] === "/";
    const after = glob.slice(whole ? 3 : 2);
    if (model(after, path, whole)) return true;
    return path.some((character, i) => (!whole || character === "/") && model(after, path.slice(i + 1), whole));
  }
  if (head === "*") {
    return model(rest, path, false) || (path.length > 0 && path[0] !== "/" && model(glob, path.slice(1), false));
  }
  if (path.length === 0) return false;
  const same = head === "?" ? path[0] !== "/" : new RegExp(`^${RegExp.escape(head)}$`, "iu").test(path[0]);
  return same && model(rest, path.slice(1), head === "/");
}

const letters = (...characters: string[]) =>
  fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength: 5 });
const joined = (part: fc.Arbitrary<string>) =>
  fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const anyGlob = joined(fc.oneof(letters("a", "B", "*", "?", ".", "é", "😀", "s"), fc.constant("**")));
const anyPath = joined(letters("a", "b", ".", "É", "e\u0301", "😀", "ſ"));

/** A path, and a glob made of it by putting wildcards in, so that many match. */
const pair = fc.oneof(
  fc.tuple(anyGlob, anyPath),
  fc.tuple(anyPath, fc.infiniteStream(fc.nat(11))).map(([path, choices]) => {
    const put = (character: string) => ["*", "?", "**", "", character.toUpperCase()][choices.next().value] ?? character;
    return [[...path].map(put).join(""), path];
  }),
).filter((texts) => texts.every((text) => text !== "" && !text.startsWith("/") && !text.split("/").includes("..")));

Deno.test("any glob means what the table says", () => {
  fc.assert(
    fc.property(pair, ([written, path]) => {
      const names = (text: string) => text.split("/").filter((part) => part !== "." && part !== "");
      fc.pre(names(path).join("/") === path);
      const glob = [...names(written).join("/").normalize("NFC")];
      const text = [...path.normalize("NFC")];
      const expected = /[*?]/.test(written)
        ? model(glob, text)
        : glob.length === 0 || model(glob, text) || model([...glob, "/", "*", "*"], text);
      assert.equal(matches(written, path), expected);

      const left = text.some((character, i) => character === "/" && model(glob, text.slice(0, i))) || model(glob, text);
      assert.equal(matches(written, path, { exclude: true }), left || glob.length === 0);
    }),
    { numRuns: 5000 },
  );
});

Deno.test("a folder above a match is never skipped", () => {
  fc.assert(
    fc.property(pair, ([written, path]) => {
      const glob = compileGlob(written);
      if (!glob.matches(path)) return;
      for (let i = path.lastIndexOf("/"); i > 0; i = path.lastIndexOf("/", i - 1)) {
        assert.equal(glob.couldMatchBelow(path.slice(0, i)), true);
      }
    }),
    { numRuns: 5000 },
  );
});

Deno.test("the start folder lies above every match", () => {
  fc.assert(fc.property(pair, ([written, path]) => {
    const glob = compileGlob(written);
    if (glob.matches(path)) assert.equal(compileGlob(glob.start.join("/") || ".").matches(path), true);
  }));
});

Deno.test("many stars cost no more than the product of the lengths", () => {
  const began = performance.now();
  assert.equal(matches("*a".repeat(40) + "b*", "a".repeat(4000)), false);
  assert.equal(matches("**a".repeat(40) + "b*", "a".repeat(2000)), false);
  assert.equal(matches("**/a*a*a*b/".repeat(20) + "x*", "aaaaaaa/".repeat(300) + "y"), false);
  assert(performance.now() - began < 2000);
});
