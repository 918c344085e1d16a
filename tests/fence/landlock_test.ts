/** The kernel fence: its table of rights, its answers to what the kernel may say, and attacks on the real thing. */
import assert from "node:assert/strict";
import {
  enterLandlock,
  enterWith,
  type How,
  type KernelCalls,
  type KernelPlan,
  rightsOf,
  rulesetOf,
} from "../../src/fence/landlock_linux.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { makeFolder } from "../support/tree.ts";
import { worldEntries } from "./landlock_attacks.ts";
import type { Order, Report } from "./landlock_child.ts";

// The table of rights.

Deno.test("a ruleset handles all that its ABI knows, no more", () => {
  const expected: Record<number, bigint[]> = {
    1: [0x1fffn],
    2: [0x3fffn],
    3: [0x7fffn],
    4: [0x7fffn, 3n],
    5: [0xffffn, 3n],
    6: [0xffffn, 3n, 3n],
    7: [0xffffn, 3n, 3n],
    8: [0xffffn, 3n, 3n],
    9: [0x1ffffn, 3n, 3n],
  };
  for (const [abi, attributes] of Object.entries(expected)) assert.deepEqual([...rulesetOf(Number(abi))], attributes);
  assert.deepEqual(rulesetOf(99), rulesetOf(9), "an unknown ABI is treated as the newest one that we know");
});

Deno.test("what is granted: a part of what is handled, on a file only what the kernel takes there", () => {
  // `LANDLOCK_ACCESS_FS_` EXECUTE, WRITE_FILE, READ_FILE, TRUNCATE, IOCTL_DEV: the kernel's own list for files.
  const onFiles = 0b1100_0000_0000_0111n;
  for (let abi = 1; abi <= 10; abi++) {
    for (const part of ["read", "write"] as const) {
      const [folder, file] = [rightsOf(abi, part, "folder"), rightsOf(abi, part, "file")];
      assert.equal(folder & ~rulesetOf(abi)[0], 0n, `ABI ${abi}: granted but not handled`);
      assert.equal(file & ~onFiles, 0n, `ABI ${abi}: a folder's right on a file`);
      assert.equal(file & ~folder, 0n);
    }
  }
  assert.equal(rightsOf(7, "read", "folder"), 0b1100n);
  assert.equal(rightsOf(7, "read", "file"), 0b0100n);
  assert.equal(rightsOf(1, "write", "folder"), 0x11ben);
  assert.equal(rightsOf(2, "write", "folder"), 0x31ben);
  assert.equal(rightsOf(7, "write", "folder"), 0x71ben);
  assert.equal(rightsOf(2, "write", "file"), 0b0110n);
  assert.equal(rightsOf(7, "write", "file"), 0x4006n);
  // Never: execute, character devices, sockets, FIFOs, block devices, control of devices, sockets at a path.
  assert.equal(rightsOf(99, "write", "folder") & 0x18e41n, 0n);
});

// The answers, with a kernel made of wood.

const E = { PERM: 1, NOENT: 2, ACCES: 13, NOTDIR: 20, INVAL: 22, MFILE: 24, NOSYS: 38, LOOP: 40, OPNOTSUPP: 95 };

/** A kernel that keeps to its rules unless told otherwise, and counts what it handed out. */
class WoodenKernel implements KernelCalls {
  /** What exists. A trailing slash: a folder. */
  entries = ["/", "/work/", "/ref/", "/libc.so", "/dev/null"];
  said: Partial<Record<"abi" | "createRuleset" | "addPath" | "renounceNewPrivileges" | "restrictSelf", number>> = {};
  openError = new Map<string, number>();
  /** Whether opening obeys the rules afterwards; `all` refuses everything. */
  obeys: "rules" | "nothing" | "all" = "rules";
  asked: string[] = [];
  rules: { path: string; rights: bigint }[] = [];
  #handles = new Map<number, string>();
  #next = 3;
  #restricted = false;

  get openCount(): number {
    return this.#handles.size;
  }

  abi = () => this.#say("abi", 7);
  createRuleset = () => this.#say("createRuleset", this.said.createRuleset ?? this.#handle("ruleset"));
  renounceNewPrivileges = () => this.#say("renounceNewPrivileges", 0);

