/** The boundary from outside. Scenarios 1-12, 15-19, 32; spec 1-boundary §1.9, §1.10. */
import assert from "node:assert/strict";
import { fettle } from "../support/program.ts";
import { makeFolder, put } from "../support/tree.ts";

const OUTSIDE = "refused: the path lies outside every declared tree; ask for the roots to see the boundary\n";

function config(trees: unknown): string {
  return JSON.stringify({ guardrails: { trees } });
}

async function world(act: (top: string) => Promise<void>) {
  const top = makeFolder({
    "app/.fettler.json": config({
      work: {
        path: ".",
        scopes: { secret: { can: [] }, "listed": { can: ["list"] }, "secret/open": { can: ["list", "read"] } },
      },
      notes: { path: "../notes", can: [], scopes: { open: { can: ["list", "read"] } } },
      ro: { path: "../ro" },
    }),
    "app/a.txt": "inside\n",
    "app/sub/b.txt": "below\n",
    "app/secret/s.txt": "hidden\n",
    "app/secret/open/o.txt": "open below hidden\n",
    "app/listed/l.txt": "listed only\n",
    "notes/n.txt": "shut\n",
    "notes/open/p.txt": "open note\n",
    "ro/r.txt": "read only tree\n",
    "app-old/x.txt": "beside\n",
    "outside/secret.txt": "outside\n",
  });
  put(`${top}/app`, {
    "to-inside": { link: "a.txt" },
    "to-inside-absolute": { link: `${top}/app/a.txt` },
    "to-sub": { link: "sub" },
    "to-ro": { link: "../ro/r.txt" },
    "to-ro-folder": { link: "../ro" },
    "to-outside": { link: "../outside/secret.txt" },
    "to-outside-absolute": { link: `${top}/outside/secret.txt` },
    "to-outside-folder": { link: "../outside" },
    "to-outside-never": { link: "../outside/never.txt" },
    "to-beside": { link: "../app-old/x.txt" },
    "to-hidden": { link: "secret/s.txt" },
    "to-hidden-folder": { link: "secret" },
    "to-hidden-never": { link: "secret/never" },
    "to-hidden-tree": { link: "../notes/n.txt" },
    "to-open-in-hidden": { link: "secret/open/o.txt" },
    "to-listed": { link: "listed/l.txt" },
    "to-proc": { link: "/proc/self/environ" },
    "dangling": { link: "nowhere.txt" },
    "loop-a": { link: "loop-b" },
    "loop-b": { link: "loop-a" },
    "loop-self": { link: "loop-self" },
    "chain-1": { link: "chain-2" },
    "chain-2": { link: "to-sub/b.txt" },
    "chain-out": { link: "to-outside-folder/secret.txt" },
    "climb": { link: "sub/../../../../../../../../etc/passwd" },
    "up-and-in": { link: "../app/a.txt" },
    "through-link-and-back": { link: "to-ro-folder/../a.txt" },
    "through-folder-and-back": { link: "sub/../a.txt" },
  });
  try {
    await act(top);
  } finally {
    Deno.removeSync(top, { recursive: true });
  }
}

Deno.test("outside, hidden, there or not: one answer in the same bytes", () =>
  world(async (top) => {
    const cwd = `${top}/app`;
    const shut = [
      "/etc/passwd",
      "/never/there",
      "../outside/secret.txt",
      "../app-old/x.txt",
      "..",
      "a/../../x",
      "./../../etc/passwd",
      `${top}/outside/secret.txt`,
      `${top}/app-old/x.txt`,
      "secret/s.txt",
      "secret/never.txt",
      "secret",
      `${top}/app/secret/s.txt`,
      "notes:n.txt",
      "notes:never",
      "notes:",
      "work:/etc/passwd",
      `ro:${top}/app/a.txt`,
      "to-outside",
      "to-outside-absolute",
      "to-outside-folder/secret.txt",
      "to-outside-folder/never.txt",
      "to-outside-folder",
      "to-outside-never",
      "to-beside",
      "to-hidden",
      "to-hidden-folder/s.txt",
      "to-hidden-folder/never",
      "to-hidden-never",
      "to-hidden-tree",
      "to-proc",
      "chain-out",
      "climb",
    ];
    for (const path of shut) {
      const text = await fettle(["read", path], { cwd });
      assert.deepEqual([text.code, text.out, text.err], [4, OUTSIDE, ""], path);
      const json = await fettle(["read", path, "--json"], { cwd });
      assert.equal(json.code, 4);
      assert.equal(
        json.out,
        '{"ok":false,"outcome":"outside-root","message":"the path lies outside every declared tree; ask for the roots to see the boundary"}\n',
        path,
      );
    }
  }));

