/** Searches that last long enough to get help from other threads, in a command and in the server. */
import assert from "node:assert/strict";
import { fettle, program } from "../support/program.ts";
import { makeFolder } from "../support/tree.ts";

function bigTree(): string {
  const text = "an ordinary line of some text\n".repeat(400);
  const entries: Record<string, string> = {};
  for (let i = 0; i < 3000; i++) entries[`d${i % 40}/e${i % 7}/f${i}.txt`] = i % 500 === 0 ? text + "NEEDLE\n" : text;
  return makeFolder(entries);
}

Deno.test("a search over thousands of files finds the same in a command and in the server", async () => {
  const top = bigTree();
  try {
    for (const [pattern, hits] of [["needle", 6], ["nowhere_at_all", 0]] as const) {
      const { json } = await fettle(["search", pattern, "--json"], { cwd: top });
      assert.deepEqual([json.outcome, json.hits_count, json.files_searched], ["ok", hits, 3000]);
      assert.deepEqual(
        json.hits.map(({ path }: { path: string }) => path),
        json.hits.map((hit: { path: string }) => hit.path).toSorted(),
      );
    }
    const { command, args } = program();
    const child = new Deno.Command(command, {
      args: [...args, "serve"],
      cwd: top,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    const calls = [1, 2, 3].map((id) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "search", arguments: { patterns: ["needle"] } },
    }));
    await writer.write(new TextEncoder().encode(calls.map((call) => JSON.stringify(call) + "\n").join("")));
    await writer.close();
    const { stdout, stderr } = await child.output();
    const answers = new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
    assert.equal(new TextDecoder().decode(stderr), "");
    assert.equal(answers.length, 3);
    for (const { result } of answers) assert.match(result.content[0].text, /6 hits in 6 files/);
  } finally {
    Deno.removeSync(top, { recursive: true });
  }
});
