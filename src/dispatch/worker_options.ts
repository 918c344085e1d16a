/** How every worker of the engine is started. */
import type { Opening } from "./protocol.ts";

/**
 * A compiled program's process has no flags, so its workers get the list; it takes no folders to be denied. Where there are flags the
 * workers have them, denied folders and all: a list beside those counts as asking for more (measured).
 */
export function workerOptions({ read, write, program, libc, fenced }: Opening): WorkerOptions {
  return {
    type: "module",
    deno: {
      permissions: {
        read: fenced ? "inherit" : [...read, ...program],
        ffi: fenced ? "inherit" : libc === undefined ? false : [libc],
        write: fenced ? "inherit" : [...write],
        net: false,
        run: false,
        env: false,
        sys: false,
        import: false,
      },
    },
  } as WorkerOptions;
}
