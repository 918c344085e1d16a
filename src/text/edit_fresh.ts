/** Whether a file is still the one that its editor saw. Spec: 2-verbs §2.12, §2.13; 3-documents-and-archives §3.1.4. */
import { Refusal } from "../refusal.ts";

/**
 * Holds a file to the hash that its editor saw.
 *
 * @param hash Of the bytes on disk, in lower-case hexadecimal.
 * @param expect As the caller gave it, in any case of letters; `undefined` when none was given.
 * @param mayRead Whether the caller may read the file: a hash tells whoever can guess what is in it.
 * @throws {Refusal} `stale` when they differ. Spec: 2-verbs §2.13; 3-documents-and-archives §3.1.4.
 */
export function demandFresh(hash: string, expect: string | undefined, mayRead: boolean, path?: string): void {
  if (expect === undefined || expect.toLowerCase() === hash) return;
  throw new Refusal(
    "stale",
    `the file is not the one whose hash was given${
      mayRead ? `: it now has ${hash}` : ""
    }; read it again before changing it`,
    path,
  );
}
