import { parseConfiguration } from "../../src/config/parse.ts";
import { assert, refused } from "./support.ts";

const POSIX = { windows: false, ignoreCase: false };
const WINDOWS = { windows: true, ignoreCase: true };

const parse = (text: string, names = POSIX) =>
  parseConfiguration(
    names.windows ? "C:\\p\\.fettler.json" : "/p/.fettler.json",
    new TextEncoder().encode(text),
    names,
  );

const tree = (body: string) => `{"guardrails": {"trees": {"work": ${body}}}}`;
const task = (body: string) => `{"guardrails": {"trees": {"work": {"path": "."}}, "tasks": {"app": ${body}}}}`;
const screen = (body: string) => `{"screenings": {"trees": {"work": ${body}}}}`;

/** What is wrong, the text, and what the message must hold. Spec: 1-boundary §1.13.5. */
const MALFORMED: [string, string, ...(string | RegExp)[]][] = [
  ["not JSON", "{", "/p/.fettler.json:1:2: not JSON"],
  ["empty", "", "/p/.fettler.json:1:1: not JSON"],
  ["a missing comma", '{\n  "a": 1\n  "b": 2\n}', "/p/.fettler.json:3:3: not JSON", '","'],
  ["text after the end", "{} {}", ":1:4: not JSON"],
  ["a comment left open", "{} /* x", ":1:4: not JSON", "comment"],
  ["a string left open", '{"a', ":1:2: not JSON", "string"],
  ["a bad escape", '{"a\\q": 1}', ":1:4: not JSON", "escape"],
  ["two commas", '{"guardrails": {"generated": ["a",,]}}', ":1:35: not JSON"],
  ["a word", "{a: 1}", ":1:2: not JSON"],
  ["a number like 01", '{"$schema": 01}', ":1:13: not JSON"],
  ["nested without end", '{"$schema": ' + "[".repeat(5000), "nested too deeply"],
  ["half a surrogate pair", tree('{"path": "\\ud800"}'), "well-formed Unicode"],
  ["a list at the top", "[]", ":1:1: the file: the file is an object"],
  ["a section that is no object", '{"guardrails": []}', ":1:16: guardrails: the section guardrails is an object"],
  ["a section that is no object", '{"screenings": true}', ":1:16: screenings: the section screenings is an object"],
  ["an unknown key at the top", '{"guardrail": {}}', ":1:2: unknown key guardrail", 'did you mean "guardrails"?'],
  ["an unknown key in a section", '{"guardrails": {"tree": {}}}', "guardrails.tree", 'did you mean "trees"?'],
  ["an unknown key in a tree", tree('{"path": ".", "scope": {}}'), ":1:49: ", "work.scope", 'did you mean "scopes"?'],
  ["an unknown key in a scope", tree('{"path": ".", "scopes": {"a": {"can": [], "cann": []}}}'), '"can"'],
  ["an unknown key in a task", task('{"run": "x", "shell": true}'), "app.shell", '"run", "cwd"'],
  ["an inherited name as a key", tree('{"path": ".", "constructor": {}}'), "unknown key", "constructor"],
  ["__proto__ as a key", '{"__proto__": {}}', "unknown key __proto__"],
  ["a duplicate key", '{"guardrails": {}, "guardrails": {}}', ":1:20: duplicate key guardrails"],
  ["a duplicate key below", tree('{"path": ".", "path": ".."}'), "duplicate key guardrails.trees.work.path"],
  ["generated at the top", '{"generated": []}', 'section "guardrails"'],
  [
    "both forms in one file",
    '{"guardrails": {"trees": {"work": {"path": "."}}}, "trees": {}}',
    ":1:52: ",
    "older form",
  ],
  ["models beside sections", '{"screenings": {}, "models": "m"}', "older form", '"screenings"'],
  ["screen in guardrails", tree('{"path": ".", "screen": true}'), "unknown key", '"screenings"'],
  ["a tree that is a string", tree('"."'), ":1:35: ", '{ "path": "…"'],
  ["a tree that is a list", tree('["."]'), '{ "path": "…"'],
  ["trees that are a list", '{"guardrails": {"trees": []}}', "trees are an object"],
  ["a tree name of one letter", '{"guardrails": {"trees": {"w": {"path": "."}}}}', ":1:27: ", "two characters or more"],
  ["a tree name with a blank", '{"guardrails": {"trees": {"my work": {"path": "."}}}}', "cannot name a tree"],
  ["a reserved tree name", '{"guardrails": {"trees": {"scratch": {"path": "."}}}}', "reserved"],
  ["a reserved tree name", '{"guardrails": {"trees": {"tool-results": {"path": "."}}}}', "reserved"],
  ["a reserved tree name", '{"guardrails": {"trees": {"Memory": {"path": "."}}}}', "reserved"],
  ["a tree without path", tree("{}"), ":1:35: ", "path is missing"],
  ["an empty path", tree('{"path": ""}'), "path is empty"],
  ["a path that is no string", tree('{"path": 1}'), ":1:44: ", "path is a string"],
  ["a relative path with \\", tree('{"path": "a\\\\b"}'), "backslash"],
  ["a path with NUL", tree('{"path": "a\\u0000"}'), "NUL"],
  ["can that is no list", tree('{"path": ".", "can": "read"}'), ":1:56: ", "can is a list"],
  ["a member of can that is no string", tree('{"path": ".", "can": ["read", 1]}'), ":1:65: ", "can[1]"],
  ["an unknown permission", tree('{"path": ".", "can": ["reed"]}'), '"reed" is no permission', '"read"'],
  ["scopes that are a list", tree('{"path": ".", "scopes": []}'), "scopes are an object"],
  ["a scope that is a list", tree('{"path": ".", "scopes": {"a": []}}'), "a scope is an object"],
  ["a scope without can", tree('{"path": ".", "scopes": {"a": {}}}'), "can is missing", "work.scopes.a"],
  ["an empty scope key", tree('{"path": ".", "scopes": {"": {"can": []}}}'), "cannot be empty"],
  ["a scope key .", tree('{"path": ".", "scopes": {".": {"can": []}}}'), "the tree itself"],
  ["a scope key a/..", tree('{"path": ".", "scopes": {"a/..": {"can": []}}}'), "the tree itself"],
  ["a scope key with *", tree('{"path": ".", "scopes": {"*.md": {"can": []}}}'), "not a pattern"],
  ["a scope key with ?", tree('{"path": ".", "scopes": {"a?": {"can": []}}}'), "not a pattern"],
  ["a scope key with \\", tree('{"path": ".", "scopes": {"a\\\\b": {"can": []}}}'), "backslash"],
  ["an absolute scope key", tree('{"path": ".", "scopes": {"/p/a": {"can": []}}}'), "relative to its tree"],
  ["a scope outside its tree", tree('{"path": ".", "scopes": {"../a": {"can": []}}}'), "outside its tree"],
  ["a scope that leaves and comes back", tree('{"path": ".", "scopes": {"../p/a": {"can": []}}}'), "outside its tree"],
  [
    "two keys for one place",
    tree('{"path": ".", "scopes": {"a/b": {"can": []}, "a//./b/": {"can": []}}}'),
    "one place",
  ],
  ["tasks that are a list", '{"guardrails": {"tasks": []}}', "tasks are an object"],
  ["a task that is a string", task('"make"'), "a task is an object"],
  ["a task without run", task("{}"), "guardrails.tasks.app", "run is missing"],
  ["run that is a list", task('{"run": ["make"]}'), "guardrails.tasks.app.run", "not a list"],
  ["an empty run", task('{"run": ""}'), "guardrails.tasks.app.run", "empty"],
  ["a blank run", task('{"run": " \\t"}'), "empty"],
  ["an empty program", task('{"run": "\\"\\" x"}'), "first word"],
  ["NUL in run", task('{"run": "a\\u0000b"}'), "NUL"],
  ["an unclosed quote", task('{"run": "a \\"b"}'), "guardrails.tasks.app.run", "unclosed quote"],
  ["an empty cwd", task('{"run": "a", "cwd": ""}'), "cwd is empty"],
  ["a cwd with \\", task('{"run": "a", "cwd": "a\\\\b"}'), "backslash"],
  ["a cwd that is no string", task('{"run": "a", "cwd": 1}'), "cwd is a string"],
  ["two task names equal but for case", '{"guardrails": {"tasks": {"b": {"run": "x"}, "B": {"run": "x"}}}}', ":1:46: "],
  ["a task name with a blank", '{"guardrails": {"tasks": {"a b": {"run": "x"}}}}', "no blank"],
  ["a task name with -", '{"guardrails": {"tasks": {"-a": {"run": "x"}}}}', 'begin with "-"'],
  ["a task name too long", `{"guardrails": {"tasks": {"${"a".repeat(65)}": {"run": "x"}}}}`, "64"],
  ["replacements that are a list", '{"guardrails": {"replacements": []}}', "replacements are an object"],
  ["a replacement that is no string", '{"guardrails": {"replacements": {"a": 1}}}', "a replacement is a string"],
  ["a bad replacement name", '{"guardrails": {"replacements": {"1a": ""}}}', ":1:34: ", "cannot name a replacement"],
  ["generated that is no list", '{"guardrails": {"generated": "bin"}}', "a list of folder names"],
  ["generated with a separator", '{"guardrails": {"generated": ["a/b"]}}', "no folder name"],
  ["generated with a wildcard", '{"guardrails": {"generated": ["*.x"]}}', "no folder name"],
  ["generated with a number", '{"guardrails": {"generated": [1]}}', "generated[0]"],
  ["screen that is a string", screen('{"screen": "identifiers"}'), "true, false or a list"],
  ["screen that is a number", screen('{"screen": 1}'), "true, false or a list"],
  ["screen of numbers", screen('{"screen": [1]}'), "screen[0]"],
  ["an unknown screen word", screen('{"screen": ["money"]}'), '"money" is no screen', "identifiers, clinical"],
  ["the retired phi", screen('{"screen": ["phi"]}'), '"identifiers" and "clinical"'],
  ["the retired pii", screen('{"screen": ["PII"]}'), 'write "identifiers" instead'],
  ["the retired sci", screen('{"screen": ["-sci"]}'), 'write "scientific" instead'],
  ["mixed screen words", screen('{"screen": ["legal", "-clinical"]}'), "cannot be mixed"],
  ["a screened scope without screen", screen('{"scopes": {"a": {}}}'), "screen is missing"],
  ["an unknown key in a screened tree", screen('{"can": []}'), "unknown key screenings.trees.work.can"],
  ["empty models", '{"screenings": {"models": ""}}', "models is empty"],
  ["models that are no string", '{"screenings": {"models": true}}', "models is a string"],
  ["models with \\", '{"screenings": {"models": "a\\\\b"}}', "backslash"],
  [
    "a scope without can in the older form",
    '{"trees": {"work": {"path": ".", "scopes": {"a": {"screen": true}}}}}',
    "can is missing",
  ],
];

