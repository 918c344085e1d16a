/** The seal, attacked from inside. Each attempt is first seen to succeed in a process that gave up nothing. */
import assert from "node:assert/strict";
import { findLibc } from "../../src/fence/libc.ts";
import { makeFolder } from "../support/tree.ts";
import { ATTEMPT_NAMES } from "./attack_jobs.ts";
import { ask, ownerOf } from "./support.ts";

const libc = findLibc();

Deno.test("every attempt succeeds without the seal and fails behind it", { ignore: !libc }, async () => {
  const top = makeFolder({ "a.txt": "text", "m.js": "export {}" });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepting = (async () => {
    for await (const connection of listener) connection.close();
  })();
  const sleeper = new Deno.Command("/bin/sleep", { args: ["60"] }).spawn();
  const targets: Record<string, string> = {
    read: `${top}/a.txt`,
    list: top,
    write: `${top}/new.txt`,
    program: "/bin/true",
    connect: String((listener.addr as Deno.NetAddr).port),
    library: libc!,
    environment: "PATH",
    signal: String(sleeper.pid),
    module: `file://${top}/m.js`,
  };
  const results = async (flags: string[], args: string[]) => {
    await using held = ownerOf({ flags, args });
    const succeeded: string[] = [];
    for (const name of ATTEMPT_NAMES) {
      const answer = await ask(held.owner, `try ${name}`, { target: targets[name] });
      assert.ok(answer.ok, name);
      if (answer.header.succeeded) succeeded.push(name);
    }
    return succeeded;
  };
  assert.deepEqual(await results(["--allow-all"], ["open"]), ATTEMPT_NAMES);
  Deno.removeSync(`${top}/new.txt`);
  // Given everything, so that it is the seal that holds and not the command line.
  assert.deepEqual(await results(["--allow-all"], []), []);
  assert.deepEqual(await results([], []), []);
  sleeper.kill("SIGKILL");
  await sleeper.status;
  listener.close();
  await accepting;
  Deno.removeSync(top, { recursive: true });
});

Deno.test(
  "the first frame tells of a kernel fence, and one that cannot be entered is a breach",
  { ignore: !libc },
  async () => {
    await using plain = ownerOf();
    assert.ok((await ask(plain.owner, "echo")).ok);
    assert.deepEqual(plain.owner.report, { kernel: false });

    // A library can be loaded in the hook alone, and under the narrow flag it is given up as well.
    await using fenced = ownerOf({ libc: true, args: ["hook-loads", libc!] });
    const late = await ask(fenced.owner, "try library", { target: libc });
    assert.ok(late.ok && late.header.succeeded === false);
    assert.deepEqual(fenced.owner.report, { kernel: true });

    await using broken = ownerOf({ args: ["hook-throws"] });
    assert.deepEqual(await ask(broken.owner, "echo"), { ok: false, why: "died" });
    assert.deepEqual(broken.owner.report, { kernel: false, breach: "kernel: no such call" });
  },
);

Deno.test("what a process can be asked for is in its registry", async () => {
  await using held = ownerOf();
  for (const name of ["eval", "constructor", "__proto__", "../evil.ts", "data:text/javascript,"]) {
    assert.deepEqual(await ask(held.owner, name), { ok: false, why: "died" });
  }
});
