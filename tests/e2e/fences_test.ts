/** Which fences stand, as `roots` tells it, and that everything works without the kernel's. Decisions 45 and 52. */
import assert from "node:assert/strict";
import { findLibc } from "../../src/fence/libc.ts";
import { COMPILED, fettle, isCompiled, program } from "../support/program.ts";
import { makeFolder } from "../support/tree.ts";

const libc = findLibc();
const script = decodeURIComponent(new URL("../fence/without_landlock.ts", import.meta.url).pathname);

Deno.test("roots tells which fences stand", async () => {
  const top = makeFolder({ "a.txt": "x\n" });
  const { fences } = (await fettle(["--root", top, "roots", "--json"])).json;
  assert.equal(fences.verbs, true);
  // The flags of a compiled program are fixed, so that its engine is held by the lists of its workers.
  const compiled = await isCompiled();
  assert.deepEqual([fences.process, fences.process_reason], compiled ? [false, COMPILED] : [true, undefined]);
  const { out } = await fettle(["--root", top, "roots"]);
  assert.equal(out.includes("fences: kernel does not stand"), !fences.kernel);
  assert.equal(out.includes("fences: process does not stand"), compiled);
  Deno.removeSync(top, { recursive: true });
});

Deno.test(
  "on a system without Landlock everything works, and roots says what is missing",
  { ignore: !libc },
  async () => {
    const top = makeFolder({ "a.txt": "needle needle\n" });
    const run = async (...args: string[]) => {
      const { command, args: first } = program();
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "--no-config", "-A", script, libc!, command, ...first, "--root", top, ...args],
      }).output();
      return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
    };
    const roots = await run("roots", "--json");
    assert.equal(roots.err, "");
    const { fences } = JSON.parse(roots.out);
    assert.deepEqual([fences.process, fences.kernel], [!await isCompiled(), false]);
    assert.match(fences.kernel_reason, /./);
    assert.match((await run("roots")).out, /fences: kernel does not stand: ./);
    assert.match((await run("read", "a.txt")).out, /needle/);
    assert.match((await run("search", "(ne)edle(?= n)")).out, /1 hit in 1 file/);
    assert.equal((await run("read", "/etc/passwd")).code, 4);
    Deno.removeSync(top, { recursive: true });
  },
);
