/**
 * The configuration in force, read again before every call.
 *
 * Spec: 1-boundary §1.12, decision 6.
 */
import { slashed } from "../boundary/names.ts";
import { Survey as Places } from "../boundary/survey.ts";
import { type Boundary, PERMISSIONS, type Tree } from "../boundary/types.ts";
import { Refusal } from "../refusal.ts";
import type { Declaration } from "./declaration.ts";
import { discover, fileIn, overlayOf, readInForce } from "./discover.ts";
import { type Fault, refuseFaults } from "./faults.ts";
import { isSame, lookUp, orNothing } from "./folders.ts";
import { ClientFolderFinder, type PassedOver } from "./found.ts";
import { merge, type Merged, WORK } from "./merge.ts";
import { missingFolders, type MissingTree, openTrees, withScreen } from "./open.ts";
import { parseConfiguration } from "./parse.ts";
import { openRoots, parseRoots } from "./roots.ts";
import { type System, thisSystem } from "./system.ts";
import { LOOKING, workFolder } from "./tools_level.ts";
import type { Configuration, Launch } from "./types.ts";
import { absolutePath, parentOf } from "./written_path.ts";

/** Folder names that find, search and replace skip where nothing else is stated. Spec: decision 5. */
export const GENERATED: readonly string[] = [".git", "bin", "obj", "artifacts", "node_modules"];

/** A configuration as far as it can be opened, for verbs that run where others are refused. Spec: decision 46. */
export interface Survey {
  configuration: Configuration;
  /** Declared trees whose folder is not there; any of them refuses every other verb. */
  missing: readonly MissingTree[];
  /** Folders of the client's that are there and were not opened, with the reason. */
  passedOver: readonly PassedOver[];
}

/**
 * Reads the configuration of one launch.
 *
 * The file found by the first `load` stays the file: it is read again on every `load`, and nothing elsewhere takes its
 * place. A launch without a file looks for one in the launch folder each time. Parsed files are kept while their bytes are
 * the same; where trees and scopes really are is looked up each time.
 *
 * @example
 * ```ts
 * const source = new ConfigurationSource({ folder: Deno.cwd(), roots: [], noConfig: false });
 * source.load().boundary.trees[0].name; // "work"
 * ```
 */
export class ConfigurationSource {
  readonly #clientFolders: ClientFolderFinder;
  #file?: { path: string; named: boolean };
  #overlaySeen = false;
  #started = false;
  #project?: Read;
  #overlay?: Read;
  #merged?: { project: Declaration; overlay?: Declaration; result: Merged };
  #last?: { text: string; configuration: Configuration };

  constructor(readonly launch: Launch, readonly system: System = thisSystem) {
    this.#clientFolders = new ClientFolderFinder(system);
  }

