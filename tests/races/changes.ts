/**
 * Verbs that change things, while folders and files on their paths are exchanged with links to outside and to a hidden place.
 *
 * Every call has a fresh arena, made elsewhere and put into place in one step, and taken away in one step before it is looked at. What
 * lies outside and what is hidden is compared after every call, times of change included, so that even a file that came and went shows.
 */
import fs from "node:fs";
import { VERBS } from "../../src/verbs/mod.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder, put } from "../support/tree.ts";
import type { Order } from "./changes_swapper.ts";

export interface Row {
  name: string;
  calls: number;
  outcomes: Record<string, number>;
  /** Calls that changed what is outside or hidden. */
  changed: number;
  /** Calls after which content of outside or hidden files stood inside. */
  leaked: number;
  crashes: number;
}

export interface Attack {
  rows: Row[];
  swaps: number;
  seconds: number;
  samples: string[];
  handlesLeft: number;
}

/** Paths are below the arena. */
const CALLS: readonly (readonly [verb: string, args: Record<string, unknown>])[] = [
  ["write", { path: "way/f.txt", text: "mine", overwrite: true }],
  ["write", { path: "way/fresh", text: "mine" }],
  ["write", { path: "leaf", text: "mine", overwrite: true }],
  ["write", { path: "door/f.txt", text: "mine", overwrite: true }],
  ["new", { path: "way/fresh" }],
  ["new", { path: "door/sub/fresh" }],
  ["mkdir", { path: "way/made/deep" }],
  ["mkdir", { path: "door/sub/made" }],
  ["edit", { path: "way/f.txt", script: { edits: [{ replace: "a", with: "b", all: true }] } }],
  ["edit", { path: "leaf", script: { edits: [{ replace: "a", with: "b", all: true }] } }],
  ["replace", { find: "text", with: "mine", glob: "c/**" }],
  ["exec", { path: "way/f.txt", executable: true }],
  ["exec", { path: "leaf", executable: true }],
  ["delete", { path: "way/f.txt" }],
  ["delete", { path: "leaf" }],
  ["delete", { path: "way/sub", recursive: true }],
  ["delete", { path: "big", recursive: true }],
  ["delete", { path: "door/sub", recursive: true }],
  ["move", { from: "way/f.txt", to: "got" }],
  ["move", { from: "leaf", to: "got" }],
  ["move", { from: "way/sub", to: "got" }],
  ["move", { from: "door/f.txt", to: "got" }],
  ["move", { from: "own", to: "way/own" }],
  ["move", { from: "own", to: "way/f.txt", overwrite: true }],
  ["move", { from: "own", to: "leaf", overwrite: true }],
  ["move", { from: "own-d", to: "way/own-d" }],
  ["move", { from: "own-d", to: "door/own-d" }],
  ["move", { from: "big", to: "got" }],
  ["move", { from: "far:own", to: "way/own" }],
  ["move", { from: "way/sub", to: "far:got" }],
  ["move", { from: "big", to: "far:got" }],
  ["copy", { from: "way/f.txt", to: "got" }],
  ["copy", { from: "leaf", to: "got" }],
  ["copy", { from: "door/f.txt", to: "got" }],
  ["copy", { from: "way/sub", to: "got", recursive: true }],
  ["copy", { from: "big", to: "got", recursive: true }],
  ["copy", { from: "own", to: "way/own" }],
  ["copy", { from: "own", to: "way/f.txt", overwrite: true }],
  ["copy", { from: "own", to: "leaf", overwrite: true }],
  ["copy", { from: "own-d", to: "door/own-d", recursive: true }],
  ["copy", { from: "own-d", to: "big", recursive: true, overwrite: true }],
  ["copy", { from: "own-d", to: "way", recursive: true, overwrite: true }],
];

const INSIDE = { "f.txt": "text a", "sub/x": "text x", "sub/y": "text y" };
const MARKER = /OUTSIDE-|HIDDEN-/;

