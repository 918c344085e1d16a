/**
 * Files that a process was left with before its fences stood: the runtime opens its caches for writing at start and keeps them. No
 * fence binds an open descriptor, so they are taken away.
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
 * Puts a handle that can neither be read nor written in the place of every descriptor on a file that is open for writing. The number
 * stays taken, so that whoever still uses it gets an error and never another file.
 *
 * @param libc Path of the C library.
 * @returns How many were taken away.
 */
export function takeWritableFiles(libc: string): number {
  const library = Deno.dlopen(libc, SYMBOLS);
  const { readlinkat, fcntl, openat, dup3, close } = library.symbols;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const target = new Uint8Array(4096);
  const nothing = openat(AT_FDCWD, encoder.encode("/\0"), O_PATH | O_CLOEXEC);
  let taken = 0;
  try {
    if (nothing < 0) return 0;
    for (let fd = 3; fd < MOST; fd++) {
      const flags = fcntl(fd, F_GETFL);
      if (flags < 0 || (flags & O_ACCMODE) === 0 || (flags & O_PATH) !== 0) continue;
      const length = readlinkat(AT_FDCWD, encoder.encode(`/proc/self/fd/${fd}\0`), target, BigInt(target.length));
      if (length > 0 && !isFile(decoder.decode(target.subarray(0, length)))) continue;
      if (dup3(nothing, fd, O_CLOEXEC) >= 0) taken++;
    }
    return taken;
  } finally {
    if (nothing >= 0) close(nothing);
    library.close();
  }
}

/** Pipes and sockets have names that are no paths; devices, and memory that bears a name, are no files. */
function isFile(name: string): boolean {
  return name.startsWith("/") && !name.startsWith("/dev/") && !name.startsWith("/memfd:");
}
