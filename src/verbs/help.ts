/** `help`: the overview, or one verb, made from the registry. Spec: 2-verbs §2.25. */
import { EXIT_CODES, nearest, Refusal } from "../refusal.ts";
import { argumentsOf, flagName, GLOBAL_FLAGS, type ValueKind } from "./flags.ts";
import { object, optional, text } from "./shape.ts";
import type { Answer, Argument, MainVerb, Verb } from "./verb.ts";

const WIDTH = 100;

const schema = object({ verb: optional(text()) });

export const help: MainVerb<typeof schema> = {
  name: "help",
  where: "main",
  summary: "all verbs, or one of them",
  description: "Prints what the verbs are and take. Needs no configuration.",
  schema,
  arguments: { verb: { help: "the verb to explain", value: "VERB", word: "one" } },
  run({ verb: name }, { verbs }): Answer {
    const shown = name === undefined ? verbs : verbs.filter((verb) => verb.name === name.toLowerCase());
    if (name !== undefined && shown.length === 0) {
      const near = nearest(name, verbs.map((verb) => verb.name));
      throw new Refusal("invalid", `no such verb: ${name} - ${near ? `did you mean '${near}'? ` : ""}try: fettle help`);
    }
    return {
      json: { verbs: shown.map(described) },
      text: () => name === undefined ? overview(verbs) : oneVerb(shown[0]),
    };
  },
};

interface Described {
  name: string;
  summary: string;
  words: { name: string; repeat?: true; help: string }[];
  flags: { name: string; value?: string; repeat?: true; default?: unknown; help: string }[];
  mcp: boolean;
}

function described(verb: Verb): Described {
  const words: Described["words"] = [];
  const flags: Described["flags"] = [];
  for (const { property, argument, kind } of argumentsOf(verb)) {
    const repeat = kind === "texts" ? { repeat: true as const } : {};
    if (argument.word) {
      const many = argument.word === "many" ? { repeat: true as const } : {};
      words.push({ name: argument.value ?? property, ...many, help: argument.help });
    }
    const name = flagName(property, argument);
    const value = valueOf(argument, kind);
    const fallback = argument.default === undefined ? {} : { default: argument.default };
    if (name) flags.push({ name: `--${name}`, ...value, ...repeat, ...fallback, help: argument.help });
    if (argument.short) flags.push({ name: argument.short, ...value, ...repeat, help: `same as --${name}` });
    for (const [preset, fixed] of Object.entries(argument.presets ?? {})) {
      flags.push({ name: `--${preset}`, help: `same as --${name} ${fixed}` });
    }
    for (const [name, fixed] of Object.entries(argument.switches ?? {})) {
      flags.push({ name: `--${name}`, help: `${argument.help}: ${fixed ? "yes" : "no"}` });
    }
    if (argument.lines) {
      const each = "one a line, blank lines dropped";
      flags.push({
        name: `--${argument.lines.file}`,
        value: "FILE",
        repeat: true,
        help: `the same from a file of yours, ${each}`,
      });
      flags.push({ name: `--${argument.lines.stdin}`, help: `the same from standard input, ${each}` });
    }
    if (argument.content) {
      flags.push({ name: `--${argument.content.file}`, value: "FILE", help: "the same from a file of yours" });
      flags.push({ name: `--${argument.content.stdin}`, help: "the same from standard input" });
    }
  }
  return { name: verb.name, summary: verb.summary, words, flags, mcp: verb.tool !== undefined };
}

function valueOf(argument: Argument, kind: ValueKind): { value?: string } {
  return kind === "switch" ? {} : { value: argument.value ?? "VALUE" };
}

function overview(verbs: readonly Verb[]): string {
  const width = Math.max(...verbs.map((verb) => verb.name.length)) + 2;
  return [
    "fettle - files for an assistant, inside the folders that you declared and nowhere else",
    "",
    "usage: fettle [FLAG...] VERB [WORD | FLAG]...",
    "",
    ...verbs.map((verb) => `  ${verb.name.padEnd(width)}${verb.summary}`),
    "",
    "flags of every verb",
    ...flagRows(GLOBAL_FLAGS.map(({ name, ...rest }) => ({ name: `--${name}`, ...rest }))),
    "",
    ...wrapped("fettle help VERB tells what a verb takes. Exit codes:", exitCodes(), ""),
    "The outcome word stands in every JSON answer.",
  ].join("\n");
}

function exitCodes(): string[] {
  const codes = Object.entries(EXIT_CODES);
  return codes.map(([outcome, code], i) => `${code} ${outcome}${i < codes.length - 1 ? "," : "."}`);
}

function oneVerb(verb: Verb): string {
  const { words, flags } = described(verb);
  const usage = [
    ...words.map((word) => word.repeat ? `${word.name}...` : `[${word.name}]`),
    ...flags.map((flag) => `[${flag.name}${flag.value ? ` ${flag.value}` : ""}]${flag.repeat ? "..." : ""}`),
  ];
  return [
    ...wrapped(`usage: fettle ${verb.name}`, usage, "         "),
    "",
    ...wrapped("", verb.description.split(" "), ""),
    ...words.length + flags.length > 0 ? [""] : [],
    ...flagRows([...words, ...flags]),
    ...verb.tool ? ["", `Also an MCP tool of the same name.`] : [],
  ].join("\n");
}

function flagRows(flags: readonly { name: string; value?: string; default?: unknown; help: string }[]): string[] {
  const heads = flags.map((flag) => flag.value ? `${flag.name} ${flag.value}` : flag.name);
  const width = Math.min(28, Math.max(...heads.map((head) => head.length)) + 2);
  return flags.flatMap((flag, i) => {
    const fallback = flag.default === undefined ? "" : ` (default: ${flag.default})`;
    const rows = wrapped("", `${flag.help}${fallback}`.split(" "), "");
    const first = heads[i].length + 2 > width ? [`  ${heads[i]}`] : [`  ${heads[i].padEnd(width)}${rows.shift()}`];
    return [...first, ...rows.map((row) => `  ${"".padEnd(width)}${row}`)];
  });
}

/** Words in rows of at most `WIDTH` characters. */
function wrapped(first: string, words: readonly string[], indent: string): string[] {
  const rows = [first];
  for (const word of words) {
    const row = rows[rows.length - 1];
    if (row !== "" && row.length + word.length + 1 > WIDTH) rows.push(indent + word);
    else rows[rows.length - 1] = row === "" ? word : row.endsWith(" ") ? row + word : `${row} ${word}`;
  }
  return rows;
}
