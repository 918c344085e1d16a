/** Slices of files. Spec: 2-verbs §2.7, §2.11; 3-documents-and-archives §3.1.5; decisions 23, 33; scenarios 55–57, 65, 112–115. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { Refusal } from "../../src/refusal.ts";
import { namedEncoding } from "../../src/text/encoding.ts";
import { countEndings } from "../../src/text/lines.ts";
import {
  type ByteSource,
  CHARACTER_CAP,
  prefix,
  readSlice,
  type Slice,
  type SliceRequest,
  sliceRows,
  sliceText,
  sourceOf,
  WHOLE_BYTES,
} from "../../src/text/slice.ts";

const whole: SliceRequest = { numbered: false, budget: CHARACTER_CAP };
const utf8 = (text: string) => new TextEncoder().encode(text);

function read(text: string | Uint8Array, request: Partial<SliceRequest> = {}): Slice {
  return readSlice(sourceOf(typeof text === "string" ? utf8(text) : text), { ...whole, ...request });
}

/** A source that gives a few bytes at a time. */
function dribbling(bytes: Uint8Array, most: number): ByteSource {
  const source = sourceOf(bytes);
  return { size: source.size, readAt: (buffer, offset) => source.readAt(buffer.subarray(0, most), offset) };
}

/** Sources one behind another. */
function chained(...parts: ByteSource[]): ByteSource {
  return {
    size: parts.reduce((sum, part) => sum + part.size, 0),
    readAt(buffer, offset) {
      for (const part of parts) {
        if (offset < part.size) return part.readAt(buffer.subarray(0, part.size - offset), offset);
        offset -= part.size;
      }
      return 0;
    },
  };
}

/** So many bytes of one text over and over, made as they are read; counts what is. */
function endless(text: string, size: number): ByteSource & { read: number } {
  const unit = utf8(text);
  const block = new Uint8Array(unit.length * Math.ceil(300_000 / unit.length));
  for (let i = 0; i < block.length; i += unit.length) block.set(unit, i);
  return {
    size,
    read: 0,
    readAt(buffer, offset) {
      const at = offset % unit.length;
      const part = block.subarray(at, at + Math.min(buffer.length, size - offset));
      buffer.set(part);
      this.read += part.length;
      return part.length;
    },
  };
}

Deno.test("scenario 112: 2500 lines", () => {
  const text = Array.from({ length: 2500 }, (_, i) => `line ${i + 1}\n`).join("");
  const first = read(text);
  assert.equal(first.lines.length, 2000);
  assert.deepEqual([first.from, first.to, first.total], [1, 2000, 2500]);
  assert.deepEqual([first.truncated, first.linesRemaining, first.budgeted], [true, 500, false]);
  const all = read(text, { to: 2500 });
  assert.equal(sliceText(all, false), text);
  assert.deepEqual([all.truncated, all.linesRemaining], [false, undefined]);
  assert.equal(read(text, { from: 501 }).truncated, false);
  assert.equal(read("a\nb").truncated, false);
  const beyond = read(text, { from: 9000 });
  assert.deepEqual([beyond.lines, beyond.from, beyond.to, beyond.total, beyond.truncated], [
    [],
    9000,
    8999,
    2500,
    false,
  ]);
});

Deno.test("scenario 113, bugs C55: 40,000 characters whatever --to says, and a first line always", () => {
  const text = ("x".repeat(199) + "\n").repeat(400);
  const slice = read(text, { to: 400 });
  assert.deepEqual([slice.to, slice.spent, slice.budgeted, slice.truncated], [200, 40_000, true, true]);
  assert.equal(slice.linesRemaining, 200);
  const second = read(text, { budget: 0 });
  assert.deepEqual([second.lines.length, second.spent, second.budgeted], [1, 200, true]);
  assert.equal(read("one line\n", { budget: 0 }).budgeted, false);
});

Deno.test("scenario 114: tails", () => {
  const text = Array.from({ length: 500 }, (_, i) => `${i + 1}\n`).join("");
  const slice = read(text, { tail: 3 });
  assert.deepEqual([slice.lines, slice.from, slice.to, slice.total], [["498", "499", "500"], 498, 500, 500]);
  assert.deepEqual([slice.truncated, slice.linesRemaining, slice.budgeted], [false, undefined, false]);
  assert.equal(sliceText(read(text, { tail: 900 }), false), text);
  const cut = read(("x".repeat(199) + "\n").repeat(400), { tail: 300 });
  assert.deepEqual([cut.from, cut.to, cut.budgeted, cut.linesRemaining], [201, 400, true, 200]);
});

