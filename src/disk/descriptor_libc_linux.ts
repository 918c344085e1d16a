/**
 * What both halves of the descriptor disk share: the C library's calls for opening and looking, their buffers, and their errors.
 *
 * A name is one segment and is opened with `O_NOFOLLOW`, so no call can leave the folder it names.
 */
import { DiskError, type DiskFault, type Facts, systemError } from "./disk.ts";

export const AT_FDCWD = -100;
export const AT_EMPTY_PATH = 0x1000;
const AT_EACCESS = 0x200;
export const AT_SYMLINK_NOFOLLOW = 0x100;
export const AT_NO_AUTOMOUNT = 0x800;
const STATX_BASIC = 0x7ff;
export const O_RDONLY = 0;
export const O_WRONLY = 1;
export const O_CREAT = 0x40;
export const O_EXCL = 0x80;
export const O_NONBLOCK = 0x800;
export const O_CLOEXEC = 0x80000;
export const O_PATH = 0x200000;
/** These two differ between processors. */
export const [O_DIRECTORY, O_NOFOLLOW] = Deno.build.arch === "aarch64" ? [0x4000, 0x8000] : [0x10000, 0x20000];
const [SYS_STATX, SYS_GETDENTS64, SYS_FACCESSAT, SYS_GETEUID, SYS_FSTATFS] = Deno.build.arch === "aarch64"
  ? [291, 61, 48, 175, 44]
  : [332, 217, 269, 107, 138];
const SYS_FACCESSAT2 = 439;
const ST_RDONLY = 1;
export { SYS_GETDENTS64 };

export const E = {
  PERM: 1,
  NOENT: 2,
  INTR: 4,
  IO: 5,
  NXIO: 6,
  AGAIN: 11,
  ACCES: 13,
  BUSY: 16,
  EXIST: 17,
  XDEV: 18,
  NOTDIR: 20,
  ISDIR: 21,
  INVAL: 22,
  TXTBSY: 26,
  FBIG: 27,
  NOSPC: 28,
  ROFS: 30,
  MLINK: 31,
  NAMETOOLONG: 36,
  NOSYS: 38,
  NOTEMPTY: 39,
  LOOP: 40,
  NODATA: 61,
  OPNOTSUPP: 95,
  STALE: 116,
  DQUOT: 122,
} as const;

const CODES: ReadonlyMap<number, string> = new Map(Object.entries(E).map(([code, number]) => [number, `E${code}`]));

const SYMBOLS = {
  openat: { parameters: ["i32", "buffer", "i32", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  pread: { parameters: ["i32", "buffer", "u32", "i64"], result: "i32" },
  readlinkat: { parameters: ["i32", "buffer", "buffer", "u32"], result: "i32" },
  // `syscall` for what older C libraries do not wrap; one alias for each shape of arguments, named for the call that is made most.
  // All of them are integers that the calling convention widens, so 32 bits do for numbers and lengths.
  statx: { name: "syscall", parameters: ["u32", "i32", "buffer", "i32", "u32", "buffer"], result: "i32" },
  getdents64: { name: "syscall", parameters: ["u32", "i32", "buffer", "u32"], result: "i32" },
  __errno_location: { parameters: [], result: "pointer" },
  // The runtime reads memory by address only for who may load any library; libc copies it for us.
  memcpy: { parameters: ["buffer", "pointer", "usize"], result: "void" },
} as const;

export let libc: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];
/** Where it lies. */
export let libraryPath: string;
let errno: Deno.PointerObject;

// One set of buffers for the thread: every call is synchronous and done with them when it returns.
const encoder = new TextEncoder();
const name_ = new Uint8Array(4096 * 3 + 1);
const nameWithoutNul = name_.subarray(0, -1);
const stat = new DataView(new ArrayBuffer(256));
const statBytes = new Uint8Array(stat.buffer);
const errorNumber = new Int32Array(1);
/** The empty name. */
export const empty = new Uint8Array(1);

/** Loads the library, once. */
export function loadLibc(path: string) {
  if (libc) return;
  libraryPath = path;
  libc = Deno.dlopen(path, SYMBOLS).symbols;
  errno = libc.__errno_location()!;
}

/** Opens an entry, never through a link. `otherwise` is the fault when the entry is of another kind than the flags want. */
export function open(parent: number, name: Uint8Array<ArrayBuffer>, flags: number, otherwise?: DiskFault): number {
  const fd = libc.openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC, 0);
  if (fd < 0) throw failure(otherwise);
  return fd;
}

/** Facts of an entry; `undefined` when there is none of that name. */
export function factsOf(fd: number, name: Uint8Array<ArrayBuffer>, flags: number): Facts | undefined {
  if (libc.statx(SYS_STATX, fd, name, flags, STATX_BASIC, statBytes) < 0) {
    if (code() === E.NOENT) return undefined;
    throw failure();
  }
  const mode = stat.getUint16(28, true);
  const type = mode & 0o170000;
  return {
    kind: type === 0o100000 ? "file" : type === 0o040000 ? "dir" : type === 0o120000 ? "link" : "other",
    size: wide(40),
    // Signed: times before 1970 exist.
    modified: (stat.getInt32(116, true) * 2 ** 32 + stat.getUint32(112, true)) * 1000 + stat.getUint32(120, true) / 1e6,
    mode: mode & 0o7777,
    dev: device(stat.getUint32(136, true), stat.getUint32(140, true)),
    ino: wide(32),
  };
}

