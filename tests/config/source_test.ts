import { assert, Project, refused, systemWith } from "./support.ts";

const trees = (name: string, more: Record<string, unknown> = {}) => ({
  guardrails: { trees: { [name]: { path: ".", ...more } } },
});

/** Scenario 54. */
Deno.test("the file is read again before every call", () => {
  using project = new Project();
  const file = project.file(".fettler.json", trees("work"));
  const source = project.source();
  assert.deepEqual(source.load().tasks, []);
  project.file(".fettler.json", { guardrails: { trees: { work: { path: "." } }, tasks: { go: { run: "make" } } } });
  assert.deepEqual(source.load().tasks, [{ name: "go", run: "make", declared: file }]);
  project.file(".fettler.json", trees("work", { can: ["list"] }));
  assert.deepEqual(source.load().boundary.trees[0].can, ["list"]);
  project.file(".fettler.json", "{");
  for (const _ of [1, 2]) refused("invalid", () => source.load(), file);
  Deno.removeSync(file);
  for (const _ of [1, 2]) refused("not-found", () => source.load(), file, "not there any more");
  project.file(".fettler.json", trees("mended"));
  assert.equal(source.load().boundary.trees[0].name, "mended");
});

Deno.test("no file elsewhere ever takes its place", () => {
  using project = new Project();
  project.file(".fettler.json", trees("outer"));
  const inner = project.file("a/.fettler.json", trees("inner"));
  project.mkdir("a/b");
  const source = project.source({ folder: project.path("a/b") });
  assert.equal(source.load().source, inner);
  project.file("a/b/.fettler.json", trees("nearer"));
  assert.equal(source.load().source, inner);
  Deno.removeSync(inner);
  refused("not-found", () => source.load(), inner);
});

Deno.test("unreadable later, a folder later", () => {
  using project = new Project();
  const file = project.file(".fettler.json", trees("work"));
  let shut = false;
  const system = systemWith({}, {
    readFile(path) {
      if (shut && path === file) throw new Deno.errors.PermissionDenied("no");
      return Deno.readFileSync(path);
    },
  });
  const source = project.source({}, system);
  source.load();
  shut = true;
  refused("denied", () => source.load(), file);
  shut = false;
  source.load();
  Deno.removeSync(file);
  Deno.mkdirSync(file);
  refused("invalid", () => source.load(), "no regular file");
});

Deno.test("an overlay that appears is read, one that goes is missed until it is back", () => {
  using project = new Project();
  project.file(".fettler.json", trees("work"));
  const source = project.source();
  assert.equal(source.load().overlay, undefined);
  const overlay = project.file(".fettler.local.json", trees("work", { can: [] }));
  const { boundary, overlay: seen } = source.load();
  assert.deepEqual([boundary.trees[0].can, seen], [[], overlay]);
  project.file(".fettler.local.json", "[]");
  refused("invalid", () => source.load(), overlay);
  Deno.removeSync(overlay);
  for (const _ of [1, 2]) refused("not-found", () => source.load(), overlay, "not there any more");
  project.file(".fettler.local.json", {});
  assert.deepEqual(source.load().boundary.trees[0].can.length, 6);
});

Deno.test("a launch without a file takes one that appears in the launch folder, and no other", () => {
  using project = new Project();
  project.mkdir("a/b");
  const source = project.source({ folder: project.path("a/b") });
  assert.equal(source.load().origin, "none");
  project.file("a/.fettler.json", trees("above"));
  assert.equal(source.load().origin, "none");
  const file = project.file("a/b/.fettler.json", trees("here"));
  assert.equal(source.load().source, file);
  Deno.removeSync(file);
  refused("not-found", () => source.load(), file);
});

Deno.test("a launch with --no-config never takes one", () => {
  using project = new Project();
  const source = project.source({ noConfig: true });
  source.load();
  project.file(".fettler.json", trees("here"));
  assert.equal(source.load().origin, "no-config");
});

Deno.test("a tree's folder that goes, comes back as another, or is a link elsewhere", () => {
  using project = new Project();
  project.mkdir("notes"), project.mkdir("other");
  project.file(".fettler.json", { guardrails: { trees: { notes: { path: "notes" } } } });
  const source = project.source();
  const first = source.load().boundary.trees[0];
  Deno.renameSync(project.path("notes"), project.path("kept"));
  refused("not-found", () => source.load(), '"notes" is not there');
  project.mkdir("notes");
  assert.notEqual(source.load().boundary.trees[0].identity.ino, first.identity.ino);
  Deno.removeSync(project.path("notes"));
  project.link("other", "notes");
  assert.equal(source.load().boundary.trees[0].real, project.path("other"));
});

Deno.test("a scope that appears, and one that comes to lead outside", () => {
  using project = new Project();
  project.mkdir("app"), project.mkdir("outside");
  project.file("app/.fettler.json", trees("work", { scopes: { a: { can: [] } } }));
  const source = project.source({ folder: project.path("app") });
  assert.equal(source.load().boundary.trees[0].scopes[0].identity, undefined);
  project.mkdir("app/a");
  assert.ok(source.load().boundary.trees[0].scopes[0].identity);
  Deno.removeSync(project.path("app/a"));
  project.link("../outside", "app/a");
  refused("invalid", () => source.load(), '"a" leads outside');
});

Deno.test("the very same object while nothing has changed", () => {
  using project = new Project();
  project.file(".fettler.json", trees("work", { scopes: { a: { can: [] } } }));
  const source = project.source();
  const first = source.load();
  assert.equal(source.load(), first);
  project.file(".fettler.json", JSON.stringify(trees("work", { scopes: { a: { can: [] } } })) + "\n// a remark");
  assert.equal(source.load(), first);
  project.mkdir("a");
  const second = source.load();
  assert.notEqual(second, first);
  assert.equal(source.load(), second);
  const none = project.source({ noConfig: true });
  assert.equal(none.load(), none.load());
});

Deno.test("replacements are found by their own names only", () => {
  using project = new Project();
  project.file(".fettler.json", trees("work"));
  const { replacements } = project.load();
  assert.equal(replacements.constructor, undefined);
});
