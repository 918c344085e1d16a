/** Which encoding a file is in, and strict decoding. Spec: 3-documents-and-archives §3.1.1, §3.1.2; scenarios 57, 58. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Refusal } from "../../src/refusal.ts";
import {
  Decoder,
  decodeSwept,
  decodeWhole,
  refuseUndecodable,
  tryDecodeWhole,
  Undecodable,
} from "../../src/text/decoder.ts";
import { detectEncoding, type Encoding, encodingOf, namedEncoding } from "../../src/text/encoding.ts";

const bytes = (...values: number[]) => new Uint8Array(values);
const nameOf = (encoding: Encoding | "binary") => encoding === "binary" ? encoding : encoding.name;

/** Every name of the standard that has a decoder. */
const STANDARD = [
  ..."utf-8 ibm866 koi8-r koi8-u macintosh windows-874 x-mac-cyrillic gbk gb18030 big5 euc-jp iso-2022-jp shift_jis"
    .split(" "),
  ..."euc-kr utf-16be utf-16le iso-8859-8-i".split(" "),
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16].map((part) => `iso-8859-${part}`),
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((page) => `windows-125${page}`),
];
const MARKED = ["utf-8-bom", "utf-16le-bom", "utf-16be-bom", "utf-32le-bom", "utf-32be-bom"];

Deno.test("the first bytes decide", () => {
  const table: [head: Uint8Array, name: string][] = [
    [bytes(), "utf-8"],
    [bytes(0x61), "utf-8"],
    [bytes(0xff), "utf-8"],
    [bytes(0xff, 0xfe, 0, 0), "utf-32le-bom"],
    [bytes(0, 0, 0xfe, 0xff), "utf-32be-bom"],
    [bytes(0xef, 0xbb, 0xbf), "utf-8-bom"],
    [bytes(0xff, 0xfe, 0x61, 0), "utf-16le-bom"],
    [bytes(0xff, 0xfe, 0), "utf-16le-bom"],
    [bytes(0xfe, 0xff), "utf-16be-bom"],
    [bytes(0xef, 0xbb), "utf-8"],
    [bytes(0x61, 0), "binary"],
    [bytes(0, 0, 0xfe), "binary"],
    [new Uint8Array(8192).fill(0x61).fill(0, 8191), "binary"],
    [new Uint8Array(9000).fill(0x61).fill(0, 8192), "utf-8"],
  ];
  for (const [head, name] of table) assert.equal(nameOf(detectEncoding(head)), name, head.subarray(0, 4).join());
});

Deno.test("scenario 58: any label, in any case, under the standard's own name", () => {
  for (const name of STANDARD) assert.equal(namedEncoding(name.toUpperCase()).name, name);
  for (const name of MARKED) assert.equal(namedEncoding(name.toUpperCase()).name, name);
  const labels = {
    latin1: "windows-1252",
    ASCII: "windows-1252",
    sjis: "shift_jis",
    "utf-16": "utf-16le",
    UTF8: "utf-8",
  };
  for (const [label, name] of Object.entries(labels)) assert.equal(namedEncoding(label).name, name);

  const unknown: [label: string, said: RegExp][] = [
    ["replacement", /unknown encoding "replacement"/],
    ["iso-2022-kr", /unknown encoding.*iso-2022-jp/],
    ["x-user-defined", /unknown encoding/],
    ["windows-1521", /did you mean windows-1251\?/],
    ["latn1", /did you mean latin1\?/],
    ["utf-8-bim", /did you mean utf-8-bom\?/],
    ["utf-32le", /did you mean utf-/],
    ["", /WHATWG/],
    ["quite something else", /WHATWG/],
  ];
  for (const [label, said] of unknown) {
    assert.throws(
      () => namedEncoding(label),
      (error) => error instanceof Refusal && error.outcome === "invalid" && said.test(error.message),
      label,
    );
  }
});

Deno.test("a name decides, and keeps only the mark that belongs to it", () => {
  const table: [head: Uint8Array, name: string, is: string][] = [
    [bytes(0xef, 0xbb, 0xbf, 0x61), "windows-1252", "windows-1252"],
    [bytes(0xef, 0xbb, 0xbf, 0x61), "utf-8", "utf-8-bom"],
    [bytes(0xff, 0xfe, 0x61, 0), "utf-8", "utf-8"],
    [bytes(0xff, 0xfe, 0x61, 0), "utf-16be", "utf-16be"],
    [bytes(0xff, 0xfe, 0, 0), "utf-16", "utf-16le-bom"],
    [bytes(0x61, 0), "utf-16le", "utf-16le"],
    [bytes(0x61, 0), "utf-16le-bom", "utf-16le"],
    [bytes(0x61, 0), "windows-1252", "windows-1252"],
    [bytes(0x61), "utf-8-bom", "utf-8"],
    [bytes(0x61, 0, 0, 0), "utf-32le-bom", "binary"],
    [bytes(0xff, 0xfe, 0, 0), "utf-32le-bom", "utf-32le-bom"],
    [bytes(), "utf-32le-bom", "utf-8"],
  ];
  for (const [head, name, is] of table) {
    assert.equal(nameOf(encodingOf(head, namedEncoding(name))), is, `${head} ${name}`);
  }
  assert.equal(encodingOf(bytes(0x61, 0)), "binary");
});

