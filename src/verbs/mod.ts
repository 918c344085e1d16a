/** The verbs, in the order of help. Adding one is its declaration and a line here; what it does is a line in `work.ts`. */
import { batch } from "./batch.ts";
import { copy } from "./copy.ts";
import { deleteEntry } from "./delete.ts";
import { edit } from "./edit.ts";
import { exec } from "./exec.ts";
import { find } from "./find.ts";
import { help } from "./help.ts";
import { mkdir } from "./mkdir.ts";
import { move } from "./move.ts";
import { newFile } from "./new.ts";
import { read } from "./read.ts";
import { replace } from "./replace.ts";
import { roots } from "./roots.ts";
import { schema } from "./schema.ts";
import { search } from "./search.ts";
import { serve } from "./serve.ts";
import type { Verb } from "./verb.ts";
import { version } from "./version.ts";
import { write } from "./write.ts";

export const VERBS: readonly Verb[] = [
  roots,
  find,
  search,
  read,
  write,
  edit,
  replace,
  newFile,
  mkdir,
  move,
  copy,
  deleteEntry,
  exec,
  batch,
  serve,
  help,
  version,
  schema,
];
