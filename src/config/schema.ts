/**
 * The one definition of `.fettler.json`: it validates, and the JSON Schema of editors is made from it.
 *
 * It holds form, keys and types, and whatever can be judged on one value. What takes two values (names that compare equal,
 * both forms in one file) is in `parse.ts`; what takes both files is in `merge.ts`; what takes the disk is in `open.ts`.
 *
 * Spec: 1-boundary §1.13; 4-tasks §4.1; 6-screens §6.10; decision 2.
 */
import { PERMISSIONS } from "../boundary/types.ts";
import { nearest } from "../refusal.ts";
import { commandFault, REPLACEMENT_NAME } from "./command_line.ts";
import { SCREEN_WORDS, screenListFault, screenWordFault } from "./screen_words.ts";
import { type Key, type Shape, toJsonSchema } from "./shape.ts";
import { TREE_NAME, treeNameFault } from "./tree_names.ts";
import { pathFault, scopeFault } from "./written_path.ts";

/** The JSON Schema (draft 2020-12) of the current form, with a description on every key. */
export function jsonSchema(): Record<string, unknown> {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "What Fettler may see and touch",
    ...toJsonSchema(CURRENT_FORM),
  };
}

const SCREEN: Shape = {
  kind: "flag or list",
  form: "a screen is true, false or a list of words",
  list: {
    kind: "list",
    form: "a screen is true, false or a list of words",
    member: {
      kind: "text",
      form: screenWordFault(undefined),
      words: SCREEN_WORDS,
      fault: screenWordFault,
    },
    fault: screenListFault,
  },
};

const SCREEN_HELP =
  "true: all categories. false or []: none. A list: those categories, or all but those with a leading -.";

const CAN: Shape = {
  kind: "list",
  form: `can is a list of permission words: ${PERMISSIONS.join(" ")}`,
  member: {
    kind: "text",
    form: `a permission is a word: ${PERMISSIONS.join(" ")}`,
    words: PERMISSIONS,
    fault: permissionFault,
  },
};

const CAN_HELP = "What may be done there. An empty list hides the place. execute is never a default.";

const MODELS: Key = {
  shape: path("models", "a folder of screening models"),
  help: 'Folder of screening models, relative to this file or absolute, with "/" between segments.',
};

const SCOPE_NAME = { fault: scopeFault };

/** What the value of `$schema` names is the editor's affair. */
const SCHEMA: Key = { shape: { kind: "anything" }, help: "Where an editor finds the schema of this file." };

const TASKS: Key = {
  help: "Command lines that a caller may start by name.",
  shape: {
    kind: "map",
    form: 'tasks are an object: name to { "run": "…" }',
    name: { fault: taskNameFault },
    value: {
      kind: "object",
      form: 'a task is an object: { "run": "…" }',
      keys: {
        run: {
          shape: { kind: "text", form: runForm, fault: commandFault },
          help:
            'The command line, split at blanks; " holds words together. There is no shell. {NAME} takes a replacement.',
          missing: "run is missing: the command line",
        },
        cwd: {
          shape: path("cwd", "the task's working folder"),
          help:
            "The working folder, relative to this file, absolute, or NAME:path. Left out: the top of the default tree.",
        },
      },
    },
  },
};

const REPLACEMENTS: Key = {
  help: "Values for the {NAME} placeholders of command lines. They are shown; no secrets here.",
  shape: {
    kind: "map",
    form: "replacements are an object: name to string",
    name: { pattern: REPLACEMENT_NAME, fault: replacementNameFault },
    value: {
      kind: "text",
      form: "a replacement is a string",
      fault: (value) => value.includes("\0") ? "a replacement cannot hold a NUL" : undefined,
      mayBeEmpty: true,
    },
  },
};

const TREES_HELP = "The folders that exist for a caller, by name. The first is the default.";
const SCOPES_HELP = "Folders or files below the tree's top with permissions of their own, which replace the tree's.";

