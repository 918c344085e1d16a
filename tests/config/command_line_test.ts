import { commandFault, fillWord, placeholders, splitCommand } from "../../src/config/command_line.ts";
import { assert } from "./support.ts";

/** Spec: 4-tasks §4.2. */
Deno.test("the split", () => {
  const rows: [string, string[]][] = [
    ["a  b", ["a", "b"]],
    [" \ta\t b ", ["a", "b"]],
    ['a "b c" d', ["a", "b c", "d"]],
    ['a --m="b c"d', ["a", "--m=b cd"]],
    ['a "" b', ["a", "", "b"]],
    ['a "say ""hi"""', ["a", 'say "hi"']],
    ['a """"', ["a", '"']],
    ['a C:\\x\\ "C:\\my dir\\"', ["a", "C:\\x\\", "C:\\my dir\\"]],
    ["a 'b c' $X *.ts > f", ["a", "'b", "c'", "$X", "*.ts", ">", "f"]],
    ["a b\nc", ["a", "b\nc"]],
  ];
  for (const [line, words] of rows) assert.deepEqual(splitCommand(line), words, line);
  assert.equal(splitCommand('a "b'), undefined);
  assert.equal(commandFault("a b"), undefined);
});

/** Spec: 4-tasks §4.3; scenario 53. */
Deno.test("placeholders", () => {
  const rows: [string, string[], string][] = [
    ["{a}", ["a"], "<a>"],
    ["x{a}y{b.c-d_1}", ["a", "b.c-d_1"], "x<a>y<b.c-d_1>"],
    ["{{a}", [], "{a}"],
    ["{{a}}", [], "{a}}"],
    ["{{{a}", [], "{{a}"],
    ["{}", [], "{}"],
    ["{0}", [], "{0}"],
    ["{a:.b}", [], "{a:.b}"],
    ["{ $_.Name }", [], "{ $_.Name }"],
    ["{{.Names}}", [], "{{.Names}}"],
  ];
  for (const [word, names, filled] of rows) {
    assert.deepEqual(placeholders(word), names, word);
    assert.equal(fillWord(word, (name) => `<${name}>`), filled, word);
  }
  assert.equal(fillWord("{a}", () => '{b} "; $& $1'), '{b} "; $& $1');
});
