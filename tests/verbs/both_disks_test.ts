/** The reading verbs over one world, on both disk implementations: the same answers. Spec 1-boundary §1.3, §1.9. */
import assert from "node:assert/strict";
import type { Permission } from "../../src/boundary/types.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder, put } from "../support/tree.ts";

const LR: Permission[] = ["list", "read"];

function world(): string {
  const top = makeFolder({
    "app/a.txt": "inside\n",
    "app/sub/b.txt": "below\n",
    "app/secret/s.txt": "hidden\n",
    "app/secret/open/o.txt": "open below hidden\n",
    "app/secret/open/shut/x.txt": "shut again\n",
    "app/one/file.txt": "a file of its own\n",
    "app/one/other.txt": "beside it\n",
    "app/nested/n.txt": "nested tree\n",
    "app/nested/deep/d.txt": "nested deeper\n",
    "app/really/r.txt": "reached by a scope that is a link\n",
    "notes/n.txt": "shut\n",
    "notes/open/p.txt": "open note\n",
    "outside/secret.txt": "outside\n",
  });
  put(`${top}/app`, {
    "to-sub": { link: "sub" },
    "to-outside": { link: "../outside/secret.txt" },
    "to-outside-folder": { link: "../outside" },
    "to-hidden": { link: "secret/s.txt" },
    "to-hidden-folder": { link: "secret" },
    "to-nested": { link: `${top}/app/nested` },
    "linked-scope": { link: "really" },
    "loop": { link: "loop" },
    "dangling": { link: "never" },
  });
  return top;
}

function boundary(top: string) {
  return boundaryOf({
    work: {
      path: `${top}/app`,
      scopes: {
        "secret": [],
        "secret/open": LR,
        "secret/open/shut": [],
        "one/file.txt": ["list"],
        "linked-scope": [],
        "one/never-there": [],
      },
    },
    nested: { path: `${top}/app/nested`, can: LR, scopes: { deep: [] } },
    notes: { path: `${top}/notes`, can: [], scopes: { open: LR } },
  });
}

