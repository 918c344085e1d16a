/**
 * The WebAssembly module behind `byte_scan.ts`, put together here byte by byte: no compiler, no blob.
 *
 * One memory and one function, `look(window, start, end, fuel)`, in two forms. The bytes from `start` to `end` are gone through
 * once, 16 at a time. It returns 0 when all of them are ASCII without NUL and the window stands nowhere, else 1. Two bytes of the
 * window, at distances that `byte_scan.ts` chose, are tested everywhere at once; where both fit, the whole window is compared. Each
 * such comparison that fails takes one of `fuel`, and with the last one the answer is 1 too: a text made to mislead the two tests is
 * not gone through here.
 *
 * @see https://webassembly.github.io/spec/core/binary/
 */

/** Where things stand in the description of a window, in bytes from its start. */
export const FIELD = {
  /** For each ASCII byte 32 bits: bit `i` says that it may be byte `i` of the window. */
  fits: 0,
  /** Three vectors for each of the two tests: a byte `b` fits when `(b | bits) - low <= span`, unsigned. */
  tests: 512,
  /** Distances of the two tested bytes, and the window's length: 32 bits each. */
  distances: 608,
  length: 616,
  size: 640,
} as const;

/** Longest window, and bytes behind `end` that `look` overwrites: with LF, which fits no window and is ASCII. */
export const LONGEST_WINDOW = 32;
export const PAD = 128;
/** Bytes that are tested before it is asked whether any fits. */
const BLOCK = 64;

const I32 = 0x7f;
const V128 = 0x7b;

/** Instructions in their order, in as many groups as they are made in. */
type Code = number | readonly Code[];

/** The module, with `pages` of 64 KiB at first and `most` at most. */
export function assemble(pages: number, most: number): Uint8Array<ArrayBuffer> {
  const locals = vector([3, I32], [9, V128], [7, I32]);
  return new Uint8Array(flat([
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, vector([0x60, vector(I32, I32, I32, I32), vector(I32)])),
    section(3, vector(0, 0)),
    section(5, vector([1, uint(pages), uint(most)])),
    section(7, vector([name("look"), 0, 0], [name("lookEqual"), 0, 1], [name("memory"), 2, 0])),
    section(10, vector(sized([locals, look(within), END]), sized([locals, look(equal), END]))),
  ]));
}

// Locals, in the order in which they are declared: parameters, then as in `assemble`.
const WINDOW = 0, START = 1, LAST = 2, FUEL = 3;
const AT = 4, SUB = 5, BITS = 6;
const [BITS_A, LOW_A, SPAN_A, BITS_B, LOW_B, SPAN_B, ONE, FITS, STRANGE] = [7, 8, 9, 10, 11, 12, 13, 14, 15];
const [FIRST, SECOND, LENGTH, PLACE, INDEX, NEXT, STOP] = [16, 17, 18, 19, 20, 21, 22];

/** How 16 bytes on the stack are tested. */
type Test = (bits: number, low: number, span: number) => Code;

const within: Test = (bits, low, span) => [
  [get(bits), simd(SIMD.or)],
  [get(low), simd(SIMD.sub)],
  [get(span), simd(SIMD.leU)],
];

/** The same for two spans of 0, as letters have: 16.6 GB/s where the other does 11.5 (measured). */
const equal: Test = (bits, low) => [get(bits), simd(SIMD.or), get(low), simd(SIMD.eq)];

function look(test: Test): Code {
  const tests = [BITS_A, LOW_A, SPAN_A, BITS_B, LOW_B, SPAN_B];
  return [
    tests.map((local, i) => [get(WINDOW), load128(FIELD.tests + 16 * i), set(local)]),
    [FIRST, SECOND, LENGTH].map((local, i) => [
      get(WINDOW),
      load32(FIELD.distances + 4 * i),
      set(local),
    ]),
    int(1),
    simd(SIMD.splat),
    set(ONE),
    pad(),
    // The two tests look at what lies a distance on, so the bytes before that are seen to be ASCII here.
    strange(get(START), 0),
    strange(get(START), 16),
    simd(SIMD.or),
    simd(SIMD.anyTrue),
    when([int(1), RETURN]),
    get(START),
    set(AT),
    loop([
      get(AT),
      get(LAST),
      GE_U,
      when([int(0), RETURN]),
      testBlock(test),
      when([
        get(STRANGE),
        simd(SIMD.anyTrue),
        when([int(1), RETURN]),
        compareInBlock(test),
      ]),
      advance(AT, BLOCK),
      again(0),
    ]),
    UNREACHABLE,
  ];
}

/** LF behind the last byte. */
function pad(): Code {
  const code: Code[] = [];
  for (let i = 0; i < PAD; i += 16) {
    code.push(get(LAST), int(0x0a), simd(SIMD.splat), simd(SIMD.store, 0, uint(i)));
  }
  return code;
}

/** Tests a block at `AT`: leaves whether anything is to be looked at, and in `STRANGE` bytes that are not ASCII or NUL. */
function testBlock(test: Test): Code {
  const code: Code[] = [];
  for (let i = 0; i < BLOCK; i += 16) {
    code.push(fits(test, AT, i));
    if (i > 0) code.push(get(FITS), simd(SIMD.or));
    code.push(set(FITS));
    code.push(strange([get(AT), get(FIRST), ADD], i));
    if (i > 0) code.push(get(STRANGE), simd(SIMD.or));
    code.push(set(STRANGE));
  }
  return [code, get(FITS), get(STRANGE), simd(SIMD.or), simd(SIMD.anyTrue)];
}

