/** The word in `argv` that makes the program a sealed process. Not a verb: nobody types it. */
export const SEALED_MODE = "__sealed";
