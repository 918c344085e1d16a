/**
 * The credential net: what secrets a change would put into a file. Always on; nothing configures it. Spec: 6-screens, part one.
 *
 * It judges what the change adds. A secret that the file already holds stands in no one's way, wherever it is moved.
 * What was found never leaves this room, nor its length or column: a `Finding` is all that a caller gets.
 */
import { Refusal } from "../refusal.ts";
import type { Match } from "./match.ts";
import { secretsIn } from "./secrets.ts";
import type { Range } from "./windows.ts";

export type { Range } from "./windows.ts";

/** A file's text before and after. */
export interface Change {
  /** The file's path as answers write it. */
  readonly path: string;
  /**
   * The file's old text, decoded. `undefined` for a new file, for one whose bytes do not decode, and for one that may not be read: else a
   * write would tell whether a guessed secret stands there.
   */
  readonly before: string | undefined;
  /** The file's whole new text, decoded, with the line endings it will be stored with; whatever encoding that will be in. */
  readonly after: string;
  /**
   * Where `after` differs from `before`: every piece brought in, and an empty range where one was only taken out. Saves looking through
   * the rest, and changes no finding. Left out: anywhere.
   */
  readonly changed?: readonly Range[];
}

/** A secret that a change would add. */
export interface Finding {
  readonly path: string;
  /** The line, from 1, of the new text where the secret begins. */
  readonly line: number;
  readonly detector: string;
}

/** How the search is watched. */
export interface Watch {
  /** Called every megabyte or so, to show life and to cancel; what it throws ends the search. Default: nothing. */
  readonly pulse?: () => void;
  /** The clock, in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

/** How long a text may be looked at, in milliseconds, for each so many characters begun. */
const TIME = 1000;
const TIMED = 16 * 1024 * 1024;

/**
 * The secrets that a change adds to a file, in the order of its lines, each once.
 *
 * @example
 * ```ts
 * addedCredentials({ path: "a.env", before: undefined, after: "DB_PASSWORD=${DB_PASSWORD}\n" }); // []
 * ```
 * @throws {Refusal} `credential`, claiming no finding, when the texts cannot be looked through in time.
 */
export function addedCredentials(change: Change, watch: Watch = {}): Finding[] {
  const { path, before, after } = change;
  if (before === after) return [];
  const search = (text: string, changed?: readonly Range[]) => secretsIn(text, pacer(path, text, watch), changed);

  const found = search(after, before === undefined ? undefined : change.changed);
  if (found.length === 0) return [];
  const known = new Set(before === undefined ? [] : search(before).map(({ secret }) => secret));
  const fresh = found.filter(({ secret }) => {
    const added = !known.has(secret);
    known.add(secret);
    return added;
  });
  return findings(path, after, fresh);
}

/** Called between pieces of one text. */
function pacer(path: string, text: string, { pulse, now = () => performance.now() }: Watch): () => void {
  const limit = now() + TIME * Math.max(1, Math.ceil(text.length / TIMED));
  return () => {
    pulse?.();
    if (now() > limit) throw unchecked(path);
  };
}

function unchecked(path: string): Refusal {
  return new Refusal(
    "credential",
    "the text could not be checked for credentials in time, so it is not written; no finding is claimed. Write it in smaller parts",
    path,
  );
}

/** The matches, which are in order, with their lines in place of all else that is known of them. */
function findings(path: string, text: string, matches: readonly Match[]): Finding[] {
  let line = 1;
  let at = 0;
  return matches.map(({ detector, start }) => {
    for (; at < start; at++) {
      const unit = text.charCodeAt(at);
      if (unit === LF || (unit === CR && text.charCodeAt(at + 1) !== LF)) line++;
    }
    return { path, line, detector };
  });
}

const LF = 10;
const CR = 13;