/** Whose an opened entry is, and how many names it has. */
export function holdersOf(fd: number): { links: number; uid: number; gid: number } {
  if (libc.statx(SYS_STATX, fd, empty, AT_EMPTY_PATH, STATX_BASIC, statBytes) < 0) throw failure();
  return { links: stat.getUint32(16, true), uid: stat.getUint32(20, true), gid: stat.getUint32(24, true) };
}

/** What decides whether an entry may be changed, beside the rights that its mode and lists give. */
export interface Guards {
  uid: number;
  isSticky: boolean;
  isImmutable: boolean;
  isAppendOnly: boolean;
  /** Something is mounted on it. */
  isMount: boolean;
}

/** Of an entry, or of an opened one by the empty name. File systems without such attributes have none set. */
export function guardsOf(fd: number, name: Uint8Array<ArrayBuffer>): Guards {
  const flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH;
  if (libc.statx(SYS_STATX, fd, name, flags, STATX_BASIC, statBytes) < 0) throw failure();
  const attributes = stat.getUint32(8, true);
  return {
    uid: stat.getUint32(20, true),
    isSticky: (stat.getUint16(28, true) & 0o1000) !== 0,
    isImmutable: (attributes & 0x10) !== 0,
    isAppendOnly: (attributes & 0x20) !== 0,
    isMount: (attributes & 0x2000) !== 0,
  };
}

/**
 * The number of the error with which the system denies these rights (`W_OK`, `X_OK`) to an entry, or 0. Its lists, and mounts that are
 * read-only, are minded.
 */
export function accessError(fd: number, name: Uint8Array<ArrayBuffer>, rights: number): number {
  if (libc.statx(SYS_FACCESSAT2, fd, name, rights, AT_EACCESS | AT_SYMLINK_NOFOLLOW, statBytes) >= 0) return 0;
  const number = code();
  // Before Linux 5.8, and in containers that know no such call, by the real account, which is ours.
  if (number !== E.NOSYS && number !== E.PERM) return number;
  return libc.statx(SYS_FACCESSAT, fd, name, rights, 0, statBytes) >= 0 ? 0 : code();
}

/** Whether an opened entry lies on what is mounted read-only. */
export function isReadOnly(fd: number): boolean {
  if (libc.getdents64(SYS_FSTATFS, fd, statBytes, 0) < 0) throw failure();
  return (stat.getUint32(80, true) & ST_RDONLY) !== 0;
}

/** The account that this process acts for. */
export function account(): number {
  return libc.getdents64(SYS_GETEUID, 0, empty, 0) >>> 0;
}

/** The device number as `stat` puts it together, so that it equals what `Deno.statSync` tells. */
function device(major: number, minor: number): number {
  return (major >>> 12) * 2 ** 44 + (minor >>> 8) * 2 ** 20 + (major & 0xfff) * 256 + (minor & 0xff);
}

function wide(offset: number): number {
  return stat.getUint32(offset + 4, true) * 2 ** 32 + stat.getUint32(offset, true);
}

/** A name, NUL-terminated, in the one buffer for names. */
export function encode(name: string): Uint8Array<ArrayBuffer> {
  // Most names are short and ASCII: so 0.04 µs each, by the encoder 0.10 (measured).
  let i = 0;
  if (name.length < 256) {
    for (let unit; i < name.length && (unit = name.charCodeAt(i)) < 0x80; i++) name_[i] = unit;
  }
  if (i === name.length) {
    name_[i] = 0;
    return name_;
  }
  const { read, written } = encoder.encodeInto(name, nameWithoutNul);
  if (read < name.length) throw systemError("ENAMETOOLONG");
  name_[written] = 0;
  return name_;
}

/** Text, NUL-terminated, in a buffer of its own. */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text + "\0");
}

/** The number of the last call's error. */
export function code(): number {
  libc.memcpy(errorNumber, errno, 4n);
  return errorNumber[0];
}

/** The last call's error. `otherwise` stands for those by which the system says that an entry is of another kind. */
export function failure(otherwise?: DiskFault): DiskError {
  return failureOf(code(), otherwise);
}

/** What the number of an error means. */
export function failureOf(number: number, otherwise?: DiskFault): DiskError {
  if (otherwise === "replaced" && (number === E.NOENT || number === E.STALE)) {
    return new DiskError("replaced", "there is nothing here");
  }
  return systemError(CODES.get(number) ?? `error ${number}`, otherwise);
}

/** The handle of an opened folder or file of this disk. @throws {TypeError} for one of another disk. */
export function handleOf(opened: object): number {
  const { handle } = opened as { handle?: number };
  if (handle === undefined) throw new TypeError("opened by another disk");
  return handle;
}
