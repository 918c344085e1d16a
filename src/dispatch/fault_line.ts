import { Refusal } from "../refusal.ts";

/** One line for standard error: what failed and where in our own code. */
export function faultLine(error: unknown): string {
  if (error instanceof Refusal) return `fettle: ${error.message}`;
  if (!(error instanceof Error)) return "fettle: an unknown defect";
  const place = /[\w./-]+\.[jt]s:\d+:\d+/.exec(error.stack ?? "")?.[0].split("/").at(-1);
  return `fettle: ${error.name}${place ? ` at ${place}` : ""}`;
}
