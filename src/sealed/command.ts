/** How a sealed process is started. */
import { SEALED_MODE } from "./name.ts";

/** A program, its arguments, and all of its environment. */
export interface SealedCommand {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** What a sealed process of this program needs to be told. */
export interface SealedCommandOptions {
  /** The flag `--v8-flags=…` of every launcher. */
  v8Flags: string;
  /** MiB that V8's heap may grow to; 768 unless stated. What lies outside it is left to the owner, who polls. */
  heap?: number;
  /** The C library, where the process is to enter a kernel fence. */
  libc?: string;
  /** Variables that the runtime needs to find its own files. */
  env: Record<string, string>;
  /** The module to run; that of this program unless stated. */
  main?: string;
}

/**
 * The command of a sealed process where the executable is a Deno runtime: no permission from the start but, where given, that of loading
 * the C library. In a compiled program, whose flags are fixed, only the mode is passed.
 */
export function sealedCommand(
  { v8Flags, heap = 768, libc, env, main = Deno.mainModule }: SealedCommandOptions,
): SealedCommand {
  const command = Deno.execPath();
  if (Deno.build.standalone) return { command, args: [SEALED_MODE, ...libc === undefined ? [] : [libc]], env };
  const args = [
    "run",
    "--quiet",
    "--cached-only",
    "--no-prompt",
    // Some hosts are allowed unless this is said, and giving up the permission does not change that.
    "--deny-import",
    // Without it the runtime ends the process where it tries whether a worker gets rights.
    "--unstable-worker-options",
    // A bundle finds nothing by a configuration, and must not take up one that lies above it; the sources need theirs.
    ...main.endsWith(".ts") ? [] : ["--no-config"],
    `${v8Flags},--max-old-space-size=${heap}`,
    ...libc === undefined ? [] : [`--allow-ffi=${libc.replaceAll(",", ",,")}`],
    main,
    SEALED_MODE,
    // The process may look for no file, so it is told where the library lies.
    ...libc === undefined ? [] : [libc],
  ];
  return { command, args, env };
}