Deno.test("links inside the boundary: the real location decides", () =>
  world(async (top) => {
    const cwd = `${top}/app`;
    const expected: Record<string, [number, RegExp]> = {
      "to-inside": [0, /1 \| inside/],
      "to-inside-absolute": [0, /inside/],
      "to-sub/b.txt": [0, /below/],
      "to-ro": [0, /read only tree/],
      "to-ro-folder/r.txt": [0, /read only tree/],
      "to-open-in-hidden": [0, /open below hidden/],
      "secret/open/o.txt": [0, /open below hidden/],
      "chain-1": [0, /below/],
      "up-and-in": [0, /inside/],
      "through-folder-and-back": [0, /inside/],
      "through-link-and-back": [8, /another link/],
      "to-listed": [8, /needs read.*'listed'.*grants list;.*\.fettler\.json/],
      "listed/l.txt": [8, /needs read/],
      "dangling": [3, /no such file/],
      "loop-a": [8, /loop of links/],
      "loop-self": [8, /loop of links/],
      "sub": [8, /folder; find/],
      "to-sub": [8, /folder; find/],
      "a.txt/below": [3, /no such file/],
      "never/there": [3, /no such file/],
      "work:a.txt": [0, /inside/],
      "WORK:a.txt": [3, /no such file/],
      [`${top}/app/a.txt`]: [0, /inside/],
      "a/../a.txt": [0, /inside/],
      "sub\\b.txt": [0, /below/],
      "notes:open/p.txt": [0, /open note/],
    };
    for (const [path, [code, pattern]] of Object.entries(expected)) {
      const { code: got, out, err } = await fettle(["read", path], { cwd });
      assert.equal(got, code, `${path}: ${out}`);
      assert.match(out, pattern, path);
      assert.equal(err, "");
    }
  }));

Deno.test("a name with a backslash is a name first", () =>
  world(async (top) => {
    put(`${top}/app`, { "sub\\b.txt": "the odd one\n" });
    const { out } = await fettle(["read", "sub\\b.txt"], { cwd: `${top}/app` });
    assert.match(out, /the odd one/);
  }));

Deno.test("hidden places are in no list, count or total; listed ones below them are walked", () =>
  world(async (top) => {
    const cwd = `${top}/app`;
    const found = (await fettle(["find", "--type", "any", "--json"], { cwd })).json;
    const paths = found.files.map((file: { path: string }) => file.path);
    assert.ok(paths.includes("work:secret/open/o.txt"));
    assert.ok(paths.includes("work:listed/l.txt"));
    assert.ok(!paths.some((path: string) => path === "work:secret" || path === "work:secret/s.txt"));
    assert.deepEqual(paths, paths.toSorted());
    const hits = (await fettle(["search", "hidden|listed|inside", "--json"], { cwd })).json;
    assert.deepEqual(hits.hits.map((hit: { path: string }) => hit.path), [
      "work:.fettler.json",
      "work:a.txt",
      "work:secret/open/o.txt",
    ]);
    assert.equal(hits.files_unreadable, 1);
    assert.equal(hits.files_matched, 5);
    const notes = (await fettle(["find", "--in", "notes", "--json"], { cwd })).json;
    assert.deepEqual(notes.files.map((file: { path: string }) => file.path), ["notes:open/p.txt"]);
    assert.equal((await fettle(["find", "secret/**"], { cwd })).code, 4);
  }));

Deno.test("find tells of links only what may be known", () =>
  world(async (top) => {
    const { json } = await fettle(["find", "--json", "--depth", "1"], { cwd: `${top}/app` });
    const targets = Object.fromEntries(
      json.files.filter((file: { type: string }) => file.type === "link")
        .map((file: { path: string; link_target?: string }) => [file.path.slice("work:".length), file.link_target]),
    );
    assert.equal(targets["to-inside"], "work:a.txt");
    assert.equal(targets["to-ro"], "ro:r.txt");
    for (const name of ["to-outside", "to-hidden", "to-hidden-tree", "to-proc", "climb", "to-outside-never"]) {
      assert.ok(name in targets);
      assert.equal(targets[name], undefined, name);
    }
    const text = await fettle(["find", "to-*", "--depth", "1"], { cwd: `${top}/app` });
    assert.match(text.out, /work:to-inside .* {2}-> work:a\.txt\n/);
    assert.match(text.out, /work:to-outside .* {2}-> \?\n/);
    assert.ok(!text.out.includes("outside/secret"));
  }));

