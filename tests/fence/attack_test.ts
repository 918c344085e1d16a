/**
 * The fences, each attacked with the ones inside it switched off: the real engine is told a boundary that hides less or reaches further
 * than the one its fences were made from. Each attack is first seen to succeed without the fence.
 */
import assert from "node:assert/strict";
import { Survey } from "../../src/boundary/survey.ts";
import { encodeFrame, FrameReader } from "../../src/frames.ts";
import { ENGINE_MODE, type Fenced, type FromEngine, type Opened, type Opening } from "../../src/dispatch/protocol.ts";
import { V8_FLAGS } from "../../src/dispatch/v8_flags.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { permissionFlags, planFence } from "../../src/fence/plan.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";

const libc = findLibc();
const MAIN = decodeURIComponent(new URL("../../main.ts", import.meta.url).pathname);

/** What the sources need to run: themselves and their packages. */
const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
const PROGRAM = [MAIN, MAIN.replace(/main\.ts$/, "src"), MAIN.replace(/main\.ts$/, "deno.json"), cache];

function world() {
  const top = makeFolder({
    "work/a.txt": "inside",
    "work/secret/s.txt": "hidden text",
    "work/with,comma/c.txt": "inside too",
    "work/ro/.keep": "",
    "work/.fettler.json": "{}",
    "outside.txt": "outside text",
  });
  const boundary = boundaryOf({
    work: { path: `${top}/work`, scopes: { "secret": [], "ro": ["list", "read"], "with,comma": ["list", "read"] } },
  });
  return { top, boundary };
}

/** What an engine said: of its fences, of its trees, and to each request. */
interface Said {
  fenced?: Fenced;
  opened?: Opened;
  // deno-lint-ignore no-explicit-any
  answers: any[];
}

/**
 * Asks an engine that was started with these flags and told this: one that runs verbs in a worker, one that runs its only calls on
 * its main thread, and one that runs brief ones there; of which the same is to be said, unless it is told which.
 */
async function ask(
  flags: string[],
  opening: Partial<Opening>,
  requests: { verb: string; args: Record<string, unknown> }[],
): Promise<Said> {
  if (opening.workers !== undefined) return await askOne(flags, opening, requests);
  const byWorker = await askOne(flags, { ...opening, workers: 1 }, requests);
  const inline = await askOne(flags, { ...opening, workers: 0 }, requests);
  assert.deepEqual(inline, byWorker);
  const brief = await askOne(flags, { ...opening, workers: 1 }, requests, true);
  assert.deepEqual(brief, byWorker);
  return inline;
}

async function askOne(
  flags: string[],
  opening: Partial<Opening>,
  requests: { verb: string; args: Record<string, unknown> }[],
  oneByOne = false,
): Promise<Said> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--cached-only", "--unstable-worker-options", V8_FLAGS, ...flags, MAIN, ENGINE_MODE],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const whole = { read: [], write: [], program: PROGRAM, fenced: false, ...opening };
  const frames: unknown[] = [whole, ...requests.map((request, i) => ({ id: i + 1, form: "json", ...request })), {
    finish: true,
  }];
  const said: Said = { answers: [] };
  const reader = new FrameReader<FromEngine>();
  const pieces = child.stdout[Symbol.asyncIterator]();
  const hear = async (enough: () => boolean) => {
    while (!enough()) {
      const { done, value } = await pieces.next();
      if (done) return;
      for (const { header, body } of reader.push(value)) {
        if ("kernel" in header) said.fenced = header;
        else if ("outcome" in header) said.answers[header.id - 1] = JSON.parse(new TextDecoder().decode(body));
        else if ("id" in header) said.opened = header;
      }
    }
  };
  for (const [i, frame] of frames.entries()) {
    await writer.write(encodeFrame(frame)).catch(() => {});
    if (oneByOne && i === 0) await hear(() => said.opened !== undefined);
    else if (oneByOne && i <= requests.length) await hear(() => said.answers[i - 1] !== undefined);
  }
  await hear(() => false);
  await child.status;
  await writer.close().catch(() => {});
  return said;
}

const READ = (path: string) => ({ verb: "read", args: { paths: [path] } });
const outcomes = ({ answers }: Said) => answers.map((answer) => answer.outcome);

