/** Text back into bytes. Spec: 3-documents-and-archives §3.1.2; decision 61; scenarios 55, 58; bugs B 35, 37, 38. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Refusal } from "../../src/refusal.ts";
import { decodeWhole, tryDecodeWhole } from "../../src/text/decoder.ts";
import { encodeText, refuseUnencodable, Unencodable } from "../../src/text/encode.ts";
import { encodingOf, namedEncoding } from "../../src/text/encoding.ts";
import { spliceChanges } from "../../src/text/encode_splice.ts";

const SINGLE = [
  ..."ibm866 koi8-r koi8-u macintosh windows-874 x-mac-cyrillic iso-8859-8-i".split(" "),
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16].map((part) => `iso-8859-${part}`),
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((page) => `windows-125${page}`),
];
const MULTI = ["big5", "euc-jp", "euc-kr", "gb18030", "gbk", "iso-2022-jp", "shift_jis"];
const UNICODE = [
  "utf-8",
  "utf-8-bom",
  "utf-16le",
  "utf-16be",
  "utf-16le-bom",
  "utf-16be-bom",
  "utf-32le-bom",
  "utf-32be-bom",
];
const ALL = [...SINGLE, ...MULTI, ...UNICODE];

const hex = (bytes: Uint8Array) => bytes.toHex();
const encoded = (text: string, name: string) => encodeText(text, namedEncoding(name));

function refusal(action: () => unknown): Refusal {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error;
  }
  assert.fail("nothing was refused");
}

Deno.test("every byte that a one-byte encoding defines is written as it was read", () => {
  for (const name of SINGLE) {
    for (let byte = 0; byte < 256; byte++) {
      const text = tryDecodeWhole(new Uint8Array([byte]), namedEncoding(name));
      if (text !== undefined) assert.equal(hex(encoded(text, name)), byte.toString(16).padStart(2, "0"), name);
    }
  }
});

Deno.test("every character that a sequence of bytes stands for is written so that it is read again", () => {
  for (const name of MULTI) {
    const encoding = namedEncoding(name);
    for (let code = 0; code < 0x2ffff; code += code < 0x10000 ? 1 : 7) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      try {
        assert.equal(decodeWhole(encodeText(character, encoding), encoding), character, `${name} ${code.toString(16)}`);
      } catch (error) {
        if (!(error instanceof Unencodable)) throw error;
        assert.ok(name !== "gb18030" || code >= 0xe000 && code <= 0xf8ff, `${code.toString(16)} is in GB18030`);
      }
    }
  }
});

Deno.test("of several sequences the one is written that the standard's encoder takes", () => {
  const table: [name: string, character: string, bytes: string][] = [
    ["gbk", "€", "80"],
    ["gb18030", "€", "a2e3"],
    ["gbk", "\u3000", "a1a1"],
    ["gb18030", "🙂", "95308532"],
    ["gb18030", "\ufffd", "8431a437"],
    ["gb18030", "\u0080", "81308130"],
    ["shift_jis", "∪", "81be"],
    ["shift_jis", "￢", "81ca"],
    ["shift_jis", "纊", "fa5c"],
    ["shift_jis", "Ⅰ", "8754"],
    ["shift_jis", "ｱ", "b1"],
    ["euc-jp", "∪", "a2c0"],
    ["euc-jp", "丂", "8fb0a1"],
    ["euc-jp", "ｱ", "8eb1"],
    ["big5", "╞", "f9e9"],
    ["big5", "十", "a451"],
    ["big5", "卅", "a4ca"],
    ["big5", "箸", "bae6"],
    ["big5", "\u00ca\u0304", "8862"],
    ["big5", "\u00ca", "8866"],
    ["big5", "\u00cax", "886678"],
    ["euc-kr", "가", "b0a1"],
    ["euc-kr", "똠", "8c63"],
    ["iso-2022-jp", "a日本b", "611b2442467c4b5c1b284262"],
    ["iso-2022-jp", "¥a\\", "1b284a5c611b28425c"],
    ["iso-2022-jp", "ｱ\n", "1b2849311b28420a"],
    ["windows-1252", "ç€", "e780"],
    ["utf-16be-bom", "🙂", "feffd83dde42"],
    ["utf-32le-bom", "🙂", "fffe000042f60100"],
    ["utf-8-bom", "", "efbbbf"],
  ];
  for (const [name, character, bytes] of table) {
    assert.equal(hex(encoded(character, name)), bytes, `${name} ${character}`);
  }
});

Deno.test("scenario 58: a character that the encoding lacks is refused with its place, never replaced", () => {
  const table: [name: string, text: string, offset: number, code: number][] = [
    ["windows-1252", "ab\n→", 3, 0x2192],
    ["iso-8859-2", "🙂", 0, 0x1f642],
    ["gbk", "a🙂", 1, 0x1f642],
    ["iso-2022-jp", "\u001b", 0, 0x1b],
    ["iso-2022-jp", "−", 0, 0x2212],
    ["big5", "\u0304", 0, 0x304],
    ["utf-8", "🙂\ude42", 2, 0xde42],
    ["utf-16le", "\ud83d", 0, 0xd83d],
    ["utf-32be-bom", "a\ud83da", 1, 0xd83d],
    ["gb18030", "\ud83d", 0, 0xd83d],
    ["gb18030", "\ud83da", 0, 0xd83d],
    ["windows-1252", "\ude42", 0, 0xde42],
  ];
  for (const [name, text, offset, code] of table) {
    assert.throws(
      () => encoded(text, name),
      (error) => error instanceof Unencodable && error.offset === offset && error.code === code,
      `${name} ${JSON.stringify(text)}`,
    );
  }
  const said = refuseUnencodable(new Unencodable(namedEncoding("latin1"), 3, 0x2192), 7, "a.txt", 2);
  assert.equal(said.outcome, "refused");
  assert.match(said.message, /^edit 2: line 7 would hold → \(U\+2192\), which windows-1252 has not/);
});

Deno.test("scenario 55: bytes that decode are written back the same, or the file is refused, never damaged", () => {
  const bytes = fc.uint8Array({ maxLength: 60 }).map((all) => new Uint8Array(all));
  fc.assert(
    fc.property(fc.constantFrom(...ALL), bytes, (name, bytes) => {
      const encoding = encodingOf(bytes, namedEncoding(name));
      if (encoding === "binary") return;
      const text = tryDecodeWhole(bytes, encoding);
      if (text === undefined) return;
      const whole = { start: text.length, end: text.length, text: "x" };
      try {
        const after = spliceChanges({ bytes, text, encoding }, [whole]);
        assert.equal(decodeWhole(after, encoding), text + "x");
        if (name !== "iso-2022-jp") assert.equal(hex(after.subarray(0, bytes.length)), hex(bytes));
      } catch (error) {
        assert.ok(error instanceof Refusal && error.outcome === "refused", String(error));
        assert.ok(MULTI.includes(name), name);
      }
    }),
    { numRuns: 20_000 },
  );
});

Deno.test("scenario 55: the same for bytes that mostly decode, escape sequences in any order included", () => {
  const escapes = [[0x1b, 0x28, 0x42], [0x1b, 0x28, 0x4a], [0x1b, 0x28, 0x49], [0x1b, 0x24, 0x42], [0x1b, 0x24, 0x40]];
  const plain = [[0x61], [0x0a], [0x0d, 0x0a], [0x5c], [0x24, 0x22], [0x31]];
  const high = fc.tuple(fc.integer({ min: 0x81, max: 0xfe }), fc.integer({ min: 0x40, max: 0xfe }));
  const pieces = (name: string) =>
    name === "iso-2022-jp" ? fc.constantFrom(...escapes, ...plain) : fc.oneof(high, fc.constantFrom(...plain));
  const sample = fc.constantFrom(...MULTI).chain((name) =>
    fc.tuple(fc.constant(name), fc.array<number[]>(pieces(name), { maxLength: 8 }), fc.nat(20))
  );
  let spliced = 0;
  fc.assert(
    fc.property(sample, ([name, parts, at]) => {
      const encoding = namedEncoding(name);
      const bytes = new Uint8Array(parts.flat());
      const text = tryDecodeWhole(bytes, encoding);
      if (text === undefined) return;
      const place = at % (text.length + 1);
      try {
        const after = spliceChanges({ bytes, text, encoding }, [{ start: place, end: place, text: "x" }]);
        assert.equal(decodeWhole(after, encoding), text.slice(0, place) + "x" + text.slice(place));
        spliced++;
        if (name === "iso-2022-jp") return;
        const same = bytes.findIndex((byte, i) => after[i] !== byte);
        assert.equal(
          hex(after.subarray(same < 0 ? bytes.length + 1 : same + 1)),
          hex(same < 0 ? new Uint8Array() : bytes.subarray(same)),
        );
      } catch (error) {
        assert.ok(error instanceof Refusal && error.outcome === "refused", String(error));
      }
    }),
    { numRuns: 20_000 },
  );
  assert.ok(spliced > 2000, String(spliced));
});

Deno.test("two characters that are one sequence of bytes are not parted", () => {
  const encoding = namedEncoding("big5");
  const bytes = new Uint8Array([0x0d, 0x0a, 0x88, 0x62, 0x61]);
  const text = decodeWhole(bytes, encoding);
  assert.equal(text, "\r\n\u00ca\u0304a");
  for (const [start, end] of [[3, 3], [2, 3], [3, 4], [0, 3], [3, 5]]) {
    assert.throws(
      () => spliceChanges({ bytes, text, encoding }, [{ start, end, text: "x" }]),
      (error) => error instanceof Refusal && error.outcome === "refused",
      `${start}-${end}`,
    );
  }
  for (
    const [start, end, hexadecimal] of [[2, 4, "0d0a7861"], [4, 4, "0d0a88627861"], [2, 2, "0d0a78886261"]] as const
  ) {
    assert.equal(hex(spliceChanges({ bytes, text, encoding }, [{ start, end, text: "x" }])), hexadecimal);
  }
});

Deno.test("a file whose bytes are not those its encoding is written with is refused", () => {
  const table: [name: string, bytes: number[]][] = [
    ["shift_jis", [0x61, 0x87, 0x9c]],
    ["gbk", [0x61, 0x95, 0x30, 0x85, 0x32]],
    ["iso-2022-jp", [0x61, 0x1b, 0x28, 0x42]],
    ["iso-2022-jp", [0x61, 0x1b, 0x24, 0x42, 0x46, 0x7c]],
    ["big5", [0x61, 0x8e, 0x69]],
  ];
  for (const [name, all] of table) {
    const encoding = namedEncoding(name);
    const bytes = new Uint8Array(all);
    const text = decodeWhole(bytes, encoding);
    const refused = refusal(() =>
      spliceChanges({ bytes, text, encoding }, [{ start: 0, end: 1, text: "b" }], { path: "p" })
    );
    assert.equal(refused.outcome, "refused", name);
    assert.match(refused.message, /from offset 1 on|from offset 6 on/, name);
    assert.equal(refused.path, "p");
  }
});

/** Random changes of a text, in order, at whole characters. */
function changesOf(text: string, numbers: number[], puts: string[]) {
  const bounds = [...new Set(numbers.map((n) => n % (text.length + 1)))]
    .filter((n) => !(/[\udc00-\udfff]/.test(text[n] ?? "") && /[\ud800-\udbff]/.test(text[n - 1] ?? ""))).sort((a, b) =>
      a - b
    );
  const changes = [];
  for (let i = 0; i + 1 < bounds.length; i += 2) {
    changes.push({ start: bounds[i], end: bounds[i + 1], text: puts[i % puts.length] });
  }
  return changes;
}

