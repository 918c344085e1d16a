/** What `move` does. Spec: 2-verbs §2.16; 1-boundary §1.5, §1.9, §1.11. */
import { governedInside, governedRefusal } from "../boundary/governed.ts";
import { absoluteOf } from "../boundary/locate.ts";
import { keyOf, slashed } from "../boundary/names.ts";
import { printable, printLocation } from "../boundary/print.ts";
import type { Survey } from "../boundary/survey.ts";
import type { Permission } from "../boundary/types.ts";
import type { NotKept } from "../disk/changes.ts";
import { DiskError, isSame } from "../disk/disk.ts";
import { demandLeave, type Door, isOneEntry } from "../disk/mutate.ts";
import type { Found } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { Carriage, carrying, demandApart, kindsDiffer, occupied, screened, screensLess, special } from "./carry.ts";
import { notKeptFields, notKeptRows, notThere, type Seen } from "./change.ts";
import type { Answer, EngineSide } from "./verb.ts";
import type { MoveArguments } from "./move.ts";

export function run(args: MoveArguments, side: EngineSide): Answer {
  const moved = carrying(side, args.from, (door, find) => {
    const needs = (all: readonly Seen[]) => needsOf(side.survey, args, all);
    const [from, to] = find([
      { path: args.from, follow: false, changes: true, noPattern: true, needs: ({ all }) => needs(all).from },
      { path: args.to, follow: false, changes: true, noPattern: true, needs: ({ all }) => needs(all).to },
    ]);
    const all = [from, to].map((found): Seen => ({ ...found, found: found.facts && found }));
    return moveFound(side, door, args, from, to, needs(all));
  });
  const { notKept, ...json } = moved;
  return { json: { ...json, ...notKeptFields(notKept) }, text: () => textOf(moved) };
}

interface Moved {
  from: string;
  to: string;
  atomic: boolean;
  case_only: boolean;
  crossed_root: boolean;
  directory: boolean;
  replaced: boolean;
  notKept: readonly NotKept[];
  dry_run: boolean;
}

/** What either place has to grant. Spec: 1-boundary §1.5. */
function needsOf(survey: Survey, { overwrite }: MoveArguments, [source, target]: readonly Seen[]) {
  const from: Permission[] = ["rename"];
  if (leaves(survey, source, target)) from.push("delete");
  // Moving must not make readable what was not.
  if (target.place.can.has("read")) from.push("read");
  const to: Permission[] = ["create"];
  const replaces = overwrite === true && target.found && !(source.found && isOneEntry(source.found, target.found));
  if (replaces) to.push("delete");
  return { from, to };
}

/** Whether the destination lies neither in the source's place nor deeper in it. */
function leaves({ boundary }: Survey, { place }: Seen, target: Seen): boolean {
  if (place.tree !== target.place.tree) return true;
  const key = keyOf(boundary.names, absoluteOf(boundary, target.real));
  const tops = [place.path, ...place.scope?.real ? [slashed(boundary.names, place.scope.real)] : []];
  return !tops.some((top) => key.startsWith(keyOf(boundary.names, top) + (top === "/" ? "" : "/")));
}

function moveFound(
  side: EngineSide,
  door: Door,
  args: MoveArguments,
  from: Found,
  to: Found,
  needs: ReturnType<typeof needsOf>,
): Moved {
  const { boundary } = side.survey;
  const [fromPath, toPath] = [from, to].map(({ written }) => printLocation(boundary, written));
  const dry = args.dry_run === true;
  if (!dry) lockBoth(door, from, to, toPath, args.overwrite === true);
  if (!from.facts) throw notThere(fromPath);
  if (from.facts.kind === "other") throw special(fromPath);
  door.demandNoTop(from);
  demandApart(side.survey, from, to);
  const isFolder = from.facts.kind === "dir";
  const caseOnly = isOneEntry(from, to);
  const replaced = to.facts !== undefined && !caseOnly;
  if (replaced && !args.overwrite) throw occupied(toPath);
  if (replaced) demandReplaceable(door, from, to, toPath);
  const apart = from.folder.facts().dev !== to.folder.facts().dev;
  judgeLanding(side, door, from, to, toPath, () => {
    demandLeave(from, "go", fromPath);
    // Its `..` becomes another.
    if (isFolder && !apart && !isSame(from.folder.facts(), to.folder.facts())) demandLeave(from, "write", fromPath);
    // Where both are names of one file, the old one goes and no more.
    if (!to.facts) demandLeave(to, apart && !isFolder ? "put" : "make", toPath);
    else if (!isSame(from.facts!, to.facts)) demandLeave(to, "go", toPath);
  });
  const across = apart ? carriage(side, door, from, to) : undefined;
  let atomic = !across;
  let notKept: readonly NotKept[] = [];
  if (!dry) {
    if (across) notKept = carry(across);
    else {
      try {
        door.rename(from, to, needs, replaced);
      } catch (error) {
        if (!(error instanceof DiskError) || error.fault !== "cross-device") throw ofTarget(error, fromPath, toPath);
        // One device by its number, and yet two places to the system.
        notKept = carry(carriage(side, door, from, to));
        atomic = false;
      }
    }
  }
  return {
    from: fromPath,
    to: toPath,
    atomic,
    case_only: caseOnly,
    crossed_root: from.place.tree !== to.place.tree,
    directory: isFolder,
    replaced,
    notKept,
    dry_run: dry,
  };
}

