/** What a detector found in a text, and which of overlapping matches are kept. */

/** A secret in a text. `secret` is what is compared with the old text; it leaves this room in no form. */
export interface Match {
  /** The name that a refusal gives. */
  readonly detector: string;
  /** Where the secret begins and ends, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly secret: string;
}

/** Finds the secrets of one kind, in order and none overlapping another, in whole lines of text. */
export type Detector = (text: string) => Match[];

/** The matches in order, without those that overlap an earlier one. */
export function disjoint(matches: readonly Match[]): Match[] {
  const kept: Match[] = [];
  let end = 0;
  for (const match of matches.toSorted(byStart)) {
    if (match.start < end) continue;
    kept.push(match);
    end = match.end;
  }
  return kept;
}

/** `kept`, and of `more` what overlaps none of it; in order. Within each nothing overlaps, so two fingers do. */
export function joined(kept: readonly Match[], more: readonly Match[]): Match[] {
  if (kept.length === 0) return [...more];
  const all = [...kept];
  let at = 0;
  for (const match of more) {
    while (at < kept.length && kept[at].end <= match.start) at++;
    if (at === kept.length || match.end <= kept[at].start) all.push(match);
  }
  return all.sort(byStart);
}

function byStart(a: Match, b: Match): number {
  return a.start - b.start;
}
