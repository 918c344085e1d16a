/**
 * The grammar of the command line: `fettle [FLAG…] VERB [WORD | FLAG]…`, made from the verbs' declarations.
 *
 * Pure: files and streams that flags name are handed on by name. Spec: 2-verbs §2.2, §2.3.
 */
import { nearest, Refusal } from "../../refusal.ts";
import { argumentsOf, flagName, type ValueKind } from "../../verbs/flags.ts";
import type { Verb } from "../../verbs/verb.ts";

/** What a command line asks for. */
export interface CommandLine {
  /** Absent when no verb was named. */
  verb?: Verb;
  /** As the verb's schema wants them, not checked against it yet. */
  args: Record<string, unknown>;
  /** Arguments to be filled from the person's own files or standard input. */
  sources: Source[];
  globals: Globals;
}

/** Where an argument's value comes from: standard input where no file is named. */
export interface Source {
  property: string;
  /** One value a line, a text as a whole, or JSON. */
  as: "lines" | "text" | "document";
  file?: string;
  /** The flag as it is typed, for complaints. */
  flag: string;
}

export interface Globals {
  config?: string;
  roots: string[];
  noConfig: boolean;
  json: boolean;
  help: boolean;
  version: boolean;
}

/** A flag of a verb or a global one, as the parser knows it. */
interface Flag {
  /** Absent for a switch. */
  value?: string;
  /** Takes the value typed, `true` for a switch. */
  take(value: string, line: CommandLine): void;
}

const GLOBALS: ReadonlyMap<string, Flag> = new Map(Object.entries<Flag>({
  "config": { value: "PATH", take: (value, line) => line.globals.config = value },
  "root": { value: "[NAME=]PATH", take: (value, line) => line.globals.roots.push(value) },
  "no-config": { take: (_, line) => line.globals.noConfig = true },
  "json": { take: (_, line) => line.globals.json = true },
  "help": { take: (_, line) => line.globals.help = true },
  "version": { take: (_, line) => line.globals.version = true },
}));

/**
 * Reads a command line.
 *
 * @throws {Refusal} `invalid`: unknown verb or flags (all of them named), a flag without its value, a number that is none,
 * a word too many.
 */
export function parseCommandLine(argv: readonly string[], verbs: readonly Verb[]): CommandLine {
  const line: CommandLine = {
    args: {},
    sources: [],
    globals: { roots: [], noConfig: false, json: false, help: false, version: false },
  };
  const at = verbIndex(argv, verbs);
  if (at !== undefined) {
    line.verb = verbs.find((verb) => verb.name === argv[at]);
    if (!line.verb) {
      const near = nearest(argv[at], verbs.map((verb) => verb.name));
      const hint = near ? `did you mean '${near}'? ` : "";
      throw new Refusal("invalid", `no such verb: ${argv[at]} - ${hint}try: fettle help`);
    }
  }
  const flags = new Map<string, Flag>([...GLOBALS, ...line.verb ? flagsOf(line.verb) : []]);
  const words: string[] = [];
  const rest = argv.filter((_, i) => i !== at);
  const takes = readTokens(rest, flags, words, line.verb);
  for (const take of takes) take(line);
  if (line.verb && !line.globals.help) placeWords(line.verb, words, line);
  if (line.sources.filter((source) => source.file === undefined).length > 1) {
    throw new Refusal("invalid", "standard input can feed one flag only");
  }
  return line;
}

/** The verb of a command line, which may be wrong in any other way. */
export function verbNamed(argv: readonly string[], verbs: readonly Verb[]): Verb | undefined {
  const at = verbIndex(argv, verbs);
  return at === undefined ? undefined : verbs.find((verb) => verb.name === argv[at]);
}

/** Where the verb stands: the first word that is neither a flag nor the value of one. */
function verbIndex(argv: readonly string[], verbs: readonly Verb[]): number | undefined {
  const valued = new Set<string>();
  for (const [name, flag] of [...GLOBALS, ...verbs.flatMap((verb) => [...flagsOf(verb)])]) {
    if (flag.value) valued.add(name);
  }
  for (let i = 0; i < argv.length; i++) {
    const token = argv[i];
    if (token === "--") return i + 1 < argv.length ? i + 1 : undefined;
    if (!isFlag(token)) return i;
    const { name, value } = splitFlag(token);
    if (value === undefined && valued.has(name) && argv[i + 1] !== undefined && !isKnown(argv[i + 1], valued)) i++;
  }
  return undefined;
}

function isKnown(token: string, names: { has(name: string): boolean }): boolean {
  return isFlag(token) && names.has(splitFlag(token).name);
}

