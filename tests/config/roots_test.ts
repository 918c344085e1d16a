import { parseRoots } from "../../src/config/roots.ts";
import { assert, Project, refused } from "./support.ts";

const LINUX = { windows: false, ignoreCase: false };

Deno.test("names of --root", () => {
  const named = (...roots: string[]) => parseRoots(roots, LINUX).map(({ name, path }) => [name, path]);
  assert.deepEqual(named("a", "b", "c"), [["root", "a"], ["root1", "b"], ["root2", "c"]]);
  assert.deepEqual(named("docs=a=b", "x", "./k=v", "a=b"), [["docs", "a=b"], ["root", "x"], ["root1", "./k=v"], [
    "root2",
    "a=b",
  ]]);
  refused("invalid", () => named("scratch=a"), "reserved");
  refused("invalid", () => named("aa=x", "aa=y"), "one name");
  refused("invalid", () => named("x", "root=y"), "one name");
  refused("invalid", () => named("aa="), "empty");
  refused("invalid", () => named(""), "empty");
  refused("invalid", () => parseRoots(["aa=x", "AA=y"], { windows: false, ignoreCase: true }), "one name");
});

/** Scenario 49. */
Deno.test("--root replaces the configuration, grants list read, has no tasks", () => {
  using project = new Project();
  project.mkdir("docs"), project.mkdir("src");
  project.file(".fettler.json", "{");
  const { boundary, levels, tasks, origin, source } = project.load({ roots: ["docs", "code=src"], config: "nowhere" });
  assert.deepEqual(boundary.trees.map(({ name, path, can, scopes }) => ({ name, path, can, scopes })), [
    { name: "root", path: project.path("docs"), can: ["list", "read"], scopes: [] },
    { name: "code", path: project.path("src"), can: ["list", "read"], scopes: [] },
  ]);
  assert.deepEqual([tasks, origin, source, boundary.inForce], [[], "root", undefined, []]);
  assert.deepEqual(levels.guardrails, { on: false });
});

Deno.test("--root at what cannot be a tree", () => {
  using project = new Project();
  project.file("text");
  project.mkdir("docs");
  refused("not-found", () => project.load({ roots: ["gone"] }), project.path("gone"));
  refused("invalid", () => project.load({ roots: ["text"] }), "no folder");
  refused("invalid", () => project.load({ roots: ["docs", "aa=./docs/"] }), "one folder");
});
