/**
 * Files that a process was left with before its fences stood: the runtime opens its caches for reading and writing at start and keeps
 * them. No fence binds a descriptor that is open already, so they are made read-only first.
 *
 * What such a file shares with us as mapped memory stays writable: of the runtime's caches that is an index, not the code.
 */

const SYMBOLS = {
  readlinkat: { parameters: ["i32", "buffer", "buffer", "usize"], result: "i32" },
  fcntl: { parameters: ["i32", "i32"], result: "i32" },
  openat: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  dup3: { parameters: ["i32", "i32", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

const AT_FDCWD = -100;
const O_PATH = 0x200000;
const O_CLOEXEC = 0x80000;
const O_ACCMODE = 3;
const F_GETFL = 3;
/** Descriptors are given out from below, and a process at its start has a few dozen. */
const MOST = 256;

/**
 * Puts a read-only handle on the same file in the place of every descriptor on a file that is open for writing, standard streams
 * left out. The runtime goes on reading its caches by it (measured: without them a start takes twice as long), and its attempts to
 * write them fail, after waiting for ten seconds (measured). So this is for a process that has loaded all its modules, and before its
 * fences stand, since it opens what they forbid.
 *
 * @param libc Path of the C library.
 */
export function makeFilesReadOnly(libc: string): void {
  const library = Deno.dlopen(libc, SYMBOLS);
  const { readlinkat, fcntl, openat, dup3, close } = library.symbols;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const target = new Uint8Array(4096);
  const targetOf = (fd: number) => {
    const length = readlinkat(AT_FDCWD, encoder.encode(`/proc/self/fd/${fd}\0`), target, BigInt(target.length));
    return length < 0 ? undefined : decoder.decode(target.subarray(0, length));
  };
  try {
    const streams = [0, 1, 2].map(targetOf);
    for (let fd = 3; fd < MOST; fd++) {
      const flags = fcntl(fd, F_GETFL);
      if (flags < 0 || (flags & O_ACCMODE) === 0 || (flags & O_PATH) !== 0) continue;
      const name = targetOf(fd);
      // The runtime holds copies of the standard streams.
      if (name !== undefined && (!isFile(name) || streams.includes(name))) continue;
      const readOnly = openat(AT_FDCWD, encoder.encode(`/proc/self/fd/${fd}\0`), O_CLOEXEC);
      const instead = readOnly >= 0 ? readOnly : openat(AT_FDCWD, encoder.encode("/\0"), O_PATH | O_CLOEXEC);
      if (instead < 0) continue;
      dup3(instead, fd, O_CLOEXEC);
      close(instead);
    }
  } finally {
    library.close();
  }
}

/** Pipes and sockets have names that are no paths; devices, and memory that bears a name, are no files. */
function isFile(name: string): boolean {
  return name.startsWith("/") && !name.startsWith("/dev/") && !name.startsWith("/memfd:");
}
