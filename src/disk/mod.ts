/** Chooses the implementation. */
import type { Boundary } from "../boundary/types.ts";
import { openDescriptorDisk } from "./descriptor_linux.ts";
import type { Disk } from "./disk.ts";
import { openPathnameDisk } from "./pathname.ts";

/** Pinned handles where the C library was found, path names elsewhere. @throws {DiskError} `replaced`. */
export function openDisk(boundary: Boundary, libc: string | undefined): Disk {
  return libc === undefined ? openPathnameDisk(boundary) : openDescriptorDisk(boundary, libc);
}
