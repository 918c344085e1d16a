/**
 * Timing of whole commands, from their start to their end, and what is made of the times.
 *
 * A ratio is taken of the two times of one round and the median of these is reported, so that a busy moment strikes both alike.
 */

/** A program and its arguments; no shell stands between. */
export interface Command {
  program: string;
  args: readonly string[];
  cwd: string;
  env?: Readonly<Record<string, string>>;
  /** Exit codes that are no failure; default is 0 only. */
  codes?: readonly number[];
}

/** Times of both sides in milliseconds, one of each a round. */
export interface Pairs {
  ours: number[];
  theirs: number[];
}

/** A median with its quartiles. */
export interface Spread {
  median: number;
  low: number;
  high: number;
}

/** Runs a command to its end. Its output is read to the end within the time, and decoded after it. */
export function run({ program, args, cwd, env, codes = [0] }: Command): { ms: number; out: string } {
  const command = new Deno.Command(program, { args: [...args], cwd, env, stdin: "null", stderr: "inherit" });
  const begun = performance.now();
  const { code, stdout } = command.outputSync();
  const ms = performance.now() - begun;
  const out = new TextDecoder().decode(stdout);
  if (!codes.includes(code)) {
    throw new Error(`${program} ${args.join(" ")} in ${cwd} ended with ${code}: ${out.slice(0, 300)}`);
  }
  return { ms, out };
}

/**
 * Lets what a command left behind come to its end, so that it does not fall into the next one's time: `roots` was seen to leave its
 * engine for up to 50 ms.
 */
export function settle(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SETTLE_MS);
}

const SETTLE_MS = 75;

/** Runs both by turns. Slow rows end early: after `longestMs` there is no further round, but never fewer than three. */
export function alternate(rounds: number, ours: Command, theirs: Command, longestMs = 60_000): Pairs {
  const pairs: Pairs = { ours: [], theirs: [] };
  const begun = performance.now();
  for (let round = 0; round < rounds; round++) {
    if (round >= 3 && performance.now() - begun > longestMs) break;
    pairs.ours.push(run(ours).ms);
    settle();
    pairs.theirs.push(run(theirs).ms);
    settle();
  }
  return pairs;
}

/** One ratio a round. */
export function ratios({ ours, theirs }: Pairs): number[] {
  return ours.map((ms, round) => ms / theirs[round]);
}

/** The value below which this share of all lies, interpolated between neighbours. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error("no values to take a quantile of");
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return below + (above - below) * (at - Math.floor(at));
}

/** The median and both quartiles. */
export function spread(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}
