/** What the main process and the engine say to each other. */
import type { Boundary } from "../boundary/types.ts";
import type { Outcome } from "../refusal.ts";
import type { Form } from "../verbs/verb.ts";

/** The word in `argv` that makes the program the engine. Not a verb: nobody types it. */
export const ENGINE_MODE = "__engine";

/** The first frame to a new engine. */
export interface Opening {
  boundary: Boundary;
  /** The C library for the descriptor implementation; without it path names are used. */
  libc?: string;
  /** The folders that the process may read; absent where it could be given no flags. */
  fenced?: readonly string[];
}

export interface Request {
  id: number;
  verb: string;
  args: Record<string, unknown>;
  form: Form;
}

/** The engine's answer to its opening: `id` 0. */
export interface Opened {
  id: 0;
  disk?: "descriptor" | "pathname";
  /** The process fence was tried and holds. */
  process?: boolean;
  /** Something that the process fence should forbid and does not. */
  breach?: string;
  /** A tree's folder is not the one that the boundary names: look again and start another engine. */
  replaced?: string;
}

/** An answer; its body is the rendered text. */
export interface Response {
  id: number;
  outcome: Outcome;
  images?: readonly { mimeType: string; data: string }[];
}
