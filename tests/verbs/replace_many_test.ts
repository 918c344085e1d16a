/** `replace`, on both disk implementations. Spec 2-verbs §2.8, §2.14; 3-documents §3.1.2, §3.2.10; scenarios 12, 20, 58, 59, 78-82, 97, 185, 189; bugs B 32-39. */
import assert from "node:assert/strict";
import type { EngineSide } from "../../src/verbs/verb.ts";
import { mixed } from "../screens/samples.ts";
import { call } from "../support/side.ts";
import { put } from "../support/tree.ts";
import { both, sha } from "./changing_support.ts";

const bytes = (...values: number[]) => new Uint8Array(values);

both(
  "replace: whole answers, and a dry run tells the same",
  {
    "app/a.txt": "old old\nOld\n",
    "app/d/b.txt": "x\n",
    "app/d/c.txt": "$& old\r\n",
    "app/node_modules/x": "old",
    "app/link": { link: "a.txt" },
  },
  {},
  async ({ json, text, tree }) => {
    const before = tree();
    const args = { find: "old", with: "$&$1" };
    const common = { count: 2, files_matched: 3, files_searched: 3, excluded: 1 };
    const files = [{ path: "a.txt", occurrences: 2 }, { path: "d/c.txt", occurrences: 1 }];
    assert.deepEqual(await json("replace", { ...args, dry_run: true }), {
      ok: true,
      outcome: "ok",
      dry_run: true,
      occurrences: 3,
      files,
      ...common,
    });
    const rows = `   a.txt${" ".repeat(36)} 2\n   d/c.txt${" ".repeat(34)} 1\n`;
    const closing = "3 files searched (1 excluded: node_modules - pass --include-generated)\n";
    assert.equal(
      await text("replace", { ...args, dry_run: true }),
      `would change 2 files, 3 occurrences\n${rows}${closing}`,
    );
    assert.deepEqual(tree(), before);
    const [one, other] = ["$&$1 $&$1\nOld\n", "$& $&$1\r\n"];
    assert.deepEqual(await json("replace", args), {
      ok: true,
      outcome: "ok",
      dry_run: false,
      occurrences: 3,
      files: [{ ...files[0], hash: await sha(one) }, { ...files[1], hash: await sha(other) }],
      ...common,
    });
    assert.deepEqual(tree(), [
      `a.txt=${one}`,
      "d/",
      "d/b.txt=x\n",
      `d/c.txt=${other}`,
      "link -> a.txt",
      "node_modules/",
      "node_modules/x=old",
    ]);
    assert.equal(
      await text("replace", { find: "$&$1", with: "old" }),
      `changed 2 files, 3 occurrences\n${rows}${closing}`,
    );
  },
);

both("replace: nothing found, and globs", { "app/a.txt": "a\n", "app/a.md": "a\n", "app/g/a.txt": "a\n" }, {}, async (
  { json, text, tree, does },
) => {
  const none = await json("replace", { find: "zzz", with: "" });
  assert.deepEqual([none.ok, none.occurrences, none.count, none.files], [true, 0, 0, []]);
  assert.equal(
    await text("replace", { find: "a", with: "b", glob: "*.none" }),
    "changed 0 files, 0 occurrences\n0 files searched\nthe glob matched no file\n",
  );
  const only = await json("replace", { find: "a", with: "b", glob: "**/*.txt", exclude: ["g/**"] });
  assert.deepEqual(only.files.map(({ path }: { path: string }) => path), ["a.txt"]);
  assert.deepEqual(tree(), ["a.md=a\n", "a.txt=b\n", "g/", "g/a.txt=a\n"]);
  for (const more of [{ find: "" }, { glob: "{a}" }, { exclude: ["!a"] }, { encoding: "klingon" }, { in: "other" }]) {
    assert.equal(await does("replace", { find: "a", with: "b", ...more }), "invalid", JSON.stringify(more));
  }
  assert.equal(await does("replace", { find: "a", with: "b", allow_credential: true }), "invalid");
});

