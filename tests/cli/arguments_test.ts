/** Arguments reach the verb as they were typed, or are refused. Spec: 1-boundary §1.8; 2-verbs §2.2. */
import assert from "node:assert/strict";
import { demandUnicode, typedArguments } from "../../src/front/cli/arguments.ts";
import { Refusal } from "../../src/refusal.ts";

Deno.test("what the launcher says of the arguments is undone", () => {
  assert.deepEqual(typedArguments(["a.", ".", "b\r."], " dotted"), ["a", "", "b\r"]);
  assert.deepEqual(typedArguments(["a.", "b\r"], ""), ["a.", "b\r"]);
  assert.deepEqual(typedArguments(["a."], "replacement"), ["a."]);
});

Deno.test("U+FFFD is what was typed only where the launcher says so", () => {
  demandUnicode(["a", "é"], "");
  demandUnicode(["\ufffd"], "replacement dotted");
  assert.throws(
    () => demandUnicode(["write", "x\ufffd.txt"], " dotted"),
    (error) => error instanceof Refusal && error.outcome === "invalid" && error.message.includes('"x\ufffd.txt"'),
  );
});