Deno.test("flags alone: a plain path outside, and one in a hidden scope, with the verb layer and the kernel fence off", async () => {
  const { top, boundary } = world();
  const plan = planFence(new Survey(boundary));
  const flags = permissionFlags(plan, PROGRAM, undefined);
  // The verb layer is told that nothing is hidden, or that the folder above is the tree.
  const nothingHidden = { boundary: boundaryOf({ work: `${top}/work` }), read: plan.read, fenced: true };
  const above = { boundary: boundaryOf({ all: top }), read: plan.read, fenced: true };
  const inside = [READ("a.txt"), READ("with,comma/c.txt"), READ("secret/s.txt"), {
    verb: "find",
    args: { pattern: "secret/*" },
  }];
  assert.deepEqual(outcomes(await ask(["--allow-all"], { ...nothingHidden, read: [top], fenced: false }, inside)), [
    "ok",
    "ok",
    "ok",
    "ok",
  ]);
  const held = await ask(flags, nothingHidden, inside);
  assert.deepEqual(outcomes(held), ["ok", "ok", "denied", "denied"]);
  assert.ok(!JSON.stringify(held.answers).includes("hidden text"));
  assert.deepEqual(
    outcomes(await ask(["--allow-all"], { ...above, read: [top], fenced: false }, [READ("outside.txt")])),
    ["ok"],
  );
  const shut = await ask(flags, above, [READ("outside.txt")]);
  assert.notEqual(shut.opened?.replaced, undefined, "a folder above the trees was opened");
  assert.deepEqual(shut.answers, []);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("the worker's list alone, as in a compiled program: a plain path outside", async () => {
  const { top, boundary } = world();
  const { read } = planFence(new Survey(boundary));
  const above = { boundary: boundaryOf({ all: top }) };
  assert.deepEqual(outcomes(await ask(["--allow-all"], { ...above, read: [top] }, [READ("outside.txt")])), ["ok"]);
  const shut = await ask(["--allow-all"], { ...above, read, workers: 1 }, [READ("outside.txt")]);
  assert.notEqual(shut.opened?.replaced, undefined, "a folder above the trees was opened");
  assert.deepEqual(shut.answers, []);
  Deno.removeSync(top, { recursive: true });
});

Deno.test("the kernel fence alone: calls into the C library, which no permission of the runtime sees", {
  ignore: !libc,
}, async () => {
  const { top, boundary } = world();
  const { read } = planFence(new Survey(boundary));
  const above = { boundary: boundaryOf({ all: top }), libc };
  const attacks = [READ("outside.txt"), READ("work/a.txt"), { verb: "find", args: { pattern: "*" } }];
  const open = await ask(["--allow-all"], { ...above, read: [top] }, attacks);
  assert.deepEqual(outcomes(open), ["ok", "ok", "ok"]);
  const shut = await ask(["--allow-all"], { ...above, read }, attacks);
  if (!shut.fenced?.kernel.stands) return;
  assert.deepEqual(outcomes(shut), ["denied", "ok", "ok"]);
  assert.deepEqual([shut.answers[2].count, shut.answers[2].folders_unreadable], [0, 1]);
  Deno.removeSync(top, { recursive: true });
});

/** What a defect in our own code could try with Deno's calls, each printing whether it got through. */
const ATTACKS = `
const tries = {
  "read outside": () => Deno.readTextFileSync(Deno.args[0] + "/outside.txt"),
  "read hidden": () => Deno.readTextFileSync(Deno.args[0] + "/work/secret/s.txt"),
  "list hidden": () => [...Deno.readDirSync(Deno.args[0] + "/work/secret")],
  "stat outside": () => Deno.statSync(Deno.args[0] + "/outside.txt"),
  "write outside": () => Deno.writeTextFileSync(Deno.args[0] + "/new.txt", "x"),
  "write read-only": () => Deno.writeTextFileSync(Deno.args[0] + "/work/ro/new.txt", "x"),
  "write hidden": () => Deno.writeTextFileSync(Deno.args[0] + "/work/secret/new.txt", "x"),
  "write governed": () => Deno.writeTextFileSync(Deno.args[0] + "/work/.mcp.json", "x"),
  "remove governed": () => Deno.removeSync(Deno.args[0] + "/work/.fettler.json"),
  "rename over governed": () => Deno.renameSync(Deno.args[0] + "/work/a.txt", Deno.args[0] + "/work/.fettler.json"),
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
      "write outside",
      "write read-only",
      "write hidden",
      "write governed",
      "remove governed",
      "run",
      "environment",
      "network",
    ]
  ) {
    assert.ok(open.includes(attack), `${attack} does not succeed without the fence, so it proves nothing`);
  }
  Deno.writeTextFileSync(`${top}/work/.fettler.json`, "{}");
  Deno.writeTextFileSync(`${top}/work/a.txt`, "inside");
  const fenced = await run(permissionFlags(planFence(new Survey(boundary)), [], libc));
  assert.deepEqual(fenced, []);
  listener.close();
  Deno.removeSync(top, { recursive: true });
});

Deno.test("a fence that does not hold is noticed before the first request", async () => {
  const { top, boundary } = world();
  const plan = planFence(new Survey(boundary));
  const opening = { boundary, read: plan.read, fenced: true };
  const flags = permissionFlags(plan, PROGRAM, undefined);
  const good = await ask(flags, opening, [READ("a.txt")]);
  assert.deepEqual(good.fenced, { process: true, kernel: { stands: false, reason: "this system has no such fence" } });
  assert.deepEqual(good.opened, { id: 0, disk: "pathname" });
  for (const name of ["net", "run", "env", "sys", "write=/"]) {
    const { fenced, answers } = await ask([...flags, `--allow-${name}`], opening, [READ("a.txt")]);
    assert.equal(fenced?.breach, `the process fence does not hold: it allows ${name.replace("=", " ")}`);
    assert.deepEqual(answers, []);
  }
  const { fenced } = await ask(["--no-prompt", "--deny-import", "--allow-read"], opening, []);
  assert.match(fenced!.breach!, /allows read \/$/);
  Deno.removeSync(top, { recursive: true });
});
