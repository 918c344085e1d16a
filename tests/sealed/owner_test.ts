/** The owner against processes that misbehave: each misdeed is contained, and the next request works. */
import assert from "node:assert/strict";
import type { SealedFailure } from "../../src/sealed/owner.ts";
import { SealedOwner } from "../../src/sealed/owner.ts";
import { ask, children, isAlive, LIMITS, ownerOf, pidOf } from "./support.ts";

const MIB = 1024 * 1024;
const NO_BODY = new Uint8Array();
const SHORT = { silence: 300, total: 20_000 };

Deno.test("an answer brings back what the job made of header and body; the process is kept", async () => {
  await using held = ownerOf();
  for (const size of [0, 1, 100_000, 5 * MIB]) {
    const body = new Uint8Array(size).map((_, i) => i * 7);
    const answer = await held.owner.run({ name: "echo", header: { size, text: "é\n" }, body }, LIMITS);
    assert.ok(answer.ok);
    assert.deepEqual(answer.header, { size, text: "é\n" });
    assert.ok(answer.body.length === size && answer.body.every((byte, i) => byte === body[i]));
  }
  assert.equal(held.starts, 1);
});

Deno.test("jobs asked for together run one after another", async () => {
  await using held = ownerOf();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(held.owner, "echo", { i })));
  assert.deepEqual(answers.map((answer) => answer.ok && answer.header.i), [...Array(20).keys()]);
  assert.equal(held.starts, 1);
});

const ENDS: readonly [string, SealedFailure[]][] = [
  ["spin", ["timed-out"]],
  ["spinSilently", ["timed-out"]],
  ["eatArrays", ["died", "memory"]],
  ["eatBuffers", ["memory"]],
  ["exit", ["died"]],
  ["throw", ["died"]],
  ["overflow", ["died"]],
  ["reject", ["died"]],
  ["text", ["garbage"]],
  ["zeros", ["garbage"]],
  ["gigabyte", ["garbage"]],
  ["gigabyteFrame", ["garbage"]],
  ["manyBodies", ["garbage"]],
  ["other", ["garbage"]],
  ["list", ["garbage"]],
  ["short", ["timed-out"]],
];

for (const [name, expected] of ENDS) {
  Deno.test(`${name} ends in ${expected.join(" or ")}, and the next request works`, async () => {
    await using held = ownerOf({ memory: 300 * MIB, heap: 200 });
    const pid = await pidOf(held.owner);
    const before = Deno.memoryUsage().rss;
    const limits = name.startsWith("eat") ? { silence: 15_000, total: 15_000 } : SHORT;
    const answer = await ask(held.owner, name, {}, limits);
    assert.ok(!answer.ok);
    assert.ok(expected.includes(answer.why), answer.why);
    if (name === "spin") assert.deepEqual(answer.progress, { spinning: true });
    assert.ok(Deno.memoryUsage().rss - before < 200 * MIB, "what came was collected");
    assert.equal(isAlive(pid), false);
    const next = await ask(held.owner, "echo", { fine: true });
    assert.ok(next.ok && next.header.fine);
  });
}

Deno.test("an answer with more behind it counts, and its process is not trusted again", async () => {
  for (const name of ["twice", "long", "later"]) {
    await using held = ownerOf();
    assert.ok((await ask(held.owner, name, {}, SHORT)).ok, name);
    if (name === "later") await new Promise((resolve) => setTimeout(resolve, 200));
    const next = await ask(held.owner, "echo", { fine: true });
    assert.deepEqual(next.ok && next.header, { fine: true }, name);
    assert.equal(held.starts, 2);
  }
});

Deno.test("rubbish left by one job does not fail the next", async () => {
  await using held = ownerOf();
  assert.ok((await ask(held.owner, "later", {}, SHORT)).ok);
  const next = await ask(held.owner, "echo", { fine: true }, SHORT);
  assert.deepEqual(next.ok && next.header, { fine: true });
  assert.equal(held.starts, 2);
});

Deno.test("progress keeps a job alive, within its total", async () => {
  await using held = ownerOf();
  const seen: unknown[] = [];
  const run = (total: number) =>
    held.owner.run({
      name: "progress",
      header: { times: 10, pause: 100 },
      body: NO_BODY,
      onProgress: ({ i }, body) => seen.push([i, body.length]),
    }, { silence: 400, total });
  assert.ok((await run(20_000)).ok);
  assert.deepEqual(seen, Array.from({ length: 10 }, (_, i) => [i, 10]));
  const late = await run(450);
  assert.ok(!late.ok && late.why === "timed-out");
  assert.ok(Number(late.progress!.i) >= 2);
});

