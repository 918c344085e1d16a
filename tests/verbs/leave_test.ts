/** What the system declines, a dry run declines: every changing verb, on both disk implementations. Spec 2-verbs §2.8; 1-boundary §1.6. */
import assert from "node:assert/strict";
import { asNobody, markable, marked, mount, mountable, ROOT } from "../support/system.ts";
import { both, sha, type World } from "./changing_support.ts";
import { value } from "../screens/samples.ts";

const WORLD = {
  "app/f": "f\n",
  "app/d/x": "x\n",
  "app/d/e/y": "y\n",
  "app/empty": null,
  "app/free/from": "from\n",
  "app/free/dir/z": "z\n",
};

type Call = readonly [verb: string, args: Record<string, unknown>];

/** Calls that change what is in `app` itself, or in `app/d`. */
const CALLS: readonly Call[] = [
  ["write", { path: "f", text: "n", overwrite: true }],
  ["write", { path: "n", text: "n" }],
  ["edit", { path: "f", replace: "f", with: "g" }],
  ["replace", { find: "f\n", with: "g\n", glob: "f" }],
  ["new", { path: "n" }],
  ["mkdir", { path: "n/m" }],
  ["move", { from: "f", to: "n" }],
  ["move", { from: "f", to: "free/n" }],
  ["move", { from: "free/from", to: "n" }],
  ["move", { from: "free/from", to: "f", overwrite: true }],
  ["move", { from: "free/dir", to: "empty", overwrite: true }],
  ["copy", { from: "free/from", to: "n" }],
  ["copy", { from: "free/from", to: "f", overwrite: true }],
  ["copy", { from: "free/dir", to: "n", recursive: true }],
  ["delete", { path: "f" }],
  ["delete", { path: "empty" }],
  ["delete", { path: "d", recursive: true }],
];

/** The outcome of each call, first tried and then done; a dry run of a batch of it says the same. */
async function outcomes({ does, json }: World, calls: readonly Call[]): Promise<string[]> {
  const found: string[] = [];
  for (const [verb, args] of calls) {
    const dry = await does(verb, { ...args, dry_run: true });
    const batch = await rehearsed(json, verb, args);
    const real = await does(verb, args);
    found.push(`${verb}: ${dry === real && (batch ?? real) === real ? real : `${dry}, ${batch}, ${real}`}`);
  }
  return found;
}

async function rehearsed(json: World["json"], verb: string, { from, ...args }: Record<string, unknown>) {
  if (["edit", "replace"].includes(verb)) return undefined;
  const operations = [{ op: verb, ...args, ...from === undefined ? {} : { path: from } }];
  return (await json("batch", { script: { operations }, dry_run: true })).operations[0].outcome;
}

const denied = (calls: readonly Call[]) => calls.map(([verb]) => `${verb}: denied`);

/** Modules are loaded as the account that may read them. */
async function warm({ does }: World) {
  for (const [verb, args] of CALLS) await does(verb, { ...args, dry_run: true });
  await does("batch", { script: { operations: [] }, dry_run: true });
}

function open(top: string, mode: number, ...paths: string[]) {
  for (const path of ["", "/app", ...paths.map((path) => `/app/${path}`)]) Deno.chmodSync(top + path, mode);
}

