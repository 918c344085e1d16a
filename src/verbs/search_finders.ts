/**
 * The two ways of looking through a text: here, in linear time, or by the sealed process, for patterns that may run away.
 *
 * Spec: 2-verbs §2.10 (bounded); design, "What may run away runs in its own process".
 */
import type { Matcher } from "../text/patterns.ts";
import { type OnHit, scan } from "../text/scan.ts";
import type { Call } from "./verb.ts";

/** What a finder could not do. */
export interface Unfound {
  /** Starts of lines that were not decided. */
  undecided: readonly number[];
  /** Start of the line from which on nothing was searched. */
  stoppedAt?: number;
}

/**
 * Tells each line of a text that matches, as `scan` does.
 * @param most Told no more hits than this are wanted, where that is known.
 */
export type Finder = (text: string, onHit: OnHit, most?: number) => Unfound | undefined;

/** Bytes of a file that are handed to the sealed process at a time. */
export const RISKY_PIECE = 4 * 1024 * 1024;

/** Here. `pulse` is passed now and then while a text is looked through. */
export function linearFinder(matcher: Matcher, pulse: () => void): Finder {
  return (text, onHit) => {
    scan(text, matcher, onHit, pulse);
    return undefined;
  };
}

/** By the sealed process, through the main process. */
export function riskyFinder(matcher: Matcher, call: Call): Finder {
  const encoder = new TextEncoder();
  return (text, onHit, most) => {
    if (text === "") return undefined;
    const { header, body } = call.ask("patterns", { matcher, most }, encoder.encode(text));
    if (typeof header.failed === "string") throw new Error(header.failed);
    const hits = new Uint32Array(body.slice().buffer);
    for (let i = 0; i < hits.length; i += 4) {
      if (onHit(hits[i], hits[i + 1], hits[i + 2], hits[i + 3]) === false) break;
    }
    return { undecided: header.undecided as number[], stoppedAt: header.stoppedAt as number | undefined };
  };
}
