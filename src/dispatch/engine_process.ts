/**
 * The main process's side of an engine: starting it inside the process fence, asking it, and noticing its end.
 */
import type { Boundary } from "../boundary/types.ts";
import { Survey } from "../boundary/survey.ts";
import { findLibc } from "../fence/libc.ts";
import { inexpressible, permissionFlags, planFence } from "../fence/plan.ts";
import { Refusal } from "../refusal.ts";
import { encodeFrame, FrameReader } from "../frames.ts";
import { ENGINE_MODE, type Opened, type Opening, type Request, type Response } from "./protocol.ts";
import type { Reply } from "./types.ts";
import { V8_FLAGS } from "./v8_flags.ts";

/** What an engine reports of itself when it has opened its trees. */
export type Report = Opened;

/** Why a request came to no answer. */
export class EngineEnded extends Error {
  override readonly name = "EngineEnded";
}

/** A bundle finds nothing by a configuration, and must not take up one that lies above it; the sources need theirs. */
const RUN = ["run", "--quiet", "--cached-only", V8_FLAGS, ...Deno.mainModule.endsWith(".ts") ? [] : ["--no-config"]];

/** Variables an engine's runtime needs to find its own files; the engine itself may read none. */
const PASSED = [
  "PATH",
  "HOME",
  "DENO_DIR",
  "XDG_CACHE_HOME",
  "TMPDIR",
  "TEMP",
  "TMP",
  "SystemRoot",
  "LOCALAPPDATA",
  "USERPROFILE",
];

export interface EngineOptions {
  /** Tests only: leaves path names as the one implementation. */
  pathnames?: boolean;
}

/** One engine, started for one boundary. It is never told of another. */
export class EngineProcess {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<number, { resolve(reply: Reply): void; reject(error: Error): void }>();
  readonly #opened = Promise.withResolvers<Report>();
  #last = 0;
  #ended = false;

  constructor(boundary: Boundary, options: EngineOptions = {}) {
    const libc = options.pathnames ? undefined : findLibc();
    const plan = planFence(new Survey(boundary));
    const unnamed = libc ? [] : inexpressible(plan);
    if (unnamed.length > 0) {
      throw new Refusal("invalid", `a folder with a comma in its path cannot be opened on this system: ${unnamed[0]}`);
    }
    // A compiled program's permissions were fixed when it was made: it can be given no flags.
    const fenced = !Deno.build.standalone;
    const args = fenced ? [...RUN, ...permissionFlags(plan, libc), Deno.mainModule] : [];
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...args, ENGINE_MODE],
      // The launch folder may be gone; every path the engine is told is absolute.
      cwd: Deno.build.os === "windows" ? undefined : "/",
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      clearEnv: true,
      env: passedEnvironment(),
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#opened.promise.catch(() => {});
    this.#listen();
    const opening: Opening = { boundary, libc, fenced: fenced ? plan.read : undefined };
    this.#write(encodeFrame(opening));
  }

  /** What it found when it opened its trees. @throws {EngineEnded} */
  get opened(): Promise<Report> {
    return this.#opened.promise;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Runs a verb there. @throws {EngineEnded} when the engine ends before it has answered. */
  request(request: Omit<Request, "id">): Promise<Reply> {
    if (this.#ended) return Promise.reject(new EngineEnded("the engine has ended"));
    const id = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.#waiting.set(id, { resolve, reject });
    this.#write(encodeFrame({ id, ...request } satisfies Request));
    return promise;
  }

  /** Lets it answer what it was asked, then end. */
  async close(): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.#child.status;
  }

  #write(bytes: Uint8Array) {
    // A pipe that broke is noticed where its other end is read.
    this.#input.write(bytes).catch(() => {});
  }

  async #listen() {
    const reader = new FrameReader<Opened | Response>();
    try {
      for await (const piece of this.#child.stdout) {
        for (const { header, body } of reader.push(piece)) {
          if (!("outcome" in header)) {
            this.#opened.resolve(header);
            continue;
          }
          const waiting = this.#waiting.get(header.id);
          this.#waiting.delete(header.id);
          waiting?.resolve({ outcome: header.outcome, body, images: header.images });
        }
      }
    } catch {
      // A frame that cannot be read, or a broken pipe: the same as an engine that ended.
      try {
        this.#child.kill("SIGKILL");
      } catch { /* it has gone */ }
    }
    this.#ended = true;
    const error = new EngineEnded("the engine has ended");
    this.#opened.reject(error);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function passedEnvironment(): Record<string, string> {
  const passed: Record<string, string> = { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", DENO_NO_PACKAGE_JSON: "1" };
  for (const name of PASSED) {
    const value = Deno.env.get(name);
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}
