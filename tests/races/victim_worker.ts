/** A thread that makes one call after another while the attacker is at work, so that whoever watches can see when a call hangs. */
import type { Boundary } from "../../src/boundary/types.ts";
import type { Form } from "../../src/verbs/verb.ts";
import { turnAt } from "./plan.ts";
import { type Call, callsOf, turnsOf } from "./scenarios.ts";
import { judge, openVictim, type Reply, type Victim, type VictimKind } from "./victims.ts";

export interface Order {
  kind: VictimKind;
  boundary: Boundary;
  /** Names of the scenarios that take turns. */
  scenarios: readonly string[];
  /** Number of the call at work, and of the turn it belongs to. */
  watched: SharedArrayBuffer;
}

export interface Start {
  start: number;
  turnMs: number;
  until: number;
}

/** What became of the calls of one scenario. */
export interface Tally {
  calls: number;
  outcomes: Record<string, number>;
  violations: number;
  crashes: number;
  /** The slowest call. */
  slowestMs: number;
  /** The first answers that were wrong. */
  samples: string[];
}

export interface Done {
  tallies: Tally[];
  /** Open handles that this thread has more than when it began. */
  handlesLeft: number;
}

const FORMS: readonly Form[] = ["json", "text", "tool"];
const SAMPLES = 3;

// The types of a worker's own scope are those of a window here.
const scope = self as unknown as { onmessage: (event: MessageEvent) => void; postMessage(message: unknown): void };

function handles(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}

async function attackedBy(victim: Victim, order: Order, start: Start): Promise<Done> {
  const watched = new Int32Array(order.watched);
  const turns = turnsOf(order.scenarios);
  const calls = turns.map(callsOf);
  const tallies = turns.map((): Tally => (
    { calls: 0, outcomes: {}, violations: 0, crashes: 0, slowestMs: 0, samples: [] }
  ));
  // Modules that are loaded with the first call, and what they open, are no leak.
  for (const call of calls[0]) await victim.answer(call, "json");
  const before = handles();
  while (Date.now() < start.until) {
    const turn = turnAt({ ...start, turns }, Date.now());
    const tally = tallies[turn];
    const call = calls[turn][tally.calls % calls[turn].length];
    const form = call.most ? "json" : FORMS[Math.floor(tally.calls / calls[turn].length) % FORMS.length];
    Atomics.store(watched, 1, turn);
    Atomics.add(watched, 0, 1);
    await one(victim, call, form, tally);
  }
  return { tallies, handlesLeft: handles() - before };
}

async function one(victim: Victim, call: Call, form: Form, tally: Tally) {
  const began = performance.now();
  let reply: Reply;
  try {
    reply = await victim.answer(call, form);
  } catch (error) {
    reply = { outcome: "thrown", text: error instanceof Error ? `${error.stack}` : `${error}` };
  }
  tally.slowestMs = Math.max(tally.slowestMs, performance.now() - began);
  tally.calls++;
  tally.outcomes[reply.outcome] = (tally.outcomes[reply.outcome] ?? 0) + 1;
  const wrong = judge(call, reply);
  if (!wrong) return;
  tally[wrong === "crash" ? "crashes" : "violations"]++;
  if (tally.samples.length < SAMPLES) {
    tally.samples.push(
      `${wrong}: ${call.verb} ${JSON.stringify(call.args)} as ${form}: ${reply.outcome}: ${excerpt(reply.text)}`,
    );
  }
}

function excerpt(text: string): string {
  const at = Math.max(0, text.search(/OUTSIDE-|HIDDEN-|2001-09-09/) - 100);
  return JSON.stringify(text.slice(at, at + 160));
}

let order: Order;
let victim: Victim;
scope.onmessage = async ({ data }) => {
  if ("kind" in data) {
    order = data;
    victim = openVictim(order.kind, order.boundary);
    scope.postMessage("opened");
  } else {
    scope.postMessage(await attackedBy(victim, order, data));
    victim.close();
  }
};