for (const [what, text, ...expected] of MALFORMED) {
  Deno.test(`malformed: ${what}: ${text.slice(0, 60)}`, () => {
    refused("invalid", () => parse(text), ...expected);
  });
}

Deno.test("not UTF-8", () => {
  const bytes = new Uint8Array([0x7b, 0x0a, 0x22, 0xff, 0x22, 0x7d]);
  refused("invalid", () => parseConfiguration("/p/.fettler.json", bytes, POSIX), "/p/.fettler.json:2:2: ", "UTF-8");
});

Deno.test("all faults are told, the first one first", () => {
  const told = refused(
    "invalid",
    () =>
      parse('{"guardrails": {\n "trees": {"w": {"path": 1, "can": ["reed", "x"]}},\n "tasks": {"a": {}}, "oops": 1}}'),
  ).split("\n");
  assert.deepEqual(told.map((line) => line.slice("/p/.fettler.json:".length).split(": ")[0]), [
    "2:12",
    "2:26",
    "2:37",
    "2:45",
    "3:17",
    "3:22",
  ]);
});

Deno.test("comments, trailing commas, a byte order mark, every line ending", () => {
  const text =
    '\ufeff// one\r\n{ /* two\n */ "guardrails": {\r"trees": { "work": { "path": ".", }, }, }, "$schema": 1, }\n//';
  assert.deepEqual(parse(text).guardrails?.trees.map(({ name, path }) => [name, path]), [["work", "/p"]]);
  refused("invalid", () => parse('{\r\n"a": 1,\r"b": 2,\n"c": 3}'), /:2:1: .*\n.*:3:1: .*\n.*:4:1: /);
});

