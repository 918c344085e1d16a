/** The verbs, in the order of help. Adding one is one file and one line here. */
import { find } from "./find.ts";
import { help } from "./help.ts";
import { read } from "./read.ts";
import { roots } from "./roots.ts";
import { schema } from "./schema.ts";
import { search } from "./search.ts";
import { serve } from "./serve.ts";
import type { Verb } from "./verb.ts";
import { version } from "./version.ts";

export const VERBS: readonly Verb[] = [roots, find, search, read, serve, help, version, schema];