/** That something stands in the way where an entry is renamed to is said of that place. */
function ofTarget(error: unknown, fromPath: string, toPath: string): unknown {
  if (!(error instanceof Refusal) || error.path !== fromPath) return error;
  if (error.outcome !== "target-exists" && error.outcome !== "refused") return error;
  return new Refusal(error.outcome, error.message, toPath, error.fields);
}

/**
 * What was there when permissions were judged has to be there still, now that nobody else can change it.
 *
 * @throws {Refusal} `not-found`, `target-exists`, `stale`.
 */
function lockBoth(door: Door, from: Found, to: Found, path: string, overwrite: boolean) {
  const before = [from.facts?.kind, to.facts?.kind];
  door.lock([from, to]);
  for (const found of [from, to]) if (found.name !== "") found.facts = found.folder.look(found.name);
  if (!from.facts || from.facts.kind === before[0] && to.facts?.kind === before[1]) return;
  if (before[1] === undefined && to.facts && !overwrite) throw occupied(path);
  throw new Refusal("stale", "another process changed what is there meanwhile; look again", path);
}

/** A file or link replaces a file or link, a folder an empty folder. */
function demandReplaceable(door: Door, from: Found, to: Found, path: string) {
  const kind = to.facts!.kind;
  if (from.facts!.kind !== "dir") {
    if (kind !== "file" && kind !== "link") throw kindsDiffer(path);
    return;
  }
  if (kind !== "dir") throw kindsDiffer(path);
  door.demandNoTop(to);
  door.demandPlacesBelow(to, ["delete"]);
  const folder = to.folder.folder(to.name);
  try {
    const { entries, undecodable } = folder.list();
    if (entries.length + undecodable > 0) throw kindsDiffer(path);
  } finally {
    folder.close();
  }
}

/**
 * All that is asked of what lies in a folder, where it is and where it lands; of a file or link, where it lands.
 * @param askLeave Asks the system, after permissions and before screens.
 */
function judgeLanding(
  side: EngineSide,
  door: Door,
  from: Found,
  to: Found,
  toPath: string,
  askLeave: () => void,
) {
  const { survey } = side;
  if (from.facts!.kind !== "dir") {
    // Whatever it leads to would become the client's own folder, now or later (our rule).
    if (from.facts!.kind === "link" && governedInside(to.name).length > 0) throw governedRefusal(toPath);
    askLeave();
    if (from.facts!.kind === "file" && screensLess(survey, from.real, to.real)) throw screened(toPath);
    return;
  }
  door.judgeBelow(from, ["read", "delete"], "refuse");
  if (!asksBelow(survey, to)) return askLeave();
  new Carriage(side, door, from, to, {
    allows: (source, target) => source.can.has("read") || !target.can.has("read"),
    carries: "all",
    overwrite: false,
    times: true,
  }).judge(askLeave);
}

/** Whether what lands below a path has to be looked at one by one: else the path itself decides for all of it. */
function asksBelow(survey: Survey, to: Found): boolean {
  const { boundary } = survey;
  const top = absoluteOf(boundary, to.real);
  const below = keyOf(boundary.names, top) + "/";
  return governedInside(to.name).length > 0 || survey.placesBelow(top).length > 0 ||
    boundary.inForce.some((file) => keyOf(boundary.names, slashed(boundary.names, file)).startsWith(below)) ||
    boundary.trees.some((tree) => tree.screen || tree.scopes.some((scope) => scope.screen));
}

/** @throws {Refusal} `refused` for links and special files, before anything changes. */
function carriage(side: EngineSide, door: Door, from: Found, to: Found): Carriage {
  const across = new Carriage(side, door, from, to, {
    allows: () => true,
    carries: "no links",
    overwrite: false,
    times: true,
  });
  across.judge();
  return across;
}

/** The new is on disk before the old goes. Returns what was not carried over. */
function carry(across: Carriage): readonly NotKept[] {
  const { notKept } = across.copy();
  across.removeSource();
  return notKept;
}

function textOf({ from, to, atomic, case_only, crossed_root, notKept, dry_run }: Moved): string {
  const head =
    `${dry_run ? "would move" : "moved"} ${printable(from)} -> ${printable(to)}  atomic: ${atomic ? "yes" : "no"}` +
    `${case_only ? "  case-only rename" : ""}${crossed_root ? "  crossed trees" : ""}`;
  return [head, ...notKeptRows(notKept)].join("\n");
}