/** What encodes a text in the Unicode encodings, one code point at a time. */
function encoded(text: string, { label, bom }: Encoding): Uint8Array {
  const out = [...bom];
  if (label === "utf-8") return new Uint8Array([...out, ...new TextEncoder().encode(text)]);
  const wide = label.startsWith("utf-32");
  const units = wide ? [...text].map((c) => c.codePointAt(0)!) : Array.from(text.split(""), (c) => c.charCodeAt(0));
  for (const unit of units) {
    const low = Array.from({ length: wide ? 4 : 2 }, (_, i) => unit >>> (8 * i) & 0xff);
    out.push(...(label.endsWith("be") ? low.reverse() : low));
  }
  return new Uint8Array(out);
}

/** Decodes in blocks of the given sizes, then the rest. */
function inBlocks(data: Uint8Array, encoding: Encoding, sizes: readonly number[]): string {
  const decoder = new Decoder(encoding);
  let text = "";
  let at = 0;
  for (const size of sizes) {
    text += decoder.decode(data.slice(at, at + size), false);
    at = Math.min(data.length, at + size);
  }
  return text + decoder.decode(data.slice(at), true);
}

const sizes = fc.array(fc.nat(7), { maxLength: 30 });
const unicode = fc.constantFrom("utf-8", "utf-16le", "utf-16be", ...MARKED).map(namedEncoding);
const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom("\r", "\n", "\ufeff", "\ufffd", "a"), fc.string({ unit: "binary", minLength: 1 })),
});

Deno.test("whatever is encoded is decoded, in blocks of any size", () => {
  fc.assert(fc.property(anyText, unicode, sizes, (text, encoding, sizes) => {
    const data = encoded(text, encoding);
    assert.equal(decodeWhole(data, encoding), text);
    assert.equal(inBlocks(data, encoding, sizes), text);
  }));
});

/** The offset at which decoding fails, or the text. */
function outcome(decode: () => string): string | number {
  try {
    return decode();
  } catch (error) {
    assert(error instanceof Undecodable, String(error));
    return error.offset;
  }
}

Deno.test("blocks of any size fail at the same byte as the whole, in every encoding", () => {
  const any = fc.constantFrom("utf-8", ...STANDARD, ...MARKED).map(namedEncoding);
  const byte = fc.oneof(
    fc.constantFrom(0, 10, 0x1b, 0x24, 0x42, 0x30, 0x41, 0x81, 0x8f, 0xd8, 0xdc, 0xe2, 0xff),
    fc.nat(255),
  );
  const data = fc.uint8Array({ maxLength: 40 }).chain((a) =>
    fc.array(byte, { maxLength: 20 }).map((b) => new Uint8Array([...a, ...b]))
  );
  fc.assert(
    fc.property(data, any, sizes, (body, encoding, sizes) => {
      const file = new Uint8Array([...encoding.bom, ...body]);
      const whole = outcome(() => decodeWhole(file, encoding));
      assert.equal(outcome(() => inBlocks(file, encoding, sizes)), whole);
      if (!encoding.label.startsWith("utf-32")) {
        const native = new TextDecoder(encoding.label, { fatal: true, ignoreBOM: true });
        if (typeof whole === "string") assert.equal(native.decode(new Uint8Array(body)), whole);
        else assert.throws(() => native.decode(new Uint8Array(body)), TypeError);
      }
      assert.equal(tryDecodeWhole(file, encoding), typeof whole === "string" ? whole : undefined);
      if (typeof whole === "number") {
        const good = file.slice(0, whole);
        assert.equal(typeof outcome(() => decodeWhole(good, encoding)), "string", `good up to ${whole}`);
      }
    }),
    { numRuns: 3000 },
  );
});

