/** `roots`: the boundary, as it is declared. Spec: 1-boundary §1.14. */
import { printable } from "../boundary/print.ts";
import { printCan } from "../boundary/survey.ts";
import type { Scope, Tree } from "../boundary/types.ts";
import { type Branch, branchOf } from "../config/branch.ts";
import type { Configuration, Level } from "../config/types.ts";
import { object } from "./shape.ts";
import type { Answer, Fences, MainVerb } from "./verb.ts";

const schema = object({});

export const roots: MainVerb<typeof schema> = {
  name: "roots",
  where: "main",
  summary: "the open trees and what may be done in each",
  description:
    "Tells which folders are open, under which names, and what may be done in each and in the scopes below. " +
    "Call it first: there is no working folder, and every path starts from one of these trees.",
  tool: { readOnly: true, destructive: false, idempotent: true },
  schema,
  arguments: {},
  async run(_args, side): Promise<Answer> {
    const configuration = side.configuration();
    const trying = side.fences();
    // What is wrong here is told first.
    trying.catch(() => {});
    const { trees } = configuration.boundary;
    const declared = trees.filter((tree) => tree.found === undefined);
    const branches = new Map(declared.map((tree) => [tree, branchOf(tree.real)]));
    const fences = await trying;
    return {
      json: {
        levels: configuration.levels,
        roots: declared.map((tree, i) => jsonTree(tree, i === 0, branches.get(tree)!)),
        found: trees.filter((tree) => tree.found !== undefined).map(jsonFound),
        count: declared.length,
        ...configuration.source === undefined ? {} : { source: configuration.source },
        ...configuration.overlay === undefined ? {} : { overlay: configuration.overlay },
        ...configuration.models === undefined ? {} : { models: configuration.models },
        fences,
      },
      text: () => text(configuration, fences, branches),
    };
  },
};

function jsonTree(tree: Tree, isDefault: boolean, branch: Branch): Record<string, unknown> {
  return {
    name: tree.name,
    path: tree.path,
    can: printCan(tree.can),
    default: isDefault,
    ...screenFields(tree.screen),
    ...branch,
    ...tree.scopes.length === 0 ? {} : { scopes: tree.scopes.map(jsonScope) },
  };
}

function jsonScope(scope: Scope): Record<string, unknown> {
  return { path: scope.path, ...scope.can ? { can: printCan(scope.can) } : {}, ...screenFields(scope.screen) };
}

function jsonFound(tree: Tree): Record<string, unknown> {
  return { name: tree.name, path: tree.path, can: printCan(tree.can), ...screenFields(tree.screen), how: tree.found };
}

function screenFields(screen: readonly string[] | undefined): { screen?: string } {
  return screen === undefined ? {} : { screen: screenWords(screen) };
}

function screenWords(screen: readonly string[]): string {
  return screen.join(" ") || "nothing";
}

function text(configuration: Configuration, fences: Fences, branches: ReadonlyMap<Tree, Branch>): string {
  const { levels, boundary } = configuration;
  const declared = boundary.trees.filter((tree) => tree.found === undefined);
  const found = boundary.trees.filter((tree) => tree.found !== undefined);
  const width = Math.max(12, ...boundary.trees.map((tree) => tree.name.length + 2));
  const rows = ["levels"];
  rows.push(`  ${"tools".padEnd(14)}on, always`);
  rows.push(`  ${"guardrails".padEnd(14)}${levelText(levels.guardrails, configuration)}`);
  rows.push(`  ${"screenings".padEnd(14)}${levelText(levels.screenings, configuration)}`);
  rows.push("", "trees");
  for (const tree of declared) rows.push(...treeRows(tree, width, tree === declared[0], branches.get(tree)));
  if (found.length > 0) {
    rows.push("", "found by fettle");
    for (const tree of found) rows.push(...treeRows(tree, width, false, undefined));
  }
  rows.push("", declaredBy(configuration));
  for (const fence of ["process", "kernel"] as const) {
    if (!fences[fence]) rows.push(`fences: ${fence} does not stand: ${fences[`${fence}_reason`] ?? "unknown"}`);
  }
  return rows.join("\n");
}

function levelText(level: Level, { source }: Configuration): string {
  if (!level.on) return "off";
  const [first, second] = level.from ?? [];
  const with_ = second === undefined ? "" : ` (with ${printable(second)})`;
  return `on, from ${printable(first ?? source ?? "?")}${with_}`;
}

function treeRows(tree: Tree, width: number, isDefault: boolean, branch: Branch | undefined): string[] {
  const indent = " ".repeat(width);
  const rows = [`${tree.name.padEnd(width)}${printable(tree.path)}${isDefault ? "  (default)" : ""}`];
  rows.push(`${indent}can: ${printCan(tree.can)}`);
  if (tree.screen) rows.push(`${indent}screen: ${screenWords(tree.screen)}`);
  if (branch?.branch !== undefined) rows.push(`${indent}branch: ${printable(branch.branch)} (local)`);
  if (branch?.detached !== undefined) rows.push(`${indent}branch: detached at ${branch.detached} (local)`);
  if (branch?.repository !== undefined) rows.push(`${indent}repository: ${printable(branch.repository)}`);
  for (const scope of tree.scopes) {
    const can = scope.can ? `  can: ${printCan(scope.can)}` : "";
    const screen = scope.screen ? `  screen: ${screenWords(scope.screen)}` : "";
    rows.push(`${indent}${printable(scope.path)}${can}${screen}`);
  }
  return rows;
}

function declaredBy({ origin, source, overlay, levels }: Configuration): string {
  if (origin === "root") return "declared by --root on the command line; list and read only";
  if (origin === "file" && (levels.guardrails.on || levels.screenings.on || source !== undefined)) {
    return `declared by ${printable(source!)}${overlay === undefined ? "" : ` (with ${printable(overlay)})`}`;
  }
  if (origin === "no-config") {
    return "declared by no file (--no-config); the launch folder is the tree, list and read only";
  }
  return "declared by no file; the launch folder is the tree";
}
