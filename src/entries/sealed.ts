/** Entry of the sealed process. */

// Imported in the middle: the runtime keeps compiled code of what has been evaluated, and this module is not before it ends.
const { enterNothing } = await import("../fence/landlock_linux.ts");
const { makeFilesReadOnly } = await import("../fence/descriptors_linux.ts");
const { runSealed } = await import("../sealed/mode.ts");

const libc = Deno.args[1];
const enter = (libc: string) => {
  makeFilesReadOnly(libc);
  return enterNothing(libc);
};
await runSealed(libc === undefined ? undefined : () => enter(libc));

export {};
