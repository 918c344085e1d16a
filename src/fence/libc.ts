/** Where the C library lies that this program is linked with. Asked by the main process; the engine may load only this file. */

const PLACES: Readonly<Record<string, readonly string[]>> = {
  x86_64: [
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/usr/lib/x86_64-linux-gnu/libc.so.6",
    "/lib64/libc.so.6",
    "/usr/lib64/libc.so.6",
    "/usr/lib/libc.so.6",
    "/lib/ld-musl-x86_64.so.1",
  ],
  aarch64: [
    "/lib/aarch64-linux-gnu/libc.so.6",
    "/usr/lib/aarch64-linux-gnu/libc.so.6",
    "/lib64/libc.so.6",
    "/usr/lib64/libc.so.6",
    "/usr/lib/libc.so.6",
    "/lib/ld-musl-aarch64.so.1",
  ],
};

/** The path of libc on Linux; `undefined` elsewhere and where it is at none of the usual places (then path names are used). */
export function findLibc(): string | undefined {
  if (Deno.build.os !== "linux") return undefined;
  return PLACES[Deno.build.arch]?.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}
