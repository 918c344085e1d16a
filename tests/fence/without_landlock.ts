/** Runs a command in a system that knows no Landlock: a filter answers "not supported" to it, for this process and its children. */
const [libc, command, ...args] = Deno.args;
const { symbols } = Deno.dlopen(libc, {
  prctl: { parameters: ["i32", "usize", "usize", "usize", "usize"], result: "i32" },
  seccomp: { name: "prctl", parameters: ["i32", "usize", "buffer", "usize", "usize"], result: "i32" },
});

const CREATE_RULESET = 444;
const ENOSYS = 38;
/** Load the call's number; if it is the one, answer with the error, else allow. */
const program = new Uint8Array(4 * 8);
const view = new DataView(program.buffer);
const instruction = (i: number, code: number, yes: number, no: number, k: number) => {
  view.setUint16(i * 8, code, true);
  view.setUint8(i * 8 + 2, yes);
  view.setUint8(i * 8 + 3, no);
  view.setUint32(i * 8 + 4, k, true);
};
instruction(0, 0x20, 0, 0, 0);
instruction(1, 0x15, 0, 1, CREATE_RULESET);
instruction(2, 0x06, 0, 0, 0x00050000 | ENOSYS);
instruction(3, 0x06, 0, 0, 0x7fff0000);
const filter = new DataView(new ArrayBuffer(16));
filter.setUint16(0, 4, true);
filter.setBigUint64(8, BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(program))), true);
if (symbols.prctl(38, 1n, 0n, 0n, 0n) !== 0) throw new Error("no_new_privs");
if (symbols.seccomp(22, 2n, new Uint8Array(filter.buffer), 0n, 0n) !== 0) throw new Error("seccomp");

const { code, stdout, stderr } = new Deno.Command(command, { args }).outputSync();
Deno.stdout.writeSync(stdout);
Deno.stderr.writeSync(stderr);
Deno.exit(code);