Deno.test("changes in the bytes are those in the text, for every encoding; what they leave keeps its bytes", () => {
  const characters: Record<string, string> = {
    multi: "ab\n\r日本語あ十",
    single: "ab\n\r~",
    unicode: "ab\n\ré日🙂\u2028\0",
  };
  const family = (name: string) => SINGLE.includes(name) ? "single" : MULTI.includes(name) ? "multi" : "unicode";
  const sample = fc.constantFrom(...ALL.filter((name) => name !== "euc-kr")).chain((name) => {
    const text = fc.array(fc.constantFrom(...characters[family(name)]), { maxLength: 40 }).map((all) => all.join(""));
    return fc.tuple(
      fc.constant(name),
      text,
      fc.array(fc.nat(100), { maxLength: 8 }),
      fc.array(text, { minLength: 1, maxLength: 4 }),
    );
  });
  fc.assert(
    fc.property(sample, ([name, raw, numbers, puts]) => {
      const lacking = name === "gbk" || name === "gb18030" || name === "big5" ? /[あ語]/g : /$^/g;
      const text = raw.replace(lacking, "x");
      const encoding = namedEncoding(name);
      const bytes = encodeText(text, encoding);
      const changes = changesOf(text, numbers, puts.map((put) => put.replace(lacking, "y").replaceAll("\0", "")));
      let expected = text;
      for (const { start, end, text: put } of changes.toReversed()) {
        expected = expected.slice(0, start) + put + expected.slice(end);
      }
      const after = spliceChanges({ bytes, text, encoding }, changes);
      assert.equal(hex(after), hex(encodeText(expected, encoding)));
      assert.equal(decodeWhole(after, encoding), expected);
    }),
    { numRuns: 5000 },
  );
});