/** Where a folder on another file system can be made, so that moving is copying. */
const ELSEWHERE = "/dev/shm";

const PAUSE = new Int32Array(new SharedArrayBuffer(4));

class World {
  readonly top = makeFolder({ "app": null, "build": null, "trash": null });
  readonly far = Deno.realPathSync(Deno.makeTempDirSync({
    ...fs.existsSync(ELSEWHERE) ? { dir: ELSEWHERE } : {},
    prefix: "fettle-test-",
  }));
  readonly arena = `${this.top}/app/c`;
  readonly boundary;
  #kept = "";

  constructor() {
    this.#guarded();
    this.boundary = boundaryOf({ work: { path: `${this.top}/app`, scopes: { shut: [] } }, far: this.far });
  }

  /** Pairs of what is exchanged: each a folder or file, and a link to one that lies outside or hidden. */
  get pairs(): [string, string][] {
    return [["way", "yaw"], ["leaf", "leaf-link"], ["big/mid", "big-link"], ["door", "rood"]]
      .map(([a, b]) => [`${this.arena}/${a}`, `${this.arena}/${b}`]);
  }

  /** What nobody may change or see. */
  #guarded() {
    for (const [folder, marker] of [["outside", "OUTSIDE-"], ["app/shut", "HIDDEN-"]]) {
      fs.rmSync(`${this.top}/${folder}`, { recursive: true, force: true });
      put(
        this.top,
        Object.fromEntries(Object.entries(INSIDE).map(([path, text]) => [`${folder}/${path}`, `${text} ${marker}`])),
      );
    }
    this.#kept = this.#print();
  }

  build() {
    const at = `${this.top}/build/c`;
    for (const folder of ["way", "door", "big/mid", "own-d", "own-d/mid"]) {
      put(at, Object.fromEntries(Object.entries(INSIDE).map(([path, text]) => [`${folder}/${path}`, text])));
    }
    put(at, {
      "leaf": "text a",
      "own": "text own",
      "yaw": { link: `${this.top}/outside` },
      "big-link": { link: `${this.top}/outside` },
      "rood": { link: "../shut" },
      "leaf-link": { link: `${this.top}/outside/f.txt` },
    });
    put(this.far, { own: "text own" });
    Deno.renameSync(at, this.arena);
  }

  /** Whether what is guarded was changed by the last call, and whether it stands inside. */
  take(state: Int32Array): { changed: boolean; leaked: boolean } {
    const at = `${this.top}/trash/c`;
    Deno.renameSync(this.arena, at);
    // An exchange may be on its way still.
    const round = Atomics.load(state, 2);
    while (Atomics.load(state, 2) < round + 2) Atomics.wait(PAUSE, 0, 0, 0.1);
    const leaked = [at, this.far].some(holdsMarker);
    fs.rmSync(at, { recursive: true, force: true });
    for (const { name } of [...Deno.readDirSync(this.far)]) {
      fs.rmSync(`${this.far}/${name}`, { recursive: true, force: true });
    }
    const changed = this.#print() !== this.#kept;
    if (changed) this.#guarded();
    return { changed, leaked };
  }

  remove() {
    for (const folder of [this.top, this.far]) fs.rmSync(folder, { recursive: true, force: true });
  }

  #print(): string {
    return ["outside", "app/shut"].map((folder) => facts(`${this.top}/${folder}`)).join("\n");
  }
}

function facts(path: string): string {
  const { ino, mode, size, mtimeMs, ctimeMs, nlink } = fs.lstatSync(path);
  const own = `${path} ${ino} ${mode} ${size} ${mtimeMs} ${ctimeMs} ${nlink}`;
  if (!fs.lstatSync(path).isDirectory()) return `${own} ${fs.readFileSync(path, "utf8")}`;
  return [own, ...fs.readdirSync(path).sort().map((name) => facts(`${path}/${name}`))].join("\n");
}

function holdsMarker(path: string): boolean {
  const facts = fs.lstatSync(path);
  if (facts.isDirectory()) return fs.readdirSync(path).some((name) => holdsMarker(`${path}/${name}`));
  return facts.isFile() && MARKER.test(fs.readFileSync(path, "utf8"));
}

