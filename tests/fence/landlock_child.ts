/**
 * A process that enters the kernel fence, or not, and then tries things; prints one JSON object.
 * Its own process, since the fence cannot be left. Argument: an `Order` as JSON.
 */
import { enterLandlock, type KernelFence, type KernelPlan } from "../../src/fence/landlock_linux.ts";
import {
  abstractAddress,
  denoAttacks,
  RAW_SYMBOLS,
  rawAttacks,
  rights,
  type Target,
  tryAll,
} from "./landlock_attacks.ts";

export interface Order {
  target: Omit<Target, "abstractName" | "parent" | "root">;
  /** Left out: no fence. */
  plan?: KernelPlan;
  /** `early worker`: started before the fence. `descriptors`: counts the open ones before and after. `open`: opens the paths. */
  what: "thread" | "worker" | "early worker" | "descriptors" | "open";
  paths?: string[];
  /** Enters so many times. */
  times?: number;
}

export interface Report {
  fence?: KernelFence;
  attacks?: Awaited<ReturnType<typeof tryAll>>;
  rights?: Awaited<ReturnType<typeof tryAll>>;
  descriptors?: [number, number];
  /** For each path, whether it opens for reading and for writing. */
  opened?: [boolean, boolean][];
}

async function run({ target: given, plan, what, paths = [], times = 1 }: Order): Promise<Report> {
  const target: Target = {
    ...given,
    parent: Deno.ppid,
    root: Deno.uid() === 0,
    abstractName: `fettle-test-${Deno.pid}`,
  };
  const x = Deno.dlopen(target.libc, RAW_SYMBOLS).symbols;
  const listener = x.socket(1, 1, 0);
  x.bind(listener, abstractAddress(target.abstractName), 3 + target.abstractName.length);
  x.listen(listener, 8);

  const early = what === "early worker" ? await startWorker() : undefined;
  const before = what === "descriptors" ? countDescriptors() : 0;
  let fence: KernelFence | undefined;
  for (let n = 0; plan && n < times; n++) fence = enterLandlock(target.libc, plan);
  switch (what) {
    case "thread":
      return {
        fence,
        attacks: await tryAll({ ...rawAttacks(target), ...denoAttacks(target) }),
        rights: await tryAll(rights(target)),
      };
    case "worker":
    case "early worker": {
      const worker = early ?? await startWorker();
      return { fence, ...await ask(worker, target) };
    }
    case "descriptors":
      return { fence, descriptors: [before, countDescriptors()] };
    case "open":
      return { fence, opened: paths.map((path) => [opens(path, { read: true }), opens(path, { write: true })]) };
  }
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL("./landlock_worker.ts", import.meta.url), { type: "module" });
  await new Promise((resolve) => worker.onmessage = resolve);
  return worker;
}

function ask(worker: Worker, target: Target): Promise<Report> {
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage(target);
  });
}

function countDescriptors(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}

function opens(path: string, options: Deno.OpenOptions): boolean {
  try {
    Deno.openSync(path, options).close();
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  console.log(JSON.stringify(await run(JSON.parse(Deno.args[0]))));
  Deno.exit(0);
}
