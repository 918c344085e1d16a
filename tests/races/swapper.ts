/**
 * The attacker: a process that does nothing but exchange entries, as fast as the system lets it.
 *
 * Started with a plan as JSON; ends when it is killed, or when nobody reads what it reports: a line of JSON now and then, its counts.
 */
import { cString, loadLibc } from "./libc.ts";
import { type SwapPlan, type SwapReport, turnAt } from "./plan.ts";

/** Exchanges between two looks at the clock. */
const BURST = 64;
const REPORT_MS = 100;

interface Pair {
  folder: number;
  name: Uint8Array<ArrayBuffer>;
  other: number;
  otherName: Uint8Array<ArrayBuffer>;
}

function main() {
  const plan = JSON.parse(Deno.args[0]) as SwapPlan;
  const libc = loadLibc()!;
  const folders = new Map<string, number>();
  const folderAt = (path: string) => {
    if (!folders.has(path)) folders.set(path, libc.openFolder(path));
    return folders.get(path)!;
  };
  const entryAt = (path: string) => {
    const cut = path.lastIndexOf("/");
    return [folderAt(path.slice(0, cut)), cString(path.slice(cut + 1))] as const;
  };
  const pair = ([a, b]: readonly [string, string]): Pair => {
    const [[folder, name], [other, otherName]] = [entryAt(a), entryAt(b)];
    return { folder, name, other, otherName };
  };
  const turns = plan.turns.map(({ swaps, moves, resized }) => ({
    swaps: swaps.map(pair),
    moves: moves.map(pair),
    files: resized.map((path) => Deno.openSync(path, { write: true })),
  }));
  const text = new TextEncoder().encode("inside, a line that grows and shrinks\n".repeat(2000));
  const report: SwapReport = { swaps: turns.map(() => 0), failed: 0, ms: 0 };
  const began = performance.now();
  let reported = 0;
  for (;;) {
    const number = turnAt(plan, Date.now());
    const { swaps, moves, files } = turns[number];
    let done = 0;
    while (done < BURST && swaps.length + moves.length > 0) {
      for (const { folder, name, other, otherName } of swaps) {
        if (libc.exchange(folder, name, other, otherName) < 0) report.failed++;
        done++;
      }
      for (const { folder, name, other, otherName } of moves) {
        if (libc.move(folder, name, other, otherName) < 0) report.failed++;
        if (libc.move(other, otherName, folder, name) < 0) report.failed++;
        done += 2;
      }
    }
    for (const file of files) {
      file.truncateSync(0);
      file.seekSync(0, Deno.SeekMode.Start);
      file.writeSync(text.subarray(0, 1 + Math.floor(Math.random() * text.length)));
      done++;
    }
    report.swaps[number] += done;
    report.ms = performance.now() - began;
    if (report.ms - reported > REPORT_MS) {
      reported = report.ms;
      try {
        Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(report) + "\n"));
      } catch {
        return;
      }
    }
  }
}

main();