Deno.test("scenario 115: numbers are charged, the hash is the file's", () => {
  const text = "a\r\nb\r\n";
  const hasher = createHash("sha256");
  const slice = read(text, { numbered: true, hasher });
  assert.equal(sliceText(slice, true), "    1 | a\r\n    2 | b\r\n");
  assert.deepEqual(sliceRows(slice), ["    1 | a", "    2 | b"]);
  assert.equal(slice.spent, 22);
  assert.equal(hasher.digest("hex"), createHash("sha256").update(text).digest("hex"));
  assert.equal(read("\n".repeat(9000), { numbered: true, to: 9000 }).lines.length, Math.floor(40_000 / 9));
  assert.equal(prefix(1234567), "1234567 | ");
});

Deno.test("scenario 115: one huge line", () => {
  const text = "a" + "😀".repeat(30_000) + "\r\nend";
  const slice = read(text);
  assert.equal(slice.lines[0], text.slice(0, 39_999));
  assert.deepEqual(slice.lineCut, { line: 1, total: 60_001, moreThan: 40_000, next: 40_000 });
  assert.deepEqual([slice.endings, slice.to, slice.budgeted, slice.linesRemaining], [[""], 1, true, 1]);
  const next = read(text, { columns: [40_000, 60_001] });
  assert.equal(slice.lines[0] + next.lines[0] + next.endings[0], text.slice(0, 60_003));
  assert.equal(next.lineCut, undefined);
  assert.deepEqual(next.lines[1], "");

  const exact = read("x".repeat(40_000) + "\n");
  assert.deepEqual([exact.lineCut, exact.spent, exact.endings], [undefined, 40_001, ["\n"]]);
  assert.equal(read("x".repeat(40_001)).lineCut?.total, 40_001);
  const last = read("a\n" + "x".repeat(50_000) + "\n", { tail: 2 });
  assert.deepEqual([last.from, last.lineCut?.total, last.budgeted, last.linesRemaining], [2, 50_000, true, 1]);
  assert.equal(read("x".repeat(50_000) + "\na", { tail: 2 }).lineCut, undefined);
});

Deno.test("columns move inward rather than split a code point", () => {
  const text = "a😀b\r\nshort\n\n";
  assert.deepEqual(read(text, { columns: [2, 3] }).lines, ["😀", "ho", ""]);
  assert.deepEqual(read(text, { columns: [3, 4] }).lines, ["b", "or", ""]);
  assert.deepEqual(read(text, { columns: [1, 2] }).lines, ["a", "sh", ""]);
  assert.deepEqual(read(text, { columns: [3, 3] }).lines, ["", "o", ""]);
  assert.equal(sliceText(read(text, { columns: [2, 2] }), false), "\r\nh\n\n");
  assert.equal(read("x".repeat(90_000), { columns: [5, 80_000] }).lineCut?.next, 40_005);
});

Deno.test("scenarios 55, 56: what a file is, and its text unchanged", () => {
  for (const ending of ["\n", "\r\n", "\r"]) {
    for (const final of ["", ending]) {
      const text = `a${ending}ü${ending}z${final}`;
      const units = new Uint8Array(new Uint16Array([0xfeff, ...Array.from(text, (c) => c.charCodeAt(0))]).buffer);
      const files: [name: string, bytes: Uint8Array][] = [
        ["utf-8", utf8(text)],
        ["utf-8-bom", utf8("\ufeff" + text)],
        ["utf-16le-bom", units],
      ];
      for (const [name, bytes] of files) {
        for (const tail of [undefined, 9]) {
          const slice = read(bytes, { tail });
          assert.equal(sliceText(slice, false), text);
          assert.equal(slice.encoding.name, name);
          assert.equal(slice.ending, { "\n": "lf", "\r\n": "crlf", "\r": "cr" }[ending]);
          assert.deepEqual([slice.mixed, slice.finalNewline, slice.total], [false, final !== "", 3]);
        }
      }
    }
  }
  const empty = read("");
  assert.deepEqual([empty.ending, empty.finalNewline, empty.total, empty.from, empty.to], ["none", false, 0, 1, 0]);
  assert.equal(read("", { tail: 4 }).to, 0);
  assert.equal(read("\ufeff", { tail: 4 }).total, 0);
  assert.equal(read("a\nb\r\nc").mixed, true);
});

