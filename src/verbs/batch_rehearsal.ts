/**
 * A dry run of several changes: each is judged as the ones before it would leave the disk. Spec: 2-verbs §2.23.
 */
import { Overlay } from "../disk/overlay.ts";
import type { Answer, EngineSide, Work } from "./verb.ts";

/** Operations that follow each other in memory; nothing of them reaches the disk. */
export class Rehearsal {
  readonly #dry: EngineSide;
  /** Here nothing is told of changes, since none happens. */
  readonly #muted: EngineSide;

  constructor(side: EngineSide) {
    const { call, survey } = side;
    this.#dry = { ...side, disk: new Overlay(side.disk, survey.boundary.names) };
    this.#muted = {
      ...this.#dry,
      call: {
        pulse: () => call.pulse(),
        progress() {},
        changed() {},
        ask: (job, header, body) => call.ask(job, header, body),
      },
    };
  }

  /** The answer of a dry run; then the same is done in memory, where the next one finds it. @throws {Refusal} of either. */
  async run(work: Work, args: Record<string, unknown>): Promise<Answer> {
    const answer = await work.run({ ...args, dry_run: true }, this.#dry);
    await work.run({ ...args, dry_run: false }, this.#muted);
    return answer;
  }
}
