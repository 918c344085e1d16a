/** One race: an attacker's process, a victim's thread, and somebody who watches both. */
import {
  type Call,
  callsOf,
  configuration,
  makeWorld,
  type Scenario,
  SCENARIOS,
  turnsOf,
  type World,
} from "./scenarios.ts";
import { type Libc, loadLibc } from "./libc.ts";
import { type SwapPlan, type SwapReport, turnAt } from "./plan.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { fettle } from "../support/program.ts";
import { judge, type VictimKind } from "./victims.ts";
import type { Done, Order, Start, Tally } from "./victim_worker.ts";

export interface RaceOptions {
  victim: VictimKind | "program";
  seconds: number;
  /** Names of the scenarios; default is all that fit the victim. */
  only?: readonly string[];
}

export interface Row extends Tally {
  name: string;
  swaps: number;
  /** Calls that stood still until somebody opened the other end of a FIFO. */
  hangs: number;
}

export interface Race {
  rows: Row[];
  swapsPerSecond: number;
  swapsFailed: number;
  /** `undefined` for the program, whose handles end with it. */
  handlesLeft?: number;
}

/** How long a scenario is in turn. Short, so that every one is often in turn, whatever else the machine does. */
const TURN_MS = 50;
/** A call that takes longer hangs, if a FIFO is what it waits for. The naive victim is known to. */
const HANGS_AFTER_MS: Readonly<Record<VictimKind, number>> = { descriptor: 2000, pathname: 2000, naive: 40 };
/** A call that takes longer and waits for no FIFO will not come back. */
const LOST_AFTER_MS = 60_000;

/** Whether this system has what an attack takes. */
export function canRace(): boolean {
  return findLibc() !== undefined;
}

export async function race(options: RaceOptions): Promise<Race> {
  const libc = loadLibc()!;
  const world = makeWorld(libc, options.victim === "program");
  try {
    return options.victim === "program"
      ? await raceProgram(world, options)
      : await raceThread(world, libc, options.victim, options);
  } finally {
    world.remove();
  }
}

/** All figures of a race together. */
export function total({ rows }: Race): Row {
  const sum: Row = {
    name: "total",
    swaps: 0,
    hangs: 0,
    calls: 0,
    outcomes: {},
    violations: 0,
    crashes: 0,
    slowestMs: 0,
    samples: rows.flatMap((row) => row.samples.map((sample) => `${row.name}: ${sample}`)),
  };
  for (const row of rows) {
    for (const field of ["swaps", "hangs", "calls", "violations", "crashes"] as const) sum[field] += row[field];
    sum.slowestMs = Math.max(sum.slowestMs, row.slowestMs);
    for (const [outcome, n] of Object.entries(row.outcomes)) sum.outcomes[outcome] = (sum.outcomes[outcome] ?? 0) + n;
  }
  return sum;
}

function namesOf({ only }: RaceOptions, fits: (scenario: Scenario) => boolean): string[] {
  return SCENARIOS.filter((scenario) => fits(scenario) && (only?.includes(scenario.name) ?? true))
    .map((scenario) => scenario.name);
}

async function raceThread(world: World, libc: Libc, kind: VictimKind, options: RaceOptions): Promise<Race> {
  const names = namesOf(options, (scenario) => kind !== "naive" || !scenario.byIdentity);
  const turns = turnsOf(names);
  const watched = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL("./victim_worker.ts", import.meta.url), { type: "module" });
  const hangs = turns.map(() => 0);
  try {
    const order: Order = { kind, boundary: world.boundary, scenarios: names, watched: watched.buffer };
    await asked(worker, order);
    // What the victim opens by path name is open; from now on everything moves.
    const swapper = await startSwapper(world, turns);
    let done: Done;
    try {
      const watch = watchHangs(world, libc, watched, HANGS_AFTER_MS[kind], hangs);
      const { start, turnMs } = swapper.plan;
      try {
        const started: Start = { start, turnMs, until: Date.now() + options.seconds * 1000 };
        done = await Promise.race([asked(worker, started) as Promise<Done>, watch.lost]);
      } finally {
        watch.stop();
      }
    } finally {
      await swapper.stop();
    }
    return {
      rows: turns.map(({ name }, i) => ({ name, swaps: swapper.report.swaps[i], hangs: hangs[i], ...done.tallies[i] })),
      swapsPerSecond: rateOf(swapper.report),
      swapsFailed: swapper.report.failed,
      handlesLeft: done.handlesLeft,
    };
  } finally {
    worker.terminate();
  }
}

function asked(worker: Worker, message: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    };
    worker.postMessage(message);
  });
}