/** The current form: `guardrails` and `screenings`. */
export const CURRENT_FORM: Shape = {
  kind: "object",
  form: "the file is an object at the top",
  keys: {
    $schema: SCHEMA,
    guardrails: {
      help:
        "What may be touched, and what may be run. Left out: the folder of this file may be worked in, nothing is run.",
      shape: {
        kind: "object",
        form: "the section guardrails is an object",
        keys: {
          trees: { shape: trees({}, {}), help: TREES_HELP },
          tasks: TASKS,
          replacements: REPLACEMENTS,
          generated: {
            help: "Names of folders that find, search and replace skip at any depth; replaces the default list.",
            shape: {
              kind: "list",
              form: "generated is a list of folder names",
              member: { kind: "text", form: "a generated folder is named by a string", fault: generatedFault },
            },
          },
        },
        strange: elsewhere,
      },
    },
    screenings: {
      help: "Where regulated data is kept from leaving.",
      shape: {
        kind: "object",
        form: "the section screenings is an object",
        keys: {
          trees: {
            help: "What must not leave which tree: by the name of a declared tree, or of one of the client's folders.",
            shape: {
              kind: "map",
              form: 'trees are an object: tree name to { "screen": … }',
              value: {
                kind: "object",
                form: 'a screened tree is an object: { "screen": true }',
                keys: {
                  screen: { shape: SCREEN, help: SCREEN_HELP },
                  scopes: {
                    help: "Screens on folders or files below the tree's top; the closest one counts.",
                    shape: {
                      kind: "map",
                      form: 'scopes are an object: path to { "screen": … }',
                      name: SCOPE_NAME,
                      value: {
                        kind: "object",
                        form: 'a scope here is an object: { "screen": true }',
                        keys: {
                          screen: {
                            shape: SCREEN,
                            help: SCREEN_HELP,
                            missing: "screen is missing: true, false or a list of words",
                          },
                        },
                      },
                    },
                  },
                },
              },
            },
          },
          models: MODELS,
        },
      },
    },
  },
  strange: (key) => key === "generated" ? 'it belongs in the section "guardrails"' : undefined,
};

/** The older form: everything at the top, `screen` on trees and scopes. Spec: 1-boundary §1.13.4. */
export const OLDER_FORM: Shape = {
  kind: "object",
  form: "the file is an object at the top",
  keys: {
    $schema: SCHEMA,
    trees: {
      help: TREES_HELP,
      shape: trees(
        { screen: { shape: SCREEN, help: SCREEN_HELP } },
        { screen: { shape: SCREEN, help: SCREEN_HELP } },
      ),
    },
    tasks: TASKS,
    replacements: REPLACEMENTS,
    models: MODELS,
  },
  strange: (key) => key === "generated" ? 'it belongs in a section "guardrails"' : undefined,
};

/** Declared trees; in the older form trees and scopes have keys beside those of both forms. */
function trees(treeKeys: Readonly<Record<string, Key>>, scopeKeys: Readonly<Record<string, Key>>): Shape {
  return {
    kind: "map",
    form: 'trees are an object: name to { "path": "…" }',
    name: { pattern: TREE_NAME, fault: treeNameFault },
    value: {
      kind: "object",
      form: 'a tree is an object: { "path": "…", "can": ["list", "read"] }',
      keys: {
        path: {
          shape: path("path", "the tree's folder"),
          help: 'The folder, relative to this file or absolute, with "/" between segments. It must exist.',
          missing: "path is missing: the tree's folder",
        },
        can: { shape: CAN, help: CAN_HELP },
        scopes: {
          help: SCOPES_HELP,
          shape: {
            kind: "map",
            form: 'scopes are an object: path to { "can": […] }',
            name: SCOPE_NAME,
            value: {
              kind: "object",
              form: 'a scope is an object: { "can": ["list", "read"] }',
              keys: {
                can: { shape: CAN, help: CAN_HELP, missing: "can is missing: a list of permission words" },
                ...scopeKeys,
              },
              strange: elsewhere,
            },
          },
        },
        ...treeKeys,
      },
      strange: elsewhere,
    },
  };
}

/** A path as §1.13.1 has it. */
function path(key: string, meaning: string): Shape {
  return {
    kind: "text",
    form: `${key} is a string: ${meaning}`,
    fault: (written) => written === "" ? `${key} is empty; write ${meaning}, or leave it out` : pathFault(written),
  };
}

function elsewhere(key: string): string | undefined {
  return key === "screen" || key === "models"
    ? 'screens are stated in the section "screenings": screenings.trees.NAME.screen'
    : undefined;
}

function runForm(type: unknown): string {
  return type === "array"
    ? "run is one string, the whole command line, not a list"
    : "run is a string: the command line";
}

function replacementNameFault(name: string): string | undefined {
  if (REPLACEMENT_NAME.test(name)) return undefined;
  return `${JSON.stringify(name)} cannot name a replacement; a name has a letter first, ` +
    `then letters, digits, ".", "_" and "-"`;
}

function taskNameFault(name: string): string | undefined {
  const length = [...name].length;
  if (length < 1 || length > 64) return "a task's name has 1 to 64 characters";
  // deno-lint-ignore no-control-regex -- a name with one could not be shown on a line.
  if (/[\s\0-\x1f\x7f-\x9f]/.test(name)) return "a task's name holds no blank and no control character";
  return name.startsWith("-") ? 'a task\'s name does not begin with "-"' : undefined;
}

function permissionFault(word: string): string {
  const meant = nearest(word, PERMISSIONS);
  const advice = meant ? `did you mean "${meant}"? ` : "";
  return `${JSON.stringify(word)} is no permission; ${advice}The words are ${PERMISSIONS.join(" ")}`;
}

function generatedFault(name: string): string | undefined {
  if (name !== "" && name !== "." && name !== ".." && !/[/\\*?\0]/.test(name)) return undefined;
  return `${JSON.stringify(name)} is no folder name; a generated folder is named without "/", "\\", "*" and "?"`;
}
