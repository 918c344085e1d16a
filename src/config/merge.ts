/**
 * The project file and its overlay as one declaration, and what can only be judged on both together.
 *
 * Spec: 1-boundary §1.12.3, §1.13.3, §1.13.4; 4-tasks §4.3.
 */
import type { NameRules } from "../boundary/types.ts";
import { nearest } from "../refusal.ts";
import { placeholders, splitCommand } from "./command_line.ts";
import type { Declaration, Guardrails, ScreenedTree, Screenings } from "./declaration.ts";
import { type Fault, refuseFaults } from "./faults.ts";
import { FOUND_NAMES } from "./tree_names.ts";
import { fold } from "./written_path.ts";

/** Both files together. A section is there when one of them states it; `from` names which. */
export interface Merged {
  guardrails?: Guardrails & { from: readonly string[] };
  screenings?: Screenings & { from: readonly string[] };
}

/** The tree of the tools level. Spec: 1-boundary §1.7. */
export const WORK = "work";

/**
 * Merges section by section, entry by entry: an entry in both is the overlay's whole, at the place of the project's.
 *
 * @throws {Refusal} `invalid` for a `guardrails` section without a tree, a tree screened in both forms, a screen for an
 * unknown tree, a placeholder that nothing declares.
 */
export function merge(project: Declaration, overlay: Declaration | undefined, names: NameRules): Merged {
  const merged: Merged = {
    guardrails: mergeGuardrails(project, overlay, names),
    screenings: mergeScreenings(project, overlay, names),
  };
  refuseFaults([
    ...treeFaults(merged),
    ...formFaults(project, overlay, names),
    ...screenFaults(merged, names),
    ...placeholderFaults(merged),
  ]);
  return merged;
}

function mergeGuardrails(project: Declaration, overlay: Declaration | undefined, names: NameRules) {
  const [below, above] = [project.guardrails, overlay?.guardrails];
  const last = above ?? below;
  return last && {
    trees: entries(below?.trees, above?.trees, (tree) => fold(tree.name, names)),
    tasks: entries(below?.tasks, above?.tasks, (task) => task.name.toLowerCase()),
    replacements: entries(below?.replacements, above?.replacements, (replacement) => replacement.name),
    generated: above?.generated ?? below?.generated,
    place: last.place,
    from: filesOf(below, above),
  };
}

function mergeScreenings(project: Declaration, overlay: Declaration | undefined, names: NameRules) {
  const [below, above] = [project.screenings, overlay?.screenings];
  const last = above ?? below;
  return last && {
    trees: entries(below?.trees, above?.trees, (tree) => fold(tree.name, names)),
    models: above?.models ?? below?.models,
    place: last.place,
    from: filesOf(below, above),
  };
}

/** The project's entries in their order, each replaced by the overlay's where it has one, then the overlay's own. */
function entries<T>(below: readonly T[] = [], above: readonly T[] = [], keyOf: (entry: T) => string): T[] {
  const merged = new Map(below.map((entry) => [keyOf(entry), entry]));
  for (const entry of above) merged.set(keyOf(entry), entry);
  return [...merged.values()];
}

function filesOf(...sections: (Guardrails | Screenings | undefined)[]): string[] {
  return sections.flatMap((section) => section ? [section.place.source.file] : []);
}

function treeFaults({ guardrails }: Merged): Fault[] {
  if (!guardrails || guardrails.trees.length > 0) return [];
  return [{
    place: guardrails.place,
    message: 'guardrails declares no tree; add one: "trees": { "work": { "path": "." } }, ' +
      "or leave the whole section out to work in the file's own folder",
  }];
}

function formFaults(project: Declaration, overlay: Declaration | undefined, names: NameRules): Fault[] {
  const below = new Map(project.screenings?.trees.map((tree) => [fold(tree.name, names), tree]));
  return (overlay?.screenings?.trees ?? []).flatMap((tree) => {
    const other = below.get(fold(tree.name, names));
    if (!other || other.older === tree.older) return [];
    return [{
      place: tree.place,
      message: `the tree "${tree.name}" is screened here and, in another form, in ${other.place.source.file}; ` +
        'state its screen once, in the section "screenings"',
    }];
  });
}

function screenFaults({ guardrails, screenings }: Merged, names: NameRules): Fault[] {
  const trees = guardrails ? guardrails.trees.map((tree) => tree.name) : [WORK];
  const known = [...trees, ...FOUND_NAMES];
  const keys = new Set(known.map((name) => fold(name, names)));
  return (screenings?.trees ?? []).filter((tree) => !keys.has(fold(tree.name, names))).map((tree: ScreenedTree) => {
    const meant = nearest(tree.name, known);
    return {
      place: tree.place,
      message: `screenings names the tree ${JSON.stringify(tree.name)}, which nothing declares; ` +
        (meant ? `did you mean "${meant}"?` : `the trees are ${known.join(", ")}`),
    };
  });
}

function placeholderFaults({ guardrails }: Merged): Fault[] {
  const declared = new Set(guardrails?.replacements.map((replacement) => replacement.name));
  return (guardrails?.tasks ?? []).flatMap((task) => {
    const used = new Set(splitCommand(task.run)!.flatMap(placeholders));
    return [...used].filter((name) => !declared.has(name)).map((name) => ({
      place: task.place,
      message: `the task "${task.name}" uses {${name}}, which no replacement declares; ` +
        (declared.size ? `declared: ${[...declared].join(", ")}` : "none is declared"),
    }));
  });
}

/** A screen that a name refers to, by the system's case rule. */
export function screenOf(name: string, { screenings }: Merged, names: NameRules): ScreenedTree | undefined {
  return screenings?.trees.find((tree) => fold(tree.name, names) === fold(name, names));
}