for (const [kind, library] of DISKS) {
  Deno.test(`${kind}: what is read, and what is not`, async () => {
    const top = world();
    const side = sideOf(boundary(top), library);
    const expected: Record<string, string> = {
      "a.txt": "ok",
      "to-sub/b.txt": "ok",
      "to-nested/n.txt": "ok",
      "nested/n.txt": "ok",
      "nested:n.txt": "ok",
      "nested/deep/d.txt": "outside-root",
      "to-nested/deep/d.txt": "outside-root",
      "secret/s.txt": "outside-root",
      "secret/never": "outside-root",
      "secret/open/o.txt": "ok",
      "secret/open/shut/x.txt": "outside-root",
      "to-outside": "outside-root",
      "to-outside-folder/secret.txt": "outside-root",
      "to-hidden": "outside-root",
      "to-hidden-folder/s.txt": "outside-root",
      // The rest of the path does not make a link into a hidden place any better.
      "to-hidden-folder/open/o.txt": "outside-root",
      "one/file.txt": "refused",
      "one/other.txt": "ok",
      "one/never-there": "outside-root",
      "linked-scope/r.txt": "outside-root",
      "really/r.txt": "outside-root",
      "loop": "refused",
      "dangling": "not-found",
      "never/x": "not-found",
      "a.txt/x": "not-found",
      "sub": "refused",
      "notes:open/p.txt": "ok",
      "notes:n.txt": "outside-root",
      [`${top}/notes/open/p.txt`]: "ok",
      ["x".repeat(300)]: "not-found",
      [`${"d/".repeat(3000)}x`]: "not-found",
    };
    for (const [path, outcome] of Object.entries(expected)) {
      assert.equal((await call(side, "read", { paths: [path] })).outcome, outcome, path);
    }
    side.disk.close();
    Deno.removeSync(top, { recursive: true });
  });

  Deno.test(`${kind}: what walks meet`, async () => {
    const top = world();
    const side = sideOf(boundary(top), library);
    const paths = async (args: Record<string, unknown>) =>
      (await call(side, "find", args)).json.files.map((file: { path: string }) => file.path.replace("work:", ""));
    assert.deepEqual(
      await paths({}),
      [
        "a.txt",
        "dangling",
        "linked-scope",
        "loop",
        "nested/n.txt",
        "one/file.txt",
        "one/other.txt",
        "secret/open/o.txt",
        "sub/b.txt",
        "to-hidden",
        "to-hidden-folder",
        "to-nested",
        "to-outside",
        "to-outside-folder",
        "to-sub",
      ].filter((path) => path !== "linked-scope"),
    );
    assert.deepEqual(
      await paths({ type: "dir" }),
      ["nested", "one", "secret/open", "sub"],
    );
    assert.deepEqual(await paths({ in: "notes" }), ["notes:open/p.txt"]);
    assert.deepEqual(await paths({ pattern: "secret/open/*" }), ["secret/open/o.txt"]);
    assert.deepEqual(await paths({ pattern: "to-nested/*" }), ["to-nested/n.txt"]);
    assert.deepEqual(await paths({ pattern: "nested:*" }), ["nested:n.txt"]);
    assert.deepEqual(await paths({ pattern: "**/*.txt", depth: 1 }), ["a.txt"]);
    assert.deepEqual(await paths({ pattern: "never/*" }), []);
    for (
      const pattern of [
        "secret/*",
        "to-hidden-folder/*",
        "to-outside-folder/*",
        "../*x",
        "/etc/*",
        "notes:n*",
        "linked-scope/*",
      ]
    ) {
      const { outcome } = await call(side, "find", { pattern });
      assert.equal(outcome, pattern === "../*x" ? "invalid" : pattern === "notes:n*" ? "ok" : "outside-root", pattern);
    }
    const hits = (await call(side, "search", { patterns: ["."] })).json;
    assert.deepEqual(hits.hits.map((hit: { path: string }) => hit.path.replace("work:", "")), [
      "a.txt",
      "nested/n.txt",
      "one/other.txt",
      "secret/open/o.txt",
      "sub/b.txt",
    ]);
    assert.deepEqual([hits.files_matched, hits.files_searched, hits.files_unreadable], [6, 5, 1]);
    side.disk.close();
    Deno.removeSync(top, { recursive: true });
  });

  Deno.test(`${kind}: listed places below hidden ones are walked by name, in path order, the rest is not seen`, async () => {
    const top = makeFolder({
      "h/x/open/deep/d.txt": "",
      "h/x/open/a.txt": "",
      "h/x/open-b.txt": "",
      "h/x/y/file.txt": "",
      "h/x/y/other.txt": "",
      "h/x/shut.txt": "",
      "h/node_modules/in/i.txt": "",
      "h/gone-elsewhere.txt": "",
    });
    const scopes = {
      "h/x/open": LR,
      "h/x/open/deep": [],
      "h/x/open-b.txt": LR,
      "h/x/y/file.txt": LR,
      "h/x/never": LR,
      "h/node_modules/in": LR,
    };
    const side = sideOf(boundaryOf({ work: { path: top, can: [], scopes } }), library);
    const paths = async (args: Record<string, unknown>) =>
      (await call(side, "find", args)).json.files.map((file: { path: string }) => file.path);
    assert.deepEqual(await paths({}), ["h/x/open-b.txt", "h/x/open/a.txt", "h/x/y/file.txt"]);
    assert.deepEqual(await paths({ type: "any" }), [
      "h/x/open",
      "h/x/open-b.txt",
      "h/x/open/a.txt",
      "h/x/y/file.txt",
    ]);
    assert.deepEqual(await paths({ include_generated: true, pattern: "**/i.txt" }), ["h/node_modules/in/i.txt"]);
    assert.deepEqual(await paths({ pattern: "h/x/y/file.txt" }), ["h/x/y/file.txt"]);
    assert.equal((await call(side, "find", {})).json.excluded, 1);
    assert.equal((await call(side, "find", { pattern: "h/x/**" })).outcome, "outside-root");
    side.disk.close();
    Deno.removeSync(top, { recursive: true });
  });

  Deno.test(`${kind}: excluded files are counted up to a thousand, hidden ones never`, async () => {
    const top = makeFolder({ "a.txt": "", "node_modules/.keep": "", "bin/h/x": "", "bin/y": "", "skip/one": "" });
    put(top, Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`node_modules/f${i}`, ""])));
    const side = sideOf(boundaryOf({ work: { path: top, scopes: { "bin/h": [] } } }), library);
    const few = (await call(side, "find", { exclude: ["skip", "node_modules"] })).json;
    assert.deepEqual([few.count, few.excluded, few.excluded_at_least], [1, 1000, true]);
    put(top, {});
    Deno.removeSync(`${top}/node_modules`, { recursive: true });
    const exact = (await call(side, "find", { exclude: ["skip"] })).json;
    assert.deepEqual([exact.count, exact.excluded, exact.excluded_at_least], [1, 2, undefined]);
    const text = await call(side, "find", { exclude: ["skip"] }, "text");
    assert.match(text.text, /1 file \(2 excluded: bin - pass --include-generated\)\n$/);
    side.disk.close();
    Deno.removeSync(top, { recursive: true });
  });

  Deno.test(`${kind}: a tree at the root of the file system`, async () => {
    const side = sideOf(boundaryOf({ all: { path: "/", can: LR, scopes: { etc: [], tmp: LR } } }), library);
    const top = makeFolder({ "a.txt": "x\n" });
    assert.equal((await call(side, "read", { paths: ["/etc/passwd"] })).outcome, "outside-root");
    assert.equal((await call(side, "read", { paths: [`${top}/a.txt`] })).outcome, "ok");
    assert.equal((await call(side, "find", { pattern: `${top.slice(1)}/*` })).json.count, 1);
    side.disk.close();
    Deno.removeSync(top, { recursive: true });
  });
}
