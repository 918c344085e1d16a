import { ClientFolderFinder, projectKey } from "../../src/config/found.ts";
import { assert, Project, refused, systemWith } from "./support.ts";

const uid = Deno.uid();
const KEY = "-home-me-app";
const LAUNCH = "/home/me/app";

/** A temp folder and a home, and a finder that looks in them. */
class Client extends Project {
  readonly claude = this.mkdir(`temp/claude-${uid}`);
  readonly projects = this.mkdir("home/.claude/projects");
  readonly system = systemWith({ TMPDIR: this.path("temp"), HOME: this.path("home") });
  readonly finder = new ClientFolderFinder(this.system);

  constructor() {
    super();
    Deno.chmodSync(this.claude, 0o700);
  }

  scratchpad(session: string, age: number, base = `claude-${uid}`): string {
    this.mkdir(`temp/${base}/${KEY}/${session}/scratchpad`);
    this.age(`temp/${base}/${KEY}/${session}`, age);
    return this.path(`temp/${base}/${KEY}/${session}/scratchpad`);
  }

  results(session: string, age: number): string {
    this.mkdir(`home/.claude/projects/${KEY}/${session}/tool-results`);
    this.age(`home/.claude/projects/${KEY}/${session}`, age);
    return this.path(`home/.claude/projects/${KEY}/${session}/tool-results`);
  }

  /** Sets a folder's time back by so many seconds. */
  age(relative: string, seconds: number): void {
    const time = new Date(Date.now() - seconds * 1000);
    Deno.utimeSync(this.path(relative), time, time);
  }

  paths(launch = LAUNCH, configured?: string): Record<string, string> {
    return Object.fromEntries(this.finder.find(launch, configured).found.map(({ name, path }) => [name, path]));
  }
}

Deno.test("the key of a project", () => {
  assert.equal(projectKey("/home/me/app"), "-home-me-app");
  assert.equal(projectKey("/home/me/my.app_é"), "-home-me-my-app--");
  assert.equal(projectKey("C:\\src\\app"), "C--src-app");
});

Deno.test("nothing there", () => {
  using client = new Client();
  assert.deepEqual(client.finder.find(LAUNCH), { found: [], passedOver: [] });
});

Deno.test("the newest session that holds the folder wins", () => {
  using client = new Client();
  client.scratchpad("old", 500);
  const newer = client.scratchpad("newer", 100);
  client.mkdir(`temp/claude-${uid}/${KEY}/newest-but-empty`);
  assert.deepEqual(client.paths(), { scratch: newer });
  assert.deepEqual(client.finder.find(LAUNCH).found, [{
    name: "scratch",
    path: newer,
    can: ["list", "read", "create", "update", "rename", "delete"],
    how: "newest session of this project",
  }]);
});

Deno.test("both names of the temp folder count", () => {
  using client = new Client();
  client.scratchpad("a", 500);
  const shared = client.scratchpad("b", 100, "claude");
  Deno.chmodSync(client.path("temp/claude"), 0o755);
  assert.equal(client.paths().scratch, shared);
});

Deno.test("tool-results take the scratchpad's session when it has one", () => {
  using client = new Client();
  client.scratchpad("a", 100);
  const newest = client.results("b", 10);
  assert.equal(client.paths()["tool-results"], newest);
  const own = client.results("a", 500);
  const found = client.finder.find(LAUNCH).found.find(({ name }) => name === "tool-results");
  assert.deepEqual(found, {
    name: "tool-results",
    path: own,
    can: ["list", "read"],
    how: "session of the scratch folder",
  });
});

Deno.test("memory, also where CLAUDE_CONFIG_DIR puts it", () => {
  using client = new Client();
  const memory = client.mkdir(`home/.claude/projects/${KEY}/memory`);
  assert.deepEqual(client.paths(), { memory });
  const elsewhere = client.mkdir(`conf/projects/${KEY}/memory`);
  const system = systemWith({ HOME: client.path("home"), CLAUDE_CONFIG_DIR: client.path("conf") });
  assert.deepEqual(new ClientFolderFinder(system).find(LAUNCH).found.map(({ path }) => path), [elsewhere]);
});