both("leave: in a folder that its owner shut nothing is changed", WORLD, {}, async (world) => {
  const { top, tree } = world;
  await warm(world);
  open(top, 0o755);
  const before = tree();
  const all = ["", "/f", "/d", "/d/x", "/d/e", "/d/e/y", "/empty", "/free", "/free/from", "/free/dir"];
  await asNobody(all.map((path) => `${top}/app${path}`), async () => {
    Deno.chmodSync(`${top}/app`, 0o555);
    assert.deepEqual(await outcomes(world, CALLS), denied(CALLS));
    for (const [verb, args] of CALLS) {
      const { message } = await world.json(verb, { ...args, dry_run: true });
      assert.match(message, /^the operating system declines: this account may not change what is in the folder$/, verb);
    }
    // What lies deeper is its own folder's business.
    Deno.chmodSync(`${top}/app`, 0o755);
    Deno.chmodSync(`${top}/app/d/e`, 0o555);
    const deep: Call[] = [
      ["delete", { path: "d", recursive: true }],
      ["copy", { from: "free", to: "d/e", recursive: true, overwrite: true }],
      // Its `..` would become another.
      ["move", { from: "d/e", to: "free/e" }],
    ];
    assert.deepEqual(await outcomes(world, deep), denied(deep));
    assert.deepEqual(await outcomes(world, [["move", { from: "d/e", to: "d/w" }]]), ["move: ok"]);
    assert.deepEqual(await outcomes(world, [["move", { from: "d/w", to: "d/e" }]]), ["move: ok"]);
    Deno.chmodSync(`${top}/app/d/e`, 0o755);
  });
  assert.deepEqual(tree(), before);
}, Deno.build.os === "windows");

both("leave: what is another account's, in its folder and in a sticky one", WORLD, {}, async (world) => {
  const { top, tree } = world;
  await warm(world);
  open(top, 0o755, "free");
  const before = tree();
  await asNobody([`${top}/app/free/from`], async () => {
    assert.deepEqual(await outcomes(world, CALLS), denied(CALLS));
    const exec: Call[] = [["exec", { path: "f", executable: true }]];
    assert.deepEqual(await outcomes(world, exec), denied(exec));
  });
  open(top, 0o1777, "free");
  const theirs = CALLS.filter(([verb, { path, overwrite, from }]) =>
    overwrite === true || path === "f" || from === "f" || verb === "delete" || verb === "replace"
  );
  await asNobody([], async () => {
    assert.deepEqual(await outcomes(world, theirs), denied(theirs));
    const { message } = await world.json("delete", { path: "f", dry_run: true });
    assert.match(message, /declines: in a sticky folder only its owner takes an entry away/);
    assert.deepEqual(await outcomes(world, [["new", { path: "n" }]]), ["new: ok"]);
    assert.deepEqual(await outcomes(world, [["delete", { path: "n" }]]), ["delete: ok"]);
  });
  assert.deepEqual(tree(), before);
  assert.deepEqual(await outcomes(world, [["delete", { path: "f" }]]), ["delete: ok"]);
}, !ROOT);

both("leave: what is mounted read-only, and what something is mounted on", WORLD, {}, async (world) => {
  const { top, tree, side, does } = world;
  const pinned = side.disk.kind === "descriptor";
  const before = tree();
  const said = async (calls: readonly Call[]) => {
    if (pinned) assert.deepEqual(await outcomes(world, calls), denied(calls));
    // By path names a mount is not seen before it is met.
    else for (const [verb, args] of calls) assert.equal(await does(verb, args), "denied", verb);
  };
  {
    using _mounted = mount(`${top}/app/f`, ["--bind", `${top}/app/d/x`]);
    const calls: Call[] = [
      ["write", { path: "f", text: "n", overwrite: true }],
      ["edit", { path: "f", replace: "x", with: "g" }],
      ["move", { from: "free/from", to: "f", overwrite: true }],
      ["delete", { path: "f" }],
      ...pinned ? [["move", { from: "f", to: "n" }]] as const : [],
    ];
    await said(calls);
  }
  {
    using _mounted = mount(`${top}/app/d/x`, ["--bind", `${top}/app/f`]);
    if (pinned) await said([["delete", { path: "d", recursive: true }]]);
  }
  if (!pinned) return assert.deepEqual(tree(), before);
  // What was pinned before lies below the mount: it is met where a folder inside is mounted.
  using _mounted = mount(`${top}/app/d`, ["--bind", `${top}/app/d`], ["-o", "remount,ro,bind"]);
  const calls: Call[] = [
    ["write", { path: "d/x", text: "n", overwrite: true }],
    ["write", { path: "d/n", text: "n" }],
    ["edit", { path: "d/x", replace: "x", with: "g" }],
    ["replace", { find: "x", with: "g", glob: "d/x" }],
    ["new", { path: "d/n" }],
    ["mkdir", { path: "d/n/m" }],
    ["copy", { from: "f", to: "d/n" }],
    ["delete", { path: "d/x" }],
    ["exec", { path: "d/x", executable: true }],
  ];
  await said(calls);
  assert.match((await world.json("new", { path: "d/n", dry_run: true })).message, /declines: .* mounted read-only$/);
  assert.deepEqual(tree(), before);
}, !mountable());

