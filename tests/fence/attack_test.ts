/**
 * The process fence, attacked with the verb layer switched off: the real engine is told a boundary that lists the whole disk, while
 * its permission flags are those of the real one. Each attack is first seen to succeed without the flags.
 */
import assert from "node:assert/strict";
import { Survey } from "../../src/boundary/survey.ts";
import type { Boundary } from "../../src/boundary/types.ts";
import { encodeFrame, FrameReader } from "../../src/frames.ts";
import { ENGINE_MODE, type Opened, type Opening, type Response } from "../../src/dispatch/protocol.ts";
import { V8_FLAGS } from "../../src/dispatch/v8_flags.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { permissionFlags, planFence } from "../../src/fence/plan.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";

const MAIN = decodeURIComponent(new URL("../../main.ts", import.meta.url).pathname);

function world() {
  const top = makeFolder({
    "work/a.txt": "inside",
    "work/secret/s.txt": "hidden text",
    "work/with,comma/c.txt": "inside too",
    "outside.txt": "outside text",
  });
  const boundary = boundaryOf({
    work: { path: `${top}/work`, scopes: { "secret": [], "with,comma": ["list", "read"] } },
  });
  return { top, boundary };
}

/** Asks an engine that was started with these flags and told this boundary. */
async function ask(flags: string[], opening: Opening, requests: { verb: string; args: Record<string, unknown> }[]) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--cached-only", V8_FLAGS, ...flags, MAIN, ENGINE_MODE],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(encodeFrame(opening));
  let id = 0;
  for (const request of requests) {
    await writer.write(encodeFrame({ id: ++id, form: "json", ...request })).catch(() => {});
  }
  await writer.close().catch(() => {});
  const { stdout } = await child.output();
  const [opened, ...answers] = new FrameReader<Opened | Response>().push(stdout);
  return {
    opened: opened.header as Opened,
    answers: answers.map(({ body }) => JSON.parse(new TextDecoder().decode(body))),
  };
}

/** The lie: one tree at the root of the file system, everything allowed. Path names, since those go through Deno's calls. */
function everything(): Opening {
  const { dev, ino } = Deno.statSync("/");
  const boundary: Boundary = {
    names: { windows: false, ignoreCase: false },
    trees: [{ name: "all", path: "/", real: "/", identity: { dev, ino: ino! }, can: ["list", "read"], scopes: [] }],
    generated: [],
    inForce: [],
  };
  return { boundary };
}

const READ = (path: string) => ({ verb: "read", args: { paths: [path] } });

Deno.test("a plain path outside the trees and one in a hidden scope: readable without flags, refused by the flags", async () => {
  const { top, boundary } = world();
  const attacks = [READ(`${top}/outside.txt`), READ(`${top}/work/secret/s.txt`), READ("/etc/passwd")];
  const open = await ask(["--allow-all"], everything(), attacks);
  assert.deepEqual(open.answers.map((answer) => answer.outcome), ["ok", "ok", "ok"]);

  const flags = permissionFlags(planFence(new Survey(boundary)), undefined);
  // The root of the lie cannot even be looked at, so the engine is told a lie below which it may look: the real tree, nothing hidden.
  const shut = await ask(flags, everything(), attacks);
  assert.notEqual(shut.opened.replaced, undefined, "the engine opened a tree at the root");
  assert.deepEqual(shut.answers, []);
  const lie: Opening = { boundary: boundaryOf({ work: `${top}/work` }) };
  const inTree = [READ("a.txt"), READ("with,comma/c.txt"), READ("secret/s.txt"), {
    verb: "find",
    args: { pattern: "secret/*" },
  }];
  const seen = await ask(["--allow-all"], lie, inTree);
  assert.deepEqual(seen.answers.map((answer) => answer.outcome), ["ok", "ok", "ok", "ok"]);
  const fenced = await ask(flags, lie, inTree);
  assert.deepEqual(fenced.answers.map((answer) => answer.outcome), ["ok", "ok", "denied", "denied"]);
  assert.ok(!JSON.stringify(fenced.answers).includes("hidden text"));
  Deno.removeSync(top, { recursive: true });
});

/** What a defect in our own code could try with Deno's calls, each printing whether it got through. */
const ATTACKS = `
const tries = {
  "read outside": () => Deno.readTextFileSync(Deno.args[0] + "/outside.txt"),
  "read hidden": () => Deno.readTextFileSync(Deno.args[0] + "/work/secret/s.txt"),
  "list hidden": () => [...Deno.readDirSync(Deno.args[0] + "/work/secret")],
  "stat outside": () => Deno.statSync(Deno.args[0] + "/outside.txt"),
  "write inside": () => Deno.writeTextFileSync(Deno.args[0] + "/work/new.txt", "x"),
  "run": () => new Deno.Command("/bin/true").outputSync(),
  "environment": () => Deno.env.get("PATH"),
  "system": () => Deno.hostname(),
  "library": () => Deno.dlopen("/lib/x86_64-linux-gnu/libm.so.6", {}),
  "worker": () => new Worker("data:text/javascript,", { type: "module", deno: { permissions: { read: true } } }),
};
const got = [];
for (const [name, act] of Object.entries(tries)) {
  try { act(); got.push(name); } catch { /* refused */ }
}
const network = Number(Deno.args[1]);
try { (await Deno.connect({ hostname: "127.0.0.1", port: network })).close(); got.push("network"); } catch { /* refused */ }
try { await import("http://127.0.0.1:" + network + "/x.js"); got.push("import"); } catch (error) {
  if (!/permission|access/i.test(error.message)) got.push("import");
}
console.log(JSON.stringify(got));
Deno.exit(0);
`;

Deno.test("what Deno's own calls can do: everything without the flags, nothing with them", async () => {
  const { top, boundary } = world();
  const script = `${top}/attacks.js`;
  Deno.writeTextFileSync(script, ATTACKS);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  (async () => {
    for await (const connection of listener) connection.close();
  })();
  const port = String((listener.addr as Deno.NetAddr).port);
  const run = async (flags: string[]) => {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", "--unstable-worker-options", ...flags, script, top, port],
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert.notEqual(text, "", new TextDecoder().decode(stderr));
    return JSON.parse(text) as string[];
  };
  const open = await run(["--allow-all"]);
  for (
    const attack of [
      "read outside",
      "read hidden",
      "list hidden",
      "stat outside",
      "write inside",
      "run",
      "environment",
      "network",
    ]
  ) {
    assert.ok(open.includes(attack), `${attack} does not succeed without the fence, so it proves nothing`);
  }
  const fenced = await run(permissionFlags(planFence(new Survey(boundary)), findLibc()));
  assert.deepEqual(fenced, []);
  listener.close();
  Deno.removeSync(top, { recursive: true });
});

Deno.test("a fence that does not hold is noticed before the first request", async () => {
  const { top, boundary } = world();
  const plan = planFence(new Survey(boundary));
  const opening: Opening = { boundary, fenced: plan.read };
  const good = await ask(permissionFlags(plan, undefined), opening, []);
  assert.deepEqual(good.opened, { id: 0, disk: "pathname", process: true });
  for (const extra of ["--allow-net", "--allow-run", "--allow-env", "--allow-sys", "--allow-write"]) {
    const { opened } = await ask([...permissionFlags(plan, undefined), extra], opening, []);
    assert.equal(opened.breach, extra.slice("--allow-".length));
  }
  const { opened } = await ask(["--no-prompt", "--deny-import", "--allow-read"], opening, []);
  assert.equal(opened.breach, "read /");
  Deno.removeSync(top, { recursive: true });
});