Deno.test("the configuration file's folder, when nothing is found for the launch folder", () => {
  using client = new Client();
  const scratch = client.scratchpad("a", 10);
  assert.deepEqual(client.paths("/home/me/app/sub", LAUNCH), { scratch });
  client.mkdir(`home/.claude/projects/-home-me-app-sub/memory`);
  assert.deepEqual(Object.keys(client.paths("/home/me/app/sub", LAUNCH)), ["memory"]);
});

Deno.test("no segment may be a link", () => {
  using client = new Client();
  client.mkdir(`elsewhere/${KEY}/a/scratchpad`);
  const steps = [`temp/claude-${uid}`, `temp/claude-${uid}/${KEY}`, `temp/claude-${uid}/${KEY}/a/scratchpad`];
  const targets = ["elsewhere", `elsewhere/${KEY}`, `elsewhere/${KEY}/a/scratchpad`];
  steps.forEach((step, index) => {
    Deno.removeSync(client.claude, { recursive: true });
    client.mkdir(step.slice(0, step.lastIndexOf("/")));
    Deno.symlinkSync(client.path(targets[index]), client.path(step));
    if (index > 0) Deno.chmodSync(client.claude, 0o700);
    const { found, passedOver } = client.finder.find(LAUNCH);
    assert.deepEqual(found, []);
    assert.deepEqual(passedOver, [{ name: "scratch", path: client.path(step), why: "it is a link" }]);
    Deno.removeSync(client.path(step));
    client.mkdir(`temp/claude-${uid}`);
  });
  // A session that is a link is no session.
  Deno.removeSync(client.path(`temp/claude-${uid}/${KEY}/a`));
  Deno.symlinkSync(client.path(`elsewhere/${KEY}/a`), client.path(`temp/claude-${uid}/${KEY}/a`));
  Deno.chmodSync(client.claude, 0o700);
  assert.deepEqual(client.finder.find(LAUNCH).found, []);
  Deno.symlinkSync(client.path("elsewhere"), client.path(`home/.claude/projects/${KEY}`));
  assert.deepEqual(client.finder.find(LAUNCH).passedOver.map(({ name }) => name), ["memory"]);
});

Deno.test("the temp folder itself may be a link", () => {
  using client = new Client();
  client.scratchpad("a", 10);
  client.link("temp", "alias");
  const system = systemWith({ TMPDIR: client.path("alias") });
  const [scratch] = new ClientFolderFinder(system).find(LAUNCH).found;
  assert.equal(scratch.path, client.path(`alias/claude-${uid}/${KEY}/a/scratchpad`));
});

Deno.test("the client's temp folder is the caller's and nobody else may write in it", () => {
  using client = new Client();
  const scratch = client.scratchpad("a", 10);
  for (const mode of [0o770, 0o702, 0o1777]) {
    Deno.chmodSync(client.claude, mode);
    const { found, passedOver } = client.finder.find(LAUNCH);
    assert.deepEqual([found, passedOver], [[], [{
      name: "scratch",
      path: client.claude,
      why: "others may write in it",
    }]]);
  }
  Deno.chmodSync(client.claude, 0o755);
  assert.deepEqual(client.paths(), { scratch });
  if (uid !== 0) return;
  Deno.chownSync(client.claude, 12345, null);
  assert.equal(client.finder.find(LAUNCH).passedOver[0].why, "it belongs to another account");
});

