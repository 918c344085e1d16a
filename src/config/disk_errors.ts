/** What the system's answer to a call means for a configuration. */
import { Refusal } from "../refusal.ts";

/** Nothing is there: no such entry, or a file stands where a folder should lead on. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

/** The refusal for a path that the system does not let us look at. Spec: 1-boundary §1.13.5, last row. */
export function unreadable(what: string, error: unknown): Refusal {
  const reason = error instanceof Deno.errors.PermissionDenied
    ? "this account may not read it"
    : error instanceof Deno.errors.NotCapable
    ? "it is a folder of the system's own that is never opened"
    : "the system declines";
  return new Refusal("denied", `${what} cannot be read: ${reason}`);
}
