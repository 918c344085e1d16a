import { assert, Project, refused } from "./support.ts";

const WORK = { path: "." };

Deno.test("guardrails without a tree after the merge", () => {
  using project = new Project();
  const file = project.file(".fettler.json", { guardrails: {} });
  refused("invalid", () => project.load(), `${file}:1:15: `, "no tree", "leave the whole section out");
  project.file(".fettler.local.json", { guardrails: { trees: { work: WORK } } });
  assert.equal(project.load().boundary.trees[0].name, "work");
});

Deno.test("a section of the older form counts as one, also an empty one", () => {
  using project = new Project();
  for (const file of [{ trees: {} }, { tasks: {} }, { replacements: {} }]) {
    project.file(".fettler.json", file);
    refused("invalid", () => project.load(), "no tree");
  }
});

Deno.test("the overlay adds a tree, replaces a whole tree, adds a section", () => {
  using project = new Project();
  project.mkdir("one"), project.mkdir("two"), project.mkdir("three");
  const file = project.file(".fettler.json", {
    guardrails: {
      trees: { one: { path: "one", can: ["list"], scopes: { a: { can: [] } } }, two: { path: "two" } },
      generated: ["out"],
    },
  });
  const overlay = project.file(".fettler.local.json", {
    guardrails: { trees: { three: { path: "three" }, one: { path: "one", can: ["list", "read", "create"] } } },
    screenings: { trees: { two: { screen: ["legal"] } }, models: "models" },
  });
  const { boundary, levels, ...rest } = project.load();
  assert.deepEqual(
    boundary.trees.map(({ name, can, scopes, screen, declared }) => ({ name, can, scopes, screen, declared })),
    [
      { name: "one", can: ["list", "read", "create"], scopes: [], screen: undefined, declared: overlay },
      { name: "two", can: ["list", "read"], scopes: [], screen: ["legal"], declared: file },
      { name: "three", can: ["list", "read"], scopes: [], screen: undefined, declared: overlay },
    ],
  );
  assert.deepEqual(levels, {
    tools: { on: true },
    guardrails: { on: true, from: [file, overlay] },
    screenings: { on: true, from: [overlay] },
  });
  assert.deepEqual(boundary.generated, ["out"]);
  assert.deepEqual(boundary.inForce, [file, overlay]);
  assert.equal(rest.source, file);
  assert.equal(rest.overlay, overlay);
  assert.equal(rest.models, project.path("models"));
});

Deno.test("tasks ignore case, replacements do not, generated and models are the overlay's", () => {
  using project = new Project();
  project.file(".fettler.json", {
    guardrails: {
      trees: { work: WORK },
      tasks: { build: { run: "make {a}" }, test: { run: "x", cwd: "sub" } },
      replacements: { a: "1", b: "2" },
      generated: ["out"],
    },
    screenings: { models: "m1" },
  });
  project.file(".fettler.local.json", {
    guardrails: { tasks: { Test: { run: "y {A}" } }, replacements: { A: "3", b: "4" }, generated: [] },
    screenings: { models: "m2" },
  });
  const { tasks, replacements, boundary, models } = project.load();
  assert.deepEqual(tasks.map(({ name, run, cwd }) => [name, run, cwd]), [["build", "make {a}", undefined], [
    "Test",
    "y {A}",
    undefined,
  ]]);
  assert.deepEqual({ ...replacements }, { a: "1", b: "4", A: "3" });
  assert.deepEqual(boundary.generated, []);
  assert.equal(models, project.path("m2"));
});

Deno.test("tree names compare by the system's rule", () => {
  using project = new Project();
  project.mkdir("sub");
  project.file(".fettler.json", {
    guardrails: { trees: { work: WORK } },
    screenings: { trees: { WORK: { screen: true } } },
  });
  refused("invalid", () => project.load(), "WORK", 'did you mean "work"?');
});

Deno.test("a broken overlay is refused, never ignored", () => {
  using project = new Project();
  project.file(".fettler.json", { guardrails: { trees: { work: WORK } } });
  const overlay = project.file(".fettler.local.json", "{");
  refused("invalid", () => project.load(), `${overlay}:1:2: `);
  project.file(".fettler.local.json", { guardrails: { tree: {} } });
  refused("invalid", () => project.load(), `${overlay}:1:16: unknown key`);
});

Deno.test("the two files may use different forms, but not for one tree's screen", () => {
  using project = new Project();
  project.file(".fettler.json", {
    trees: { work: { path: ".", screen: true, scopes: { a: { can: [], screen: [] } } } },
  });
  project.file(".fettler.local.json", { guardrails: { trees: { work: { path: ".", can: ["list"] } } } });
  const [work] = project.load().boundary.trees;
  assert.deepEqual(work.can, ["list"]);
  assert.deepEqual(work.screen, ["identifiers", "clinical", "legal", "scientific"]);
  assert.deepEqual(work.scopes.map(({ path, can, screen }) => ({ path, can, screen })), [
    { path: "a", can: undefined, screen: [] },
  ]);
  const overlay = project.file(".fettler.local.json", { screenings: { trees: { work: { screen: false } } } });
  refused("invalid", () => project.load(), `${overlay}:1:25: `, "another form");
});

Deno.test("an overlay's screens replace the tree's whole entry", () => {
  using project = new Project();
  project.file(".fettler.json", {
    guardrails: { trees: { work: WORK } },
    screenings: { trees: { work: { screen: true, scopes: { a: { screen: false } } } } },
  });
  project.file(".fettler.local.json", { screenings: { trees: { work: { scopes: { b: { screen: ["legal"] } } } } } });
  const [work] = project.load().boundary.trees;
  assert.equal(work.screen, undefined);
  assert.deepEqual(work.scopes.map(({ path, screen }) => [path, screen]), [["b", ["legal"]]]);
});

Deno.test("screens name declared trees, work at the tools level, and the client's folders", () => {
  using project = new Project();
  const file = project.file(".fettler.json", {
    screenings: { trees: { work: { screen: true }, scratch: { screen: true }, "tool-results": {}, memory: {} } },
  });
  const { boundary, levels } = project.load();
  assert.deepEqual(boundary.trees[0].screen?.length, 4);
  assert.deepEqual(levels.screenings, { on: true, from: [file] });
  assert.deepEqual(levels.guardrails, { on: false });
  project.file(".fettler.json", { screenings: { trees: { wrok: { screen: true } } } });
  refused("invalid", () => project.load(), `${file}:1:25: `, '"wrok"', 'did you mean "work"?');
  project.file(".fettler.json", { guardrails: { trees: { code: WORK } }, screenings: { trees: { work: {} } } });
  refused("invalid", () => project.load(), '"work"');
});

Deno.test("placeholders are judged on the merge", () => {
  using project = new Project();
  const tasks = { cut: { run: 'cut new {branch} "{ $_.Name }" {0} {{x}' } };
  const file = project.file(".fettler.json", {
    guardrails: { trees: { work: WORK }, tasks, replacements: { brunch: "", unused: "" } },
  });
  refused("invalid", () => project.load(), file, '"cut"', "{branch}", "brunch, unused");
  project.file(".fettler.local.json", { guardrails: { replacements: { branch: 'otter "; {x}' } } });
  assert.equal(project.load().replacements.branch, 'otter "; {x}');
  Deno.removeSync(project.path(".fettler.local.json"));
  project.file(".fettler.json", { guardrails: { trees: { work: WORK }, tasks: { a: { run: "x {constructor}" } } } });
  refused("invalid", () => project.load(), "{constructor}", "none is declared");
});