both(
  "replace: endings, marks and encodings stay",
  {
    "app/lf": "a\nb\nc\n",
    "app/crlf": "a\r\nb\r\nc\r\n",
    "app/mixed": "a\r\nb\nc\na\nb\n",
    "app/latin1": bytes(0x61, 0x0a, 0x62, 0xe4, 0x0a),
    "app/bom": bytes(0xef, 0xbb, 0xbf, 0x61, 0x0a, 0x62),
    "app/utf16": bytes(0xff, 0xfe, 0x61, 0, 0x0a, 0, 0x62, 0),
    "app/bin": bytes(0x61, 0x0a, 0x62, 0),
  },
  {},
  async ({ json, top, does }) => {
    const named = (names: string[]) => names.map((name) => Deno.readFileSync(`${top}/app/${name}`));
    const first = await json("replace", { find: "a\nb", with: "ü\nb" });
    assert.deepEqual(first.files.map(({ path }: { path: string }) => path), ["bom", "crlf", "lf", "mixed", "utf16"]);
    assert.deepEqual([first.files_binary, first.files_undecodable], [1, 1]);
    assert.deepEqual(named(["crlf", "mixed", "bom", "utf16", "latin1"]), [
      new TextEncoder().encode("ü\r\nb\r\nc\r\n"),
      // Exact first: the place with the other ending is not one.
      new TextEncoder().encode("a\r\nb\nc\nü\nb\n"),
      bytes(0xef, 0xbb, 0xbf, 0xc3, 0xbc, 0x0a, 0x62),
      bytes(0xff, 0xfe, 0xfc, 0, 0x0a, 0, 0x62, 0),
      bytes(0x61, 0x0a, 0x62, 0xe4, 0x0a),
    ]);
    const again = await json("replace", { find: "b", with: "ö", glob: "latin1", encoding: "windows-1252" });
    assert.equal(again.count, 1);
    // What UTF-8 makes text keeps it, whatever is named.
    assert.equal((await json("replace", { find: "c", with: "é", encoding: "windows-1252" })).count, 3);
    assert.deepEqual(named(["latin1", "lf"]), [
      bytes(0x61, 0x0a, 0xf6, 0xe4, 0x0a),
      new TextEncoder().encode("ü\nb\né\n"),
    ]);
    assert.equal(await does("replace", { find: "a", with: "文", encoding: "windows-1252" }), "refused");
  },
);

both(
  "replace: one file that may not be changed refuses all, by stage",
  {
    "app/a": "word\n",
    "app/closed/x": "word\n",
    "app/ro/x": "word\n",
    "app/secret/x": "word\n",
    "app/docs/x.pdf": "word\n",
    "app/docs/real.pdf": bytes(0x25, 0, 0xff),
    "app/docs/y.png": bytes(0x89, 0, 0xff),
    "app/docs/z.zip": "none\n",
    "app/n.ipynb": '"word"\n',
    "app/v/.mcp.json": '"word"\n',
    "app/z": "word\n",
  },
  { scopes: { closed: ["list", "update"], ro: ["list", "read"], secret: [] } },
  async ({ json, tree, top }) => {
    const before = tree();
    const args = { find: "word", with: "w" };
    const refused = async (exclude: string[], outcome: string, path: string) => {
      for (const dry_run of [true, false]) {
        const said = await json("replace", { ...args, exclude, dry_run });
        assert.deepEqual([said.outcome, said.path], [outcome, path], said.message);
      }
      assert.deepEqual(tree(), before);
    };
    await refused([], "governed", "v/.mcp.json");
    await refused(["v/**"], "refused", "ro/x");
    await refused(["v/**", "ro/**"], "refused", "docs/x.pdf");
    Deno.removeSync(`${top}/app/docs/x.pdf`);
    const done = await json("replace", { ...args, exclude: ["v/**", "ro/**"] });
    assert.deepEqual(done.files.map(({ path }: { path: string }) => path), ["a", "n.ipynb", "z"]);
    assert.deepEqual(
      [done.files_unreadable, done.documents_skipped, done.archives_skipped, done.files_matched],
      [1, 1, 1, 7],
    );
  },
);

both(
  "replace: a credential in any file refuses all",
  { "app/a": "x\n", "app/b": "x\n", "app/c": "KEY x\n" },
  {},
  async (
    { json, text, tree, side },
  ) => {
    const before = tree();
    const key = "AK" + "IA" + mixed(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 5);
    for (const dry_run of [true, false]) {
      const said = await json("replace", { find: "x", with: key, dry_run });
      assert.deepEqual([said.outcome, said.path, said.findings.length, said.more], ["credential", "a", 3, false]);
      assert.equal(JSON.stringify(said).includes(key), false);
    }
    assert.doesNotMatch(await text("replace", { find: "x", with: key }), /--allow/);
    const third = await json("replace", { find: "KEY", with: key });
    assert.deepEqual([third.outcome, third.path], ["credential", "c"]);
    // A later file of an earlier stage comes first.
    const tool = await call({ ...side, form: "tool" } as EngineSide, "replace", { find: "x", with: key }, "tool");
    assert.match(tool.text, /^credential: several files would gain/);
    assert.deepEqual(tree(), before);
  },
);

both(
  "replace: a file that changes between judging and writing is stale; nothing is left",
  {
    "app/a": "x\n",
    "app/b": "x\n",
    "app/d/c": "x\n",
  },
  {},
  async ({ side, top, tree }) => {
    const spoil = (act: () => void) => ({
      ...side,
      call: { ...side.call, changed: (path?: string) => path === undefined && act() },
    });
    const args = { find: "x", with: "y" };
    assert.equal((await call(spoil(() => put(`${top}/app`, { b: "x other\n" })), "replace", args)).outcome, "stale");
    assert.deepEqual(tree(), ["a=x\n", "b=x other\n", "d/", "d/c=x\n"]);
    assert.equal((await call(side, "replace", args)).outcome, "ok");
    assert.deepEqual(tree(), ["a=y\n", "b=y other\n", "d/", "d/c=y\n"]);
  },
);

