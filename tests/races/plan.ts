/** What the attacker, the victim and whoever watches them agree on: who is in turn at which moment. */

/** For the attacker. */
export interface SwapPlan {
  /** Milliseconds since 1970. */
  start: number;
  /** How long a turn is. */
  turnMs: number;
  turns: readonly {
    /** Pairs of absolute paths whose entries are exchanged. */
    swaps: readonly (readonly [string, string])[];
    /** Pairs of absolute paths: an entry, and where it is moved and back from. */
    moves: readonly (readonly [string, string])[];
    /** Files that are emptied and written anew. */
    resized: readonly string[];
  }[];
}

/** What the attacker tells. */
export interface SwapReport {
  /** Exchanges and rewritings, by turn. */
  swaps: number[];
  failed: number;
  ms: number;
}

/** The number of the turn at a moment: turns take each other's place again and again, so that one clock serves all processes. */
export function turnAt(plan: { start: number; turnMs: number; turns: readonly unknown[] }, now: number): number {
  return Math.floor(Math.max(0, now - plan.start) / plan.turnMs) % plan.turns.length;
}
