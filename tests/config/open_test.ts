import type { System } from "../../src/config/system.ts";
import { thisSystem } from "../../src/config/system.ts";
import { assert, Project, refused, systemWith } from "./support.ts";

const WORKING = ["list", "read", "create", "update", "rename", "delete"];
const LOOKING = ["list", "read"];

/** Scenario 39. */
Deno.test("no file: one tree, the launch folder, all but execute", () => {
  using project = new Project();
  const { boundary, levels, origin, tasks, source } = project.load();
  const { dev, ino } = Deno.statSync(project.folder);
  assert.deepEqual(boundary.trees, [
    { name: "work", path: project.folder, real: project.folder, identity: { dev, ino }, can: WORKING, scopes: [] },
  ]);
  assert.deepEqual(boundary.generated, [".git", "bin", "obj", "artifacts", "node_modules"]);
  assert.deepEqual(levels, { tools: { on: true }, guardrails: { on: false }, screenings: { on: false } });
  assert.deepEqual([origin, tasks, source, boundary.inForce], ["none", [], undefined, []]);
});

Deno.test("the tools level with a file is the file's folder", () => {
  using project = new Project();
  project.file(".fettler.json", {});
  project.mkdir("a/b");
  const { boundary, origin } = project.load({ folder: project.path("a/b") });
  assert.deepEqual(boundary.trees.map(({ name, path, can, declared }) => ({ name, path, can, declared })), [
    { name: "work", path: project.folder, can: WORKING, declared: undefined },
  ]);
  assert.equal(origin, "file");
});

/** Scenario 40. */
Deno.test("the tools level is refused where it would be too wide", () => {
  using project = new Project();
  const home = project.mkdir("homes/me");
  const below = project.mkdir("homes/me/app");
  project.link("homes/me", "link");
  const other = project.mkdir("other");
  const temp = project.mkdir("temp");
  const system = systemWith({ HOME: other, TMPDIR: temp }, { accountHome: () => home });
  const at = (folder: string) => () => project.load({ folder }, system);
  refused("invalid", at("/"), "root of a file system", '"trees"');
  refused("invalid", at(home), "is your home folder");
  refused("invalid", at(project.path("link")), "is your home folder");
  refused("invalid", at(project.path("homes")), "holds your home folder");
  refused("invalid", at(project.folder), "holds your home folder");
  refused("invalid", at(other), "is your home folder");
  refused("invalid", at(temp), "temp folder");
  refused("invalid", () => project.load({ folder: "/tmp" }), "temp folder");
  assert.equal(project.load({ folder: below }, system).boundary.trees[0].path, below);
  refused("invalid", () => project.load({ folder: home, noConfig: true }, system), "is your home folder");
  project.file("homes/me/.fettler.json", {});
  refused("invalid", at(below), "is your home folder");
  project.file("homes/me/.fettler.json", { guardrails: { trees: { home: { path: "." } } } });
  assert.deepEqual(project.load({ folder: below }, system).boundary.trees[0].can, WORKING);
});

Deno.test("the account's home is found whatever HOME says", () => {
  assert.equal(thisSystem.accountHome(), thisSystem.accountHome());
  if (Deno.build.os === "linux") assert.ok(thisSystem.accountHome()?.startsWith("/"));
});

Deno.test("--no-config: work may be looked at, files are not read", () => {
  using project = new Project();
  project.file(".fettler.json", "{");
  const { boundary, origin } = project.load({ noConfig: true });
  assert.deepEqual(boundary.trees.map(({ name, can }) => [name, can]), [["work", LOOKING]]);
  assert.equal(origin, "no-config");
});

/** Scenario 45. */
Deno.test("the tree at the file's own folder may be worked in, however it is spelled", () => {
  using project = new Project();
  const base = project.folder.slice(project.folder.lastIndexOf("/") + 1);
  project.mkdir("app/sub");
  project.link("app", "alias");
  const canOf = (path: string) => {
    project.file("app/.fettler.json", { guardrails: { trees: { work: { path } } } });
    return project.load({ folder: project.path("app") }).boundary.trees[0].can;
  };
  for (const path of [".", "./", "../app", "sub/..", project.path("app"), "../alias", `../../${base}/alias`]) {
    assert.deepEqual(canOf(path), WORKING, path);
  }
  for (const path of ["..", "sub", "/usr"]) assert.deepEqual(canOf(path), LOOKING, path);
});

