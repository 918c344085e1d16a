/** A folder of real files for one test, and the few checks that its tests share. */
import assert from "node:assert/strict";
import { ConfigurationSource } from "../../src/config/source.ts";
import { type System, thisSystem } from "../../src/config/system.ts";
import type { Configuration, Launch } from "../../src/config/types.ts";
import { type Outcome, Refusal } from "../../src/refusal.ts";

export { assert };

/** Linux without the account and the variables of whoever runs the tests. */
export function systemWith(variables: Record<string, string> = {}, more: Partial<System> = {}): System {
  return { ...thisSystem, variable: (name) => variables[name], accountHome: () => "/no/home/here", ...more };
}

export class Project {
  /** A real path. */
  readonly folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "fettle-config-" }));

  path(relative: string): string {
    return `${this.folder}/${relative}`;
  }

  /** Makes a file and the folders above it. A value that is no text is written as JSON. */
  file(relative: string, content: unknown = ""): string {
    const path = this.path(relative);
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if (content instanceof Uint8Array) Deno.writeFileSync(path, content);
    else Deno.writeTextFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  mkdir(relative: string): string {
    Deno.mkdirSync(this.path(relative), { recursive: true });
    return this.path(relative);
  }

  link(target: string, relative: string): string {
    Deno.symlinkSync(target, this.path(relative));
    return this.path(relative);
  }

  source(launch: Partial<Launch> = {}, system = systemWith()): ConfigurationSource {
    return new ConfigurationSource({ folder: this.folder, roots: [], noConfig: false, ...launch }, system);
  }

  load(launch: Partial<Launch> = {}, system = systemWith()): Configuration {
    return this.source(launch, system).load();
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

/** Holds `act` to a refusal with this outcome, and gives its message. */
export function refused(outcome: Outcome, act: () => unknown, ...expected: (string | RegExp)[]): string {
  let message: string | undefined;
  try {
    act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    assert.equal(error.outcome, outcome, error.message);
    message = error.message;
  }
  assert.ok(message !== undefined, `expected ${outcome}, but nothing was refused`);
  for (const part of expected) {
    assert.ok(typeof part === "string" ? message.includes(part) : part.test(message), `${part} is not in: ${message}`);
  }
  return message;
}
