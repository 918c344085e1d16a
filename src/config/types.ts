/** What the configuration says, once read, merged and resolved. Spec: 1-boundary §1.12–1.15. */
import type { Boundary } from "../boundary/types.ts";

/** How the program was started, as far as the boundary is concerned. Fixed for the life of a server. */
export interface Launch {
  /** The launch folder, absolute. */
  folder: string;
  /** The file of `--config`, as typed. */
  config?: string;
  /** Each `--root`, as typed (`PATH` or `NAME=PATH`). */
  roots: readonly string[];
  noConfig: boolean;
}

/** A level of §1.14: on, and the files that hold its section. */
export interface Level {
  on: boolean;
  /** Absolute paths: the file, the overlay, or both. Present for `guardrails` and `screenings` that are on. */
  from?: readonly string[];
}

/** A declared task, for the verbs to come. Spec: 4-tasks. */
export interface Task {
  name: string;
  run: string;
  cwd?: string;
  declared: string;
}

/** A configuration in force, resolved against the disk. */
export interface Configuration {
  boundary: Boundary;
  levels: { tools: Level; guardrails: Level; screenings: Level };
  /** Where the boundary comes from. */
  origin: "file" | "none" | "root" | "no-config";
  /** The configuration file in force, absolute. */
  source?: string;
  /** The overlay in force, absolute. */
  overlay?: string;
  tasks: readonly Task[];
  replacements: Readonly<Record<string, string>>;
  /** `screenings.models`, absolute. */
  models?: string;
}