both("leave: what is immutable or append-only", WORLD, {}, async (world) => {
  const { top, tree, side } = world;
  if (side.disk.kind !== "descriptor") return;
  const before = tree();
  const file = CALLS.filter(([, { path, from, to, glob }]) => [path, from, to, glob].includes("f"));
  for (const mark of ["i", "a"] as const) {
    using _marked = marked(`${top}/app/f`, mark);
    assert.deepEqual(await outcomes(world, file), denied(file));
    const exec: Call[] = [["exec", { path: "f", executable: true }]];
    assert.deepEqual(await outcomes(world, exec), denied(exec));
  }
  {
    using _marked = marked(`${top}/app`, "i");
    assert.deepEqual(await outcomes(world, CALLS), denied(CALLS));
  }
  {
    using _marked = marked(`${top}/app/d/e`, "a");
    const calls: Call[] = [
      ["delete", { path: "d", recursive: true }],
      ["write", { path: "d/e/n", text: "n" }],
      ["new", { path: "d/e/n" }],
      ["copy", { from: "f", to: "d/e/n" }],
      ["move", { from: "d/e/y", to: "n" }],
    ];
    assert.deepEqual(await outcomes(world, calls), denied(calls));
    assert.match((await world.json("write", calls[1][1])).message, /append-only/);
  }
  assert.deepEqual(tree(), before);
}, !markable());

both("leave: from one file system to another", WORLD, {}, async (world) => {
  const { top, side } = world;
  using _mounted = mount(`${top}/app/empty`, ["-t", "tmpfs", "tmpfs"]);
  await warm(world);
  open(top, 0o755, "empty");
  for (const path of ["d", "d/e", "empty"]) Deno.chmodSync(`${top}/app/${path}`, 0o755);
  const own = ["", "/d", "/d/x", "/d/e", "/d/e/y", "/f"];
  const calls: Call[] = [["move", { from: "f", to: "empty/f" }], ["move", { from: "d", to: "empty/d" }]];
  await asNobody(own.map((path) => `${top}/app${path}`), async () => {
    assert.deepEqual(await outcomes(world, calls), denied(calls));
  });
  await asNobody([`${top}/app/empty`], async () => {
    Deno.chmodSync(`${top}/app/d/e`, 0o555);
    assert.deepEqual(await outcomes(world, calls.slice(1)), denied(calls.slice(1)));
    assert.deepEqual([...Deno.readDirSync(`${top}/app/empty`)], []);
    Deno.chmodSync(`${top}/app/d/e`, 0o755);
    assert.deepEqual(await outcomes(world, calls), ["move: ok", "move: ok"]);
  });
  if (side.disk.kind !== "descriptor" || !markable()) return;
  Deno.writeTextFileSync(`${top}/app/d2`, "d");
  using _marked = marked(`${top}/app/d2`, "i");
  const last: Call[] = [["move", { from: "d2", to: "empty/d2" }]];
  assert.deepEqual(await outcomes(world, last), denied(last));
}, !mountable());

const secretLine = () => `${["api", "key"].join("_")} = "${value()}"\n`;

