/** Nothing runs away, nothing hangs, everything is answered. Scenarios 106, 167; bugs 50, 52; decisions 50, 51. */
import assert from "node:assert/strict";
// @ts-types="@mcp/client/index"
import { Client } from "@mcp/client/index.js";
// @ts-types="@mcp/client/stdio"
import { StdioClientTransport } from "@mcp/client/stdio.js";
import { fettle, program } from "../support/program.ts";
import { makeFolder } from "../support/tree.ts";

const linux = Deno.build.os === "linux";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Server {
  pid: number;
  client: Client;
  call(
    name: string,
    args: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (p: { progress: number }) => void },
  ): Promise<string>;
}

async function withServer(cwd: string, act: (server: Server) => Promise<void>, env: Record<string, string> = {}) {
  const { command, args } = program();
  const transport = new StdioClientTransport({
    command,
    args: [...args, "serve"],
    cwd,
    env: { ...Deno.env.toObject(), ...env },
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const call: Server["call"] = async (name, args, options) => {
    const { content } = await client.callTool({ name, arguments: args }, undefined, options);
    return (content as { text: string }[])[0].text;
  };
  try {
    await act({ pid: transport.pid!, client, call });
  } finally {
    await client.close();
  }
}

/** Processes below a process, by `ps`. */
function children(pid: number): { pid: number; args: string }[] {
  const { stdout } = new Deno.Command("ps", { args: ["-o", "pid=,args=", "--ppid", String(pid)] }).outputSync();
  return new TextDecoder().decode(stdout).split("\n").filter((row) => row.trim() !== "").map((row) => {
    const [, pid, args] = /^\s*(\d+)\s+(.*)$/.exec(row)!;
    return { pid: Number(pid), args };
  });
}
const engineOf = (pid: number) => children(pid).find(({ args }) => args.endsWith("__engine"))?.pid;
const alive = (pid: number) => {
  try {
    return !/^State:\s*Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
};

const HOSTILE = "a".repeat(40) + "!";

Deno.test("patterns that run away elsewhere answer at once here; those that really do are undecided, and named", async () => {
  const top = makeFolder({
    "a.txt": `first\n${HOSTILE}\nlast aab\n`,
    "b.txt": `${HOSTILE}\n`.repeat(3) + "aaab\n",
    "c.txt": "nothing of the kind\n",
  });
  for (const pattern of ["^(a+)+$", "(x+x+)+y", "(a|aa)+$"]) {
    for (const more of [[], ["--case-sensitive"]]) {
      assert.equal((await fettle(["search", pattern, ...more], { cwd: top })).code, 0);
    }
  }
  const env = { FETTLE_TEST_PATIENCE_MS: "1000" };
  for (const pattern of ["(a+)+\\1$x|last", "^(?=(a+)+$)a*x|last"]) {
    const { code, json } = await fettle(["search", pattern, "--json"], { cwd: top, env });
    assert.equal(code, 10, pattern);
    assert.deepEqual([json.ok, json.outcome], [false, "timed-out"]);
    assert.deepEqual(json.undecided[0], { path: "a.txt", line: 2 });
    assert.ok(json.stopped_at, "the budget of undecided lines was made as small as the patience");
    const text = await fettle(["search", pattern], { cwd: top, env });
    assert.match(text.out, /\ntimed-out: \d lines? undecided.*a\.txt:2.*\nthe search gave up at (a\.txt:3|b\.txt:\d)/);
  }
  const fine = (await fettle(["search", "(l)ast (?=aa)", "(\\w)\\1ing|no(t)hin\\w", "--json"], { cwd: top })).json;
  assert.deepEqual(
    fine.hits.map((hit: { path: string; line: number; column: number }) => [hit.path, hit.line, hit.column]),
    [["a.txt", 3, 1], ["c.txt", 1, 1]],
  );
  Deno.removeSync(top, { recursive: true });
});

Deno.test(
  "while patterns run away, other calls are answered, and no processor is used afterwards",
  { ignore: !linux },
  async () => {
    const top = makeFolder({ "a.txt": `${HOSTILE}\n`, "b.txt": "fine\n" });
    await withServer(top, async ({ call, pid }) => {
      const answered: string[] = [];
      const hostile = [1, 2, 3].map((i) =>
        call("search", { patterns: ["(a+)+\\1$x"], glob: "a.txt" }).then((text) => {
          answered.push(`hostile ${i}`);
          return text;
        })
      );
      await pause(200);
      for (let i = 0; i < 20; i++) assert.match(await call("read", { paths: ["b.txt"] }), /fine/);
      assert.match(await call("search", { patterns: ["fine"] }), /1 hit/);
      answered.push("others");
      for (const text of await Promise.all(hostile)) assert.match(text, /timed-out: 1 line undecided/);
      assert.equal(answered[0], "others");
      const used = () =>
        children(pid).map(({ pid }) => Deno.readTextFileSync(`/proc/${pid}/stat`).split(" ").slice(13, 15).map(Number))
          .flat();
      const before = used();
      await pause(500);
      const [sum] = [used().reduce((a, b) => a + b, 0) - before.reduce((a, b) => a + b, 0)];
      assert.ok(sum < 10, `${sum} hundredths of a second of processor in half a second`);
    }, { FETTLE_TEST_PATIENCE_MS: "1500" });
    Deno.removeSync(top, { recursive: true });
  },
);

Deno.test(
  "a call that shows no sign of life is ended, the others run again, the next one works",
  { ignore: !linux },
  async () => {
    const top = makeFolder({ "a.txt": "fine\n" });
    await withServer(top, async ({ call, pid }) => {
      assert.match(await call("read", { paths: ["a.txt"] }), /fine/);
      Deno.kill(engineOf(pid)!, "SIGSTOP");
      assert.match(await call("read", { paths: ["a.txt"] }), /^timed-out: /);
      assert.match(await call("read", { paths: ["a.txt"] }), /fine/);
    }, { FETTLE_TEST_PATIENCE_MS: "1000" });
    Deno.removeSync(top, { recursive: true });
  },
);

/** A folder whose search takes a while. */
function large(): string {
  const top = makeFolder({ "small.txt": "fine\n" });
  const text = ("some words of a line that is there to be searched, number 12345\n").repeat(100_000);
  for (let i = 0; i < 40; i++) Deno.writeTextFileSync(`${top}/${i}.txt`, text);
  return top;
}

Deno.test("a cancelled search ends, no answer follows, progress is told to who asks", async () => {
  const top = large();
  await withServer(top, async ({ call, client }) => {
    const stop = new AbortController();
    let told = 0;
    const options = { signal: stop.signal, onprogress: () => ++told === 1 && stop.abort("enough") };
    await assert.rejects(call("search", { patterns: ["\\w+\\s+\\d{3}\\s+\\d"], count: true }, options), /enough/);
    assert.ok(told >= 1);
    await client.ping();
    assert.match(await call("read", { paths: ["small.txt"] }), /fine/);
  });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("interrupted from the keyboard: refused, said so", { ignore: Deno.build.os === "windows" }, async () => {
  const top = large();
  const { command, args } = program();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const child = new Deno.Command(command, {
      args: [...args, "search", "\\w+\\s+\\d{3}\\s+\\d", "--count", "--json"],
      cwd: top,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    await pause(700);
    child.kill(signal);
    const { code, stdout, stderr } = await child.output();
    assert.equal(new TextDecoder().decode(stderr), "");
    const json = JSON.parse(new TextDecoder().decode(stdout));
    assert.deepEqual([code, json.outcome], [8, "refused"], JSON.stringify(json).slice(0, 200));
    assert.match(json.message, /cancelled/);
  }
  Deno.removeSync(top, { recursive: true });
});

Deno.test("two hundred engines killed under calls: every call is answered truthfully, nothing is left over", {
  ignore: !linux,
}, async () => {
  const top = makeFolder({ "a.txt": "fine\n" });
  await withServer(top, async ({ call, pid }) => {
    const facts = () => ({
      fds: [...Deno.readDirSync(`/proc/${pid}/fd`)].length,
      kilobytes: Number(/VmRSS:\s*(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))![1]),
    });
    let before: ReturnType<typeof facts> | undefined;
    for (let kills = 0; kills < 200;) {
      const calls = [call("read", { paths: ["a.txt"] }), call("read", { paths: ["a.txt"] })];
      const engine = engineOf(pid);
      if (engine !== undefined && alive(engine)) {
        Deno.kill(engine, "SIGKILL");
        kills++;
      }
      for (const text of await Promise.all(calls)) assert.match(text, /fine/);
      if (kills === 50) before ??= facts();
    }
    // An engine that is just being replaced has three of its own for a moment more.
    let after = facts();
    for (let tries = 0; after.fds > before!.fds + 2 && tries < 40; tries++) {
      await pause(50);
      after = facts();
    }
    assert.ok(after.fds <= before!.fds + 2, `${before!.fds} and ${after.fds} descriptors`);
    assert.ok(after.kilobytes < before!.kilobytes + 40_000, `${before!.kilobytes} and ${after.kilobytes} KiB`);
    assert.match(await call("read", { paths: ["a.txt"] }), /fine/);
    assert.equal(children(pid).filter(({ pid }) => alive(pid)).length, 1);
  });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("when the server is killed at work, nothing of it goes on", { ignore: !linux }, async () => {
  const top = large();
  Deno.writeTextFileSync(`${top}/hostile.txt`, HOSTILE + "\n");
  for (const args of [{ patterns: ["\\w+\\s+\\d{3}\\s+\\d"] }, { patterns: ["(a+)+\\1$x"], glob: "hostile.txt" }]) {
    const { command, args: first } = program();
    const transport = new StdioClientTransport({ command, args: [...first, "serve"], cwd: top });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    const hanging = client.callTool({ name: "search", arguments: args }).catch(() => {});
    await pause(500);
    const left = children(transport.pid!);
    assert.ok(left.length > 0);
    Deno.kill(transport.pid!, "SIGKILL");
    for (let tries = 0; left.some(({ pid }) => alive(pid)) && tries < 100; tries++) await pause(50);
    assert.deepEqual(left.filter(({ pid }) => alive(pid)), []);
    await client.close();
    await hanging;
  }
  Deno.removeSync(top, { recursive: true });
});

Deno.test("the sealed process holds no file open for writing", { ignore: !linux }, async () => {
  const top = makeFolder({ "a.txt": `fine fine\n${HOSTILE}\n` });
  await withServer(top, async ({ call, pid }) => {
    assert.match(await call("search", { patterns: ["(f)ine (?=f)"] }), /1 hit/);
    // Two calls at once: a second worker is started after the descriptors were taken away.
    for (const text of await Promise.all([1, 2, 3].map(() => call("read", { paths: ["a.txt"] })))) {
      assert.match(text, /fine/);
    }
    const ours = children(pid).filter(({ args }) => args.includes("__sealed"));
    assert.equal(ours.length, 1);
    for (const { pid, args } of ours) {
      for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
        const flags = /flags:\s*(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/fdinfo/${name}`))![1];
        const target = Deno.readLinkSync(`/proc/${pid}/fd/${name}`);
        if (Number(name) > 2 && target.startsWith("/") && !/^\/(dev\/|memfd:)/.test(target)) {
          assert.equal(parseInt(flags, 8) & 3, 0, `${args.split(" ").at(-1)}: ${target}`);
        }
      }
    }
  });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("a pattern of one loop over a line without an end of it: decided, and others wait for nothing", async () => {
  const top = makeFolder({
    "a.txt": "ab12qq\n",
    "l.txt": "q".repeat(1_000_000) + "\n",
    "m.txt": ("q".repeat(15_000) + "\n").repeat(50),
  });
  for (const pattern of ["[a-z]+[0-9]+qq", "\\w+zq\\w+|[a-z]+[0-9]+qq"]) {
    const { code, json } = await fettle(["search", pattern, "--json"], {
      cwd: top,
      env: { FETTLE_TEST_PATIENCE_MS: "8000" },
    });
    assert.deepEqual([code, json.hits_count, json.files_searched], [0, 1, 3], pattern);
  }
  Deno.removeSync(top, { recursive: true });
});

Deno.test(
  "interrupted while a pattern runs away: cancelled, not timed out",
  { ignore: Deno.build.os === "windows" },
  async () => {
    const top = makeFolder({ "a.txt": `${HOSTILE}\n`.repeat(20) });
    const { command, args } = program();
    const child = new Deno.Command(command, {
      args: [...args, "search", "(a+)+\\1$x", "--json"],
      cwd: top,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    await pause(1500);
    child.kill("SIGTERM");
    const { code, stdout } = await child.output();
    assert.deepEqual([code, JSON.parse(new TextDecoder().decode(stdout)).outcome], [8, "refused"]);
    Deno.removeSync(top, { recursive: true });
  },
);

Deno.test("a configuration that changes under slow calls does not pile engines up", { ignore: !linux }, async () => {
  const top = makeFolder({ "a.txt": `${HOSTILE}\n`, "b.txt": "fine\n" });
  await withServer(top, async ({ call, pid }) => {
    let most = 0;
    const calls: Promise<string>[] = [];
    for (let i = 0; i < 12; i++) {
      Deno.writeTextFileSync(
        `${top}/.fettler.json`,
        JSON.stringify({ guardrails: { trees: { [`work${i}`]: { path: "." } } } }),
      );
      calls.push(call("search", { patterns: ["(a+)+\\1$x"], glob: "a.txt" }));
      await pause(150);
      most = Math.max(most, children(pid).filter(({ args }) => args.endsWith("__engine")).length);
    }
    for (const text of await Promise.all(calls)) assert.match(text, /timed-out/);
    assert.ok(most <= 4, `${most} engines`);
    assert.match(await call("read", { paths: ["b.txt"] }), /fine/);
  }, { FETTLE_TEST_PATIENCE_MS: "2000" });
  Deno.removeSync(top, { recursive: true });
});

Deno.test("standard output that cannot be written", { ignore: !linux }, async () => {
  const top = makeFolder({ "a.txt": "fine\n" });
  const { command, args } = program();
  const sh = 'cd "$0" && shift 0 && exec "$@" > /dev/full';
  const { code, stderr } = await new Deno.Command("sh", { args: ["-c", sh, top, command, ...args, "find"] }).output();
  assert.deepEqual([code, new TextDecoder().decode(stderr)], [9, "fettle: standard output cannot be written\n"]);
  Deno.removeSync(top, { recursive: true });
});
