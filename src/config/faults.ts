/** Where something stands in a configuration file, and how faults found there are told. */
import { Refusal } from "../refusal.ts";

/** A configuration file as it was read. */
export interface Source {
  /** Absolute. */
  readonly file: string;
  /** Decoded, without a byte order mark. */
  readonly text: string;
}

export interface Place {
  readonly source: Source;
  /** In UTF-16 units from the start of the text. */
  readonly offset: number;
}

export interface Fault {
  readonly place: Place;
  readonly message: string;
}

/** `file:line:column`, both counted from 1; a column is a UTF-16 unit, as editors count. Spec: 1-boundary §1.13. */
export function where({ source, offset }: Place): string {
  let line = 1;
  let start = 0;
  for (const { index, 0: ending } of source.text.matchAll(/\r\n|\r|\n/g)) {
    if (index + ending.length > offset) break;
    line++;
    start = index + ending.length;
  }
  return `${source.file}:${line}:${offset - start + 1}`;
}

/** Throws all faults as one refusal, file by file in the order in which they stand; nothing happens when there is none. */
export function refuseFaults(faults: readonly [Fault, ...Fault[]]): never;
export function refuseFaults(faults: readonly Fault[]): void;
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const files = [...new Set(faults.map((fault) => fault.place.source))];
  const told = files.flatMap((source) =>
    faults.filter((fault) => fault.place.source === source).sort((a, b) => a.place.offset - b.place.offset)
  );
  throw new Refusal("invalid", told.map((fault) => `${where(fault.place)}: ${fault.message}`).join("\n"));
}
