/** What came out, as a table for a reader and as data. */

/** A row that was measured. */
export interface Measured {
  name: string;
  /** `x`: how many times the peer's time; otherwise a quantity by itself. */
  unit: "x" | "ms" | "MiB";
  value: number;
  low: number;
  high: number;
  /** The value may be at most this; a row without is only told. */
  bar?: number;
  /** What the value ought to be at most, without being held to it. */
  aim?: number;
  /** Milliseconds of both sides, where two were compared. */
  ours?: number;
  theirs?: number;
  peer?: string;
  note?: string;
  samples?: unknown;
}

/** A row that could not be measured here. */
export interface Skipped {
  name: string;
  skipped: string;
}

/** A row that went wrong: the sides found different things, or one of them failed. */
export interface Failed {
  name: string;
  error: string;
}

export type Result = Measured | Skipped | Failed;

/** What a row comes to. */
export type Verdict = "pass" | "FAIL" | "ERROR" | "skipped" | "";

/** Judges a row by its bar. */
export function verdict(result: Result): Verdict {
  if ("error" in result) return "ERROR";
  if ("skipped" in result) return "skipped";
  if (result.bar === undefined) return "";
  return result.value <= result.bar ? "pass" : "FAIL";
}

/** Which exit code the results ask for. A bar counts unless only a report is wanted; an error always does. */
export function exitCode(results: readonly Result[], bars: boolean): 0 | 1 {
  return results.some((result) => verdict(result) === "ERROR" || bars && verdict(result) === "FAIL") ? 1 : 0;
}

/** Rows of cells with columns set in line; the first column to the left, the others to the right. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row.map((cell, column) => column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))
      .join("  ").trimEnd()
  );
}

/** The table, one line a row, and below it what is to be said of single rows. */
export function table(results: readonly Result[]): string {
  const head = ["row", "now", "spread", "bar", "", "ours", "peer's"];
  const lines = align([head, ...results.map((result) => cells(result))]);
  const notes = results.flatMap((result) => {
    const note = "error" in result ? result.error : "skipped" in result ? result.skipped : result.note;
    return note ? [`${result.name}: ${note}`] : [];
  });
  return [...lines, ...notes.length > 0 ? ["", ...notes] : []].join("\n");
}

function cells(result: Result): string[] {
  if (!("value" in result)) return [result.name, "", "", "", verdict(result), "", ""];
  const { name, unit, value, low, high, bar, aim, ours, theirs, peer } = result;
  return [
    name,
    `${figure(value)} ${unit}${peer ? ` ${peer}` : ""}`,
    `${figure(low)}-${figure(high)}`,
    bar === undefined ? "" : `<= ${bar}${aim === undefined ? "" : ` (aim ${aim})`}`,
    verdict(result),
    ours === undefined ? "" : `${figure(ours)} ms`,
    theirs === undefined ? "" : `${figure(theirs)} ms`,
  ];
}

/** A number with about three figures that say something. */
function figure(value: number): string {
  return value.toFixed(value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0);
}
