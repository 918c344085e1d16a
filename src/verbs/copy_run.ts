/** What `copy` does. Spec: 2-verbs §2.17; 1-boundary §1.5, §1.9, §1.11. */
import { isStaging } from "../boundary/governed.ts";
import { absoluteOf } from "../boundary/locate.ts";
import { printable, printLocation } from "../boundary/print.ts";
import { type Door, isOneEntry } from "../disk/mutate.ts";
import type { Found } from "../disk/resolve.ts";
import { Refusal } from "../refusal.ts";
import { plural } from "./answer.ts";
import { Carriage, type Carried, carrying, demandApart, kindsDiffer, occupied, special } from "./carry.ts";
import { lockAndLook, notKeptFields, notKeptRows, notThere } from "./change.ts";
import type { Answer, EngineSide } from "./verb.ts";
import type { CopyArguments } from "./copy.ts";

export function run(args: CopyArguments, side: EngineSide): Answer {
  return carrying(side, args.from, (door, find) => {
    const overwrite = args.overwrite === true;
    const [from, to] = find([
      { path: args.from, follow: true, changes: false, needs: () => ["read"] },
      {
        path: args.to,
        follow: false,
        changes: true,
        noPattern: overwrite,
        needs: ({ all: [, target] }) =>
          overwrite && target.found && target.found.facts!.kind !== "dir" ? ["create", "delete"] : ["create"],
      },
    ]);
    return copyFound(side, door, args, from, to);
  });
}

function copyFound(side: EngineSide, door: Door, args: CopyArguments, from: Found, to: Found): Answer {
  const { survey } = side;
  const [fromPath, toPath] = [from, to].map(({ written }) => printLocation(survey.boundary, written));
  const dry = args.dry_run === true;
  if ([from.written, from.real].some(({ segments }) => isStaging(segments.at(-1) ?? ""))) {
    throw new Refusal("refused", "names of this form are reserved for Fettler's own files in the making", fromPath);
  }
  if (!dry) lockAndLook(door, to);
  if (!from.facts) throw notThere(fromPath);
  const { kind } = from.facts;
  if (kind !== "dir" && kind !== "file") throw special(fromPath);
  if (kind === "dir" && !args.recursive) {
    throw new Refusal("refused", "this is a folder; pass --recursive (recursive) to copy it", fromPath);
  }
  if (kind === "dir") demandReadableBelow(side, from, fromPath);
  demandApart(survey, from, to);
  if (isOneEntry(from, to)) throw new Refusal("invalid", "the two paths are one and the same entry", toPath);
  if (to.facts && !args.overwrite) throw occupied(toPath);
  if (to.facts && (kind === "dir") !== (to.facts.kind === "dir")) throw kindsDiffer(toPath);
  const carriage = new Carriage(side, door, from, to, {
    allows: (source) => source.can.has("read"),
    carries: "files",
    overwrite: args.overwrite === true,
    times: args.preserve_times === true,
  });
  const judged = carriage.judge();
  const copied = dry ? judged : carriage.copy();
  const crossed = from.place.tree !== to.place.tree;
  return {
    json: {
      from: fromPath,
      to: toPath,
      files: copied.files,
      directories: copied.directories,
      bytes: copied.bytes,
      replaced: copied.replaced,
      crossed_root: crossed,
      links_skipped: copied.links,
      ...copied.others.length === 0 ? {} : { others_skipped: copied.others },
      ...notKeptFields(copied.notKept),
      dry_run: dry,
    },
    text: () => textOf(fromPath, toPath, copied, crossed, dry),
  };
}

/** Every place that is declared below, whether or not it is there. Spec: 1-boundary §1.5. */
function demandReadableBelow({ survey }: EngineSide, from: Found, path: string) {
  const places = survey.placesBelow(absoluteOf(survey.boundary, from.real));
  if (places.every(({ can }) => can.has("list") && can.has("read"))) return;
  throw new Refusal(
    "refused",
    "something inside this folder has rules of its own that do not allow it, so nothing was done",
    path,
  );
}

function textOf(from: string, to: string, copied: Carried, crossed: boolean, dry: boolean): string {
  const { files, directories, links, others, notKept } = copied;
  return [
    `${dry ? "would copy" : "copied"} ${printable(from)} -> ${printable(to)}  ${plural(files, "file")}` +
    (directories === 0 ? "" : `  ${plural(directories, "folder")}`) +
    (crossed ? "  crossed trees" : ""),
    ...links.map((path) => `   link left out: ${printable(path)}`),
    ...others.map((path) => `   special file left out: ${printable(path)}`),
    ...notKeptRows(notKept),
  ].join("\n");
}