  addPath(_ruleset: number, rights: bigint, fd: number): number {
    this.rules.push({ path: this.#handles.get(fd)!, rights });
    return this.#say("addPath", 0);
  }

  restrictSelf(): number {
    const answer = this.#say("restrictSelf", 0);
    this.#restricted = answer === 0;
    return answer;
  }

  open(path: string, how: How): number {
    const error = this.openError.get(path);
    if (error) return -error;
    const folder = this.entries.includes(path.endsWith("/") ? path : path + "/");
    if (!folder && !this.entries.includes(path)) return -E.NOENT;
    if (!folder && how.for === "pin folder") return -E.NOTDIR;
    const right = how.for === "write" ? 2n : folder ? 8n : 4n;
    if (this.#restricted && (how.for === "read" || how.for === "write") && !this.#allows(path, right)) return -E.ACCES;
    return this.#handle(path);
  }

  close(fd: number) {
    assert.ok(this.#handles.delete(fd), `${fd} is closed but was not open`);
  }

  #allows(path: string, right: bigint): boolean {
    if (this.obeys !== "rules") return this.obeys === "nothing";
    return this.rules.some((rule) =>
      (rule.rights & right) !== 0n && (path === rule.path || path.startsWith(rule.path === "/" ? "/" : rule.path + "/"))
    );
  }

  #say(call: keyof WoodenKernel["said"], usual: number): number {
    this.asked.push(call);
    return this.said[call] ?? usual;
  }

  #handle(what: string): number {
    this.#handles.set(this.#next, what);
    return this.#next++;
  }
}

const PLAN: KernelPlan = { read: ["/ref"], write: ["/work"], files: ["/libc.so"] };

function enterWood(kernel: WoodenKernel, plan = PLAN) {
  const answer = enterWith(kernel, plan);
  assert.equal(kernel.openCount, 0, "a descriptor is left open");
  return answer;
}

Deno.test("the ordinary course: rules, then no new privileges, then the fence", () => {
  const kernel = new WoodenKernel();
  assert.deepEqual(enterWood(kernel), { state: "stands", abi: 7 });
  assert.deepEqual(kernel.asked, [
    "abi",
    "createRuleset",
    "addPath",
    "addPath",
    "addPath",
    "renounceNewPrivileges",
    "restrictSelf",
  ]);
  assert.deepEqual(kernel.rules, [
    { path: "/ref", rights: rightsOf(7, "read", "folder") },
    { path: "/work", rights: rightsOf(7, "write", "folder") },
    { path: "/libc.so", rights: rightsOf(7, "read", "file") },
  ]);
});

Deno.test("what the system withholds is absent, with a reason, and nothing was done", () => {
  for (const call of ["abi", "createRuleset"] as const) {
    for (const [error, word] of [[E.NOSYS, "5.13"], [E.OPNOTSUPP, "lsm="], [E.PERM, "container"]] as const) {
      const kernel = new WoodenKernel();
      kernel.said[call] = -error;
      const fence = enterWood(kernel);
      assert.equal(fence.state, "absent");
      assert.ok("reason" in fence && fence.reason.includes(word), JSON.stringify(fence));
      assert.equal(kernel.asked.at(-1), call);
    }
  }
});

Deno.test("a failure afterwards is broken, and names what failed", () => {
  for (
    const [call, word] of [
      ["abi", "version"],
      ["createRuleset", "rules"],
      ["addPath", "'/ref'"],
      ["renounceNewPrivileges", "privileges"],
      ["restrictSelf", "entered"],
    ] as const
  ) {
    const kernel = new WoodenKernel();
    kernel.said[call] = -E.INVAL;
    const fence = enterWood(kernel);
    assert.ok(
      fence.state === "broken" && fence.reason.includes(word) && fence.reason.includes("error 22"),
      JSON.stringify(fence),
    );
  }
  const kernel = new WoodenKernel();
  kernel.said.restrictSelf = -E.PERM;
  assert.equal(enterWood(kernel).state, "broken", "EPERM is a withheld fence only while there are no rules yet");
});

Deno.test("a path that is gone, shut or a link is left out; a want of descriptors is not", () => {
  for (const error of [E.NOENT, E.ACCES, E.NOTDIR, E.LOOP]) {
    const kernel = new WoodenKernel();
    kernel.openError.set("/ref", error);
    assert.deepEqual(enterWood(kernel), { state: "stands", abi: 7 });
    assert.deepEqual(kernel.rules.map(({ path }) => path), ["/work", "/libc.so"]);
  }
  for (const error of [E.MFILE, E.NOSYS, E.PERM]) {
    const kernel = new WoodenKernel();
    kernel.openError.set("/ref", error);
    assert.equal(enterWood(kernel).state, "broken");
  }
});

Deno.test("a fence that does not hold is broken", () => {
  const loose = new WoodenKernel();
  loose.obeys = "nothing";
  assert.deepEqual(enterWood(loose), { state: "broken", reason: "'/' outside the plan can still be opened to read" });
  assert.deepEqual(enterWood(Object.assign(new WoodenKernel(), { obeys: "nothing" }), { ...PLAN, read: ["/"] }), {
    state: "broken",
    reason: "'/dev/null' outside the plan can still be opened to write",
  });
  const tight = new WoodenKernel();
  tight.obeys = "all";
  assert.deepEqual(enterWood(tight), { state: "broken", reason: "'/ref' in the plan cannot be opened any more" });
});

Deno.test("a plan that covers everything leaves nothing to try outside", () => {
  const kernel = new WoodenKernel();
  assert.equal(enterWood(kernel, { read: [], write: ["/"], files: [] }).state, "stands");
});

// The real kernel.

const libc = findLibc();
const CHILD = decodeURIComponent(new URL("./landlock_child.ts", import.meta.url).pathname);
const SOURCES = decodeURIComponent(new URL("../..", import.meta.url).pathname).slice(0, -1);
/** What a worker needs besides the trees: the program's modules and, in source form, the runtime's cache of them. */
const PROGRAM = [...libc ? [libc] : [], `${SOURCES}/src`, `${SOURCES}/tests`, ...cacheOfRuntime()];

function cacheOfRuntime(): string[] {
  const { stdout } = new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).outputSync();
  return [JSON.parse(new TextDecoder().decode(stdout)).denoDir];
}