both("replace: what is put back as it was is not written", { "app/a": "x\n" }, {}, async ({ json, top }) => {
  const { ino } = Deno.statSync(`${top}/app/a`);
  const { files } = await json("replace", { find: "x", with: "x" });
  assert.deepEqual(files, [{ path: "a", occurrences: 1, hash: await sha("x\n") }]);
  assert.equal(Deno.statSync(`${top}/app/a`).ino, ino);
});

both(
  "replace: a glob that starts at a link keeps the caller's spelling",
  {
    "app/real/a": "x\n",
    "app/to": { link: "real" },
  },
  {},
  async ({ json, tree }) => {
    const { files } = await json("replace", { find: "x", with: "y", glob: "to/**" });
    assert.deepEqual(files.map(({ path }: { path: string }) => path), ["to/a"]);
    assert.deepEqual(tree(), ["real/", "real/a=y\n", "to -> real"]);
  },
);

both("replace: files in pieces, and a text across two of them", {}, {}, async ({ json, top, does }) => {
  const line = "0123456789abcdef".repeat(4) + "\r\n";
  const large = line.repeat(Math.ceil(9 * 1024 * 1024 / line.length));
  const at = large.lastIndexOf("\r\n", 8 * 1024 * 1024 - 1);
  const cut = at + 2;
  const text = large.slice(0, at - 4) + "over" + large.slice(at, cut) + "here" + large.slice(cut + 4);
  put(`${top}/app`, { large: text });
  const done = await json("replace", { find: "over\nhere", with: "and\nout" });
  assert.equal(done.occurrences, 1);
  const after = text.replace("over\r\nhere", "and\r\nout");
  assert.equal(done.files[0].hash, await sha(after));
  assert.equal(Deno.readTextFileSync(`${top}/app/large`), after);
  assert.equal(await does("replace", { find: "f\r\n", with: "f\r\n\r\n" }), "ok");
});

both("replace: more folders than are held open together", {}, {}, async ({ side, top }) => {
  const entries = Object.fromEntries(
    Array.from({ length: 420 }, (_, i) => [[`d${i}/a`, `x ${i}\n`], [`d${i}/b`, `x ${i}\n`], [`d${i}/c`, "-"]]).flat(),
  );
  put(`${top}/app`, entries);
  const args = { find: "x", with: "yy" };
  // Once all is staged, one file of a late folder is another one.
  const changed = (path?: string) => path === "d99/a" && put(`${top}/app`, { "d99/b": "x other\n" });
  const { json } = await call({ ...side, call: { ...side.call, changed } }, "replace", args);
  assert.equal(json.outcome, "stale");
  assert.equal(json.path, "d99/b");
  assert.equal(json.changed.length, 839);
  assert.equal((await call(side, "replace", args)).json.count, 1);
  for (let i = 0; i < 420; i++) {
    assert.deepEqual([...Deno.readDirSync(`${top}/app/d${i}`)].map(({ name }) => name).sort(), ["a", "b", "c"]);
    assert.equal(Deno.readTextFileSync(`${top}/app/d${i}/a`), `yy ${i}\n`);
  }
});

both("replace: random trees", {}, {}, async ({ json, top, tree }) => {
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor(seed / 2147483648 * below);
  };
  const parts = ["a", "ab", "ba", "ü", "😀", "\n", "\r\n", " "];
  const some = (least: number) => Array.from({ length: least + next(6) }, () => parts[next(5)]).join("");
  for (let round = 0; round < 60; round++) {
    const texts = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [
      `${["", "d/", "d/e/"][next(3)]}f${i}`,
      Array.from({ length: next(20) }, () => parts[next(8)]).join(""),
    ]));
    for (const { name } of [...Deno.readDirSync(`${top}/app`)]) {
      Deno.removeSync(`${top}/app/${name}`, { recursive: true });
    }
    put(`${top}/app`, texts);
    const [find, replacement] = [some(1).slice(0, 2), some(0)];
    if (!find.isWellFormed()) continue;
    const dry = await json("replace", { find, with: replacement, dry_run: true });
    const real = await json("replace", { find, with: replacement });
    const counts = Object.entries(texts).map(([path, text]) => ({ path, occurrences: text.split(find).length - 1 }))
      .filter(({ occurrences }) => occurrences > 0).sort((a, b) => a.path < b.path ? -1 : 1);
    assert.deepEqual(dry.files, counts);
    assert.deepEqual(real.files.map(({ hash: _, ...rest }: Record<string, unknown>) => rest), counts);
    assert.equal(tree().some((row) => row.includes(".fettle-")), false);
    for (const [path, text] of Object.entries(texts)) {
      assert.equal(Deno.readTextFileSync(`${top}/app/${path}`), text.replaceAll(find, () => replacement));
    }
  }
});
