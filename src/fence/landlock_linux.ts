/**
 * The kernel fence on Linux: a Landlock domain with the folders of the boundary. The only file of this room that loads a library.
 *
 * Holds what the process flags cannot: a link or a race that leads out of an allowed folder, and calls that do not go through Deno.
 * It cannot subtract a folder from an allowed one. Whatever the domain, Landlock leaves these alone (measured): looking at facts
 * (`stat`, `readlink`, `O_PATH`, watching), mode, owner and times (`chmod`, `chown`, `utimensat`), UDP, sockets at a path before
 * Linux 7.1, and descriptors that are open already.
 * It binds the calling thread and the threads that this one starts afterwards, for ever, and no other one.
 * Spec: design, "Three fences"; decisions 43, 50, 52.
 */

/** What the kernel shall allow this thread and those it starts afterwards; everything else is forbidden. Paths absolute, real. */
export interface KernelPlan {
  /** Folders or files: list and read below. */
  read: readonly string[];
  /** Folders or files: all changes below (create, remove, rename, truncate, …), and reading. */
  write: readonly string[];
  /** Single files that may be read: libc, the program's own modules. Folders allowed too; links on the way are followed. */
  files: readonly string[];
}

/** How the kernel fence stands; what `absent` and `broken` mean for the verbs is decision 52. */
export type KernelFence =
  | { state: "stands"; abi: number }
  /** The system does not offer it. */
  | { state: "absent"; reason: string }
  /** Offered, but could not be entered or does not hold when probed. */
  | { state: "broken"; reason: string };

type Grant = "read" | "write";

/**
 * Rights of the file system: their bit, the ABI that brought them, the part of a plan that grants them, and whether the kernel takes
 * them on a single file. Those without a part are granted to nobody: we start no program and make no device, FIFO or socket.
 */
const FILE_RIGHTS: Readonly<Record<string, { bit: number; since: number; by?: readonly Grant[]; onFile?: true }>> = {
  execute: { bit: 0, since: 1, onFile: true },
  writeFile: { bit: 1, since: 1, by: ["write"], onFile: true },
  readFile: { bit: 2, since: 1, by: ["read", "write"], onFile: true },
  readFolder: { bit: 3, since: 1, by: ["read", "write"] },
  removeFolder: { bit: 4, since: 1, by: ["write"] },
  removeFile: { bit: 5, since: 1, by: ["write"] },
  makeCharacterDevice: { bit: 6, since: 1 },
  makeFolder: { bit: 7, since: 1, by: ["write"] },
  makeFile: { bit: 8, since: 1, by: ["write"] },
  makeSocket: { bit: 9, since: 1 },
  makeFifo: { bit: 10, since: 1 },
  makeBlockDevice: { bit: 11, since: 1 },
  // Nobody makes links, but moving one into another folder needs this.
  makeLink: { bit: 12, since: 1, by: ["write"] },
  // Before it, a rename into another folder answers EXDEV, as between file systems.
  refer: { bit: 13, since: 2, by: ["write"] },
  truncate: { bit: 14, since: 3, by: ["write"], onFile: true },
  deviceControl: { bit: 15, since: 5, onFile: true },
  connectSocketFile: { bit: 16, since: 9 },
};
/** Binding and connecting of TCP, allowed to nobody. */
const NETWORK = { mask: 0b11n, since: 4 };
/** Abstract sockets and signals stay inside the domain. */
const SCOPES = { mask: 0b11n, since: 6 };

/** The `landlock_ruleset_attr` of this ABI: everything that it can forbid and we know of. Pure. */
export function rulesetOf(abi: number): BigUint64Array<ArrayBuffer> {
  const files = maskOf((right) => right.since <= abi);
  // An older kernel takes a longer one only when its rest is zero, and an ABI between leaves no gap; so one of the right length.
  if (abi >= SCOPES.since) return BigUint64Array.of(files, NETWORK.mask, SCOPES.mask);
  if (abi >= NETWORK.since) return BigUint64Array.of(files, NETWORK.mask);
  return BigUint64Array.of(files);
}

/** The rights that a part of the plan grants on a folder and all below it, or on a single file. Pure. */
export function rightsOf(abi: number, part: Grant, kind: "folder" | "file"): bigint {
  return maskOf((right) =>
    right.since <= abi && right.by?.includes(part) === true && (kind === "folder" || right.onFile === true)
  );
}