  /**
   * The configuration at this moment: the very same object as before when nothing has changed.
   *
   * @throws {Refusal} `invalid` for a malformed file and for a tools level that is too wide; `not-found` for a file that
   * has gone or never was there, and for a tree whose folder is not there; `denied` for what the system does not let us
   * read.
   */
  load(): Configuration {
    const { configuration, missing } = this.survey();
    if (missing.length > 0) throw missingFolders(missing, this.system.names);
    const text = JSON.stringify(configuration);
    if (this.#last?.text !== text) this.#last = { text, configuration };
    return this.#last.configuration;
  }

  /** As `load`, but trees whose folder is not there are left out and told. @throws {Refusal} As `load` otherwise. */
  survey(): Survey {
    const { launch, system } = this;
    if (launch.roots.length > 0) {
      const trees = openRoots(parseRoots(launch.roots, system.names), launch.folder, system);
      return { configuration: this.#undeclared("root", trees), missing: [], passedOver: [] };
    }
    this.#findFile();
    if (this.#file) return this.#declared(this.#file.path, this.#file.named);
    if (launch.noConfig) {
      const folder = workFolder(launch.folder, system);
      const work = { name: WORK, path: launch.folder, ...folder, can: LOOKING, scopes: [] };
      return this.#withClientFolders(this.#undeclared("no-config", [work]), {}, []);
    }
    const { trees } = openTrees({}, launch.folder, system);
    return this.#withClientFolders(this.#undeclared("none", trees), {}, []);
  }

  /** Settles once which file is in force; while there is none, one may appear in the launch folder. */
  #findFile(): void {
    const { launch, system } = this;
    if (this.#file) return;
    if (launch.config !== undefined) {
      if (launch.config === "") throw new Refusal("invalid", "--config names no file; write --config PATH");
      this.#file = { path: absolutePath(launch.config, launch.folder, system.names), named: true };
    } else if (!launch.noConfig) {
      const path = this.#started ? fileIn(launch.folder, system) : discover(launch.folder, system);
      if (path) this.#file = { path, named: false };
    }
    this.#started = true;
  }

  #declared(file: string, named: boolean): Survey {
    const { system } = this;
    const bytes = readInForce(file, system, named);
    if (!bytes) {
      throw new Refusal(
        "not-found",
        `the configuration file ${file} is not there` +
          (this.#project
            ? " any more; put it back, or start anew without it"
            : "; name one that is, or leave --config out"),
      );
    }
    this.#project = this.#parsed(this.#project, file, bytes);
    const overlayFile = this.#readOverlay(file);
    const merged = this.#mergedOf(this.#project.declaration, overlayFile ? this.#overlay?.declaration : undefined);
    const folder = parentOf(file, system.names);
    const { trees, missing } = openTrees(merged, folder, system);
    const { guardrails, screenings } = merged;
    const configuration: Configuration = {
      boundary: {
        names: system.names,
        trees,
        generated: guardrails?.generated ?? GENERATED,
        inForce: this.#inForce(file),
      },
      levels: { tools: { on: true }, guardrails: levelOf(guardrails), screenings: levelOf(screenings) },
      origin: "file",
      source: file,
      ...(overlayFile ? { overlay: overlayFile } : {}),
      tasks: (guardrails?.tasks ?? []).map(({ name, run, cwd, place }) => ({
        name,
        run,
        ...(cwd === undefined ? {} : { cwd }),
        declared: place.source.file,
      })),
      replacements: byName(guardrails?.replacements ?? []),
      ...(screenings?.models ? { models: screenings.models } : {}),
    };
    return this.#withClientFolders(configuration, merged, missing, folder);
  }

  /** Reads the overlay; tells its path when it is in force. */
  #readOverlay(file: string): string | undefined {
    const overlay = overlayOf(file, this.system);
    const bytes = overlay && readInForce(overlay, this.system, false);
    if (!overlay || !bytes) {
      if (!this.#overlaySeen) return undefined;
      throw new Refusal(
        "not-found",
        `the overlay ${overlay} is not there any more; put it back, or start anew without it`,
      );
    }
    this.#overlaySeen = true;
    this.#overlay = this.#parsed(this.#overlay, overlay, bytes);
    return overlay;
  }

  #parsed(last: Read | undefined, file: string, bytes: Uint8Array): Read {
    if (last && isEqual(last.bytes, bytes)) return last;
    return { bytes, declaration: parseConfiguration(file, bytes, this.system.names) };
  }

  #mergedOf(project: Declaration, overlay: Declaration | undefined): Merged {
    const last = this.#merged;
    if (last && last.project === project && last.overlay === overlay) return last.result;
    const result = merge(project, overlay, this.system.names);
    this.#merged = { project, overlay, result };
    return result;
  }

  /** The file and the place of its overlay, there or not; and where each really is, when that is elsewhere. */
  #inForce(file: string): string[] {
    const { system } = this;
    const overlay = overlayOf(file, system);
    const files = new Set(overlay ? [file, overlay] : [file]);
    for (const path of this.#overlaySeen ? [...files] : [file]) {
      // One that goes away at this moment is missed by the next call.
      files.add(orNothing(() => system.realPath(path)) ?? path);
    }
    return [...files];
  }

  #undeclared(origin: "none" | "root" | "no-config", trees: readonly Tree[]): Configuration {
    const boundary: Boundary = { names: this.system.names, trees, generated: GENERATED, inForce: [] };
    const off = { on: false };
    return {
      boundary,
      levels: { tools: { on: true }, guardrails: off, screenings: off },
      origin,
      tasks: [],
      replacements: byName([]),
    };
  }

  /** Adds the client's folders that nothing declares. */
  #withClientFolders(
    configuration: Configuration,
    merged: Merged,
    missing: readonly MissingTree[],
    configured?: string,
  ): Survey {
    const { system } = this;
    const { found, passedOver } = this.#clientFolders.find(this.launch.folder, configured);
    const { boundary } = configuration;
    const faults: Fault[] = [];
    // Where a declared tree reaches over a found folder, the declaration decides.
    const declared = found.length > 0 ? new Places(boundary) : undefined;
    const trees = found.flatMap(({ name, path, can: usual, how }) => {
      const folder = lookUp(path, system);
      if ("problem" in folder || boundary.trees.some((tree) => isSame(tree, folder, system.names))) return [];
      const place = declared!.place(slashed(system.names, folder.real));
      const can = place ? PERMISSIONS.filter((word) => place.can.has(word)) : usual;
      if (can.length === 0) return [];
      return [withScreen({ name, path, ...folder, can, scopes: [], found: how }, merged, system, faults)];
    });
    refuseFaults(faults);
    return {
      configuration: { ...configuration, boundary: { ...boundary, trees: [...boundary.trees, ...trees] } },
      missing,
      passedOver,
    };
  }
}

interface Read {
  bytes: Uint8Array;
  declaration: Declaration;
}

function levelOf(section: { from: readonly string[] } | undefined) {
  return section ? { on: true, from: section.from } : { on: false };
}

/** Without a prototype: no name finds what nobody declared. */
function byName(entries: readonly { name: string; value: string }[]): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  for (const { name, value } of entries) record[name] = value;
  return record;
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
