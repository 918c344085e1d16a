/**
 * Places whose answers have to be screened. This release has no screen to run, so nothing leaves such a place: a screen that cannot
 * run refuses. Spec: 6-screens §6.1; 2-verbs §2.5 (13).
 */
import { absoluteOf, type Location } from "../boundary/locate.ts";
import type { Survey } from "../boundary/survey.ts";
import { Refusal } from "../refusal.ts";

/** @throws {Refusal} `screened` when a screen is asked for at this real location. */
export function demandUnscreened(survey: Survey, real: Location): void {
  if (survey.screen(absoluteOf(survey.boundary, real)).length === 0) return;
  throw new Refusal(
    "screened",
    "the configuration asks for a disclosure screen here, and this release cannot run one, so no content is served; " +
      "a person can take the screen off in the configuration",
  );
}