Deno.test("the line named for a lacking character is that in the new text", () => {
  const encoding = namedEncoding("windows-1252");
  const text = "a\r\nb\r\nc\r\n";
  const bytes = encodeText(text, encoding);
  const changes = [{ start: 0, end: 0, text: "1\r\n2\r\n", edit: 1 }, { start: 6, end: 7, text: "x\r\ny→", edit: 2 }];
  const refused = refusal(() => spliceChanges({ bytes, text, encoding }, changes, { path: "p" }));
  assert.match(refused.message, /^edit 2: line 6 would hold →/);
});

Deno.test("a NUL that is brought in is refused with its line, whatever the encoding; one that is there stays", () => {
  for (const name of ["utf-8", "utf-16le-bom", "latin1", "shift_jis", "iso-2022-jp"]) {
    const encoding = namedEncoding(name);
    const text = name === "iso-2022-jp" ? "a\nb" : "a\nb\0";
    const bytes = encodeText(text, encoding);
    const splice = (put: string) =>
      spliceChanges({ bytes, text, encoding }, [{ start: 3, end: 3, text: put, edit: 4 }], { path: "p" });
    const refused = refusal(() => splice("x\ny\0"));
    assert.match(refused.message, /^edit 4: line 3 would hold a NUL/, name);
    assert.deepEqual([refused.outcome, refused.path], ["refused", "p"]);
    assert.equal(decodeWhole(splice("x"), encoding), text.slice(0, 3) + "x" + text.slice(3), name);
  }
});