Deno.test("scenario 57, bugs C58: what is not text", () => {
  const refused = (bytes: Uint8Array, said: RegExp, request: Partial<SliceRequest> = {}) =>
    assert.throws(
      () => read(bytes, { path: "x", ...request }),
      (error) =>
        error instanceof Refusal && error.outcome === "refused" && error.path === "x" && said.test(error.message),
    );
  refused(new Uint8Array([0x61, 0]), /binary/);
  refused(new Uint8Array([0x61, 0]), /binary/, { tail: 1 });
  refused(new Uint8Array([0x61, 10, 0xe9]), /not UTF-8.*offset 2.*--encoding/);
  refused(new Uint8Array([0x61, 10, 0xe9, 10, 0x61]), /offset 2/, { tail: 1 });
  refused(new Uint8Array([0xff, 0xfe, 0x61]), /utf-16le.*offset 2/);
  refused(new Uint8Array([0xaa]), /offset 0.*windows-1253/, { encoding: namedEncoding("windows-1253") });
  const far = new Uint8Array(1_000_000).fill(0x61);
  far[900_000] = 0xff;
  refused(far, /offset 900000/);
  const named = read(new Uint8Array([0xe9, 0]), { encoding: namedEncoding("latin1") });
  assert.deepEqual([named.lines, named.encoding.name], [["é\0"], "windows-1252"]);
});

/** What a slice of a text is, the plain way. Lines are cut at 40,000 characters, columns are not asked for. */
function model(text: string, { from = 1, to = from + 1999, tail, numbered, budget }: SliceRequest) {
  const all = (text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? []).map((line, i) => {
    const body = line.replace(/[\r\n]+$/, "");
    const cut = body.length > CHARACTER_CAP;
    const kept = body.slice(0, CHARACTER_CAP).replace(/[\ud800-\udbff]$/, "");
    return {
      number: i + 1,
      text: cut ? kept : line,
      cut,
      cost: (cut ? kept : line).length + (numbered ? Math.max(5, `${i + 1}`.length) + 3 : 0),
    };
  });
  const wanted = tail === undefined ? all.slice(from - 1, to) : all.slice(-tail).reverse();
  const served: typeof all = [];
  let spent = 0;
  for (const line of wanted) {
    if (served.length > 0 && (spent + line.cost > budget || line.cut || served.at(-1)!.cut)) {
      break;
    }
    spent += line.cost;
    served.push(line);
  }
  if (tail !== undefined) served.reverse();
  return { served, total: all.length, budgeted: served.length < wanted.length };
}

const piece = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("\r", "\n", "\r\n", "a", "é", "😀", "a long line of words\n") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("x".repeat(39_999), "y".repeat(40_000), "z".repeat(300_000), "€".repeat(90_000)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "ab\r\n".repeat(70_000),
      "line\r".repeat(60_000),
      "\n".repeat(45_000),
      "b😀".repeat(13_334),
    ),
  },
);
const anyText = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
const anyRequest: fc.Arbitrary<SliceRequest> = fc.record({
  range: fc.oneof(
    fc.record({ from: fc.integer({ min: 1, max: 12 }) }),
    fc.record({ from: fc.constantFrom(1, 3, 69_990, 119_999) }),
    fc.tuple(fc.integer({ min: 1, max: 12 }), fc.nat(50_000)).map(([from, more]) => ({ from, to: from + more })),
    fc.record({ tail: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 90_000 })) }),
  ),
  numbered: fc.boolean(),
  budget: fc.oneof(fc.constant(CHARACTER_CAP), fc.nat(60), fc.nat(CHARACTER_CAP)),
}).map(({ range, ...rest }) => ({ ...range, ...rest }));

function agrees(slice: Slice, text: string, request: SliceRequest): void {
  const { served, total, budgeted } = model(text, request);
  assert.equal(sliceText(slice, false), served.map((line) => line.text).join(""));
  assert.deepEqual([slice.total, slice.budgeted, slice.lines.length], [total, budgeted, served.length]);
  if (served.length > 0) assert.deepEqual([slice.from, slice.to], [served[0].number, served.at(-1)!.number]);
  assert.equal(slice.lineCut?.line, served.find((line) => line.cut)?.number);
  assert(sliceText(slice, true).isWellFormed());
}

