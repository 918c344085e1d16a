/**
 * Memory of a program and all it starts, while it runs.
 *
 * On Linux the proportional share of each process (PSS): what several of them share counts once. Elsewhere, or where that is not to be
 * read, the resident set.
 */
import type { Command } from "./measure.ts";

/** How often is looked, in milliseconds. */
const EVERY_MS = 20;

/** The most that was seen at one moment. */
export interface Peak {
  mebibytes: number;
  /** Processes at that moment. */
  processes: number;
  samples: number;
  kind: "PSS" | "RSS";
  out: string;
}

/** Runs a command to its end and looks at all its processes meanwhile. */
export async function peakMemory({ program, args, cwd, codes = [0] }: Command): Promise<Peak> {
  const child = new Deno.Command(program, { args: [...args], cwd, stdin: "null", stdout: "piped", stderr: "inherit" })
    .spawn();
  let running = true;
  const ended = child.output().finally(() => running = false);
  const peak: Omit<Peak, "out"> = { mebibytes: 0, processes: 0, samples: 0, kind: "PSS" };
  while (running) {
    const seen = Deno.build.os === "linux" ? ofLinux(child.pid) : ofPs(child.pid);
    const mebibytes = seen.reduce((sum, { kib }) => sum + kib, 0) / 1024;
    peak.samples++;
    if (seen.some(({ kind }) => kind === "RSS")) peak.kind = "RSS";
    if (mebibytes > peak.mebibytes) Object.assign(peak, { mebibytes, processes: seen.length });
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  const { code, stdout } = await ended;
  if (!codes.includes(code)) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
  return { ...peak, out: new TextDecoder().decode(stdout) };
}

interface Seen {
  kib: number;
  kind: Peak["kind"];
}

/** A process and everything below it, from pairs of process and parent. */
export function family(first: number, parents: ReadonlyMap<number, number>): number[] {
  const all = [first];
  for (const above of all) {
    for (const [pid, parent] of parents) if (parent === above) all.push(pid);
  }
  return all;
}

function ofLinux(first: number): Seen[] {
  const parents = new Map<number, number>();
  for (const { name } of Deno.readDirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? attempt(`/proc/${name}/stat`) : undefined;
    if (stat) parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  return family(first, parents).flatMap((pid): Seen[] => {
    const share = /^Pss:\s+(\d+) kB/m.exec(attempt(`/proc/${pid}/smaps_rollup`) ?? "");
    if (share) return [{ kib: Number(share[1]), kind: "PSS" }];
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(attempt(`/proc/${pid}/status`) ?? "");
    return resident ? [{ kib: Number(resident[1]), kind: "RSS" }] : [];
  });
}

/** What a file under /proc says; nothing once its process has ended, or where it is not for us. */
function attempt(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}

function ofPs(first: number): Seen[] {
  const { stdout } = new Deno.Command("ps", { args: ["-axo", "pid=,ppid=,rss="] }).outputSync();
  const rows = new TextDecoder().decode(stdout).trim().split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const resident = new Map(rows.map(([pid, , rss]) => [pid, rss]));
  return family(first, new Map(rows.map(([pid, parent]) => [pid, parent])))
    .flatMap((pid): Seen[] => resident.has(pid) ? [{ kib: resident.get(pid)!, kind: "RSS" }] : []);
}