Deno.test("words in any case, in the order of the permissions", () => {
  const { guardrails } = parse(tree('{"path": ".", "can": ["EXECUTE", "Read", "list", "read"]}'));
  assert.deepEqual(guardrails?.trees[0].can, ["list", "read", "execute"]);
});

Deno.test("path forms", () => {
  const pathOf = (written: string, names = POSIX) =>
    parse(tree(JSON.stringify({ path: written })), names).guardrails?.trees[0].path;
  assert.equal(pathOf("."), "/p");
  assert.equal(pathOf("../sibling/"), "/sibling");
  assert.equal(pathOf("a/./b"), "/p/a/b");
  assert.equal(pathOf("/x/../y"), "/y");
  assert.equal(pathOf("~/x"), "/p/~/x");
  assert.equal(pathOf("C:\\x"), "C:\\x");
  assert.equal(pathOf("\\\\server\\share"), "\\\\server\\share");
  assert.equal(pathOf("../q", WINDOWS), "C:\\q");
  assert.equal(pathOf("D:/x/y", WINDOWS), "D:\\x\\y");
  assert.equal(pathOf("/x", WINDOWS), "C:\\x");
  assert.equal(pathOf("\\\\server\\share\\a\\..\\b", WINDOWS), "\\\\server\\share\\b");
});

