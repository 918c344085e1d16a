/**
 * Searching a text with patterns that may run away: line by line in a sealed process, which is killed where a line takes too long.
 *
 * The process reports how far it is only every few milliseconds. So after a kill the lines behind the last report are gone through again
 * with a report before each, until the one that is stuck is known; then the search goes on behind it.
 * Spec: 2-verbs §2.7, §2.10; decisions 22 and 60.
 */
import type { Matcher } from "../text/patterns.ts";
import type { SealedAnswer, SealedOwner } from "./owner.ts";
import type { LinesReport, LinesRequest } from "./patterns_job.ts";

export type { Matcher } from "../text/patterns.ts";

/** Milliseconds. */
export interface RiskyLimits {
  /** For one line; then it is undecided. */
  line: number;
  /** That may go into undecided lines, over all texts that one `RiskySearch` is given. */
  call: number;
}

/** The limits of the spec. */
export const RISKY_LIMITS: RiskyLimits = { line: 2000, call: 20_000 };

/** What was found in one text; all offsets in UTF-16 units of the decoded text. */
export interface RiskyHits {
  /** Quadruples: start and end of the line without its ending, start and end of the match. In order, one for each line that matches. */
  hits: Uint32Array;
  /** Starts of the lines that were not decided. */
  undecided: number[];
  /** Start of the line from which on nothing was searched: the budget was used up, or the signal came. */
  stoppedAt?: number;
}

/** After a line that was stuck so many lines are reported one by one: such lines seldom come alone. Costs 5 ms. */
const NEIGHBOURS = 1000;
/** Lines between two reports, at most: the time between them is far shorter than this many calls of an expression. */
const SUSPECTS = 100_000;
/** A line that has been stuck before is known again after this part of its time. */
const KNOWN_AGAIN = 4;

/** One search over any number of texts. Owns nothing: the process belongs to the owner. */
export class RiskySearch {
  readonly #owner: SealedOwner;
  readonly #expressions: LinesRequest["expressions"];
  readonly #limits: RiskyLimits;
  #spent = 0;

  /** @param matcher Patterns of which `linear` is false; others are searched for just as well, but slowly. */
  constructor(owner: SealedOwner, matcher: Matcher, limits: RiskyLimits = RISKY_LIMITS) {
    this.#owner = owner;
    this.#expressions = matcher.expressions;
    this.#limits = limits;
  }

  /**
   * Finds the lines that match, each at the earliest column that any pattern matches.
   *
   * @param text Whole lines in UTF-8, which must be valid. A BOM counts as text.
   * @param mostHits Ends at this many.
   * @throws {Error} when a sealed process cannot be started, or the text is not UTF-8.
   */
  async search(text: Uint8Array, signal?: AbortSignal, mostHits = Infinity): Promise<RiskyHits> {
    const found = new Found();
    const place = new Place(text);
    let way: Way = "ordinary";
    let failures = 0;
    while (place.byte < text.length) {
      if (this.#spent >= this.#limits.call || signal?.aborted) return found.result(place.unit);
      const base = place.unit;
      const run = await this.#run(
        place.rest(),
        way,
        mostHits - found.count,
        (report, body) => found.add(base, report, body),
        signal,
      );
      const { answer, last } = run;
      if (answer.ok) {
        if (last!.done) return found.result();
        place.moveTo(base + last!.at);
        way = "ordinary";
      } else if (answer.why === "cancelled") {
        return found.result(base + (last?.at ?? 0));
      } else if (!last) {
        if (++failures > 1) throw new Error(`the sealed process fails before it searches: ${answer.why}`);
      } else {
        failures = 0;
        place.moveTo(base + last.at);
        if (last.exact) {
          found.undecided.push(place.unit);
          place.skipLine();
        }
        way = last.exact ? "neighbours" : "suspects";
      }
      if (found.count >= mostHits) return found.result();
    }
    return found.result();
  }