Deno.test("declared and real path, identity", () => {
  using project = new Project();
  project.mkdir("real/notes");
  project.link("real", "link");
  const file = project.file("app/.fettler.json", {
    guardrails: { trees: { work: { path: "." }, notes: { path: "../link/notes", can: [] } } },
  });
  const [, notes] = project.load({ folder: project.path("app") }).boundary.trees;
  const { dev, ino } = Deno.statSync(project.path("real/notes"));
  assert.deepEqual(notes, {
    name: "notes",
    path: project.path("link/notes"),
    real: project.path("real/notes"),
    identity: { dev, ino },
    can: [],
    scopes: [],
    declared: file,
  });
});

/** Scenario 8. */
Deno.test("a tree whose folder is not there", () => {
  using project = new Project();
  const file = project.file(".fettler.json", {
    guardrails: {
      trees: { work: { path: "." }, gone: { path: "gone" }, home: { path: "~/x" }, win: { path: "C:/x" } },
    },
  });
  const told = refused("not-found", () => project.load(), `${file}:1:`, `"gone" is not there: ${project.path("gone")}`);
  assert.match(told, /"home".*variables have no meaning/);
  assert.match(told, /"win" is not there: C:\/x \(a path of Windows\)/);
  const { configuration, missing } = project.source().survey();
  assert.deepEqual(configuration.boundary.trees.map(({ name }) => name), ["work"]);
  assert.deepEqual(missing.map(({ name }) => name), ["gone", "home", "win"]);
  assert.throws(() => Deno.lstatSync(project.path("gone")));
});

Deno.test("a tree that is no folder, and two trees on one folder", () => {
  using project = new Project();
  project.file("text");
  project.mkdir("sub");
  project.link("sub", "alias");
  project.file(".fettler.json", { guardrails: { trees: { text: { path: "text" } } } });
  refused("invalid", () => project.load(), '"text" is no folder');
  project.file(".fettler.json", { guardrails: { trees: { under: { path: "text/x" } } } });
  refused("not-found", () => project.load(), '"under"');
  project.file(".fettler.json", { guardrails: { trees: { sub: { path: "sub" }, same: { path: "alias" } } } });
  refused("invalid", () => project.load(), '"sub" and "same" are one folder');
  project.file(".fettler.json", { guardrails: { trees: { work: { path: "." }, sub: { path: "sub" } } } });
  assert.equal(project.load().boundary.trees.length, 2);
});

Deno.test("a tree's folder that the system does not let us look at", () => {
  using project = new Project();
  project.file(".fettler.json", { guardrails: { trees: { work: { path: "shut/work" } } } });
  const system = systemWith({}, {
    realPath(path) {
      if (path.includes("shut")) throw new Deno.errors.PermissionDenied("no");
      return Deno.realPathSync(path);
    },
  });
  refused("denied", () => project.load({}, system), "may not read it");
});

Deno.test("scopes: real, identity, files, not there, in no need of a folder", () => {
  using project = new Project();
  project.file("docs/readme.md");
  project.link("docs", "alias");
  project.file(".fettler.json", {
    guardrails: {
      trees: {
        work: {
          path: ".",
          scopes: { "alias": { can: ["list"] }, "docs/readme.md": { can: [] }, "not/there/yet": { can: [] } },
        },
      },
    },
  });
  const { scopes } = project.load().boundary.trees[0];
  const identity = (path: string) => {
    const { dev, ino } = Deno.statSync(project.path(path));
    return { dev, ino };
  };
  assert.deepEqual(scopes.map(({ path, real, identity }) => ({ path, real, identity })), [
    { path: "alias", real: project.path("docs"), identity: identity("docs") },
    { path: "docs/readme.md", real: project.path("docs/readme.md"), identity: identity("docs/readme.md") },
    { path: "not/there/yet", real: undefined, identity: undefined },
  ]);
});