Deno.test("a file that would be too large is refused with its size before it is made, in every kind of encoding", () => {
  const largest = 1024 * 1024;
  for (const name of ["utf-8", "utf-16be", "latin1", "gbk", "iso-2022-jp", "utf-32le-bom"]) {
    const encoding = namedEncoding(name);
    const rest = name === "latin1" ? "é" : "語";
    const text = "aaaa" + (name === "iso-2022-jp" ? "" : rest);
    const bytes = encodeText(text, encoding);
    const put = "x".repeat(1000);
    const fits = Math.floor((largest - bytes.length) / (encodeText(put, encoding).length - encoding.bom.length));
    const splice = (count: number) =>
      spliceChanges(
        { bytes, text, encoding },
        Array.from({ length: count }, () => ({ start: 1, end: 1, text: put })),
        { largest, path: "p" },
      );
    const made = splice(fits).length;
    assert.ok(made <= largest && made > largest - 5000, name);
    const refused = refusal(() => splice(fits + 1));
    assert.deepEqual([refused.outcome, refused.path], ["refused", "p"]);
    const [, size] = /^the file would have (?:at least )?(\d+) bytes; files of up to 1 MiB are changed$/.exec(
      refused.message,
    )!;
    assert.ok(Number(size) > largest, refused.message);
    // One text that is longer than any file is not even encoded.
    assert.match(
      refusal(() =>
        spliceChanges({ bytes, text, encoding }, [{ start: 0, end: 0, text: "x".repeat(largest + 1) }], { largest })
      )
        .message,
      /at least 1048577 bytes/,
    );
  }
});

Deno.test("no change gives the very bytes", () => {
  const bytes = new Uint8Array([0x87, 0x9c]);
  const encoding = namedEncoding("shift_jis");
  assert.equal(spliceChanges({ bytes, text: decodeWhole(bytes, encoding), encoding }, []), bytes);
});
