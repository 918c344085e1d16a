/**
 * What a call in the engine may ask of the main process: the sealed process, for work that may run away. Decision 41.
 */
import type { Frame } from "../frames.ts";
import { sealedCommand } from "../sealed/command.ts";
import { SealedOwner } from "../sealed/owner.ts";
import { type Matcher, RISKY_LIMITS, type RiskyHits, RiskySearch } from "../sealed/patterns.ts";
import { findLibc } from "../fence/libc.ts";
import { runtimeEnvironment } from "./environment.ts";
import { moduleOf } from "./program_files.ts";
import { V8_FLAGS } from "./v8_flags.ts";

/** The sealed process of this program: started by the first job, kept for the next. */
export function openSealed(): SealedOwner {
  return new SealedOwner({
    command: () =>
      sealedCommand({ v8Flags: V8_FLAGS, libc: findLibc(), env: runtimeEnvironment(), main: moduleOf("sealed") }),
  });
}

/** Answers what one call asks. Limits hold over the whole call. */
export class Asked {
  #search: RiskySearch | undefined;

  constructor(readonly sealed: SealedOwner, readonly signal: AbortSignal | undefined, readonly patience: number) {}

  /** Never rejects: what went wrong is told as `failed`, and the verb decides what that means. */
  async answer(
    job: string,
    header: Record<string, unknown>,
    body: Uint8Array,
  ): Promise<Frame<Record<string, unknown>>> {
    try {
      if (job !== "patterns") return failed(`no such job: ${job}`);
      this.#search ??= new RiskySearch(this.sealed, header.matcher as Matcher, {
        // Tests shorten the patience, and these with it.
        line: Math.min(RISKY_LIMITS.line, this.patience / 4),
        call: Math.min(RISKY_LIMITS.call, this.patience),
      });
      const most = header.most as number | undefined;
      const found = await this.#search.search(body, this.signal, most);
      return this.signal?.aborted ? CANCELLED : toFrame(found);
    } catch (error) {
      return failed(error instanceof Error ? error.message : "unknown");
    }
  }
}

const CANCELLED: Frame<Record<string, unknown>> = { header: { cancelled: true }, body: new Uint8Array() };

function toFrame({ hits, undecided, stoppedAt }: RiskyHits): Frame<Record<string, unknown>> {
  return { header: { undecided, stoppedAt }, body: new Uint8Array(hits.buffer, hits.byteOffset, hits.byteLength) };
}

function failed(why: string): Frame<Record<string, unknown>> {
  return { header: { failed: why }, body: new Uint8Array() };
}