function handles(): number {
  return fs.readdirSync("/proc/self/fd").length;
}

/** Runs the calls of all verbs that are there, again and again. */
export async function attack(kind: "descriptor" | "pathname", seconds: number): Promise<Attack> {
  const world = new World();
  const side = sideOf(world.boundary, DISKS.find(([name]) => name === kind)![1]);
  const shared = new SharedArrayBuffer(12);
  const state = new Int32Array(shared);
  const worker = new Worker(new URL("./changes_swapper.ts", import.meta.url), { type: "module" });
  const told = () => new Promise((resolve) => worker.onmessage = resolve);
  const ready = told();
  worker.postMessage({ pairs: world.pairs, shared } satisfies Order);
  await ready;
  const calls = CALLS.filter(([verb]) => VERBS.some(({ name }) => name === verb));
  const rows = new Map<string, Row>();
  const samples: string[] = [];
  const began = performance.now();
  const before = handles();
  try {
    for (let i = 0; performance.now() - began < seconds * 1000; i++) {
      const [verb, args] = calls[i % calls.length];
      const paths = ["path", "from", "to"].filter((name) => typeof args[name] === "string");
      const at = Object.fromEntries(paths.map((name) => {
        const path = args[name] as string;
        return [name, path.startsWith("far:") ? path : `work:c/${path}`];
      }));
      world.build();
      const row = rows.get(verb) ?? { name: verb, calls: 0, outcomes: {}, changed: 0, leaked: 0, crashes: 0 };
      rows.set(verb, row);
      let said: string;
      try {
        const { outcome, text } = await call(side, verb, { ...args, ...at });
        said = MARKER.test(text) ? "told a marker" : outcome;
      } catch (error) {
        said = "crash";
        row.crashes++;
        samples.push(`crash: ${verb} ${JSON.stringify(args)}: ${error instanceof Error ? error.stack : error}`);
      }
      row.calls++;
      row.outcomes[said] = (row.outcomes[said] ?? 0) + 1;
      const { changed, leaked } = world.take(state);
      if (changed) row.changed++;
      if (leaked || said === "told a marker") row.leaked++;
      if (changed || leaked) {
        samples.push(`${changed ? "changed" : "leaked"}: ${verb} ${JSON.stringify(args)}: ${said}`);
      }
    }
    const handlesLeft = handles() - before;
    return {
      rows: [...rows.values()],
      swaps: state[1],
      seconds: (performance.now() - began) / 1000,
      samples,
      handlesLeft,
    };
  } finally {
    const ended = told();
    Atomics.store(state, 0, 1);
    await ended;
    worker.terminate();
    side.disk.close();
    world.remove();
  }
}

/** All rows together. */
export function total({ rows }: Attack): Row {
  const sum: Row = { name: "total", calls: 0, outcomes: {}, changed: 0, leaked: 0, crashes: 0 };
  for (const row of rows) {
    for (const field of ["calls", "changed", "leaked", "crashes"] as const) sum[field] += row[field];
    for (const [outcome, n] of Object.entries(row.outcomes)) sum.outcomes[outcome] = (sum.outcomes[outcome] ?? 0) + n;
  }
  return sum;
}

/** The figures as a table. */
export function table(attack: Attack): string {
  const cells = [...attack.rows, total(attack)].map(({ name, calls, changed, leaked, crashes, outcomes }) =>
    [name, calls, changed, leaked, crashes, JSON.stringify(outcomes)].join("\t")
  );
  const rate = Math.round(attack.swaps / attack.seconds).toLocaleString("en");
  return [
    "verb\tcalls\tchanged\tleaked\tcrashes\toutcomes",
    ...cells,
    `${attack.swaps} exchanges, ${rate} a second; handles left: ${attack.handlesLeft}`,
    ...attack.samples.slice(0, 10),
  ].join("\n");
}