function maskOf(has: (right: (typeof FILE_RIGHTS)[string]) => boolean): bigint {
  return Object.values(FILE_RIGHTS).filter(has).reduce((mask, { bit }) => mask | 1n << BigInt(bit), 0n);
}

/** The calls of the system that the fence makes. Each answers as the kernel does: a negative number is an error's. Replaced in tests only. */
export interface KernelCalls {
  abi(): number;
  createRuleset(attributes: BigUint64Array<ArrayBuffer>): number;
  addPath(ruleset: number, rights: bigint, fd: number): number;
  renounceNewPrivileges(): number;
  restrictSelf(ruleset: number): number;
  open(path: string, how: How): number;
  close(fd: number): void;
}

/** `pin`: a handle that needs no right. `read`: for reading. `write`: for writing, nothing made or cut. */
export interface How {
  for: "pin folder" | "pin" | "read" | "write";
  links: "refused" | "followed";
}

const E = {
  PERM: 1,
  NOENT: 2,
  INTR: 4,
  IO: 5,
  AGAIN: 11,
  ACCES: 13,
  NOTDIR: 20,
  NAMETOOLONG: 36,
  NOSYS: 38,
  LOOP: 40,
  OPNOTSUPP: 95,
  NOTCONN: 107,
  HOSTDOWN: 112,
  STALE: 116,
} as const;

/** By which errors the system says that it does not offer the fence at all. */
const WITHHELD: ReadonlyMap<number, string> = new Map([
  [E.NOSYS, "the kernel has no Landlock (Linux 5.13 brought it), or a filter round this process hides it"],
  [E.OPNOTSUPP, "Landlock is switched off in this kernel (its boot parameter 'lsm=' does not name it)"],
  [E.PERM, "a filter round this process, such as a container's, withholds Landlock"],
]);

/** By which errors the system says that there is nothing at a path that we could reach: then there is nothing to allow. */
const OUT_OF_REACH: ReadonlySet<number> = new Set([
  E.NOENT,
  E.IO,
  E.ACCES,
  E.NOTDIR,
  E.NAMETOOLONG,
  // A tree's path that is a link by now is another place than the one that was declared.
  E.LOOP,
  E.NOTCONN,
  E.HOSTDOWN,
  E.STALE,
]);

/**
 * Binds the calling thread, and those it starts afterwards, to the plan; then tries whether that holds. Cannot be undone.
 *
 * To be called before the workers start, and before anything that must not be able to leave the plan. A path of the plan that is
 * not there, or became a link, is left out: it then stays forbidden. A plan without paths forbids every file.
 * Throws nothing: every failure is an answer, and after `broken` the thread may be bound or not. Measured: 3 ms, of which 2 load the library.
 * @param libc where the C library lies: the path that `--allow-ffi` names
 * @see design, "Three fences"; decisions 50, 52
 * @example
 * ```ts
 * import { findLibc } from "./libc.ts";
 * const fence = enterLandlock(findLibc()!, { read: ["/home/me/work"], write: [], files: ["/usr/lib"] });
 * if (fence.state === "broken") throw new Error(fence.reason);
 * ```
 */
export function enterLandlock(libc: string, plan: KernelPlan): KernelFence {
  if (Deno.build.os !== "linux") return { state: "absent", reason: "Landlock is a part of Linux" };
  let library;
  try {
    library = Deno.dlopen(libc, SYMBOLS);
  } catch (error) {
    return { state: "broken", reason: `the C library cannot be loaded: ${(error as Error).message}` };
  }
  try {
    return enterWith(callsOf(library.symbols), plan);
  } finally {
    library.close();
  }
}

/** As `enterLandlock`, with these calls. */
export function enterWith(calls: KernelCalls, plan: KernelPlan): KernelFence {
  const abi = calls.abi();
  if (abi < 0) {
    const reason = WITHHELD.get(-abi);
    return reason ? { state: "absent", reason } : broken("its version cannot be asked", abi);
  }
  const probes = planProbes(calls, plan);
  const ruleset = calls.createRuleset(rulesetOf(abi));
  if (ruleset < 0) {
    const reason = WITHHELD.get(-ruleset);
    return reason ? { state: "absent", reason } : broken("its rules cannot be created", ruleset);
  }
  try {
    const failed = addRules(calls, abi, ruleset, plan);
    if (failed) return failed;
    // The kernel demands it, so that a program with more rights cannot be started inside and confused.
    const privileges = calls.renounceNewPrivileges();
    if (privileges < 0) return broken("new privileges cannot be renounced", privileges);
    const restricted = calls.restrictSelf(ruleset);
    if (restricted < 0) return broken("it cannot be entered", restricted);
  } finally {
    calls.close(ruleset);
  }
  const breach = probes.map((probe) => probe()).find((breach) => breach !== undefined);
  return breach === undefined ? { state: "stands", abi } : { state: "broken", reason: breach };
}