Deno.test("any slice of any text in any Unicode encoding is what the plain reading gives", () => {
  const encoding = fc.constantFrom("utf-8", "utf-8-bom", "utf-16le", "utf-16be-bom", "utf-32le-bom", "utf-32be-bom");
  fc.assert(
    fc.property(anyText, anyRequest, encoding, fc.constantFrom(1 << 20, 70_001), (text, request, name, most) => {
      const bytes = encoded(text, name);
      const hasher = createHash("sha256");
      const slice = readSlice(dribbling(bytes, most), { ...request, encoding: namedEncoding(name), hasher });
      agrees(slice, text, request);
      assert.equal(hasher.digest("hex"), createHash("sha256").update(bytes).digest("hex"));
      const counted = countEndings(text);
      assert.deepEqual(
        [slice.ending, slice.mixed, slice.finalNewline, slice.large],
        [counted.ending, counted.mixed, counted.finalNewline, false],
      );
      assert.equal(slice.truncated, request.tail === undefined && slice.to < counted.lines);
    }),
    { numRuns: 150 },
  );
});

function encoded(text: string, name: string): Uint8Array {
  const { bom, label } = namedEncoding(name);
  if (label === "utf-8") return new Uint8Array([...bom, ...utf8(text)]);
  const wide = label.startsWith("utf-32");
  const values = wide ? Array.from(text, (c) => c.codePointAt(0)!) : Array.from(text.split(""), (c) => c.charCodeAt(0));
  const size = wide ? 4 : 2;
  const view = new DataView(new ArrayBuffer(bom.length + values.length * size));
  bom.forEach((byte, i) => view.setUint8(i, byte));
  values.forEach((value, i) => {
    if (wide) view.setUint32(bom.length + i * 4, value, label.endsWith("le"));
    else view.setUint16(bom.length + i * 2, value, label.endsWith("le"));
  });
  return new Uint8Array(view.buffer);
}

Deno.test("columns of any slice are columns of its lines", () => {
  const columns = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.nat(9)).map((
    [a, more],
  ): [number, number] => [a, a + more]);
  const short = fc.string({ unit: fc.constantFrom("\r", "\n", "a", "é", "😀"), maxLength: 60 });
  fc.assert(
    fc.property(
      short,
      columns,
      fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      (text, columns, tail) => {
        const plain = read(text, { tail });
        const slice = read(text, { tail, columns });
        const expected = plain.lines.map((line) =>
          line.slice(columns[0] - 1, columns[1]).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/gu, "")
        );
        assert.deepEqual(slice.lines, expected);
        assert.deepEqual(slice.endings, plain.endings);
        assert.deepEqual([slice.from, slice.to], [plain.from, plain.to]);
      },
    ),
  );
});

Deno.test("scenario 65, bugs C62: any slice of a file above 64 MiB, reading only what it needs", () => {
  const filler = endless("filler line\n", WHOLE_BYTES + 4);
  assert.equal(filler.size % 12, 8);
  fc.assert(
    fc.property(anyText, anyRequest, (text, request) => {
      const source = request.tail === undefined
        ? chained(sourceOf(utf8(text)), filler)
        : chained(filler, sourceOf(utf8("\n" + text)));
      filler.read = 0;
      const slice = readSlice(source, request);
      assert.deepEqual([slice.large, slice.mixed], [true, undefined]);
      const beside = "filler line\n".repeat(50_000);
      if (request.tail !== undefined) {
        const { served, budgeted } = model(beside + "filler l\n" + text, {
          ...request,
          numbered: false,
          budget: request.budget,
        });
        if (!request.numbered) {
          assert.equal(sliceText(slice, false), served.map((line) => line.text).join(""));
          assert.equal(slice.budgeted, budgeted);
        }
        assert.equal(slice.from, -slice.lines.length);
        assert.equal(slice.to, -1);
        assert.equal(slice.truncated, false);
      } else if ((request.to ?? 0) < 40_000 && request.from! < 40_000) {
        const { served, budgeted } = model(text + beside, request);
        assert.equal(sliceText(slice, false), served.map((line) => line.text).join(""));
        assert.equal(slice.budgeted, budgeted);
        assert.deepEqual([slice.total, slice.truncated, slice.finalNewline], [undefined, true, undefined]);
      }
      assert(filler.read < 3_000_000, `${filler.read} bytes`);
    }),
    { numRuns: 150 },
  );
});

