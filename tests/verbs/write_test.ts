/** `write`, on both disk implementations. Spec 2-verbs §2.8, §2.12; 1-boundary §1.5, §1.6, §1.9, §1.11. */
import assert from "node:assert/strict";
import { findLibc } from "../../src/fence/libc.ts";
import { checkArguments } from "../../src/verbs/schema_tools.ts";
import { write } from "../../src/verbs/write.ts";
import { call } from "../support/side.ts";
import { value } from "../screens/samples.ts";
import { both, sha } from "./changing_support.ts";

const LR = ["list", "read"] as const;
const STAGING = `.fettle-${"0".repeat(32)}.tmp`;

/** An assignment that is taken for a credential. */
const secretLine = () => `${["api", "key"].join("_")} = "${value()}"\n`;

both("write: a new file and a replaced one, in text and JSON", {}, {}, async ({ json, text, tree }) => {
  const hash = await sha("a\nb");
  assert.equal(
    await text("write", { path: "n.txt", text: "a\r\nb" }),
    `wrote n.txt  3 bytes  utf-8  lf  final-newline: no  hash ${hash}\n`,
  );
  assert.deepEqual(await json("write", { path: "n.txt", text: "x\n", overwrite: true, expect: hash.toUpperCase() }), {
    ok: true,
    outcome: "ok",
    path: "n.txt",
    created: false,
    bytes: 2,
    encoding: "utf-8",
    line_ending: "lf",
    line_ending_mixed: false,
    final_newline: true,
    hash: await sha("x\n"),
    dry_run: false,
  });
  assert.match(
    await text("write", { path: "n.txt", text: "", overwrite: true }),
    /^replaced n\.txt {2}0 bytes {2}utf-8 {2}none /,
  );
  assert.equal((await json("write", { path: "o.txt", text: "o", overwrite: true })).created, true);
  assert.deepEqual(tree(), ["n.txt=", "o.txt=o"]);
});

both(
  "write: what is refused, a dry run alike, with nothing changed",
  {
    "app/a.txt": "a",
    "app/dir/x": "x",
    "app/hid/h": "h",
    "app/ro/r": "r",
    "app/bad.txt": new Uint8Array([0x61, 0xe9, 0x62, 0x0a]),
    "app/dangling": { link: "never" },
    "app/round": { link: "round" },
    "app/to-gov": { link: ".mcp.json" },
    "app/to-hid": { link: "hid/h" },
    "app/to-ro": { link: "ro/r" },
    "app/.mcp.json": "{}",
  },
  { scopes: { hid: [], ro: LR } },
  async ({ does, top }) => {
    const before = entries(`${top}/app`);
    const cases: [string, Record<string, unknown>][] = [
      ["target-exists", { path: "a.txt" }],
      ["refused", { path: "dir" }],
      ["refused", { path: "dir", overwrite: true }],
      ["not-found", { path: "never/in.txt" }],
      ["not-found", { path: "a.txt/in.txt" }],
      ["denied", { path: "n".repeat(300) }],
      ["stale", { path: "a.txt", overwrite: true, expect: "0".repeat(64) }],
      ["stale", { path: "none.txt", overwrite: true, expect: "0".repeat(64) }],
      ["outside-root", { path: "hid/h", overwrite: true }],
      ["outside-root", { path: "hid/new" }],
      ["outside-root", { path: "../out" }],
      ["outside-root", { path: "to-hid", overwrite: true }],
      ["refused", { path: "ro/r", overwrite: true }],
      ["refused", { path: "ro/new" }],
      ["refused", { path: "ro/never/new" }],
      ["refused", { path: "to-ro", overwrite: true }],
      ["governed", { path: ".mcp.json", overwrite: true }],
      ["governed", { path: "dir/.Fettler.JSON" }],
      ["governed", { path: "never/.claude/settings.json" }],
      ["governed", { path: "to-gov", overwrite: true }],
      ["governed", { path: "ro/.mcp.json" }],
      ["refused", { path: STAGING }],
      ["refused", { path: "dangling" }],
      ["refused", { path: "dangling", overwrite: true }],
      ["refused", { path: "round", overwrite: true }],
      ["refused", { path: "bad.txt", overwrite: true }],
      ["refused", { path: "f.txt", text: "1\n\u6587", encoding: "windows-1252" }],
      ["refused", { path: "d.docx" }],
      ["refused", { path: "never/d.zip" }],
      ["refused", { path: "i.png" }],
      ["refused", { path: "x.gz" }],
      ["credential", { path: "s.txt", text: secretLine() }],
    ];
    for (const [outcome, args] of cases) {
      for (const dry_run of [true, false]) {
        assert.equal(
          await does("write", { text: "new\n", ...args, dry_run }),
          outcome,
          JSON.stringify({ ...args, dry_run }),
        );
      }
    }
    assert.deepEqual(entries(`${top}/app`), before);
  },
);

