/** SHA-256 of a file while it streams by. Spec: 3-documents-and-archives §3.1.4. */
import { sha256 } from "@noble/hashes/sha2.js";

/** Takes bytes in order, then gives 64 lower-case hexadecimal digits. */
export interface Hasher {
  update(bytes: Uint8Array): unknown;
  digest(): string | Promise<string>;
}

/** Up to this size the bytes are kept and hashed at once: loading the streaming hash costs 15 ms, more than all else of a small read. */
const KEPT = 256 * 1024;

/**
 * Up to this size they are hashed on this thread: 7 µs for each 1,024 bytes, where the runtime's own hash takes 3, but 150 µs to be
 * woken again by the thread that computes it (measured).
 */
const SMALL = 32 * 1024;

/** A hasher for a file of this many bytes, or fewer. */
export async function openHasher(size: number): Promise<Hasher> {
  if (size <= KEPT) return new WholeHasher(size);
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256");
  return { update: (bytes) => hash.update(bytes), digest: () => hash.digest("hex") };
}

class WholeHasher implements Hasher {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #held = 0;

  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
  }

  update(bytes: Uint8Array) {
    this.#bytes.set(bytes, this.#held);
    this.#held += bytes.length;
  }

  digest(): string | Promise<string> {
    const bytes = this.#bytes.subarray(0, this.#held);
    if (bytes.length <= SMALL) return hex(sha256(bytes));
    return crypto.subtle.digest("SHA-256", bytes).then((digest) => hex(new Uint8Array(digest)));
  }
}

function hex(digest: Uint8Array): string {
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The part of the module that is used. */
interface Crypto {
  createHash(name: "sha256"): { update(bytes: Uint8Array): unknown; digest(form: "hex"): string };
}

/** Up to this many bytes the runtime's streaming hash costs more to load than it saves. */
const LOADED = 1024 * 1024;

/** The hash of a content that is whole in memory, at once. */
export function hashOf(bytes: Uint8Array): string {
  return bytes.length <= LOADED ? hex(sha256(bytes)) : hashOfPieces([bytes]);
}

/** The hash of a large content that comes in pieces. */
export function hashOfPieces(pieces: Iterable<Uint8Array>): string {
  // By the global: importing `node:process` costs 20 ms of every start (measured).
  const { process } = globalThis as unknown as { process: { getBuiltinModule(name: "node:crypto"): Crypto } };
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}