/** Which of 16 places fit both tests. */
function fits(test: Test, at: number, offset: number): Code {
  return [
    [get(at), get(FIRST), ADD, load128(offset), test(BITS_A, LOW_A, SPAN_A)],
    [get(at), get(SECOND), ADD, load128(offset), test(BITS_B, LOW_B, SPAN_B)],
    simd(SIMD.and),
  ];
}

/** Which of 16 bytes are not ASCII or NUL: as signed numbers they are below 1. */
function strange(address: Code, offset: number): Code {
  return [get(ONE), address, load128(offset), simd(SIMD.gtS)];
}

/** Compares the whole window wherever in the block both tests fit. */
function compareInBlock(test: Test): Code {
  return [
    get(AT),
    set(SUB),
    get(AT),
    int(BLOCK),
    ADD,
    set(STOP),
    loop([
      fits(test, SUB, 0),
      simd(SIMD.bitmask),
      set(BITS),
      block([
        loop([
          get(BITS),
          EQZ,
          again(1, "if"),
          get(SUB),
          get(BITS),
          CTZ,
          ADD,
          set(PLACE),
          compare(),
          // bits &= bits - 1
          get(BITS),
          get(BITS),
          int(-1),
          ADD,
          AND,
          set(BITS),
          again(0),
        ]),
      ]),
      advance(SUB, 16),
      get(SUB),
      get(STOP),
      LT_U,
      again(0, "if"),
    ]),
  ];
}

/** Compares the window at `PLACE`: returns from the function when it stands there, or when the fuel is used up. */
function compare(): Code {
  return [
    int(0),
    set(INDEX),
    block([
      loop([
        get(INDEX),
        get(LENGTH),
        GE_U,
        when([int(1), RETURN]),
        get(PLACE),
        get(INDEX),
        ADD,
        LOAD8_U,
        0,
        0,
        set(NEXT),
        // A byte beyond ASCII has no entry; it ends the scan anyway.
        get(NEXT),
        int(0x7f),
        GT_U,
        when([int(1), RETURN]),
        get(WINDOW),
        get(NEXT),
        int(2),
        SHL,
        ADD,
        load32(FIELD.fits),
        get(INDEX),
        SHR_U,
        int(1),
        AND,
        EQZ,
        again(1, "if"),
        advance(INDEX, 1),
        again(0),
      ]),
    ]),
    advance(FUEL, -1),
    get(FUEL),
    EQZ,
    when([int(1), RETURN]),
  ];
}

// The instructions used, and the shapes they stand in.

const UNREACHABLE = 0x00, END = 0x0b, RETURN = 0x0f;
const LOAD8_U = 0x2d;
const EQZ = 0x45, LT_U = 0x49, GT_U = 0x4b, GE_U = 0x4f;
const CTZ = 0x68, ADD = 0x6a, AND = 0x71, SHL = 0x74, SHR_U = 0x76;
/** On vectors; the tests compare 16 bytes each. */
const SIMD = {
  load: 0x00,
  store: 0x0b,
  splat: 0x0f,
  eq: 0x23,
  gtS: 0x27,
  leU: 0x2a,
  and: 0x4e,
  or: 0x50,
  anyTrue: 0x53,
  bitmask: 0x64,
  sub: 0x71,
} as const;
const NOTHING = 0x40;

const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const int = (value: number): Code => [0x41, sint(value)];
const simd = (operation: number, ...rest: Code[]): Code => [0xfd, uint(operation), rest];
const load128 = (offset: number): Code => simd(SIMD.load, 0, uint(offset));
const load32 = (offset: number): Code => [0x28, 0, uint(offset)];
const advance = (local: number, by: number): Code => [get(local), int(by), ADD, set(local)];
const block = (code: Code): Code => [0x02, NOTHING, code, END];
const loop = (code: Code): Code => [0x03, NOTHING, code, END];
const when = (code: Code): Code => [0x04, NOTHING, code, END];
/** Branches: to the start of a loop, or behind the end of a block, `depth` levels out. */
const again = (depth: number, condition?: "if"): Code => [condition ? 0x0d : 0x0c, depth];

/** LEB128. */
function uint(value: number): Code {
  return value > 0x7f ? [value & 0x7f | 0x80, uint(value >>> 7)] : value;
}

function sint(value: number): Code {
  return value < -0x40 || value > 0x3f ? [value & 0x7f | 0x80, sint(value >> 7)] : value & 0x7f;
}

function vector(...items: readonly Code[]): Code {
  return [uint(items.length), items];
}

function section(id: number, content: Code): Code {
  return [id, sized(content)];
}

function sized(content: Code): Code {
  const bytes = flat(content);
  return [uint(bytes.length), bytes];
}

function name(text: string): Code {
  return vector(...Array.from(text, (character) => character.charCodeAt(0)));
}

function flat(code: Code): number[] {
  return ([code] as unknown[]).flat(Infinity) as number[];
}