Deno.test("above 64 MiB: the end, a huge line, a stateful encoding, a bad byte", () => {
  const size = WHOLE_BYTES + 12 - WHOLE_BYTES % 12;
  const source = endless("filler line\n", size);
  const request = { ...whole, numbered: true };
  const total = size / 12;
  const beyond = readSlice(source, { ...request, from: total + 5 });
  assert.deepEqual([beyond.lines, beyond.total, beyond.truncated, beyond.finalNewline], [[], total, false, true]);
  const last = readSlice(source, { ...request, from: total });
  assert.deepEqual([last.lines, last.total, last.truncated], [["filler line"], total, false]);
  source.read = 0;
  const range = readSlice(source, { ...request, from: 5, to: 9 });
  assert.deepEqual([range.from, range.to, range.total, range.ending], [5, 9, undefined, "lf"]);
  assert.deepEqual(sliceRows(readSlice(source, { ...request, tail: 2 })), [
    "   -2 | filler line",
    "   -1 | filler line",
  ]);
  assert(source.read < 1_000_000);

  const line = endless("x", WHOLE_BYTES * 2);
  const cut = readSlice(line, whole);
  assert.deepEqual(cut.lineCut, { line: 1, total: undefined, moreThan: 40_000, next: 40_001 });
  assert.deepEqual([cut.lines[0].length, cut.total, cut.truncated], [40_000, undefined, true]);
  const window = readSlice(line, { ...whole, columns: [1_000_001, 1_000_010], to: 1 });
  assert.deepEqual([window.lines, window.lineCut], [["x".repeat(10)], undefined]);
  assert(line.read < 3_000_000);
  assert.equal(readSlice(line, { ...whole, tail: 1 }).lines[0].length, 40_000);

  const stateful = readSlice(source, { ...request, tail: 2, encoding: namedEncoding("iso-2022-jp") });
  assert.deepEqual([stateful.from, stateful.to, stateful.total], [total - 1, total, total]);

  const bad = chained(sourceOf(new Uint8Array([0x61, 10, 0xff, 10])), source);
  assert.throws(() => readSlice(bad, { ...whole, tail: 1 }), /not UTF-8.*offset 2/);
  const later = chained(source, sourceOf(new Uint8Array([0xff, 10])), source);
  assert.equal(readSlice(later, { ...whole, tail: 1 }).lines.length, 1);
  assert.equal(readSlice(later, { ...whole, to: 1 }).lines.length, 1);
  assert.throws(
    () => readSlice(chained(source, sourceOf(new Uint8Array([0xff]))), { ...whole, tail: 1 }),
    new RegExp(`offset ${size}`),
  );
});

/** An open file as a source. */
function sourceOfFile(file: Deno.FsFile): ByteSource {
  return {
    size: file.statSync().size,
    readAt(buffer, offset) {
      file.seekSync(offset, Deno.SeekMode.Start);
      return file.readSync(buffer) ?? 0;
    },
  };
}

Deno.test("scenario 65, bugs C62: a file of 4 GiB on disk, with holes", () => {
  const path = Deno.makeTempFileSync();
  const file = Deno.openSync(path, { read: true, write: true });
  try {
    file.writeSync(utf8("head\n".repeat(20_000)));
    const size = 4 * 2 ** 30;
    const end = utf8("\nlast but one\nlast");
    file.seekSync(size - end.length, Deno.SeekMode.Start);
    file.writeSync(end);
    const source = sourceOfFile(file);
    assert.equal(source.size, size);
    const tail = readSlice(source, { ...whole, tail: 2 });
    assert.deepEqual([tail.lines, tail.large, tail.finalNewline], [["last but one", "last"], true, false]);
    const range = readSlice(source, { ...whole, from: 5, to: 9 });
    assert.deepEqual([range.lines, range.large], [Array(5).fill("head"), true]);
    const hole = readSlice(source, { ...whole, from: 20_001 });
    assert.deepEqual([hole.lines[0].length, hole.lineCut?.total, hole.lineCut?.moreThan], [40_000, undefined, 40_000]);
  } finally {
    file.close();
    Deno.removeSync(path);
  }
});

Deno.test("a growing or shrinking file gives what was there when it was opened", () => {
  const path = Deno.makeTempFileSync();
  const file = Deno.openSync(path, { read: true, write: true });
  try {
    const text = "a\nb\nc\n".repeat(100_000);
    Deno.writeTextFileSync(path, text);
    const source = sourceOfFile(file);
    Deno.writeTextFileSync(path, "more\n", { append: true });
    for (const range of [{ to: 5 }, { tail: 5 }]) {
      const slice = readSlice(source, { ...whole, ...range });
      assert.equal(slice.total, 300_000);
      assert.equal(slice.lines.at(-1), range.tail ? "c" : "b");
    }
    Deno.truncateSync(path, 500_001);
    for (const range of [{ to: 5 }, { tail: 5 }]) {
      assert.equal(readSlice(source, { ...whole, ...range }).total, 250_001);
    }
    Deno.truncateSync(path, 0);
    assert.deepEqual(readSlice(source, { ...whole, tail: 5 }).lines, []);
  } finally {
    file.close();
    Deno.removeSync(path);
  }
});