Deno.test("scenario 57: the place of the first bad byte", () => {
  const table: [encoding: string, data: Uint8Array, offset: number][] = [
    ["utf-8", bytes(0x61, 0xc0, 0x80), 1],
    ["utf-8", bytes(0x61, 0xed, 0xa0, 0x80), 1],
    ["utf-8", bytes(0x61, 0xf4, 0x90, 0x80, 0x80), 1],
    ["utf-8", bytes(0x61, 0xe2, 0x82, 0x61), 1],
    ["utf-8", bytes(0x61, 0xe2, 0x82), 1],
    ["utf-8-bom", bytes(0xef, 0xbb, 0xbf, 0xff), 3],
    ["utf-16le", bytes(0x61, 0, 0, 0xd8), 2],
    ["utf-16le", bytes(0x61, 0, 0, 0xd8, 0x61, 0), 2],
    ["utf-16be", bytes(0, 0x61, 0xdc, 0), 2],
    ["utf-16be-bom", bytes(0xfe, 0xff, 0, 0x61, 0), 4],
    ["utf-32le-bom", bytes(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0, 0, 0, 0x11, 0), 8],
    ["utf-32be-bom", bytes(0, 0, 0xfe, 0xff, 0, 0, 0xd8, 0), 4],
    ["utf-32be-bom", bytes(0, 0, 0xfe, 0xff, 0, 0), 4],
    ["windows-1253", bytes(0x61, 0xaa), 1],
    ["shift_jis", bytes(0x61, 0x81), 1],
  ];
  for (const [name, data, offset] of table) {
    assert.equal(outcome(() => decodeWhole(data, namedEncoding(name))), offset, `${name} ${data}`);
  }
  for (const name of ["utf-8", "shift_jis", "windows-1253", "utf-16le"]) {
    for (const at of [0, 4094, 4096, 70_000, 300_000]) {
      const data = new Uint8Array(400_000).fill(name === "utf-16le" ? 0x20 : 0x61);
      data[at] = name === "windows-1253" ? 0xaa : 0xff;
      if (name === "utf-16le") data.set([0, 0xdc], at);
      assert.equal(outcome(() => decodeWhole(data, namedEncoding(name))), at, `${name} at ${at}`);
      assert.equal(
        outcome(() => inBlocks(data, namedEncoding(name), [65536, 65536, 65536])),
        at,
        `${name} at ${at}, blocks`,
      );
    }
  }
});

Deno.test("no encoding takes a line feed for the second half of a character", () => {
  for (const name of STANDARD.filter((name) => namedEncoding(name).family === "multi")) {
    for (let lead = 0x80; lead <= 0xff; lead++) {
      for (const ending of [10, 13]) {
        const text = tryDecodeWhole(bytes(lead, ending), namedEncoding(name));
        assert(text === undefined || text.length === 2 && text.charCodeAt(1) === ending, `${name} ${lead}`);
      }
    }
  }
});

Deno.test("every single-byte encoding has LF and CR where ASCII has them", () => {
  for (const name of STANDARD.filter((name) => namedEncoding(name).family === "single")) {
    for (let byte = 0; byte < 256; byte++) {
      const text = tryDecodeWhole(bytes(byte), namedEncoding(name));
      if (byte === 10 || byte === 13) assert.equal(text, String.fromCharCode(byte));
      else assert(text !== "\n" && text !== "\r");
    }
  }
});

Deno.test("the refusal of a text in another encoding names --encoding", () => {
  const message = (name: string, named: boolean) =>
    refuseUndecodable(new Undecodable(namedEncoding(name), 7), named, "a.txt");
  for (const refusal of [message("utf-8", false), message("utf-16le-bom", false), message("windows-1253", true)]) {
    assert.equal(refusal.outcome, "refused");
    assert.equal(refusal.path, "a.txt");
    assert.match(refusal.message, /offset 7.*--encoding/);
  }
});

Deno.test("in a sweep a name serves only what would be passed over", () => {
  const table: [data: Uint8Array, name: string | undefined, text: string, encoding?: string][] = [
    [bytes(0xc3, 0xa9), "windows-1252", "é", "utf-8"],
    [bytes(0xe9), undefined, "undecodable"],
    [bytes(0xe9), "windows-1252", "é", "windows-1252"],
    [bytes(0xaa), "windows-1253", "undecodable"],
    [bytes(0xe9, 0), "windows-1252", "binary"],
    [bytes(0xe9, 0), "utf-16le", "é", "utf-16le"],
    [bytes(0xe9, 0, 0), "utf-16le", "binary"],
    [bytes(0xe9, 0, 0, 0), "utf-32le-bom", "binary"],
    [bytes(0xff, 0xfe, 0xe9, 0), "windows-1252", "é", "utf-16le-bom"],
    [bytes(0xff, 0xfe, 0xe9), "windows-1252", "ÿþé", "windows-1252"],
  ];
  for (const [data, name, text, encoding] of table) {
    const got = decodeSwept(data, name === undefined ? undefined : namedEncoding(name));
    assert.deepEqual(
      typeof got === "string" ? [got] : [got.text, got.encoding.name],
      encoding ? [text, encoding] : [text],
      `${data}`,
    );
  }
});

Deno.test("a U+FFFD that the file holds is text", () => {
  const data = encoded("a\ufffd\u{1fffd}".repeat(3000), namedEncoding("utf-8"));
  assert.equal(decodeWhole(data, namedEncoding("utf-8")), "a\ufffd\u{1fffd}".repeat(3000));
  assert.equal(inBlocks(data, namedEncoding("utf-8"), [2, 3, 5000]), "a\ufffd\u{1fffd}".repeat(3000));
  assert.equal(
    outcome(() => inBlocks(new Uint8Array([...data, 0xff]), namedEncoding("utf-8"), [2, 3, 5000])),
    data.length,
  );
});