/** Names below a folder, and what bytes files have. */
function entries(top: string): string[] {
  return [...Deno.readDirSync(top)].map(({ name, isDirectory, isFile }) =>
    isDirectory
      ? `${name}(${entries(`${top}/${name}`)})`
      : isFile
      ? `${name}=${Deno.readFileSync(`${top}/${name}`)}`
      : `${name} -> ${Deno.readLinkSync(`${top}/${name}`)}`
  ).sort();
}

both(
  "write: the order of refusals",
  {
    "app/d.docx": "x",
    "app/ro/a.txt": "a",
    "app/s.txt": "s",
    "app/latin.txt": new Uint8Array([0x61, 0xe9]),
  },
  { scopes: { ro: LR } },
  async ({ does, json }) => {
    const text = secretLine();
    // Permission before kind, kind before occupied, occupied before undecodable, that before stale, stale before content.
    assert.match((await json("write", { path: "ro/d.docx", text })).message, /this needs list create|create/);
    assert.equal(await does("write", { path: "d.docx", text }), "refused");
    assert.equal(await does("write", { path: "s.txt", text }), "target-exists");
    assert.equal(await does("write", { path: "latin.txt", text }), "target-exists");
    assert.equal(await does("write", { path: "latin.txt", text, overwrite: true, expect: "00" }), "refused");
    assert.equal(await does("write", { path: "s.txt", text, overwrite: true, expect: "00" }), "stale");
    assert.equal(await does("write", { path: "s.txt", text, overwrite: true }), "credential");
    assert.equal(await does("write", { path: "never/s.txt", text }), "not-found");
    const stale = await json("write", { path: "n.txt", text, overwrite: true, expect: "00" });
    assert.deepEqual([stale.outcome, stale.path], ["stale", "n.txt"]);
    assert.match(stale.message, /^nothing is there/);
  },
);

both("write: dry run says what would be", { "app/a.txt": "a" }, {}, async ({ text, json, tree }) => {
  assert.match(await text("write", { path: "n.txt", text: "n", dry_run: true }), /^would write n\.txt {2}1 bytes /);
  assert.match(
    await text("write", { path: "a.txt", text: "n", overwrite: true, dry_run: true }),
    /^would replace a\.txt /,
  );
  assert.equal((await json("write", { path: "n.txt", text: "n", dry_run: true })).dry_run, true);
  assert.deepEqual(tree(), ["a.txt=a"]);
});

const UTF16 = (text: string) =>
  new Uint8Array([0xff, 0xfe, ...[...text].flatMap((c) => [c.charCodeAt(0) & 255, c.charCodeAt(0) >> 8])]);

both(
  "write: encoding, mark and ending of the old file are kept unless others are named",
  {
    "app/bom.txt": "\ufeffold\r\nold\r\n",
    "app/u16.txt": UTF16("old\n"),
    "app/latin.txt": new Uint8Array([0x63, 0xe9, 0x0d, 0x0a]),
    "app/binary": new Uint8Array([0, 1, 2, 0, 255]),
    "app/cr.txt": "a\rb\r",
  },
  {},
  async ({ json, top }) => {
    const over = async (path: string, text: string, more = {}) => {
      const { ok, encoding, line_ending } = await json("write", { path, text, overwrite: true, ...more });
      assert.ok(ok, path);
      return [[...Deno.readFileSync(`${top}/app/${path}`)], encoding, line_ending];
    };
    const bytes = (text: string) => [...new TextEncoder().encode(text)];
    assert.deepEqual(await over("bom.txt", "é\nx\r"), [bytes("\ufeffé\r\nx\r\n"), "utf-8-bom", "crlf"]);
    assert.deepEqual(await over("u16.txt", "é\r\n"), [[...UTF16("é\n")], "utf-16le-bom", "lf"]);
    assert.deepEqual(await over("latin.txt", "é\n", { encoding: "Windows-1252" }), [
      [0xe9, 13, 10],
      "windows-1252",
      "crlf",
    ]);
    assert.deepEqual(await over("binary", "t\n"), [bytes("t\n"), "utf-8", "lf"]);
    assert.deepEqual(await over("cr.txt", "x\ny"), [bytes("x\ry"), "utf-8", "cr"]);
    assert.deepEqual(await over("cr.txt", "x\ny", { eol: "crlf" }), [bytes("x\r\ny"), "utf-8", "crlf"]);
    assert.deepEqual(await over("bom.txt", "x", { encoding: "utf-16be-bom" }), [
      [0xfe, 0xff, 0, 0x78],
      "utf-16be-bom",
      "none",
    ]);
  },
);

