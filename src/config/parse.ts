/**
 * One configuration file: from bytes to what it declares, or every fault that can be seen in it alone.
 *
 * Spec: 1-boundary §1.13, decision 2.
 */
import type { NameRules, Permission } from "../boundary/types.ts";
import { PERMISSIONS } from "../boundary/types.ts";
import type { Declaration, DeclaredTree, Guardrails, ScreenedScope, ScreenedTree, Screenings } from "./declaration.ts";
import { type Fault, type Place, refuseFaults, type Source } from "./faults.ts";
import { child, type Member, members, type Node, NotJson, readJson } from "./json_text.ts";
import { CURRENT_FORM, OLDER_FORM } from "./schema.ts";
import { screenedBy, type ScreenForm } from "./screen_words.ts";
import { check, spelled } from "./shape.ts";
import { absolutePath, fold, parentOf, scopeFault, scopePath, windowsScopeFault } from "./written_path.ts";

const CURRENT_KEYS = ["guardrails", "screenings"];
const OLDER_KEYS = ["trees", "tasks", "replacements", "models"];

/**
 * Reads one configuration file.
 *
 * @param file Absolute path of the file: its folder is what relative paths in it count from.
 * @throws {Refusal} `invalid`, with every fault as `file:line:column: what`, one a line, the first one first.
 */
export function parseConfiguration(file: string, bytes: Uint8Array, names: NameRules): Declaration {
  const source: Source = { file, text: decode(file, bytes) };
  const root = readRoot(source);
  const faults: Fault[] = [];
  const tell = (offset: number, message: string) => faults.push({ place: { source, offset }, message });
  const older = isOlder(root);
  const mixed = older ? [] : members(root).filter(({ key }) => OLDER_KEYS.includes(key));
  for (const { key, keyOffset } of mixed) tell(keyOffset, bothForms(key, root));
  textFaults(root, [], tell);
  check(older ? OLDER_FORM : CURRENT_FORM, without(mixed, root), [], tell);
  nameFaults(root, names, tell);
  refuseFaults(faults);
  return new Reader(source, root, names).declaration(older);
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder().decode(bytes);
    const place = { source: { file, text }, offset: Math.max(0, text.indexOf("\ufffd")) };
    return refuseFaults([{ place, message: "the file is not UTF-8 text; save it as UTF-8" }]);
  }
}

function readRoot(source: Source): Node {
  try {
    return readJson(source.text);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return refuseFaults([{ place: { source, offset: error.offset }, message: `not JSON: ${error.message}` }]);
  }
}

/** Whether a file is of the older form: it has a key of that form, and no section. */
function isOlder(root: Node): boolean {
  const tops = members(root).map(({ key }) => key);
  return tops.some((key) => OLDER_KEYS.includes(key)) && !tops.some((key) => CURRENT_KEYS.includes(key));
}

function bothForms(key: string, root: Node): string {
  const section = key === "models" ? "screenings" : "guardrails";
  const other = members(root).find((member) => CURRENT_KEYS.includes(member.key))!.key;
  return `"${key}" at the top is the older form, and the file has "${other}" too; one file cannot mix both: ` +
    `move "${key}" into "${section}"`;
}

function without(left: readonly Member[], root: Node): Node {
  if (root.type !== "object" || left.length === 0) return root;
  return { ...root, members: root.members.filter((member) => !left.includes(member)) };
}

type Tell = (offset: number, message: string) => void;

/** Keys written twice, and strings that are not Unicode. */
function textFaults(node: Node, path: readonly (string | number)[], tell: Tell): void {
  const unicode = (text: string, offset: number) => {
    if (!text.isWellFormed()) tell(offset, "this string is not well-formed Unicode");
  };
  if (node.type === "string") unicode(node.value, node.offset);
  if (node.type === "array") node.items.forEach((item, index) => textFaults(item, [...path, index], tell));
  const seen = new Set<string>();
  for (const { key, keyOffset, value } of members(node)) {
    unicode(key, keyOffset);
    if (seen.has(key)) tell(keyOffset, `duplicate key ${spelled([...path, key])}; keep one of them`);
    seen.add(key);
    textFaults(value, [...path, key], tell);
  }
}

/** Names that compare equal, and scope keys that Windows would read otherwise. */
function nameFaults(root: Node, names: NameRules, tell: Tell): void {
  const guardrails = child(root, "guardrails") ?? root;
  for (const trees of [child(guardrails, "trees"), child(child(root, "screenings"), "trees")]) {
    equalNames(members(trees), (name) => fold(name, names), "two trees cannot bear one name", tell);
    for (const { value } of members(trees)) {
      const sound = members(child(value, "scopes")).filter(({ key }) => !scopeFault(key));
      equalNames(sound, (key) => fold(scopePath(key), names), "two keys cannot name one place", tell);
      for (const { key, keyOffset } of names.windows ? sound : []) {
        const message = windowsScopeFault(key);
        if (message) tell(keyOffset, message);
      }
    }
  }
  const tasks = members(child(guardrails, "tasks"));
  equalNames(tasks, (name) => name.toLowerCase(), "task names are compared ignoring case", tell);
}