async function inChild(order: Omit<Order, "target">, world: { top: string; port?: number }): Promise<Report> {
  const whole: Order = { ...order, target: { top: world.top, libc: libc!, port: world.port ?? 1 } };
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--no-prompt", "--allow-all", CHILD, JSON.stringify(whole)],
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.notEqual(text, "", new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

async function withWorld(test: (world: { top: string; port: number; plan: KernelPlan }) => Promise<void>) {
  const top = makeFolder(worldEntries());
  Deno.chmodSync(`${top}/work/run.sh`, 0o755);
  assert.ok((await new Deno.Command("mkfifo", { args: [`${top}/out/fifo`] }).output()).success);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepting = (async () => {
    for await (const connection of listener) connection.close();
  })();
  try {
    const plan: KernelPlan = { read: [`${top}/ref`], write: [`${top}/work`], files: PROGRAM };
    await test({ top, port: (listener.addr as Deno.NetAddr).port, plan });
  } finally {
    listener.close();
    await accepting;
    Deno.removeSync(top, { recursive: true });
  }
}

/** Asked of a process of its own, since asking is entering. */
const offered = libc !== undefined &&
  (await inChild({ what: "open", plan: { read: [], write: [], files: [] } }, { top: "/" })).fence?.state !== "absent";
const real = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: !offered, fn });