/** Lets calls go that stand still at a FIFO, and counts them. */
function watchHangs(world: World, libc: Libc, watched: Int32Array, limit: number, hangs: number[]) {
  let [call, since, freed] = [-1, 0, false];
  let timer: ReturnType<typeof setInterval>;
  const lost = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      const now = performance.now();
      const current = Atomics.load(watched, 0);
      if (current !== call) [call, since, freed] = [current, now, false];
      if (now - since < limit) return;
      if (now - since > LOST_AFTER_MS) reject(new Error(`a call of turn ${watched[1]} does not come back`));
      // The FIFO is somewhere else every few microseconds.
      for (let tries = 0; tries < 200; tries++) {
        for (const fifo of world.fifos) {
          if (!libc.freeReader(fifo) || freed) continue;
          freed = true;
          hangs[watched[1]]++;
        }
        if (freed) break;
      }
    }, 10);
  });
  lost.catch(() => {});
  return { lost, stop: () => clearInterval(timer) };
}

/** Starts the attacker, and waits until it is at work. */
async function startSwapper(world: World, turns: ReturnType<typeof turnsOf>) {
  const at = (path: string) => `${world.base}/${path}`;
  const plan: SwapPlan = {
    start: Date.now(),
    turnMs: TURN_MS,
    turns: turns.map(({ swaps, moves, resized }) => ({
      swaps: swaps.map(([a, b]) => [at(a), at(b)] as const),
      moves: (moves ?? []).map(([a, b]) => [at(a), at(b)] as const),
      resized: (resized ?? []).map(at),
    })),
  };
  const script = decodeURIComponent(new URL("./swapper.ts", import.meta.url).pathname);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--cached-only", "--allow-all", script, JSON.stringify(plan)],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let report: SwapReport | undefined;
  const { promise: working, resolve, reject } = Promise.withResolvers<void>();
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      if (lines.length > 0) report = JSON.parse(lines[lines.length - 1]);
      if (report) resolve();
    }
    reject(new Error("the attacker ended"));
  })();
  await working;
  return {
    plan,
    get report() {
      return report!;
    },
    async stop() {
      child.kill("SIGKILL");
      await child.status;
      await reading;
    },
  };
}

function rateOf({ swaps, ms }: SwapReport): number {
  return Math.round(swaps.reduce((sum, n) => sum + n, 0) / ms * 1000);
}

/** The whole program, started for every call, two at a time. */
async function raceProgram(world: World, options: RaceOptions): Promise<Race> {
  // The program opens its boundary anew with each start.
  const names = namesOf(options, (scenario) => !scenario.opened);
  const turns = SCENARIOS.filter((scenario) => names.includes(scenario.name));
  Deno.writeTextFileSync(`${world.base}/app/.fettler.json`, configuration());
  const rows = turns.map(({ name }): Row => (
    { name, swaps: 0, hangs: 0, calls: 0, outcomes: {}, violations: 0, crashes: 0, slowestMs: 0, samples: [] }
  ));
  const swapper = await startSwapper(world, turns);
  const until = Date.now() + options.seconds * 1000;
  let number = 0;
  const client = async () => {
    while (Date.now() < until) {
      // A start takes longer than a turn: a call of the scenario whose turn is half a start away is as good as any.
      const turn = turnAt(swapper.plan, Date.now());
      const calls = callsOf(turns[turn]);
      const call = calls[number++ % calls.length];
      const form = call.most || number % 2 ? "json" : "text";
      const began = performance.now();
      const { code, out, err } = await fettle([...commandLine(call), ...form === "json" ? ["--json"] : []], {
        cwd: `${world.base}/app`,
      });
      const row = rows[turn];
      const outcome = OUTCOMES[code] ?? `exit ${code}`;
      row.slowestMs = Math.max(row.slowestMs, performance.now() - began);
      row.calls++;
      row.outcomes[outcome] = (row.outcomes[outcome] ?? 0) + 1;
      const json = form === "json" ? JSON.parse(out) : undefined;
      const wrong = judge(call, { outcome, text: out + err, json });
      if (!wrong) continue;
      row[wrong === "crash" ? "crashes" : "violations"]++;
      row.samples.push(`${wrong}: ${call.verb} ${JSON.stringify(call.args)}: ${outcome}: ${(out + err).slice(0, 400)}`);
    }
  };
  try {
    await Promise.all([client(), client()]);
  } finally {
    await swapper.stop();
  }
  rows.forEach((row, i) => row.swaps = swapper.report.swaps[i]);
  return { rows, swapsPerSecond: rateOf(swapper.report), swapsFailed: swapper.report.failed };
}

const OUTCOMES: Readonly<Record<number, string>> = {
  0: "ok",
  3: "not-found",
  4: "outside-root",
  8: "refused",
  9: "denied",
};

const WORDS: Readonly<Record<string, string>> = { paths: "", pattern: "", patterns: "" };

function commandLine({ verb, args }: Call): string[] {
  const words: string[] = [verb];
  for (const [name, value] of Object.entries(args)) {
    const flag = `--${name.replaceAll("_", "-")}`;
    if (name in WORDS) words.push(...[value].flat() as string[]);
    else if (value === true) words.push(flag);
    else if (value !== false) words.push(flag, String(value));
  }
  return words;
}
