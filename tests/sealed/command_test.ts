import { deepStrictEqual as equal, ok } from "node:assert";
import { sealedCommand } from "../../src/sealed/command.ts";
import { SEALED_MODE } from "../../src/sealed/name.ts";

Deno.test("a sealed process is allowed nothing, or one library", () => {
  const allowed = (args: string[]) => args.filter((arg) => /^(-A|--allow)/.test(arg));
  const plain = sealedCommand({ v8Flags: "--v8-flags=--x", heap: 100, env: { A: "b" }, main: "file:///x/main.ts" });
  equal(allowed(plain.args), []);
  equal(plain.args.slice(-3), ["--v8-flags=--x,--max-old-space-size=100", "file:///x/main.ts", SEALED_MODE]);
  equal([plain.command, plain.env], [Deno.execPath(), { A: "b" }]);
  for (const flag of ["--cached-only", "--no-prompt", "--deny-import"]) ok(plain.args.includes(flag));
  ok(!plain.args.includes("--no-config"));

  const bundle = sealedCommand({
    v8Flags: "--v8-flags=--x",
    libc: "/a,b/libc.so.6",
    env: {},
    main: "file:///x/main.js",
  });
  equal(allowed(bundle.args), ["--allow-ffi=/a,,b/libc.so.6"]);
  ok(bundle.args.includes("--no-config"));
});