Deno.test("a walk meets links and does not follow; a start folder that is a link is resolved", () =>
  world(async (top) => {
    const cwd = `${top}/app`;
    assert.equal((await fettle(["find", "to-outside-folder/*"], { cwd })).code, 4);
    assert.equal((await fettle(["find", "to-hidden-folder/*"], { cwd })).code, 4);
    const { json } = await fettle(["find", "to-sub/*", "--json"], { cwd });
    assert.deepEqual(json.files.map((file: { path: string }) => file.path), ["work:to-sub/b.txt"]);
    const hits = (await fettle(["search", "below", "--json"], { cwd })).json;
    assert.deepEqual(hits.hits.map((hit: { path: string }) => hit.path), ["work:secret/open/o.txt", "work:sub/b.txt"]);
    const through = (await fettle(["search", "tree", "--glob", "to-ro-folder/**", "--json"], { cwd })).json;
    assert.deepEqual(through.hits.map((hit: { path: string }) => hit.path), ["work:to-ro-folder/r.txt"]);
  }));

Deno.test("several paths: the position is told, and the answer does not depend on the order", () =>
  world(async (top) => {
    const cwd = `${top}/app`;
    const { out, code } = await fettle(["read", "never.txt", "secret/s.txt", "listed/l.txt"], { cwd });
    assert.equal(code, 4);
    assert.equal(out, OUTSIDE.replace("\n", " (path 2 of 3)\n"));
    assert.equal((await fettle(["read", "never.txt", "listed/l.txt"], { cwd })).code, 8);
    assert.equal((await fettle(["read", "never.txt", "to-outside"], { cwd })).code, 4);
    assert.equal((await fettle(["read", "a.txt", "never.txt"], { cwd })).code, 3);
  }));

Deno.test("FIFOs, sockets and devices are never opened", () =>
  world(async (top) => {
    const cwd = `${top}/app`;
    assert.ok(new Deno.Command("mkfifo", { args: [`${cwd}/fifo`] }).outputSync().success);
    const listener = Deno.listen({ transport: "unix", path: `${cwd}/socket` });
    for (const name of ["fifo", "socket"]) {
      const { code, out } = await fettle(["read", name], { cwd });
      assert.equal(code, 8);
      assert.match(out, /not opened \(work:(fifo|socket)\)/);
    }
    assert.equal((await fettle(["search", "inside"], { cwd })).code, 0);
    assert.doesNotMatch((await fettle(["find"], { cwd })).out, /fifo|socket/);
    assert.match((await fettle(["find", "--type", "any"], { cwd })).out, /work:fifo /);
    listener.close();
  }));

Deno.test("a tree that is a link, a path by its other spelling, a tree of one folder twice", () =>
  world(async (top) => {
    put(top, { "app2/.fettler.json": config({ work: { path: "link" } }), "app2/link": { link: "../ro" } });
    const cwd = `${top}/app2`;
    for (const path of ["r.txt", `${top}/app2/link/r.txt`, `${top}/ro/r.txt`]) {
      assert.match((await fettle(["read", path], { cwd })).out, /read only tree/, path);
    }
    assert.equal((await fettle(["read", `${top}/ro/../app/a.txt`], { cwd })).code, 4);
  }));

Deno.test("a screened place serves no content in a release that cannot screen", async () => {
  const top = makeFolder({
    ".fettler.json": JSON.stringify({
      guardrails: { trees: { work: { path: "." } } },
      screenings: { trees: { work: { scopes: { people: { screen: ["identifiers"] } } } } },
    }),
    "people/p.txt": "a name\n",
    "free.txt": "a name\n",
  });
  assert.equal((await fettle(["read", "people/p.txt"], { cwd: top })).code, 13);
  assert.equal((await fettle(["read", "free.txt"], { cwd: top })).code, 0);
  assert.equal((await fettle(["search", "name"], { cwd: top })).code, 13);
  assert.equal((await fettle(["search", "nothing like it"], { cwd: top })).code, 0);
  assert.match((await fettle(["roots"], { cwd: top })).out, /people {2}screen: identifiers/);
  Deno.removeSync(top, { recursive: true });
});