both("write: the mode is kept", { "app/x.sh": "x", "app/p.txt": "p" }, {}, async ({ does, top }) => {
  for (const [name, mode] of [["x.sh", 0o755], ["p.txt", 0o640]] as const) {
    Deno.chmodSync(`${top}/app/${name}`, mode);
    assert.equal(await does("write", { path: name, text: "new", overwrite: true }), "ok");
    assert.equal(Deno.statSync(`${top}/app/${name}`).mode! & 0o7777, mode);
  }
});

both(
  "write: a link leads to its target, and stays",
  {
    "app/real/f": "f",
    "app/l": { link: "real/f" },
    "app/way": { link: "real" },
  },
  {},
  async ({ json, does, tree }) => {
    assert.equal(await does("write", { path: "l", text: "n" }), "target-exists");
    assert.equal((await json("write", { path: "l", text: "n", overwrite: true })).path, "l");
    assert.equal(await does("write", { path: "way/g", text: "g" }), "ok");
    assert.deepEqual(tree(), ["l -> real/f", "real/", "real/f=n", "real/g=g", "way -> real"]);
  },
);

both("write: hard links lose each other, and it is said", { "app/a": "a" }, {}, async ({ text, json, top, tree }) => {
  Deno.linkSync(`${top}/app/a`, `${top}/app/b`);
  const answer = await json("write", { path: "a", text: "n", overwrite: true });
  assert.deepEqual(answer.metadata_not_preserved, ["hard-links"]);
  assert.deepEqual(tree(), ["a=n", "b=a"]);
  Deno.linkSync(`${top}/app/a`, `${top}/app/c`);
  assert.match(await text("write", { path: "a", text: "m", overwrite: true }), /\n {3}not kept: hard-links\n$/);
});

both(
  "write: a credential is never quoted, and what was there is no gain",
  {},
  {},
  async ({ side, json, does, top }) => {
    const line = secretLine();
    const inner = value();
    const refused = await json("write", { path: "c.txt", text: `one\n${line}` });
    assert.deepEqual([refused.outcome, refused.path, refused.findings[0].line], ["credential", "c.txt", 2]);
    assert.ok(!JSON.stringify(refused).includes(inner));
    assert.match(refused.message, /--allow-credential/);
    const tool = await call({ ...side, form: "tool" }, "write", { path: "c.txt", text: line }, "tool");
    assert.equal(tool.outcome, "credential");
    assert.ok(!tool.text.includes(inner) && !tool.text.includes("allow"));
    assert.throws(
      () => checkArguments(write, { path: "c", text: "c", allow_credential: true }, "tool"),
      /unknown argument/,
    );
    assert.equal(await does("write", { path: "c.txt", text: line, allow_credential: true }), "ok");
    assert.equal(await does("write", { path: "c.txt", text: `# moved\n${line}`, overwrite: true }), "ok");
    assert.equal(Deno.readTextFileSync(`${top}/app/c.txt`), `# moved\n${line}`);
  },
);

both(
  "write: a place that may be written and not read",
  { "app/a": "a" },
  { can: ["list", "create", "update"] },
  async ({ does }) => {
    assert.equal(await does("write", { path: "a", text: "b", overwrite: true }), "ok");
    assert.equal(await does("write", { path: "n", text: "b" }), "ok");
  },
);

both("write: arguments that make no sense", {}, {}, async ({ does }) => {
  for (const more of [{ expect: "00" }, { encoding: "klingon" }, { eol: "lfcr" }, { path: "" }, { never: 1 }]) {
    assert.equal(await does("write", { path: "a", text: "a", ...more }), "invalid");
  }
});

const libc = findLibc();

both(
  "write and the others: no permission of the account is denied, and nothing is left",
  { "app/a": "a", "app/d/x": "x", "app/shut/s": "s" },
  {},
  async ({ does, top, tree }) => {
    const before = tree();
    for (const path of ["", "/app", "/app/d"]) Deno.chmodSync(top + path, 0o755);
    Deno.chmodSync(`${top}/app/shut`, 0o700);
    const library = Deno.dlopen(libc!, { setfsuid: { parameters: ["u32"], result: "i32" } });
    const outcomes: string[] = [];
    try {
      library.symbols.setfsuid(65534);
      for (
        const [verb, args] of [
          ["write", { path: "a", text: "n", overwrite: true }],
          ["write", { path: "n", text: "n" }],
          ["write", { path: "shut/s", text: "n", overwrite: true }],
          ["new", { path: "n" }],
          ["mkdir", { path: "d/m/m" }],
          ["exec", { path: "a", executable: true }],
          ["delete", { path: "a" }],
          ["delete", { path: "d", recursive: true }],
          ["delete", { path: "shut", recursive: true }],
        ] as const
      ) {
        outcomes.push(await does(verb, args));
      }
    } finally {
      library.symbols.setfsuid(0);
      library.close();
    }
    assert.deepEqual(outcomes, outcomes.map(() => "denied"));
    assert.deepEqual(tree(), before);
  },
  Deno.build.os !== "linux" || Deno.uid() !== 0 || libc === undefined,
);
