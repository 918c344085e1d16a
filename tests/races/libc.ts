/** The few calls of the C library that an attacker needs and that Deno does not offer. Linux only. */
import { findLibc } from "../../src/fence/libc.ts";

const SYS_RENAMEAT2 = Deno.build.arch === "aarch64" ? 276 : 316;
const O_DIRECTORY = Deno.build.arch === "aarch64" ? 0x4000 : 0x10000;
const O_WRONLY = 1;
const O_NONBLOCK = 0x800;
const O_CLOEXEC = 0x80000;
const SEEK_CUR = 1;
const AT_FDCWD = -100;
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;
const S_IFIFO = 0o010000;
const S_IFSOCK = 0o140000;

const encoder = new TextEncoder();

/** A NUL-terminated string as libc takes it. */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text + "\0");
}

export interface Libc {
  /** A handle on a folder that stays on it, wherever it is moved. */
  openFolder(path: string): number;
  /** Exchanges two entries in one step. Returns a negative number on failure. */
  exchange(folder: number, name: Uint8Array<ArrayBuffer>, other: number, otherName: Uint8Array<ArrayBuffer>): number;
  /** Moves an entry to a name that nothing bears. Returns a negative number on failure. */
  move(folder: number, name: Uint8Array<ArrayBuffer>, other: number, otherName: Uint8Array<ArrayBuffer>): number;
  makeFifo(path: string): void;
  /** A socket's entry in the folder; nobody listens. */
  makeSocket(path: string): void;
  /** Whether somebody is blocked in opening this FIFO for reading; then that call is let go. */
  freeReader(path: string): boolean;
}

/** `undefined` where the C library is at none of the usual places. */
export function loadLibc(): Libc | undefined {
  const path = findLibc();
  if (!path) return undefined;
  const { symbols } = Deno.dlopen(path, {
    // `syscall`, since not every C library wraps renameat2.
    renameat2: { name: "syscall", parameters: ["u32", "i32", "buffer", "i32", "buffer", "u32"], result: "i32" },
    openat: { parameters: ["i32", "buffer", "i32", "i32"], result: "i32" },
    close: { parameters: ["i32"], result: "i32" },
    lseek: { parameters: ["i32", "i64", "i32"], result: "i64" },
    mknodat: { parameters: ["i32", "buffer", "u32", "u64"], result: "i32" },
  });
  const make = (at: string, type: number) => {
    if (symbols.mknodat(AT_FDCWD, cString(at), type | 0o644, 0n) < 0) throw new Error(`cannot make ${at}`);
  };
  return {
    openFolder(path) {
      const fd = symbols.openat(AT_FDCWD, cString(path), O_DIRECTORY | O_CLOEXEC, 0);
      if (fd < 0) throw new Error(`cannot open ${path}`);
      return fd;
    },
    exchange: (folder, name, other, otherName) =>
      symbols.renameat2(SYS_RENAMEAT2, folder, name, other, otherName, RENAME_EXCHANGE),
    move: (folder, name, other, otherName) =>
      symbols.renameat2(SYS_RENAMEAT2, folder, name, other, otherName, RENAME_NOREPLACE),
    makeFifo: (at) => make(at, S_IFIFO),
    makeSocket: (at) => make(at, S_IFSOCK),
    freeReader(path) {
      // The system declines a FIFO without a reader, a folder and a socket; a position has only a regular file.
      const fd = symbols.openat(AT_FDCWD, cString(path), O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
      if (fd < 0) return false;
      const fifo = symbols.lseek(fd, 0n, SEEK_CUR) < 0n;
      symbols.close(fd);
      return fifo;
    },
  };
}