Deno.test("our own hold-ups are not laid to the process", async () => {
  await using held = ownerOf();
  await ask(held.owner, "echo");
  const running = ask(held.owner, "progress", { times: 5, pause: 60 }, SHORT);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const until = performance.now() + 700;
  while (performance.now() < until);
  assert.ok((await running).ok);
});

Deno.test("an abort takes effect while running, while queued, and beforehand", async () => {
  await using held = ownerOf();
  const [first, second] = [new AbortController(), new AbortController()];
  const pid = await pidOf(held.owner);
  const running = held.owner.run({ name: "spin", header: {}, body: NO_BODY }, LIMITS, first.signal);
  const queued = held.owner.run({ name: "echo", header: {}, body: NO_BODY }, LIMITS, second.signal);
  const last = ask(held.owner, "echo", { last: true });
  setTimeout(() => second.abort(), 50);
  assert.deepEqual(await queued, { ok: false, why: "cancelled" });
  assert.ok(isAlive(pid));
  first.abort();
  const answer = await running;
  assert.ok(!answer.ok && answer.why === "cancelled");
  assert.ok(!isAlive(pid));
  assert.ok((await last).ok);
  assert.deepEqual(await held.owner.run({ name: "echo", header: {}, body: NO_BODY }, LIMITS, first.signal), {
    ok: false,
    why: "cancelled",
  });
});

Deno.test("closing cancels what runs and all that follows", async () => {
  const { owner } = ownerOf();
  const running = ask(owner, "spin");
  const queued = ask(owner, "echo");
  await new Promise((resolve) => setTimeout(resolve, 200));
  await owner.close();
  for (const answer of [await running, await queued, await ask(owner, "echo")]) {
    assert.ok(!answer.ok && answer.why === "cancelled");
  }
  assert.deepEqual(children(), []);
});

Deno.test("a program that does not start, or says nothing, is a death", async () => {
  for (const command of ["/nonexistent/program", "/bin/true"]) {
    const owner = new SealedOwner({ command: () => ({ command, args: [], env: {} }) });
    assert.deepEqual(await ask(owner, "echo"), { ok: false, why: "died" });
    await owner.close();
  }
});

Deno.test("a process that has grown large is let go when it is idle", async () => {
  await using held = ownerOf();
  const pid = await pidOf(held.owner);
  assert.ok((await ask(held.owner, "holdBuffers", { bytes: 400 * MIB })).ok);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(isAlive(pid), false);
  assert.ok((await ask(held.owner, "echo")).ok);
});

Deno.test("a sealed process does not outlive an owner that is killed, at whatever moment", async () => {
  const script = decodeURIComponent(new URL("orphan.ts", import.meta.url).pathname);
  const orphan = async (delay: number) => {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--cached-only", "--allow-all", script],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    const pid = Number(new TextDecoder().decode((await reader.read()).value));
    assert.ok(isAlive(pid));
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    for (let i = 0; i < 50 && isAlive(pid); i++) await new Promise((resolve) => setTimeout(resolve, 20));
    const survived = isAlive(pid);
    if (survived) Deno.kill(pid, "SIGKILL");
    return survived;
  };
  for (let delay = 0; delay < 110; delay += 10) assert.equal(await orphan(delay), false, `after ${delay} ms`);
});

Deno.test("two hundred deaths leave nothing behind", async () => {
  const held = ownerOf();
  const descriptors = () => [...Deno.readDirSync(`/proc/${Deno.pid}/fd`)].length;
  await ask(held.owner, "throw");
  await ask(held.owner, "throw");
  const [before, memory] = [descriptors(), Deno.memoryUsage()];
  for (let i = 0; i < 200; i++) {
    const answer = await ask(held.owner, ["throw", "exit", "text", "spin"][i % 4], {}, { silence: 20, total: 20 });
    assert.equal(answer.ok, false);
  }
  assert.equal(held.starts, 202);
  assert.deepEqual(children(), []);
  assert.ok(descriptors() <= before + 2, `${descriptors()} descriptors, ${before} before`);
  assert.ok(Deno.memoryUsage().rss - memory.rss < 64 * MIB);
  await held.owner.close();
});
