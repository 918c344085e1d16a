/**
 * Times as callers write them and as answers print them.
 *
 * Spec: 2-verbs §2.4 (answers), §2.9 (`--since`).
 */
import { Refusal } from "../refusal.ts";

/** A date, or a date and time with or without an offset; with separators throughout or without. */
const FORM = new RegExp(
  "^(?:" +
    "(\\d{4})-(\\d\\d)-(\\d\\d)(?:T(\\d\\d):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?(?:(Z)|([+-])(\\d\\d)(?::(\\d\\d))?)?)?" +
    "|" +
    "(\\d{4})(\\d\\d)(\\d\\d)(?:T(\\d\\d)(\\d\\d)(?:(\\d\\d)(?:[.,](\\d+))?)?(?:(Z)|([+-])(\\d\\d)(\\d\\d)?)?)?" +
    ")$",
  "i",
);

/** Groups of one of the two forms. */
const GROUPS = 11;

/** The farthest moment a `Date` can hold, in milliseconds. */
const FARTHEST = 8.64e15;

/**
 * Reads an ISO 8601 date or date and time. Without an offset it is UTC; a date alone is its first moment.
 *
 * @returns Milliseconds since 1970, with a fraction where finer digits are written.
 * @throws {Refusal} `invalid` for any other form, and for a day or hour that does not exist.
 *
 * @example
 * ```ts
 * parseTime("2026-08-12T10:05:52+02:00") === parseTime("2026-08-12T08:05:52"); // true
 * ```
 */
export function parseTime(written: string): number {
  const found = FORM.exec(written.trim());
  const groups = found?.slice(1);
  const parts = groups?.[0] !== undefined ? groups : groups?.slice(GROUPS);
  if (!parts) throw unreadable(written, "");
  const [year, month, day, hour = 0, minute = 0, second = 0] = parts.slice(0, 6).map((part) => part && Number(part));
  const digits = (parts[6] ?? "").padEnd(3, "0");
  const milliseconds = Number(`${digits.slice(0, 3)}.${digits.slice(3)}`);
  const offset = (parts[8] === "-" ? -1 : 1) * (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0));
  if (Number(parts[9] ?? 0) > 23 || Number(parts[10] ?? 0) > 59) throw unreadable(written, ": there is no such offset");

  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) {
    throw unreadable(written, ": there is no such day");
  }
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  if (date.getUTCHours() !== hour || date.getUTCMinutes() !== minute || date.getUTCSeconds() !== second) {
    throw unreadable(written, ": there is no such time of day");
  }
  return date.getTime() - offset * 60_000 + milliseconds;
}

function unreadable(written: string, why: string): Refusal {
  return new Refusal(
    "invalid",
    `the time ${JSON.stringify(written)} cannot be read${why}; write an ISO 8601 date or date and time, such as ` +
      "2026-08-12 or 2026-08-12T08:05:52Z",
  );
}

/** `YYYY-MM-DDTHH:MM:SSZ`: the whole second in which a moment lies. @param ms Milliseconds since 1970. */
export function timeText(ms: number): string {
  return timeJson(ms).replace(/\.\d{3}Z$/, "Z");
}

/** `YYYY-MM-DDTHH:MM:SS.mmmZ`. @param ms Milliseconds since 1970; what no date can hold becomes the nearest that one can. */
export function timeJson(ms: number): string {
  return new Date(Math.max(-FARTHEST, Math.min(FARTHEST, Math.floor(ms)))).toISOString();
}