function equalNames(entries: readonly Member[], keyOf: (name: string) => string, why: string, tell: Tell): void {
  const seen = new Map<string, string>();
  for (const { key, keyOffset } of entries) {
    const first = seen.get(keyOf(key));
    // The same spelling twice is a duplicate key and has been told.
    if (first !== undefined && first !== key) {
      tell(keyOffset, `${JSON.stringify(key)} and ${JSON.stringify(first)} are the same here: ${why}`);
    }
    seen.set(keyOf(key), first ?? key);
  }
}

/** Takes a checked file apart. */
class Reader {
  readonly #folder: string;

  constructor(readonly source: Source, readonly root: Node, readonly names: NameRules) {
    this.#folder = parentOf(source.file, names);
  }

  declaration(older: boolean): Declaration {
    const { source, root } = this;
    if (!older) {
      const guardrails = child(root, "guardrails");
      const screenings = child(root, "screenings");
      return {
        source,
        guardrails: guardrails && this.#guardrails(guardrails),
        screenings: screenings && this.#screenings(screenings, false),
      };
    }
    const screenings = this.#screenings(root, true);
    return {
      source,
      guardrails: members(root).some(({ key }) => OLDER_KEYS.includes(key) && key !== "models")
        ? this.#guardrails(root)
        : undefined,
      screenings: screenings.trees.length > 0 || screenings.models !== undefined ? screenings : undefined,
    };
  }

  #guardrails(node: Node): Guardrails {
    const generated = child(node, "generated");
    return {
      trees: members(child(node, "trees")).map(({ key, keyOffset, value }) => this.#tree(key, keyOffset, value)),
      tasks: members(child(node, "tasks")).map(({ key, value }) => ({
        name: key,
        run: text(child(value, "run"))!,
        cwd: text(child(value, "cwd")),
        place: this.#place(child(value, "run")!.offset),
      })),
      replacements: members(child(node, "replacements")).map(({ key, keyOffset, value }) => ({
        name: key,
        value: text(value)!,
        place: this.#place(keyOffset),
      })),
      generated: generated && texts(generated),
      place: this.#place(node.offset),
    };
  }

  #tree(name: string, keyOffset: number, node: Node): DeclaredTree {
    const path = child(node, "path")!;
    const can = child(node, "can");
    return {
      name,
      path: this.#path(text(path)!),
      can: can && permissions(can),
      scopes: members(child(node, "scopes")).map(({ key, keyOffset, value }) => ({
        path: scopePath(key),
        can: permissions(child(value, "can")!),
        place: this.#place(keyOffset),
      })),
      place: this.#place(keyOffset),
      pathPlace: this.#place(path.offset),
    };
  }

  /** The screens of a section, or those that stand on the trees of the older form. */
  #screenings(node: Node, older: boolean): Screenings {
    const models = text(child(node, "models"));
    const trees = members(child(node, "trees")).map(({ key, keyOffset, value }): ScreenedTree => ({
      name: key,
      screen: screen(value),
      scopes: members(child(value, "scopes")).flatMap(({ key, keyOffset, value }): ScreenedScope[] => {
        const words = screen(value);
        return words ? [{ path: scopePath(key), screen: words, place: this.#place(keyOffset) }] : [];
      }),
      older,
      place: this.#place(keyOffset),
    }));
    return {
      trees: older ? trees.filter((tree) => tree.screen || tree.scopes.length > 0) : trees,
      models: models === undefined ? undefined : this.#path(models),
      place: this.#place(node.offset),
    };
  }

  #path(written: string): string {
    return absolutePath(written, this.#folder, this.names);
  }

  #place(offset: number): Place {
    return { source: this.source, offset };
  }
}

function text(node: Node | undefined): string | undefined {
  return node?.type === "string" ? node.value : undefined;
}

function texts(node: Node): string[] {
  return node.type === "array" ? node.items.map((item) => text(item)!) : [];
}

function permissions(node: Node): readonly Permission[] {
  const words = texts(node).map((word) => word.toLowerCase());
  return PERMISSIONS.filter((word) => words.includes(word));
}

function screen(node: Node): readonly string[] | undefined {
  const stated = child(node, "screen");
  if (!stated) return undefined;
  const form: ScreenForm = stated.type === "boolean" ? stated.value : texts(stated).map((word) => word.toLowerCase());
  return screenedBy(form);
}
