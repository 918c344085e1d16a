/** SHA-256 of a file while it streams by. Spec: 3-documents-and-archives §3.1.4. */

/** Takes bytes in order, then gives 64 lower-case hexadecimal digits. */
export interface Hasher {
  update(bytes: Uint8Array): unknown;
  digest(): Promise<string>;
}

/** Up to this size the bytes are kept and hashed at once: loading the streaming hash costs 15 ms, more than all else of a small read. */
const KEPT = 256 * 1024;

/** A hasher for a file of this many bytes, or fewer. */
export async function openHasher(size: number): Promise<Hasher> {
  if (size <= KEPT) return new WholeHasher(size);
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256");
  return { update: (bytes) => hash.update(bytes), digest: () => Promise.resolve(hash.digest("hex")) };
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

  async digest(): Promise<string> {
    const digest = await crypto.subtle.digest("SHA-256", this.#bytes.subarray(0, this.#held));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}