  async #run(
    text: Uint8Array,
    way: Way,
    mostHits: number,
    take: (report: LinesReport, body: Uint8Array) => void,
    signal?: AbortSignal,
  ): Promise<{ answer: SealedAnswer; last?: LinesReport }> {
    const { line, call } = this.#limits;
    const request: LinesRequest = {
      expressions: this.#expressions,
      exact: way === "ordinary" ? 0 : way === "suspects" ? SUSPECTS : NEIGHBOURS,
      pause: way === "suspects",
      mostHits: mostHits === Infinity ? undefined : mostHits,
      budget: call - this.#spent,
    };
    let heard = performance.now();
    let last: LinesReport | undefined;
    // Waiting for other searches' jobs is nobody's cost.
    const onBegin = () => {
      heard = performance.now();
    };
    const onProgress = (header: Record<string, unknown>, body: Uint8Array) => {
      heard = performance.now();
      last = checked(header, body.length, text.length, last?.at ?? 0);
      this.#spent += last.spent;
      take(last, body);
    };
    const answer = await this.#owner.run(
      { name: "patterns", header: { ...request }, body: text, onBegin, onProgress },
      {
        silence: way === "suspects" ? Math.ceil(line / KNOWN_AGAIN) : line,
        total: Infinity,
        // A hit takes 16 bytes, and a line at least one.
        mostOutput: 16 * (text.length + 1),
      },
      signal,
    );
    if (answer.ok) {
      try {
        onProgress(answer.header, answer.body);
      } catch {
        return { answer: { ok: false, why: "garbage" }, last };
      }
    } else if (last && answer.why !== "cancelled") this.#spent += performance.now() - heard;
    return { answer, last };
  }
}

/** A report as it should be: its process has seen hostile text. @throws {Error} */
function checked(header: Record<string, unknown>, bytes: number, length: number, before: number): LinesReport {
  const { at, exact, undecided, spent, done } = header;
  const isOffset = (value: unknown) => Number.isInteger(value) && value as number >= 0 && value as number <= length;
  if (
    !isOffset(at) || at as number < before || typeof exact !== "boolean" || typeof done !== "boolean" ||
    !Number.isFinite(spent) || !Array.isArray(undecided) || !undecided.every(isOffset) || bytes % 16 !== 0
  ) throw new Error("no report");
  return header as unknown as LinesReport;
}

/** How the next lines are gone through: reports now and then, before each until the stuck one is known, before each of the next few. */
type Way = "ordinary" | "suspects" | "neighbours";

/** What has been found so far. */
class Found {
  count = 0;
  readonly undecided: number[] = [];
  readonly #pieces: Uint32Array[] = [];

  add(base: number, report: LinesReport, body: Uint8Array): void {
    for (const start of report.undecided) this.undecided.push(base + start);
    if (body.length === 0) return;
    const piece = new Uint32Array(body.slice().buffer);
    for (let i = 0; i < piece.length; i++) piece[i] += base;
    this.#pieces.push(piece);
    this.count += piece.length / 4;
  }

  result(stoppedAt?: number): RiskyHits {
    const hits = new Uint32Array(this.count * 4);
    let at = 0;
    for (const piece of this.#pieces) {
      hits.set(piece, at);
      at += piece.length;
    }
    return { hits, undecided: this.undecided, ...stoppedAt === undefined ? {} : { stoppedAt } };
  }
}

const LF = 0x0a;
const CR = 0x0d;

/** A place in a text, in bytes and in UTF-16 units; it only goes forward. */
class Place {
  byte = 0;
  unit = 0;
  readonly #text: Uint8Array;

  constructor(text: Uint8Array) {
    this.#text = text;
  }

  rest(): Uint8Array {
    return this.#text.subarray(this.byte);
  }

  moveTo(unit: number): void {
    while (this.unit < unit) this.#step();
    // The rest of a character whose first byte was counted.
    while ((this.#text[this.byte] & 0xc0) === 0x80) this.byte++;
  }

  /** Goes behind the ending of the line. */
  skipLine(): void {
    const text = this.#text;
    while (this.byte < text.length && text[this.byte] !== LF && text[this.byte] !== CR) this.#step();
    if (this.byte >= text.length) return;
    this.#step();
    if (text[this.byte - 1] === CR && text[this.byte] === LF) this.#step();
  }

  /** One byte on. A character counts at its first byte; those of four bytes are two units. */
  #step(): void {
    const first = this.#text[this.byte++];
    if ((first & 0xc0) !== 0x80) this.unit += first >= 0xf0 ? 2 : 1;
  }
}
