import { assert, Project, refused, systemWith } from "./support.ts";

const trees = (name: string, path = ".") => ({ guardrails: { trees: { [name]: { path } } } });
const nameAt = (project: Project, folder: string, system = systemWith()) =>
  project.load({ folder: project.path(folder) }, system).boundary.trees.map(({ name, path }) => [name, path]);

/** Scenario 38. */
Deno.test("found by walking up, the nearest wins, paths count from the file's folder", () => {
  using project = new Project();
  project.mkdir("a/b/c"), project.mkdir("sibling");
  project.file(".fettler.json", trees("outer"));
  assert.deepEqual(nameAt(project, "a/b/c"), [["outer", project.folder]]);
  project.file("a/.fettler.json", trees("inner", "../sibling"));
  assert.deepEqual(nameAt(project, "a/b/c"), [["inner", project.path("sibling")]]);
  project.file("a/.fettler.json", trees("inner", "/usr"));
  assert.deepEqual(nameAt(project, "a/b"), [["inner", "/usr"]]);
});

/** Scenario 42. */
Deno.test("a nearer file that is wrong is never passed over", () => {
  using project = new Project();
  project.file(".fettler.json", trees("outer"));
  const file = project.file("a/.fettler.json", "{ oops");
  refused("invalid", () => nameAt(project, "a"), `${file}:1:3: not JSON`);
  Deno.removeSync(file);
  Deno.mkdirSync(file);
  refused("invalid", () => nameAt(project, "a"), "no regular file");
  Deno.removeSync(file);
  Deno.symlinkSync("/nowhere/at/all", file);
  refused("invalid", () => nameAt(project, "a"), "leads nowhere");
});

Deno.test("a pipe is refused without being opened", { ignore: Deno.build.os === "windows" }, () => {
  using project = new Project();
  new Deno.Command("mkfifo", { args: [project.path(".fettler.json")] }).outputSync();
  refused("invalid", () => project.load(), "no regular file");
});

Deno.test("an overlay without a file ends the walk", () => {
  using project = new Project();
  project.file(".fettler.json", trees("outer"));
  const overlay = project.file("a/.fettler.local.json", {});
  project.mkdir("a/b");
  refused("invalid", () => nameAt(project, "a/b"), overlay, "without a .fettler.json");
});

Deno.test("only 'no such entry' lets the walk go on", () => {
  using project = new Project();
  project.file(".fettler.json", trees("outer"));
  project.mkdir("a");
  const system = systemWith({}, {
    lstat(path) {
      if (path === project.path("a/.fettler.json")) throw new Deno.errors.PermissionDenied("no");
      return Deno.lstatSync(path);
    },
  });
  refused("denied", () => nameAt(project, "a", system), project.path("a/.fettler.json"), "may not read it");
});

/** Scenario 48. */
Deno.test("--config", () => {
  using project = new Project();
  project.mkdir("a");
  const file = project.file("conf/my.json", trees("named"));
  const load = (config: string, system = systemWith()) => project.load({ folder: project.path("a"), config }, system);
  assert.deepEqual(load("../conf/my.json").boundary.trees.map(({ name, path }) => [name, path]), [
    ["named", project.path("conf")],
  ]);
  assert.deepEqual(load(file).boundary.inForce, [file, project.path("conf/.fettler.local.json")]);
  assert.deepEqual(load(file).boundary.trees[0].can.length, 6);
  refused("not-found", () => load("nowhere.json"), project.path("a/nowhere.json"));
  refused("invalid", () => load(""), "--config");
  refused("invalid", () => load("."), "no regular file");
  const unreadable = systemWith({}, {
    readFile() {
      throw new Deno.errors.PermissionDenied("no");
    },
  });
  refused("denied", () => load(file, unreadable), file, "may not read it");
  const overlay = project.file("conf/.fettler.local.json", trees("added", "../a"));
  assert.equal(load(file).overlay, overlay);
});

Deno.test("a file of another account in a folder that everyone may write", { ignore: Deno.uid() !== 0 }, () => {
  using project = new Project();
  project.mkdir("open/a"), project.mkdir("elsewhere");
  const file = project.file("open/.fettler.json", trees("work"));
  Deno.chownSync(file, 12345, null);
  const load = () => project.load({ folder: project.path("open/a") });
  Deno.chmodSync(project.path("open"), 0o755);
  assert.equal(load().source, file);
  Deno.chmodSync(project.path("open"), 0o1777);
  refused("invalid", load, file, "another account", `--config ${file}`);
  assert.equal(project.load({ config: file }).source, file);
  Deno.removeSync(file);
  // Whose the link is counts as much as whose the file is.
  const target = project.file("elsewhere/x.json", trees("work"));
  Deno.symlinkSync(target, file);
  assert.equal(load().source, file);
  new Deno.Command("chown", { args: ["-h", "12345", file] }).outputSync();
  refused("invalid", load, "another account");
  Deno.removeSync(file);
  project.file("open/.fettler.json", trees("work"));
  assert.equal(load().source, file);
  Deno.chownSync(project.file("open/.fettler.local.json", {}), 12345, null);
  refused("invalid", load, ".fettler.local.json", "another account");
});

Deno.test("a configuration that is a link: paths count from where it was found, both files are in force", () => {
  using project = new Project();
  const target = project.file("store/real.json", trees("work"));
  project.mkdir("app");
  const link = project.link("../store/real.json", "app/.fettler.json");
  const { boundary, source } = project.load({ folder: project.path("app") });
  assert.equal(source, link);
  assert.deepEqual(boundary.trees.map(({ path, can }) => [path, can.length]), [[project.path("app"), 6]]);
  assert.deepEqual(boundary.inForce, [link, project.path("app/.fettler.local.json"), target]);
});