function addRules(calls: KernelCalls, abi: number, ruleset: number, plan: KernelPlan): KernelFence | undefined {
  for (const { path, part, links } of entriesOf(plan)) {
    // The kernel refuses a folder's rights on a file, so the kind is settled by what was opened.
    let kind: "folder" | "file" = "folder";
    let fd = calls.open(path, { for: "pin folder", links });
    if (fd === -E.NOTDIR) {
      kind = "file";
      fd = calls.open(path, { for: "pin", links });
    }
    if (fd < 0) {
      if (OUT_OF_REACH.has(-fd)) continue;
      return broken(`'${path}' cannot be opened for its rule`, fd);
    }
    const added = calls.addPath(ruleset, rightsOf(abi, part, kind), fd);
    calls.close(fd);
    if (added < 0) return broken(`the rule for '${path}' is not taken`, added);
  }
}

interface Entry {
  path: string;
  part: Grant;
  links: How["links"];
}

/** A plan's paths, with what each grants. */
function entriesOf({ read, write, files }: KernelPlan): Entry[] {
  return [
    ...read.map((path): Entry => ({ path, part: "read", links: "refused" })),
    ...write.map((path): Entry => ({ path, part: "write", links: "refused" })),
    // Those are the system's and our own; `/lib` is a link in most systems.
    ...files.map((path): Entry => ({ path, part: "read", links: "followed" })),
  ];
}

/** What can be opened in any Linux, for trying that it cannot any more. */
const OUTSIDE = ["/", "/proc", "/dev", "/etc", "/usr"];

/**
 * What to try once inside, each answering with a breach. To be made before: what does not open now proves nothing later.
 */
function planProbes(calls: KernelCalls, plan: KernelPlan): (() => string | undefined)[] {
  const error = (path: string, how: How): number => {
    const fd = calls.open(path, how);
    if (fd >= 0) calls.close(fd);
    return fd < 0 ? -fd : 0;
  };
  // Refused with whatever error: only what opens is a breach.
  const forbidden = (path: string, how: How) => () =>
    error(path, how) !== 0 ? undefined : `'${path}' outside the plan can still be opened to ${how.for}`;
  const allowed = (path: string, how: How) => () =>
    error(path, how) === E.ACCES ? `'${path}' in the plan cannot be opened any more` : undefined;

  const probes = [];
  const reading: How = { for: "read", links: "followed" };
  const outside = OUTSIDE.filter((path) => !covers([...plan.read, ...plan.write, ...plan.files], path));
  // Where an outer fence refuses them all already, one of them is as good as another.
  const chosen = outside.find((path) => error(path, reading) === 0) ?? outside[0];
  if (chosen !== undefined) probes.push(forbidden(chosen, reading));
  // The one thing in every system that can be opened for writing and does not mind. Needed where the plan lets "/" be read.
  const writing: How = { for: "write", links: "followed" };
  if (!covers(plan.write, "/dev/null") && error("/dev/null", writing) === 0) {
    probes.push(forbidden("/dev/null", writing));
  }
  for (const { path, links } of entriesOf(plan)) {
    const how: How = { for: "read", links };
    if (error(path, how) === 0) probes.push(allowed(path, how));
  }
  return probes;
}

/** Whether a path lies at or below one of these. */
function covers(places: readonly string[], path: string): boolean {
  return places.some((place) => place === path || path.startsWith(place.endsWith("/") ? place : place + "/"));
}

function broken(what: string, answer: number): KernelFence {
  return { state: "broken", reason: `${what}: the system says error ${-answer}` };
}

/** A call that is disturbed is made again so often. */
const MOST_TRIES = 1000;

