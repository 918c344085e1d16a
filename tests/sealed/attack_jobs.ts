/** Jobs that only tests have: what a sealed process could try once hostile input has taken it over. */
import { encodeFrame } from "../../src/frames.ts";
import { type Job, JOBS, type Jobs } from "../../src/sealed/mode.ts";

/** An attack that must succeed without the seal: `target` comes from the test. */
type Attempt = (target: string) => unknown;

const ATTEMPTS: Record<string, Attempt> = {
  read: (path) => Deno.readTextFileSync(path),
  list: (path) => [...Deno.readDirSync(path)],
  write: (path) => Deno.writeTextFileSync(path, "written"),
  program: (path) => new Deno.Command(path).outputSync(),
  connect: async (port) => (await Deno.connect({ hostname: "127.0.0.1", port: Number(port) })).close(),
  listen: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
  library: (path) => Deno.dlopen(path, {}).close(),
  environment: (name) => Deno.env.get(name),
  system: () => Deno.hostname(),
  signal: (pid) => Deno.kill(Number(pid), "SIGCONT"),
  worker: () => {
    const options = { type: "module", deno: { permissions: { read: true } } } as WorkerOptions;
    new Worker("data:text/javascript,", options).terminate();
  },
  module: (path) => import(path),
  store: () => localStorage.setItem("kept", "text"),
  cache: async () => await (await caches.open("kept")).put("http://x/y", new Response("text")),
};

/** Names of the attempts. */
export const ATTEMPT_NAMES = Object.keys(ATTEMPTS);

function attempting(attempt: Attempt): Job {
  return async ({ target }) => {
    try {
      await attempt(String(target));
      return { header: { succeeded: true } };
    } catch (error) {
      return { header: { succeeded: false, error: String(error) } };
    }
  };
}

function write(bytes: Uint8Array) {
  while (bytes.length > 0) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
}

/** What requests have come so far, so that a frame can name its own. */
let seen = 0;

function counted(job: Job): Job {
  return (header, body, report) => {
    seen++;
    return job(header, body, report);
  };
}

function lengths(header: number, body: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, header, true);
  new DataView(bytes.buffer).setUint32(4, body, true);
  return bytes;
}

const MISDEEDS: Record<string, Job> = {
  echo: (header, body) => ({ header, body }),
  pid: () => ({ header: { pid: Deno.pid } }),
  progress: ({ times, pause }, _, report) => {
    for (let i = 0; i < Number(times); i++) {
      report({ header: { i }, body: new Uint8Array(10) });
      const until = performance.now() + Number(pause);
      while (performance.now() < until);
    }
    return { header: {} };
  },
  spin: (_, __, report) => {
    report({ header: { spinning: true } });
    for (;;);
  },
  spinSilently: () => {
    for (;;);
  },
  eatArrays: () => {
    const eaten: unknown[] = [];
    for (;;) eaten.push(new Array(1000).fill(0.5));
  },
  eatBuffers: () => {
    const eaten: unknown[] = [];
    for (;;) eaten.push(new Uint8Array(1024 * 1024).fill(1));
  },
  holdBuffers: ({ bytes }) => {
    (globalThis as Record<string, unknown>).held = new Uint8Array(Number(bytes)).fill(1);
    return { header: {} };
  },
  exit: () => Deno.exit(0),
  throw: () => {
    throw new Error("crash");
  },
  overflow: () => {
    const deeper = (n: number): number => n + deeper(n + 1);
    return { header: { n: deeper(0) } };
  },
  reject: async () => {
    await Promise.reject(new Error("crash"));
    return { header: {} };
  },
  text: () => {
    write(new TextEncoder().encode("Segmentation fault, this is no frame"));
    return { header: {} };
  },
  zeros: () => {
    write(new Uint8Array(100));
    return { header: {} };
  },
  gigabyte: () => {
    const piece = new Uint8Array(1024 * 1024).fill(0x41);
    for (let i = 0; i < 1024; i++) write(piece);
    return { header: {} };
  },
  gigabyteFrame: () => {
    write(lengths(2, 1024 ** 3));
    const piece = new Uint8Array(1024 * 1024).fill(0x41);
    for (let i = 0; i < 1024; i++) write(piece);
    return { header: {} };
  },
  manyBodies: (_, __, report) => {
    for (let i = 0; i < 10_000; i++) report({ header: {}, body: new Uint8Array(1024 * 1024) });
    return { header: {} };
  },
  twice: () => {
    write(encodeFrame({ id: seen, answer: { first: true } }));
    return { header: { second: true } };
  },
  other: () => {
    write(encodeFrame({ id: seen + 1, answer: { stolen: true } }));
    return { header: {} };
  },
  list: () => {
    write(encodeFrame([1, 2]));
    return { header: {} };
  },
  short: () => {
    const frame = encodeFrame({ id: seen, answer: {} }, new Uint8Array(100));
    write(frame.subarray(0, frame.length - 1));
    for (;;);
  },
  long: () => {
    const frame = encodeFrame({ id: seen, answer: { long: true } }, new Uint8Array(100));
    write(new Uint8Array([...frame, 1, 2, 3]));
    Deno.stdin.readSync(new Uint8Array(100));
    throw new Error("unreachable: its owner kills it");
  },
  later: () => {
    setTimeout(() => {}, 0);
    write(encodeFrame({ id: seen, answer: { later: true } }));
    const until = performance.now() + 100;
    while (performance.now() < until);
    write(new Uint8Array(3));
    for (;;);
  },
};

/** Every job of the program and of the tests. */
export const ALL_JOBS: Jobs = new Map([
  ...JOBS,
  ...Object.entries(ATTEMPTS).map(([name, attempt]): [string, Job] => [`try ${name}`, counted(attempting(attempt))]),
  ...Object.entries(MISDEEDS).map(([name, job]): [string, Job] => [name, counted(job)]),
]);
