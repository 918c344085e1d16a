/** What tests do to the system around a tree, where they run as root on Linux: another account, mounts, attributes of files. */
import { findLibc } from "../../src/fence/libc.ts";

/** An account without rights. */
export const NOBODY = 65534;
export const ROOT = Deno.build.os === "linux" && Deno.uid() === 0;

/**
 * Runs as an account without rights, which gets these paths as its own. Only this thread, which keeps the way back. Where the tests do
 * not run as root, they are such an account.
 */
export function asNobody<T>(owned: readonly string[], act: () => T): T {
  const library = ROOT ? findLibc() : undefined;
  if (!library) return act();
  for (const path of owned) Deno.chownSync(path, NOBODY, NOBODY);
  // By number: the library's own function changes all threads of the process.
  const calls = Deno.dlopen(library, {
    syscall: { parameters: ["u32", "u32", "u32", "u32"], result: "i32" },
  });
  const number = Deno.build.arch === "aarch64" ? 147 : 117;
  const change = (uid: number) => {
    if (calls.symbols.syscall(number, uid, uid, 0) !== 0) throw new Error("the account cannot be changed");
  };
  change(NOBODY);
  const back = () => {
    change(0);
    calls.close();
  };
  let waits = false;
  try {
    const done = act();
    waits = done instanceof Promise;
    return waits ? (done as Promise<unknown>).finally(back) as T : done;
  } finally {
    if (!waits) back();
  }
}

/** Mounts something at a path, in steps, until it is disposed of. */
export function mount(path: string, ...steps: string[][]): Disposable {
  for (const args of steps) {
    const { success, stderr } = new Deno.Command("mount", { args: [...args, path] }).outputSync();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  }
  return { [Symbol.dispose]: () => void new Deno.Command("umount", { args: ["-l", path] }).outputSync() };
}

/** Whether the tests may mount here. */
export function mountable(): boolean {
  return ROOT && tried((path) => mount(path, ["-t", "tmpfs", "tmpfs"])[Symbol.dispose]());
}

/** Sets an attribute of files, `i` immutable or `a` append-only, until it is disposed of. */
export function marked(path: string, attribute: "i" | "a"): Disposable {
  const chattr = (sign: string) => new Deno.Command("chattr", { args: [sign + attribute, path] }).outputSync();
  const { success, stderr } = chattr("+");
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return { [Symbol.dispose]: () => void chattr("-") };
}

/** Whether there are such attributes here. */
export function markable(): boolean {
  return ROOT && tried((path) => marked(path, "i")[Symbol.dispose]());
}

function tried(act: (path: string) => void): boolean {
  const path = Deno.makeTempDirSync({ prefix: "fettle-test-" });
  try {
    act(path);
    return true;
  } catch {
    return false;
  } finally {
    Deno.removeSync(path);
  }
}
