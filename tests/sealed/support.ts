/** Owners of the test entry, sealed or not. */
import { V8_FLAGS } from "../../src/dispatch/v8_flags.ts";
import { findLibc } from "../../src/fence/libc.ts";
import { sealedCommand } from "../../src/sealed/command.ts";
import { SealedOwner } from "../../src/sealed/owner.ts";

const main = decodeURIComponent(new URL("entry.ts", import.meta.url).pathname);

/** What the runtime needs of the environment. */
export const ENVIRONMENT: Record<string, string> = Object.fromEntries(
  ["PATH", "HOME", "DENO_DIR"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }),
);

export interface TestOptions {
  /** Extra flags of the runtime. */
  flags?: string[];
  /** Extra arguments of the entry. */
  args?: string[];
  memory?: number;
  heap?: number;
  libc?: boolean;
}

/** An owner whose processes run the jobs of the tests, and the pids of those it started. */
export function ownerOf({ flags = [], args = [], memory, heap, libc }: TestOptions = {}) {
  let starts = 0;
  const owner = new SealedOwner({
    memory,
    command: () => {
      starts++;
      const command = sealedCommand({
        v8Flags: V8_FLAGS,
        heap,
        libc: libc ? findLibc() : undefined,
        env: ENVIRONMENT,
        main,
      });
      command.args.splice(1, 0, ...flags);
      command.args.push(...args);
      return command;
    },
  });
  return {
    owner,
    get starts() {
      return starts;
    },
    async [Symbol.asyncDispose]() {
      await owner.close();
    },
  };
}

export const LIMITS = { silence: 5000, total: 20_000 };
const NO_BODY = new Uint8Array();

/** Runs a job without a body. */
export function ask(owner: SealedOwner, name: string, header: Record<string, unknown> = {}, limits = LIMITS) {
  return owner.run({ name, header, body: NO_BODY }, limits);
}

/** The process that the owner has now. */
export async function pidOf(owner: SealedOwner): Promise<number> {
  const answer = await ask(owner, "pid");
  if (!answer.ok) throw new Error(answer.why);
  return Number(answer.header.pid);
}

/** Whether a process is there and not a corpse. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

/** Pids of the processes that this one has started and that are there, corpses too. */
export function children(): number[] {
  const ours: number[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
      if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === Deno.pid) ours.push(Number(name));
    } catch { /* gone */ }
  }
  return ours;
}