Deno.test("names that compare equal do so by the system's rule", () => {
  const trees = '{"guardrails": {"trees": {"work": {"path": "."}, "Work": {"path": ".."}}}}';
  const scopes = tree('{"path": ".", "scopes": {"a": {"can": []}, "A": {"can": []}}}');
  assert.equal(parse(trees).guardrails?.trees.length, 2);
  assert.equal(parse(scopes).guardrails?.trees[0].scopes.length, 2);
  const macos = { windows: false, ignoreCase: true };
  refused("invalid", () => parse(trees, macos), "two trees cannot bear one name");
  refused("invalid", () => parse(scopes, macos), "two keys cannot name one place");
  const composed = tree('{"path": ".", "scopes": {"\\u00e9": {"can": []}, "e\\u0301": {"can": []}}}');
  refused("invalid", () => parse(composed), "two keys cannot name one place");
});

Deno.test("Windows: scope keys that would hold nothing", () => {
  for (const key of ["a.", "a /b", "nul", "x/COM1.txt", "a:b"]) {
    refused("invalid", () => parse(tree(JSON.stringify({ path: ".", scopes: { [key]: { can: [] } } })), WINDOWS));
  }
});

Deno.test("the older form reads as the sections", () => {
  const { guardrails, screenings } = parse(JSON.stringify({
    trees: {
      work: { path: ".", screen: ["-legal"], scopes: { a: { can: [], screen: false }, b: { can: ["list"] } } },
      plain: { path: "../x" },
    },
    tasks: { go: { run: "make {what}", cwd: "sub" } },
    replacements: { what: "" },
    models: "../models",
  }));
  assert.deepEqual(guardrails?.trees.map(({ name, scopes }) => [name, scopes.map(({ path, can }) => [path, can])]), [
    ["work", [["a", []], ["b", ["list"]]]],
    ["plain", []],
  ]);
  assert.deepEqual(guardrails?.tasks.map(({ name, run, cwd }) => [name, run, cwd]), [["go", "make {what}", "sub"]]);
  assert.deepEqual(guardrails?.replacements.map(({ name, value }) => [name, value]), [["what", ""]]);
  assert.deepEqual(
    screenings?.trees.map(({ name, screen, scopes }) => [name, screen, scopes.map((it) => [it.path, it.screen])]),
    [
      ["work", ["identifiers", "clinical", "scientific"], [["a", []]]],
    ],
  );
  assert.equal(screenings?.models, "/models");
  assert.equal(parse('{"models": "m"}').guardrails, undefined);
  assert.equal(parse('{"trees": {"work": {"path": "."}}}').screenings, undefined);
});

Deno.test("screens", () => {
  const screenOf = (form: unknown) => parse(screen(JSON.stringify({ screen: form }))).screenings?.trees[0].screen;
  assert.deepEqual(screenOf(true), ["identifiers", "clinical", "legal", "scientific"]);
  assert.deepEqual(screenOf(false), []);
  assert.deepEqual(screenOf([]), []);
  assert.deepEqual(screenOf(["Legal", "identifiers", "legal"]), ["identifiers", "legal"]);
  assert.deepEqual(screenOf(["-Legal"]), ["identifiers", "clinical", "scientific"]);
  assert.equal(parse(screen("{}")).screenings?.trees[0].screen, undefined);
});

Deno.test("order is the file's, also of names that look like numbers", () => {
  const { guardrails } = parse('{"guardrails": {"tasks": {"b": {"run": "x"}, "2": {"run": "x"}, "1": {"run": "x"}}}}');
  assert.deepEqual(guardrails?.tasks.map(({ name }) => name), ["b", "2", "1"]);
});
