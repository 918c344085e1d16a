/** Helpers decide nothing: answers are the same with them, whatever they do and leave undone. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { compilePatterns } from "../../src/text/patterns.ts";
import { render } from "../../src/verbs/answer.ts";
import type { Assist, Crew } from "../../src/verbs/crew.ts";
import { Search } from "../../src/verbs/search_run.ts";
import { assistSearch, type SearchTask } from "../../src/verbs/search_crew.ts";
import type { EngineSide } from "../../src/verbs/verb.ts";
import { DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder } from "../support/tree.ts";

/** What becomes of the jobs, one after another: refused, done late, failed, or lost. */
type Fate = "done" | "refused" | "late" | "failed" | "lost";

function crewOf(assist: Assist, fates: readonly Fate[]): Crew & { given: number } {
  const results: { fate: Fate; result: Uint8Array }[] = [];
  let next = 0;
  const fate = () => fates[next++ % fates.length];
  return {
    given: 0,
    room: () => fate() !== "refused",
    give(job) {
      const what = fate();
      if (what === "refused") return undefined;
      this.given++;
      return results.push({ fate: what, result: assist(JSON.parse(JSON.stringify(job))) }) - 1;
    },
    result(ticket, wait) {
      const { fate, result } = results[ticket];
      if (fate === "lost" || fate === "late" && !wait) return undefined;
      return fate === "failed" ? new Uint8Array() : result;
    },
  };
}

const content = fc.constantFrom(
  "nothing here\n",
  "needle\n",
  "a\nneedle needle\nb\n",
  "",
  "\0needle",
  "caf\u00e9 needle\r\nlast",
  "x".repeat(5000) + "needle" + "y".repeat(5000),
);
const name = fc.constantFrom("a", "b.txt", "c.md", "d.zip", "e.png", "f", "g.ts", "h.pdf");
const path = fc.tuple(fc.array(fc.constantFrom("p", "q", "hidden", "ro"), { maxLength: 3 }), name)
  .map(([folders, name]) => [...folders, name].join("/"));

for (const [kind, library] of DISKS) {
  Deno.test(`${kind}: an answer put together with helpers is the answer of one thread`, async () => {
    let given = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(path, content, { minKeys: 1, maxKeys: 25 }),
        fc.array(fc.constantFrom<Fate>("done", "done", "done", "refused", "late", "failed", "lost"), { minLength: 1 }),
        fc.record({
          patterns: fc.constantFrom(["needle"], ["\\w+"], ["absent"], ["e", "needle"]),
          limit: fc.constantFrom(undefined, 0, 1, 2, 5),
          count: fc.constantFrom(undefined, true),
          context: fc.constantFrom(undefined, 1),
          glob: fc.constantFrom(undefined, "**/*.txt", "p/**"),
        }),
        async (files, fates, args) => {
          // A name cannot be a file and a folder.
          const names = Object.keys(files).filter((a) => !Object.keys(files).some((b) => b.startsWith(a + "/")));
          const top = makeFolder(Object.fromEntries(names.map((name) => [name, files[name]])));
          const boundary = boundaryOf({
            work: { path: top, scopes: { hidden: [], "p/hidden": [], ro: ["list"], "q/ro": ["list"] } },
          });
          const [side, other] = [sideOf(boundary, library), sideOf(boundary, library)];
          try {
            const matcher = await compilePatterns(args.patterns, { literal: false, caseSensitive: false });
            const wanted = { ...args, patterns: [...args.patterns] };
            const alone = new Search(wanted, matcher, side).answer();
            let crew: (Crew & { given: number }) | undefined;
            const helped: EngineSide = {
              ...side,
              call: { ...side.call, crew: (task) => crew = crewOf(assistSearch(task as SearchTask, other), fates) },
            };
            const answer = new Search(wanted, matcher, helped, { milliseconds: 0, files: 1 }).answer();
            given += crew?.given ?? 0;
            for (const form of ["json", "text"] as const) {
              assert.deepEqual(render(answer, form), render(alone, form));
            }
          } finally {
            side.disk.close();
            other.disk.close();
            Deno.removeSync(top, { recursive: true });
          }
        },
      ),
      { numRuns: 150 },
    );
    assert.ok(given > 0, "helpers were given something to do");
  });
}
