import { branchOf } from "../../src/config/branch.ts";
import { assert, Project } from "./support.ts";

const HASH = "0123456789abcdef0123456789abcdef01234567";

Deno.test("a branch by name, at the top and above it", () => {
  using project = new Project();
  project.mkdir("a/b");
  assert.deepEqual(branchOf(project.path("a")), {});
  project.file(".git/HEAD", "ref: refs/heads/feature/otter-7\n");
  assert.deepEqual(branchOf(project.folder), { branch: "feature/otter-7" });
  assert.deepEqual(branchOf(project.path("a/b")), { branch: "feature/otter-7", repository: project.folder });
  project.file(".git/HEAD", "ref: refs/heads/main");
  assert.deepEqual(branchOf(project.folder), { branch: "main" });
});

Deno.test("a detached HEAD", () => {
  using project = new Project();
  project.file(".git/HEAD", `${HASH}\n`);
  assert.deepEqual(branchOf(project.folder), { detached: "0123456" });
  project.file(".git/HEAD", HASH + HASH.slice(0, 24));
  assert.deepEqual(branchOf(project.folder), { detached: "0123456" });
});

Deno.test("through a .git file, relative and absolute", () => {
  using project = new Project();
  project.file("main/.git/worktrees/w/HEAD", "ref: refs/heads/side\n");
  project.file("w/.git", "gitdir: ../main/.git/worktrees/w\n");
  assert.deepEqual(branchOf(project.path("w")), { branch: "side" });
  project.file("w/.git", `gitdir: ${project.path("main/.git/worktrees/w")}`);
  project.mkdir("w/deep");
  assert.deepEqual(branchOf(project.path("w/deep")), { branch: "side", repository: project.path("w") });
});

Deno.test("anything else says nothing, and the nearest repository counts", () => {
  using project = new Project();
  project.file(".git/HEAD", "ref: refs/heads/main\n");
  const heads = [
    "",
    "ref: refs/remotes/origin/x\n",
    "ref: refs/heads/\n",
    "ref: refs/heads/.invalid\n",
    "ref: refs/heads/a b\n",
    "ref: refs/heads/a\x1b[31m\n",
    "ref: refs/heads/a\nmore\n",
    HASH.slice(1),
    "ref: refs/heads/" + "x".repeat(5000),
    new Uint8Array([0xff, 0xfe]),
  ];
  for (const head of heads) {
    project.file("a/.git/HEAD", head);
    assert.deepEqual(branchOf(project.path("a")), {}, `${head}`);
  }
  Deno.removeSync(project.path("a/.git/HEAD"));
  assert.deepEqual(branchOf(project.path("a")), {});
  Deno.mkdirSync(project.path("a/.git/HEAD"));
  assert.deepEqual(branchOf(project.path("a")), {});
  Deno.removeSync(project.path("a/.git"), { recursive: true });
  project.file("a/.git", "nothing of note");
  assert.deepEqual(branchOf(project.path("a")), {});
  Deno.removeSync(project.path("a/.git"));
  Deno.symlinkSync("/nowhere", project.path("a/.git"));
  assert.deepEqual(branchOf(project.path("a")), {});
  Deno.removeSync(project.path("a/.git"));
  new Deno.Command("mkfifo", { args: [project.path("a/.git")] }).outputSync();
  assert.deepEqual(branchOf(project.path("a")), {});
});
