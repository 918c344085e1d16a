/** Who is attacked: the verbs on one of the disk implementations, or a reader of the usual kind that checks a path and then uses it. */
import { splitTree } from "../../src/boundary/locate.ts";
import { isListed, Survey } from "../../src/boundary/survey.ts";
import type { Boundary } from "../../src/boundary/types.ts";
import type { Form } from "../../src/verbs/verb.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { type Call, MARKERS } from "./scenarios.ts";

export type VictimKind = "descriptor" | "pathname" | "naive";

export interface Reply {
  outcome: string;
  text: string;
  // deno-lint-ignore no-explicit-any
  json?: any;
}

export interface Victim {
  answer(call: Call, form: Form): Promise<Reply> | Reply;
  close(): void;
}

/** Opens a victim. What it takes from path names at its start, it takes now. */
export function openVictim(kind: VictimKind, boundary: Boundary): Victim {
  if (kind === "naive") return new NaiveVictim(boundary);
  const disk = DISKS.find(([name]) => name === kind);
  if (!disk) throw new Error(`there is no ${kind} disk on this system`);
  const side = sideOf(boundary, disk[1]);
  return {
    answer: ({ verb, args }, form) => call(side, verb, args, form),
    close: () => side.disk.close(),
  };
}

const ALLOWED: readonly string[] = ["ok", "not-found", "outside-root", "refused", "denied"];
const NOTHING_THERE: readonly string[] = ["not-found", "outside-root"];

/** What is wrong with an answer; `undefined` when nothing is. */
export function judge({ never, most }: Call, { outcome, text, json }: Reply): "crash" | "violation" | undefined {
  if (!ALLOWED.includes(outcome)) return "crash";
  if (MARKERS.some((marker) => text.includes(marker))) return "violation";
  if (never && !NOTHING_THERE.includes(outcome)) return "violation";
  for (const [field, number] of Object.entries(most ?? {})) if (json?.[field] > number) return "violation";
}

/** Checks where a path really leads, finds it inside and listed, and then uses the path: two steps. */
class NaiveVictim implements Victim {
  readonly #survey: Survey;

  constructor(readonly boundary: Boundary) {
    this.#survey = new Survey(boundary);
  }

  answer({ verb, args }: Call): Reply {
    try {
      const lines = verb === "read"
        ? (args.paths as string[]).map((path) => this.#read(this.#absolute(path)))
        : this.#sweep(args, verb === "search");
      const text = lines.join("\n");
      const [pattern] = args.patterns as string[] | undefined ?? [];
      const hits = pattern === undefined ? 0 : text.match(new RegExp(pattern, "g"))?.length ?? 0;
      return { outcome: "ok", text: args.count ? "" : text, json: { hits_count: hits } };
    } catch (error) {
      if (error instanceof Outside) return { outcome: "outside-root", text: "" };
      if (error instanceof Deno.errors.NotFound) return { outcome: "not-found", text: "" };
      return { outcome: "refused", text: "" };
    }
  }

  close() {}

  #absolute(path: string, inTree?: string): string {
    const split = splitTree(this.boundary, path);
    const tree = split?.tree ?? this.boundary.trees.find((tree) => tree.name === inTree) ?? this.boundary.trees[0];
    const rest = split ? split.rest : path;
    return rest === "" ? tree.real : `${tree.real}/${rest}`;
  }

  #check(path: string) {
    if (!isListed(this.#survey.place(Deno.realPathSync(path)))) throw new Outside();
  }

  #read(path: string): string {
    this.#check(path);
    if (!Deno.statSync(path).isFile) throw new Error("no regular file");
    return Deno.readTextFileSync(path);
  }

  #sweep(args: Record<string, unknown>, contents: boolean): string[] {
    const glob = (args.pattern ?? args.glob ?? "") as string;
    const star = glob.indexOf("*");
    const start = star < 0 ? glob : glob.slice(0, Math.max(glob.lastIndexOf("/", star), glob.indexOf(":") + 1));
    const lines: string[] = [];
    const top = this.#absolute(start, args.in as string | undefined);
    if (star < 0 && glob !== "") return contents ? [this.#read(top)] : [];
    this.#walk(top, lines, contents);
    return lines;
  }

  #walk(folder: string, lines: string[], contents: boolean) {
    this.#check(folder);
    for (const { name } of [...Deno.readDirSync(folder)]) {
      const path = `${folder}/${name}`;
      try {
        const facts = Deno.lstatSync(path);
        if (facts.isDirectory) this.#walk(path, lines, contents);
        else if (!contents) lines.push(`${path} ${facts.mtime?.toISOString()}`);
        else if (facts.isFile) lines.push(path, this.#read(path));
      } catch {
        // Gone since the listing, or outside.
      }
    }
  }
}

class Outside extends Error {}
