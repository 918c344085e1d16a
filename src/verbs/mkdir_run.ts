/** What `mkdir` does. Spec: 2-verbs §2.15; 1-boundary §1.5. */
import { absoluteOf, locate, type Location } from "../boundary/locate.ts";
import { demand } from "../boundary/permission.ts";
import { printable, printLocation } from "../boundary/print.ts";
import { DiskError, type Folder } from "../disk/disk.ts";
import { find, type Found, refusalOf } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { DEEPEST, demandLeave, type Door } from "../disk/mutate.ts";
import { changing, demandNoDangling, demandNoLink, demandNoStrangeTree, ofNameToMake } from "./change.ts";
import type { Answer, EngineSide } from "./verb.ts";
import type { MkdirArguments } from "./mkdir.ts";

export function run(args: MkdirArguments, side: EngineSide): Answer {
  return changing(side, (door) => makeFolders(args, side, door));
}

function makeFolders(args: { path: string; dry_run?: boolean }, side: EngineSide, door: Door): Answer {
  const { boundary } = side.survey;
  const dry = args.dry_run === true;
  const written = locate(side.survey, args.path).at(-1)!;
  door.demandOrdinary({ written, real: written });
  const missing = missingBelow(side, args.path, written);
  const path = printLocation(boundary, missing.at.written);
  try {
    if (missing.names.length === 0) door.demandOrdinary(missing.at);
    const { facts } = missing.at;
    if (missing.names.length === 0 && facts?.kind === "dir") {
      return answer(path, false, "was already there", dry);
    }
    if (missing.names.length === 0 && facts) {
      throw new Refusal("target-exists", "something is there already, and it is no folder", path);
    }
    demandNoStrangeTree(side, args.path);
    const { last, made } = makeAll(side, door, missing.at, missing.names, dry);
    return answer(last, made, !made ? "was already there" : dry ? "would be created" : "created", dry);
  } finally {
    missing.at.close();
  }
}

function answer(path: string, created: boolean, detail: string, dry: boolean): Answer {
  const said = created
    ? `${dry ? "would create" : "created"} ${printable(path)}`
    : `${printable(path)} was already there`;
  return { json: { path, created, detail, dry_run: dry }, text: () => said };
}

/** The deepest folder on a path that is there, or what stands in its way, and the names below it that are not. */
function missingBelow(side: EngineSide, path: string, written: Location): { at: Found; names: string[] } {
  const names: string[] = [];
  for (let at = path;;) {
    try {
      const found = find(side.disk, side.survey, at, { follow: true });
      if (found.facts) return { at: found, names };
      try {
        demandNoDangling(side, at, found);
        return { at: holderOf(side, found), names: [found.name, ...names] };
      } catch (error) {
        found.close();
        throw error;
      }
    } catch (error) {
      if (!(error instanceof Refusal) || error.outcome !== "not-found") throw error;
      demandNoLink(side, at);
    }
    const depth = written.segments.length - names.length - 1;
    names.unshift(written.segments[depth]);
    const { boundary } = side.survey;
    at = absoluteOf(boundary, { tree: written.tree, segments: written.segments.slice(0, depth) });
  }
}

/** The folder of an entry that is not there; it may itself be in no list. */
function holderOf({ survey }: EngineSide, found: Found): Found {
  const up = ({ tree, segments }: Location): Location => ({ tree, segments: segments.slice(0, -1) });
  const [written, real] = [up(found.written), up(found.real)];
  const place = survey.place(absoluteOf(survey.boundary, real)) ?? found.place;
  return { ...found, written, real, place, name: "", facts: found.folder.facts() };
}

/** Judges every folder where it lies before the first is made. Returns the path of the last, and whether that was made by this call. */
function makeAll(
  side: EngineSide,
  door: Door,
  from: Found,
  names: readonly string[],
  dry: boolean,
): { last: string; made: boolean } {
  const { survey } = side;
  const spots = names.map((_, i) => {
    const below = names.slice(0, i + 1);
    const extended = ({ tree, segments }: Location) => ({ tree, segments: [...segments, ...below] });
    return { written: extended(from.written), real: extended(from.real) };
  });
  if (from.facts?.kind !== "dir") {
    const path = printLocation(survey.boundary, spots.at(-1)!.written);
    throw new Refusal("not-found", "what stands in for a folder on this path is none", path);
  }
  for (const spot of spots) door.demandOrdinary(spot);
  for (const spot of spots) {
    const place = survey.place(absoluteOf(survey.boundary, spot.real))!;
    demand(place, ["list", "create"], printLocation(survey.boundary, spot.written));
  }
  const last = printLocation(survey.boundary, spots.at(-1)!.written);
  if (spots.at(-1)!.real.segments.length > DEEPEST) {
    throw new Refusal("refused", `folders are made ${DEEPEST} deep in each other at most`, last);
  }
  demandRoom(from, names, last);
  if (dry) return { last, made: true };
  let made = false;
  const before: string[] = [];
  let parent: Found = from;
  for (const [i, spot] of spots.entries()) {
    const folder = parent.name === "" ? parent.folder : parent.folder.folder(parent.name);
    const place = survey.place(absoluteOf(survey.boundary, spot.real))!;
    const at: Found = { ...spot, place, folder, name: names[i], facts: undefined, close: () => folder.close() };
    try {
      if (i === 0) door.lock([at]);
      made = makeOne(door, at);
      if (made) before.push(printLocation(survey.boundary, spot.written));
    } catch (error) {
      if (before.length === 0 || !(error instanceof Refusal)) throw error;
      const said = `${error.message}; made by then: ${before.join(", ")}`;
      throw new Refusal(error.outcome, said, error.path, { ...error.fields, changed: before });
    } finally {
      if (i > 0) parent.close();
      parent = at;
    }
  }
  if (parent !== from) parent.close();
  return { last, made };
}

/** That the system takes every name, and lets the first folder be made, is found out before that is. @throws {Refusal} */
function demandRoom(from: Found, names: readonly string[], path: string): void {
  let inner: Folder | undefined;
  try {
    if (from.name !== "") inner = from.folder.folder(from.name);
    const folder = inner ?? from.folder;
    for (const name of names) folder.look(name);
    demandLeave({ folder, name: names[0], facts: undefined }, "make", path);
  } catch (error) {
    if (error instanceof DiskError) throw ofNameToMake(refusalOf(error, path));
    throw error;
  } finally {
    inner?.close();
  }
}

/** Makes a folder; one that somebody else has made meanwhile will do. Returns whether it was made here. */
function makeOne(door: Door, at: Found): boolean {
  try {
    door.makeFolder(at);
    return true;
  } catch (error) {
    const there = error instanceof Refusal && error.outcome === "target-exists";
    if (!there || at.folder.look(at.name)?.kind !== "dir") throw error;
    return false;
  }
}
