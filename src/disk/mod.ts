/** Chooses the implementation. */
import type { Boundary } from "../boundary/types.ts";
import type { Disk } from "./disk.ts";

/**
 * Pinned handles where the C library was found, path names elsewhere. Only the one that is chosen is loaded.
 * @throws {DiskError} `replaced`.
 */
export async function openDisk(boundary: Boundary, libc: string | undefined): Promise<Disk> {
  if (libc === undefined) return (await import("./pathname.ts")).openPathnameDisk(boundary);
  return (await import("./descriptor_linux.ts")).openDescriptorDisk(boundary, libc);
}
