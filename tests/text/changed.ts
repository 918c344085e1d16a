/** The text that changes make, put together plainly. */
import type { Changes } from "../../src/text/edit_changes.ts";

export function textAfter(text: string, changes: Changes): string {
  const pieces: string[] = [];
  let at = 0;
  changes.forEach(({ start, end, text: put }) => {
    pieces.push(text.slice(at, start), put);
    at = end;
  });
  return pieces.join("") + text.slice(at);
}
