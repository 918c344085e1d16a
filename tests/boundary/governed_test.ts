/** Scenarios 30, 31; decision 39. */
import assert from "node:assert/strict";
import {
  GOVERNED_NAMES,
  governedBy,
  governedInside,
  governedRefusal,
  isGovernedEntry,
  isStaging,
} from "../../src/boundary/governed.ts";
import type { Boundary } from "../../src/boundary/types.ts";

const boundary: Boundary = {
  names: { windows: false, ignoreCase: false },
  trees: [],
  generated: [],
  inForce: ["/w/my-rules.json"],
};

Deno.test("governed at any depth, in any case, with ignorable characters and decomposed", () => {
  for (const name of GOVERNED_NAMES) {
    for (
      const path of [`/w/${name}`, `/w/a/b/${name}`, `/w/${name.toUpperCase()}`, `/w/${name.replace("o", "o\u200b")}`]
    ) {
      assert.ok(governedBy(boundary, path), path);
    }
  }
  for (
    const name of [".mcp.jſon", ".vſcode/mcp.json", ".claude/ſettingſ.json", ".codex/con\ufb01g.toml", ".mcp.\uff4ason"]
  ) {
    // Full width is another letter.
    assert.equal(governedBy(boundary, `/w/${name}`) !== undefined, !name.includes("\uff4a"), name);
  }
  assert.equal(governedBy(boundary, "/w/.claude/settings.json"), ".claude/settings.json");
  assert.equal(governedBy(boundary, "/.mcp.json"), ".mcp.json");
  assert.equal(governedBy(boundary, "/w/my-rules.json"), "/w/my-rules.json");
});

Deno.test("by whole name only", () => {
  const free = [
    ".fettler.json.bak",
    ".fettler.json.md",
    "fettler.json",
    "fettler.local.json",
    "settings.json",
    "src/settings.json",
  ];
  const more = [
    ".vscode/settings.json",
    ".claude/notes.md",
    "src/mcp.json",
    "CLAUDE.md",
    "mcp.json",
    ".claude/x/settings.json",
    "",
  ];
  for (const path of [...free, ...more]) assert.equal(governedBy(boundary, `/w/${path}`), undefined, path);
});

Deno.test("folders that a rename may not give to a governed entry", () => {
  assert.deepEqual(governedInside(".claude"), ["settings.json", "settings.local.json"]);
  assert.deepEqual(governedInside(".VSCode"), ["mcp.json"]);
  assert.deepEqual(governedInside("src"), []);
  assert.ok(isGovernedEntry(".github", "mcp.json"));
  assert.ok(isGovernedEntry("anything", ".mcp.json"));
  assert.ok(!isGovernedEntry("anything", "mcp.json"));
});

Deno.test("the refusal lists all names and speaks of no permission", () => {
  const { message, outcome } = governedRefusal("x");
  assert.equal(outcome, "governed");
  for (const name of GOVERNED_NAMES) assert.ok(message.includes(name), name);
  assert.match(message, /editor/);
  assert.doesNotMatch(message, /permission|grant/);
});

Deno.test("staging names", () => {
  assert.ok(isStaging(`.fettle-${"0123456789abcdef".repeat(2)}.tmp`));
  assert.ok(!isStaging(`.fettle-${"0".repeat(31)}.tmp`));
  assert.ok(!isStaging(".fettle-x.tmp"));
});