Deno.test("a scope that leaves its tree through a link", () => {
  using project = new Project();
  project.mkdir("app"), project.mkdir("outside/deep");
  project.link("../outside", "app/out");
  project.link("../nowhere", "app/dangling");
  project.link("dangling", "app/twice");
  project.link("loop", "app/loop");
  const scoped = (path: string) => {
    project.file("app/.fettler.json", {
      guardrails: { trees: { work: { path: ".", scopes: { [path]: { can: [] } } } } },
    });
    return project.load({ folder: project.path("app") }).boundary.trees[0].scopes[0];
  };
  for (const path of ["out", "out/deep", "out/not/there", "dangling", "dangling/x", "twice"]) {
    refused("invalid", () => scoped(path), `"${path}" leads outside its tree "work"`);
  }
  assert.equal(scoped("loop").real, undefined);
});

Deno.test("two scopes that lead to one place", () => {
  using project = new Project();
  project.file("docs/a");
  project.link("docs", "alias");
  Deno.linkSync(project.path("docs/a"), project.path("hard"));
  const scopes = (...paths: string[]) => {
    const scopes = Object.fromEntries(paths.map((path) => [path, { can: [] }]));
    project.file(".fettler.json", { guardrails: { trees: { work: { path: ".", scopes } } } });
    return project.load().boundary.trees[0].scopes;
  };
  refused("invalid", () => scopes("docs", "alias"), '"docs" and "alias" lead to one place');
  refused("invalid", () => scopes("docs/a", "alias/a"), "lead to one place");
  assert.equal(scopes("docs/a", "hard").length, 2);
});

Deno.test("screens join the scopes of a tree, or stand alone", () => {
  using project = new Project();
  const file = project.file(".fettler.json", {
    guardrails: { trees: { work: { path: ".", can: ["list", "read"], scopes: { a: { can: [] }, b: { can: [] } } } } },
    screenings: { trees: { work: { screen: false, scopes: { "./b/": { screen: true }, c: { screen: ["-legal"] } } } } },
  });
  const [work] = project.load().boundary.trees;
  assert.deepEqual(work.screen, []);
  assert.deepEqual(work.scopes, [
    { path: "a", declared: file, can: [] },
    { path: "b", declared: file, can: [], screen: ["identifiers", "clinical", "legal", "scientific"] },
    { path: "c", declared: file, screen: ["identifiers", "clinical", "scientific"] },
  ]);
});

Deno.test("a case-blind mount: the spelling of the disk is told", () => {
  using project = new Project();
  project.mkdir("Vendor/Deep");
  project.file(".fettler.json", {
    guardrails: { trees: { work: { path: ".", scopes: { "vendor/deep": { can: [] }, "VENDOR": { can: [] } } } } },
  });
  const blind = blindSystem(project);
  const { scopes } = project.load({}, blind).boundary.trees[0];
  assert.deepEqual(scopes.map(({ path, real }) => [path, real]), [
    ["vendor/deep", project.path("Vendor/Deep")],
    ["VENDOR", project.path("Vendor")],
  ]);
  assert.ok(scopes.every(({ identity }) => identity));
  project.file(".fettler.json", {
    guardrails: { trees: { work: { path: ".", scopes: { vendor: { can: [] }, VENDOR: { can: [] } } } } },
  });
  refused("invalid", () => project.load({}, blind), '"vendor" and "VENDOR" lead to one place');
});

/** Linux over a disk below the project that does not heed case, and gives a path back as it was asked for. */
function blindSystem(project: Project): System {
  const onDisk = (path: string) => {
    if (!path.startsWith(project.folder + "/")) return path;
    let at = project.folder;
    for (const segment of path.slice(at.length + 1).split("/")) {
      const names = [...Deno.readDirSync(at)].map(({ name }) => name);
      at += "/" + (names.find((name) => name.toLowerCase() === segment.toLowerCase()) ?? segment);
    }
    return at;
  };
  return systemWith({}, {
    lstat: (path) => Deno.lstatSync(onDisk(path)),
    stat: (path) => Deno.statSync(onDisk(path)),
    realPath: (path) => (Deno.realPathSync(onDisk(path)), path),
  });
}