for (const what of ["thread", "worker"] as const) {
  real(`attacks from a ${what}: all succeed without the fence, none with it`, async () => {
    await withWorld(async (world) => {
      const { attacks } = await inChild({ what }, world);
      const failed = attacks!.filter(({ through }) => !through).map(({ name }) => name);
      assert.deepEqual(failed, [], "these do not succeed without the fence, so they prove nothing");
    });
    await withWorld(async (world) => {
      const { fence, attacks, rights } = await inChild({ what, plan: world.plan }, world);
      assert.equal(fence?.state, "stands", JSON.stringify(fence));
      const { abi } = fence;
      assert.ok(attacks!.length > 60);
      const through = attacks!.filter(({ through, since }) => through && since <= abi).map(({ name }) => name);
      assert.deepEqual(through, [], "these get through the fence");
      const lost = rights!.filter(({ through, since }) => !through && since <= abi).map(({ name }) => name);
      assert.deepEqual(lost, [], "these are allowed by the plan and do not work");
      assert.equal(Deno.readTextFileSync(`${world.top}/out/s.txt`), "outside");
      assert.deepEqual(
        [...Deno.readDirSync(`${world.top}/out`)].filter(({ name }) => /new|from|dir|link-/.test(name)),
        [],
      );
    });
  });
}

real("a worker that was started before the fence is not bound: so it is entered first", async () => {
  await withWorld(async (world) => {
    const { fence, attacks } = await inChild({ what: "early worker", plan: world.plan }, world);
    assert.equal(fence?.state, "stands");
    assert.ok(attacks!.find(({ name }) => name === "an absolute path")!.through);
  });
});

real("no descriptor is left open", async () => {
  await withWorld(async (world) => {
    const plan = { ...world.plan, read: [...world.plan.read, "/proc", `${world.top}/missing`] };
    const { fence, descriptors } = await inChild({ what: "descriptors", plan, times: 3 }, world);
    assert.equal(fence?.state, "stands");
    assert.equal(descriptors![1], descriptors![0]);
  });
});

real("a missing path, a file, a link and overlapping paths in the plan", async () => {
  await withWorld(async ({ top }) => {
    Deno.symlinkSync("out", `${top}/became-a-link`);
    const plan = {
      read: [`${top}/missing`, `${top}/ref`, `${top}/out/s.txt`, `${top}/became-a-link`, `${top}/work/a.txt/below`],
      write: [`${top}/ref/raw-cut`],
      files: [`${top}/ref`, `${top}/ref/r.txt`],
    };
    const paths = [
      `${top}/ref/r.txt`,
      `${top}/out/s.txt`,
      `${top}/out/data.json`,
      `${top}/ref/raw-cut`,
      `${top}/work/a.txt`,
    ];
    const { fence, opened } = await inChild({ what: "open", plan, paths }, { top });
    assert.equal(fence?.state, "stands", JSON.stringify(fence));
    assert.deepEqual(opened, [[true, false], [true, false], [false, false], [true, true], [false, false]]);
  });
});

real("plans of '/' alone, and of nothing", async () => {
  await withWorld(async ({ top }) => {
    const paths = [`${top}/work/a.txt`, "/etc/passwd", "/dev/null"];
    const none: KernelPlan = { read: [], write: [], files: [] };
    const reading = await inChild({ what: "open", plan: { ...none, read: ["/"] }, paths }, { top });
    assert.equal(reading.fence?.state, "stands");
    assert.deepEqual(reading.opened, [[true, false], [true, false], [true, false]]);
    const writing = await inChild({ what: "open", plan: { ...none, write: ["/"] }, paths: paths.slice(0, 1) }, { top });
    assert.equal(writing.fence?.state, "stands");
    assert.deepEqual(writing.opened, [[true, true]]);
    const nothing = await inChild({ what: "open", plan: none, paths }, { top });
    assert.equal(nothing.fence?.state, "stands");
    assert.deepEqual(nothing.opened, [[false, false], [false, false], [false, false]]);
  });
});

real("entered twice, the second one narrows and cannot widen", async () => {
  await withWorld(async ({ top, plan }) => {
    const { fence, opened } = await inChild({
      what: "open",
      plan,
      times: 2,
      paths: [`${top}/ref/r.txt`, `${top}/out/s.txt`],
    }, { top });
    assert.equal(fence?.state, "stands");
    assert.deepEqual(opened, [[true, false], [false, false]]);
  });
});

Deno.test("a C library that cannot be loaded is an answer, not a throw", { ignore: Deno.build.os !== "linux" }, () => {
  const fence = enterLandlock("/nowhere/libc.so", PLAN);
  assert.ok(fence.state === "broken" && fence.reason.startsWith("the C library cannot be loaded"));
});