both(
  "leave: the content of a read-only file is not replaced, in the order of the spec",
  { "app/f": "f\n", "app/n": "n\n", "app/d/f": "f\n", "app/t/f": "t\n" },
  {},
  async (world) => {
    const { top, tree, json } = world;
    const before = tree();
    for (const path of ["f", "d/f"]) Deno.chmodSync(`${top}/app/${path}`, 0o444);
    const calls: Call[] = [
      ["write", { path: "f", text: "x", overwrite: true }],
      // Before it is stale, before the edits, before a credential.
      ["write", { path: "f", text: secretLine(), overwrite: true, expect: "00" }],
      ["edit", { path: "f", replace: "never", with: "x", expect: "00" }],
      ["edit", { path: "f", replace: "f", with: secretLine() }],
      ["replace", { find: "f\n", with: "g\n", glob: "f" }],
      ["copy", { from: "n", to: "f", overwrite: true }],
      ["copy", { from: "t", to: "d", overwrite: true, recursive: true }],
    ];
    assert.deepEqual(await outcomes(world, calls), denied(calls));
    for (const [verb, args] of calls) {
      const { message, path } = await json(verb, args);
      const name = args.from === "t" ? "d/f" : "f";
      assert.deepEqual([message, path], ["the file is read-only, so its content is not replaced", name], verb);
    }
    // Kind and what is there come before.
    Deno.writeTextFileSync(`${top}/app/f.pdf`, "");
    Deno.chmodSync(`${top}/app/f.pdf`, 0o444);
    assert.deepEqual(
      await outcomes(world, [
        ["write", { path: "f", text: "x" }],
        ["write", { path: "f.pdf", text: "x", overwrite: true }],
        ["edit", { path: "f.pdf", replace: "a", with: "b" }],
      ]),
      ["write: target-exists", "write: refused", "edit: refused"],
    );
    Deno.removeSync(`${top}/app/f.pdf`);
    // It is read like any other, copied, and a script may lie in it.
    Deno.writeTextFileSync(`${top}/app/s`, `{"edits":[{"replace":"n","with":"m"}]}`);
    Deno.chmodSync(`${top}/app/s`, 0o444);
    assert.equal(await world.does("edit", { path: "n", script_path: "s", dry_run: true }), "ok");
    Deno.removeSync(`${top}/app/s`);
    assert.deepEqual(tree(), before);
    // For these its folder decides.
    assert.deepEqual(
      await outcomes(world, [
        ["exec", { path: "f", executable: true }],
        ["move", { from: "f", to: "g" }],
        ["move", { from: "n", to: "g", overwrite: true }],
        ["delete", { path: "d/f" }],
      ]),
      ["exec: ok", "move: ok", "move: ok", "delete: ok"],
    );
  },
  Deno.build.os === "windows",
);

both(
  "leave: a batch tried sees what it would have made itself",
  { "app/f": "f\n" },
  {},
  async ({ top, json, does }) => {
    Deno.chmodSync(`${top}/app/f`, 0o444);
    const outcomesOf = async (dry_run: boolean, ...operations: Record<string, unknown>[]) =>
      (await json("batch", { script: { operations }, dry_run })).operations.map(({ outcome }: { outcome: string }) =>
        outcome
      );
    const scripts = [
      [{ op: "copy", path: "f", to: "g" }, { op: "write", path: "g", text: "x", overwrite: true }],
      [{ op: "delete", path: "f" }, { op: "write", path: "f", text: "x" }, {
        op: "write",
        path: "f",
        text: "y",
        overwrite: true,
      }],
      [
        { op: "mkdir", path: "m" },
        { op: "move", path: "f", to: "m/f" },
        { op: "exec", path: "m/f", executable: true },
        {
          op: "delete",
          path: "m",
          recursive: true,
        },
      ],
    ];
    for (const script of scripts) {
      const dry = await outcomesOf(true, ...script);
      assert.deepEqual(dry, await outcomesOf(false, ...script));
      assert.equal(dry.at(-1), script.at(-1)!.op === "write" && script[0].op === "copy" ? "denied" : "ok");
      for (const path of ["f", "g"]) await does("delete", { path });
      Deno.writeTextFileSync(`${top}/app/f`, "f\n");
      Deno.chmodSync(`${top}/app/f`, 0o444);
    }
  },
  Deno.build.os === "windows",
);