Deno.test("looked up again when the folder that holds the sessions has changed", () => {
  using client = new Client();
  let listings = 0;
  const system = systemWith({ TMPDIR: client.path("temp") }, {
    readFolder(path) {
      listings++;
      return Deno.readDirSync(path);
    },
  });
  const finder = new ClientFolderFinder(system);
  const find = () => finder.find(LAUNCH).found.map(({ path }) => path);
  const first = client.scratchpad("a", 500);
  client.age(`temp/claude-${uid}/${KEY}`, 400);
  assert.deepEqual([find(), find(), find(), listings], [[first], [first], [first], 1]);
  const second = client.scratchpad("b", 100);
  assert.deepEqual(find(), [second]);
  client.age(`temp/claude-${uid}/${KEY}`, 50);
  find();
  listings = 0;
  Deno.removeSync(second, { recursive: true });
  assert.deepEqual([find(), find()], [[first], [first]]);
  assert.equal(listings, 0);
});

Deno.test("a scratchpad that the newest session gets later is found", () => {
  using client = new Client();
  client.mkdir(`temp/claude-${uid}/${KEY}/a`);
  client.age(`temp/claude-${uid}/${KEY}`, 400);
  assert.deepEqual(client.paths(), {});
  const scratch = client.mkdir(`temp/claude-${uid}/${KEY}/a/scratchpad`);
  client.age(`temp/claude-${uid}/${KEY}`, 400);
  assert.deepEqual(client.paths(), { scratch });
});

Deno.test("Windows: no account in the name, names in any case", () => {
  using client = new Client();
  client.mkdir("temp/claude/C--SRC-App/s/scratchpad");
  const system = systemWith({ TEMP: client.path("temp") }, {
    names: { windows: true, ignoreCase: true },
    uid: () => null,
    ...Object.fromEntries(
      (["lstat", "stat", "realPath", "readFolder"] as const).map((call) => {
        const real = {
          lstat: Deno.lstatSync,
          stat: Deno.statSync,
          realPath: Deno.realPathSync,
          readFolder: Deno.readDirSync,
        };
        return [call, (path: string) => real[call](path.replaceAll("\\", "/"))];
      }),
    ),
  });
  const [scratch] = new ClientFolderFinder(system).find("c:\\src\\app").found;
  assert.ok(scratch.path.endsWith("\\temp\\claude\\C--SRC-App\\s\\scratchpad"), scratch.path);
});

Deno.test("found folders are trees after the declared ones, with screens, never beside --root", () => {
  using client = new Client();
  client.mkdir("app");
  const key = projectKey(client.path("app"));
  const scratch = client.mkdir(`temp/claude-${uid}/${key}/s/scratchpad`);
  const memory = client.mkdir(`home/.claude/projects/${key}/memory`);
  const launch = { folder: client.path("app") };
  const treesOf = (more = {}) =>
    client.load({ ...launch, ...more }, client.system).boundary.trees.map(({ name, can, screen, found }) => ({
      name,
      can: can.length,
      screen,
      found,
    }));
  const work = { name: "work", can: 6, screen: undefined, found: undefined };
  const scratchTree = { name: "scratch", can: 6, screen: undefined, found: "newest session of this project" };
  const memoryTree = { name: "memory", can: 6, screen: undefined, found: "memory of this project" };
  assert.deepEqual(treesOf(), [work, scratchTree, memoryTree]);
  assert.deepEqual(treesOf({ noConfig: true }), [{ ...work, can: 2 }, scratchTree, memoryTree]);
  assert.deepEqual(treesOf({ roots: ["."] }).map(({ name }) => name), ["root"]);
  client.file("app/.fettler.json", {
    guardrails: { trees: { work: { path: "." }, notes: { path: memory, can: [] } } },
    screenings: { trees: { scratch: { screen: ["legal"], scopes: { out: { screen: false } } } } },
  });
  assert.deepEqual(treesOf(), [work, { ...work, name: "notes", can: 0 }, { ...scratchTree, screen: ["legal"] }]);
  client.link("/usr", `temp/claude-${uid}/${key}/s/scratchpad/out`);
  refused("invalid", () => client.load(launch, client.system), '"out" leads outside its tree "scratch"');
  Deno.removeSync(scratch, { recursive: true });
  assert.deepEqual(treesOf().map(({ name }) => name), ["work", "notes"]);
});
