/** Where the configuration file is, and whether it may be believed. Spec: 1-boundary §1.12.1. */
import { Refusal } from "../refusal.ts";
import { unreadable } from "./disk_errors.ts";
import type { Facts, System } from "./system.ts";
import { below } from "./folders.ts";
import { parentOf } from "./written_path.ts";

/** The name of a configuration file. */
export const FILE_NAME = ".fettler.json";

/** The name of the overlay beside it. */
export const OVERLAY_NAME = ".fettler.local.json";

/**
 * The nearest `.fettler.json`, from a folder upwards; `undefined` where none stands up to the root.
 *
 * @throws {Refusal} See `fileIn`: a file that is in the way ends the walk, it is never passed over.
 */
export function discover(folder: string, system: System): string | undefined {
  for (let at = folder;; at = parentOf(at, system.names)) {
    const file = fileIn(at, system);
    if (file || parentOf(at, system.names) === at) return file;
  }
}

/**
 * The `.fettler.json` of one folder, if it has one. Whether it can be read shows when it is.
 *
 * @throws {Refusal} `invalid` for an overlay that stands alone and for what is no regular file; `denied` where the system
 * does not let us look.
 */
export function fileIn(folder: string, system: System): string | undefined {
  const file = below(folder, FILE_NAME, system.names);
  if (entryAt(file, system)) return file;
  const overlay = below(folder, OVERLAY_NAME, system.names);
  if (!entryAt(overlay, system)) return undefined;
  throw new Refusal(
    "invalid",
    `${overlay} stands without a ${FILE_NAME} beside it; an overlay only adds to that file. Make the file, or remove the overlay`,
  );
}

/** The overlay beside a configuration file, there or not; `undefined` for a file that bears the overlay's name itself. */
export function overlayOf(file: string, system: System): string | undefined {
  const overlay = below(parentOf(file, system.names), OVERLAY_NAME, system.names);
  return overlay === file ? undefined : overlay;
}

/**
 * Reads a file that is in force.
 *
 * @param trusted Whether a person named the file: then whose it is does not matter.
 * @returns `undefined` when nothing is there.
 * @throws {Refusal} `invalid` for what is no regular file, and for a file of another account in a folder that everyone may
 * write; `denied` where the system refuses to read it.
 */
export function readInForce(file: string, system: System, trusted: boolean): Uint8Array | undefined {
  const entry = entryAt(file, system);
  if (!entry) return undefined;
  try {
    const facts = entry.isSymlink ? system.stat(file) : entry;
    if (!facts.isFile) {
      throw new Refusal("invalid", `${file} is no regular file; a configuration is read from a file only`);
    }
    if (!trusted) refuseForeign(file, [entry, facts], system);
    if (facts.size > MOST_BYTES) {
      throw new Refusal("invalid", `${file} has ${facts.size} bytes; no configuration is larger than ${MOST_BYTES}`);
    }
    return system.readFile(file);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (entry.isSymlink && (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.FilesystemLoop)) {
      throw new Refusal("invalid", `${file} is a link that leads nowhere; mend the link or remove it`);
    }
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw unreadable(file, error);
  }
}

/** A configuration is written by hand; what is larger is something else. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The entry itself, a link not followed. Only "no such entry" counts as nothing there. */
function entryAt(path: string, system: System): Facts | undefined {
  try {
    return system.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw unreadable(path, error);
  }
}

/** Anyone could have put it there: in `/tmp`, say, above a folder that a program works in. */
function refuseForeign(file: string, entries: readonly Facts[], system: System): void {
  const caller = system.uid();
  if (caller === null) return;
  if (entries.every(({ uid }) => uid === caller || uid === 0)) return;
  const folder = system.stat(parentOf(file, system.names));
  if (((folder.mode ?? 0) & 0o002) === 0) return;
  throw new Refusal(
    "invalid",
    `${file} belongs to another account and lies in a folder that everyone may write, so anyone may have put it there; ` +
      `if it is meant, name it: --config ${file}`,
  );
}