both("leave: a file that another account may write and this one may not", { "app/f": "f\n" }, {}, async (world) => {
  const { top } = world;
  await warm(world);
  open(top, 0o777);
  Deno.chmodSync(`${top}/app/f`, 0o644);
  await asNobody([], async () => {
    const calls: Call[] = [
      ["write", { path: "f", text: "x", overwrite: true }],
      ["edit", { path: "f", replace: "f", with: "x" }],
      ["replace", { find: "f", with: "x" }],
    ];
    assert.deepEqual(await outcomes(world, calls), denied(calls));
    const { message } = await world.json("write", calls[0][1]);
    assert.equal(message, "the operating system declines: this account may not write to it");
    assert.deepEqual(await outcomes(world, [["delete", { path: "f" }]]), ["delete: ok"]);
  });
}, !ROOT);

both(
  "leave: what is too large to be changed is replaced, and read only where that is asked for",
  {},
  {},
  async (world) => {
    const { top, json, does } = world;
    const SIZE = 300 * 1024 * 1024;
    const make = (name: string, beginning: Uint8Array) => {
      Deno.writeFileSync(`${top}/app/${name}`, beginning);
      Deno.truncateSync(`${top}/app/${name}`, SIZE);
    };
    make("bin", new Uint8Array(4));
    const expect = await sha(new Uint8Array(SIZE));
    const bytes = { path: "bin", text: "x\n", overwrite: true };
    assert.equal(await does("write", { ...bytes, expect: "00", dry_run: true }), "stale");
    assert.equal(await does("write", { ...bytes, expect, dry_run: true }), "ok");
    assert.equal(Deno.statSync(`${top}/app/bin`).size, SIZE);
    const { encoding, line_ending, created } = await json("write", { ...bytes, expect });
    assert.deepEqual([encoding, line_ending, created], ["utf-8", "lf", false]);
    assert.equal(Deno.readTextFileSync(`${top}/app/bin`), "x\n");
    // Text: the cut goes through a character, in each encoding.
    const text = new TextEncoder().encode("\ufeff" + "é文😀\r\n".repeat(120_000));
    const wide = new Uint8Array([
      0xff,
      0xfe,
      ...new Uint8Array(
        new Uint16Array([0x61, ...Array(260_000).fill(0)].map((_, i) => i === 0 ? 0x61 : i % 2 ? 0xd83d : 0xde00))
          .buffer,
      ),
    ]);
    for (
      const [name, beginning, kept] of [
        ["text", text, ["utf-8-bom", "crlf"]],
        ["text1", new Uint8Array([...text.subarray(0, 3), 0x61, ...text.subarray(3)]), ["utf-8-bom", "crlf"]],
        ["text2", new Uint8Array([...text.subarray(0, 3), 0x61, 0x61, ...text.subarray(3)]), ["utf-8-bom", "crlf"]],
        ["wide", wide, ["utf-16le-bom", "lf"]],
      ] as const
    ) {
      make(name, beginning);
      const { encoding, line_ending } = await json("write", { ...bytes, path: name });
      assert.deepEqual([encoding, line_ending], kept, name);
    }
    // What is no text there is asked about; what was there is unknown, so a credential in it counts as new.
    make("latin", new Uint8Array(2 * 1024 * 1024).fill(0xe9));
    assert.equal(await does("write", { ...bytes, path: "latin" }), "refused");
    assert.equal(await does("write", { ...bytes, path: "latin", encoding: "utf-8" }), "ok");
    make("secret", new TextEncoder().encode(secretLine().repeat(40_000)));
    assert.equal(await does("write", { ...bytes, path: "secret", text: secretLine() }), "credential");
    // It is not changed in place.
    assert.equal(await does("edit", { path: "secret", replace: "a", with: "b" }), "refused");
  },
);
