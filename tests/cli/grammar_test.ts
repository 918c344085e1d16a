/** The grammar of the command line. Scenarios 103-105, 169, 171; spec 2-verbs §2.2. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseCommandLine } from "../../src/front/cli/grammar.ts";
import { Refusal } from "../../src/refusal.ts";
import { argumentsOf, flagName, GLOBAL_FLAGS } from "../../src/verbs/flags.ts";
import { VERBS } from "../../src/verbs/mod.ts";

const parse = (...argv: string[]) => parseCommandLine(argv, VERBS);

function refused(...argv: string[]): string {
  try {
    parse(...argv);
  } catch (error) {
    assert.ok(error instanceof Refusal);
    assert.equal(error.outcome, "invalid");
    return error.message;
  }
  throw new Error(`taken: ${argv.join(" ")}`);
}

Deno.test("words, values, switches, in any order round the verb", () => {
  assert.deepEqual(parse("find", "src/*", "--limit", "5", "--include-generated").args, {
    pattern: "src/*",
    limit: 5,
    include_generated: true,
  });
  assert.deepEqual(parse("--limit=5", "find", "src/*").args, { pattern: "src/*", limit: 5 });
  assert.deepEqual(parse("--LIMIT", "5", "find").args, { limit: 5 });
  assert.equal(parse("--config", "find", "roots").verb!.name, "roots");
  assert.equal(parse("--root", "a", "--root=b=c", "roots").globals.roots.length, 2);
  assert.equal(parse("--json").verb, undefined);
  assert.equal(parse().verb, undefined);
  assert.deepEqual(parse("read", "a", "b", "--from", "2").args, { paths: ["a", "b"], from: 2 });
  assert.deepEqual(parse("find", "--exclude", "a", "--exclude=b").args, { exclude: ["a", "b"] });
  assert.deepEqual(parse("find", "--limit", "1", "--limit", "2").args, { limit: 2 });
  assert.deepEqual(parse("find", "--sort-modified").args, { sort: "mtime" });
  assert.deepEqual(parse("read", "-").args, { paths: ["-"] });
});

Deno.test("patterns: words first, then -e and --pattern; files and standard input by name", () => {
  assert.deepEqual(parse("search", "-e", "-x", "--pattern", "y", "w").args, { patterns: ["w", "-x", "y"] });
  assert.deepEqual(parse("search", "--", "-e", "--json").args, { patterns: ["-e", "--json"] });
  assert.equal(parse("search", "--", "--json").globals.json, false);
  assert.deepEqual(parse("search", "--pattern-file", "f", "--pattern-stdin").sources, [
    { property: "patterns", as: "lines", flag: "--pattern-file", file: "f" },
    { property: "patterns", as: "lines", flag: "--pattern-stdin" },
  ]);
  assert.match(refused("search", "--pattern-stdin", "--pattern-stdin"), /one flag only/);
});

Deno.test("what makes no sense is named as typed", () => {
  assert.match(refused("fnid"), /no such verb: fnid.*'find'/);
  assert.match(refused("search", "x", "--gob", "*.cs"), /no such flag: --gob.*--glob/);
  assert.match(refused("search", "x", "-i"), /no such flag: -i/);
  assert.match(refused("search", "x", "-i", "--Foo=1"), /no such flags: -i, --Foo/);
  assert.match(refused("find", "--context", "2"), /no such flag: --context/);
  assert.match(refused("roots", "extra"), /'extra' is extra/);
  assert.match(refused("find", "a", "b"), /'b' is extra/);
  assert.match(refused("find", "--limit"), /--limit needs a value, and nothing followed it - write --limit=/);
  assert.match(refused("find", "--in", "--limit", "3"), /--in needs a value, and '--limit' is a flag/);
  assert.match(refused("search", "-e"), /-e needs a value/);
  assert.match(refused("find", "--limit", "x"), /whole number, not 'x'/);
  assert.match(refused("find", "--limit", "1.5"), /whole number/);
  assert.match(refused("find", "--limit="), /whole number, not ''/);
  assert.match(refused("find", "--limit", "0x10"), /whole number/);
  assert.match(refused("find", "--json=yes"), /switch and takes no value/);
  // Unknown flags are told before missing values.
  assert.match(refused("find", "--gob", "--limit"), /no such flag: --gob/);
});

Deno.test("an empty value is a value", () => {
  assert.deepEqual(parse("find", "--in=").args, { in: "" });
});

Deno.test("every flag of help is taken by the parser, and no other", () => {
  for (const verb of VERBS) {
    for (const { property, argument, kind } of argumentsOf(verb)) {
      const name = flagName(property, argument);
      if (!name) continue;
      const typed = kind === "switch" ? [`--${name}`] : [`--${name}`, kind === "number" ? "1" : "x"];
      const { args, sources } = parse(verb.name, ...typed);
      const taken = property in args || sources.some((source) => source.property === property);
      assert.ok(taken, `${verb.name} --${name}`);
    }
    for (const { name, value } of GLOBAL_FLAGS) parse(verb.name, `--${name}`, ...value ? ["x"] : []);
  }
});

Deno.test("property: no command line makes it throw anything but a refusal", () => {
  const token = fc.oneof(
    fc.constantFrom(
      "find",
      "search",
      "read",
      "--limit",
      "--limit=",
      "--json",
      "-e",
      "--",
      "-",
      "--root",
      "--exclude",
      "--Config=x",
      "--help",
    ),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(fc.property(fc.array(token, { maxLength: 6 }), (argv) => {
    try {
      parseCommandLine(argv, VERBS);
    } catch (error) {
      assert.ok(error instanceof Refusal, `${error}`);
    }
  }));
});