/** Goes through the tokens once; what flags do is done afterwards, so that unknown ones are reported before anything else. */
function readTokens(
  tokens: readonly string[],
  flags: ReadonlyMap<string, Flag>,
  words: string[],
  verb: Verb | undefined,
): ((line: CommandLine) => void)[] {
  const takes: ((line: CommandLine) => void)[] = [];
  const unknown: string[] = [];
  let fault: Refusal | undefined;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === "--") {
      words.push(...tokens.slice(i + 1));
      break;
    }
    if (!isFlag(token)) {
      words.push(token);
      continue;
    }
    const { name, value, typed } = splitFlag(token);
    const flag = flags.get(name);
    if (!flag) {
      unknown.push(typed);
      continue;
    }
    if (!flag.value) {
      if (value !== undefined) fault ??= new Refusal("invalid", `${typed} is a switch and takes no value`);
      takes.push((line) => flag.take("", line));
      continue;
    }
    const next = tokens[i + 1];
    if (value === undefined && (next === undefined || next === "--" || isKnown(next, flags))) {
      const followed = next === undefined ? "nothing followed it" : `'${next}' is a flag`;
      const advice = name.startsWith("-") ? "" : ` - write --${name}= for a deliberately empty one`;
      fault ??= new Refusal("invalid", `${typed} needs a value, and ${followed}${advice}`);
      continue;
    }
    const taken = value ?? next;
    if (value === undefined) i++;
    takes.push((line) => flag.take(taken, line));
  }
  if (unknown.length > 0) throw unknownFlags(unknown, flags, verb);
  if (fault) throw fault;
  return takes;
}

function unknownFlags(typed: string[], flags: ReadonlyMap<string, Flag>, verb: Verb | undefined): Refusal {
  const known = [...flags.keys()].filter((name) => !name.startsWith("-"));
  const near = typed.length === 1 ? nearest(typed[0].replace(/^-+/, ""), known) : undefined;
  const hint = near ? ` - did you mean --${near}?` : ` - try: fettle help${verb ? ` ${verb.name}` : ""}`;
  return new Refusal("invalid", `no such flag${typed.length > 1 ? "s" : ""}: ${typed.join(", ")}${hint}`);
}

/** A token that begins with a dash is a flag; a dash alone is a word. */
function isFlag(token: string): boolean {
  return token.length > 1 && token.startsWith("-");
}

/** `--name=value` apart: the name in lower case without dashes, `-e` with its one dash. */
function splitFlag(token: string): { name: string; value?: string; typed: string } {
  if (!token.startsWith("--")) return { name: token, typed: token };
  const equals = token.indexOf("=");
  const typed = equals < 0 ? token : token.slice(0, equals);
  const name = typed.slice(2).toLowerCase();
  return equals < 0 ? { name, typed } : { name, typed, value: token.slice(equals + 1) };
}

/** The flags of a verb by name. */
function flagsOf(verb: Verb): Map<string, Flag> {
  const flags = new Map<string, Flag>();
  for (const { property, argument, kind } of argumentsOf(verb)) {
    const name = flagName(property, argument);
    const take = (value: string, line: CommandLine) => takeValue(line, property, kind, value, name ?? property);
    const source = (as: Source["as"], flag: string) => (value: string, line: CommandLine) =>
      line.sources.push({ property, as, flag: `--${flag}`, file: value });
    const streamed = (as: Source["as"], flag: string) => (_: string, line: CommandLine) =>
      line.sources.push({ property, as, flag: `--${flag}` });
    const flag: Flag = {
      value: kind === "switch" ? undefined : argument.value ?? "VALUE",
      take: argument.document && name ? source("document", name) : take,
    };
    if (name) flags.set(name, flag);
    if (argument.short) flags.set(argument.short, flag);
    for (const [preset, fixed] of Object.entries(argument.presets ?? {})) {
      flags.set(preset, { take: (_, line) => line.args[property] = fixed });
    }
    for (const [name, fixed] of Object.entries(argument.switches ?? {})) {
      flags.set(name, {
        take(_, line) {
          if (line.args[property] === !fixed) {
            const all = Object.keys(argument.switches!).map((name) => `--${name}`).join(" and ");
            throw new Refusal("invalid", `${all} say the opposite of each other; give one of them`);
          }
          line.args[property] = fixed;
        },
      });
    }
    if (argument.lines) {
      const { file, stdin } = argument.lines;
      flags.set(file, { value: "FILE", take: source("lines", file) });
      flags.set(stdin, { take: streamed("lines", stdin) });
    }
    if (argument.content) {
      const { file, stdin } = argument.content;
      flags.set(file, { value: "FILE", take: source("text", file) });
      flags.set(stdin, { take: streamed("text", stdin) });
    }
  }
  return flags;
}

function takeValue(line: CommandLine, property: string, kind: ValueKind, value: string, flag: string) {
  switch (kind) {
    case "switch":
      line.args[property] = true;
      break;
    case "texts":
      line.args[property] = [...line.args[property] as string[] ?? [], value];
      break;
    case "number":
      if (!/^-?[0-9]+$/.test(value)) throw new Refusal("invalid", `--${flag} takes a whole number, not '${value}'`);
      line.args[property] = Number(value);
      break;
    default:
      line.args[property] = value;
  }
}

/** Puts words where the verb wants them; words come before what flags gave the same argument. */
function placeWords(verb: Verb, words: readonly string[], line: CommandLine) {
  const places = argumentsOf(verb).filter(({ argument }) => argument.word);
  let left = [...words];
  for (const { property, argument } of places) {
    if (left.length === 0) break;
    if (argument.word === "many") {
      line.args[property] = [...left, ...line.args[property] as string[] ?? []];
      left = [];
    } else {
      line.args[property] = left.shift();
    }
  }
  if (left.length === 0) return;
  const takes = places.length === 0
    ? "no word"
    : `${places.map(({ argument }) => argument.value).join(" ")} and nothing else`;
  throw new Refusal("invalid", `${verb.name} takes ${takes}; '${left[0]}' is extra`);
}