// The numbers of the calls: from 424 on the same on every processor.
const SYS = {
  ...Deno.build.arch === "aarch64" ? { close: 57n, prctl: 167n } : { close: 3n, prctl: 157n },
  openat2: 437n,
  createRuleset: 444n,
  addRule: 445n,
  restrictSelf: 446n,
} as const;
const LANDLOCK_CREATE_RULESET_VERSION = 1n;
const LANDLOCK_RULE_PATH_BENEATH = 1n;
const PR_SET_NO_NEW_PRIVS = 38n;
const AT_FDCWD = -100n;
const RESOLVE_NO_SYMLINKS = 4n;
const O_CLOEXEC = 0x80000n;
const O_DIRECTORY = Deno.build.arch === "aarch64" ? 0x4000n : 0x10000n;
const O_PATH = 0x200000n;
// With O_NONBLOCK and O_NOCTTY: a FIFO or terminal of the plan must neither hold nor adopt us.
const O_RDONLY = 0x900n;
const O_WRONLY = 0x901n;
const OPEN_FLAGS: Readonly<Record<How["for"], bigint>> = {
  "pin folder": O_PATH | O_DIRECTORY,
  pin: O_PATH,
  read: O_RDONLY,
  write: O_WRONLY,
};

/**
 * Each name costs 0.1 to 0.3 ms when the library is loaded, so the calls share one alias of `syscall` for each shape of arguments, where
 * `null` stands for a zero. Whole words, since a C library in C reads such from variable arguments.
 */
const SYMBOLS = {
  callWithBuffer: { name: "syscall", parameters: ["usize", "buffer", "usize", "usize"], result: "i32" },
  callWithHandle: { name: "syscall", parameters: ["usize", "isize", "buffer", "buffer", "usize"], result: "i32" },
  callWithNumbers: {
    name: "syscall",
    parameters: ["usize", "isize", "usize", "buffer", "usize", "usize"],
    result: "i32",
  },
  __errno_location: { parameters: [], result: "pointer" },
  // The runtime reads memory by address only for who may load any library; libc copies it for us.
  memcpy: { parameters: ["buffer", "pointer", "usize"], result: "void" },
} as const;

/** The real calls. */
function callsOf(libc: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"]): KernelCalls {
  const encoder = new TextEncoder();
  const errno = libc.__errno_location();
  const errorNumber = new Int32Array(1);
  /** A call's answer, an error as its negative number. */
  const answer = (result: number): number => {
    if (result >= 0) return result;
    libc.memcpy(errorNumber, errno, 4n);
    return -errorNumber[0];
  };
  return {
    abi: () => answer(libc.callWithBuffer(SYS.createRuleset, null, 0n, LANDLOCK_CREATE_RULESET_VERSION)),
    createRuleset: (attributes) =>
      answer(libc.callWithBuffer(SYS.createRuleset, attributes, BigInt(attributes.byteLength), 0n)),
    addPath(ruleset, rights, fd) {
      // `landlock_path_beneath_attr`, packed.
      const rule = new DataView(new ArrayBuffer(12));
      rule.setBigUint64(0, rights, true);
      rule.setInt32(8, fd, true);
      return answer(
        libc.callWithNumbers(SYS.addRule, BigInt(ruleset), LANDLOCK_RULE_PATH_BENEATH, rule, 0n, 0n),
      );
    },
    renounceNewPrivileges: () => answer(libc.callWithNumbers(SYS.prctl, PR_SET_NO_NEW_PRIVS, 1n, null, 0n, 0n)),
    restrictSelf: (ruleset) => answer(libc.callWithHandle(SYS.restrictSelf, BigInt(ruleset), null, null, 0n)),
    open(path, how) {
      const name = encoder.encode(path + "\0");
      const resolve = how.links === "refused" ? RESOLVE_NO_SYMLINKS : 0n;
      const wanted = BigUint64Array.of(OPEN_FLAGS[how.for] | O_CLOEXEC, 0n, resolve);
      // An error is taken when it comes twice running: between a call and the reading of its error lies the runtime, which makes
      // calls of its own; and the system may ask to try again when something else is renamed or mounted at the same moment.
      for (let tries = 0, before = 0;; tries++) {
        const fd = answer(libc.callWithHandle(SYS.openat2, AT_FDCWD, name, wanted, BigInt(wanted.byteLength)));
        const passing = fd === -E.AGAIN || fd === -E.INTR;
        if (fd >= 0 || fd === before && !passing || tries === MOST_TRIES) return fd;
        before = fd;
      }
    },
    close(fd) {
      libc.callWithHandle(SYS.close, BigInt(fd), null, null, 0n);
    },
  };
}

/**
 * Enters a domain without any right, for a process that is to hold none.
 *
 * @returns Whether the fence stands; `false` where the system offers none.
 * @throws {Error} when it is offered and does not hold.
 */
export function enterNothing(libc: string): boolean {
  const fence = enterLandlock(libc, { read: [], write: [], files: [] });
  if (fence.state === "broken") throw new Error(fence.reason);
  return fence.state === "stands";
}
