/** New content for `write`. Spec: 2-verbs §2.12; 3-documents-and-archives §3.1.2, §3.1.3; scenarios 55, 58, 59, 61; bug B 37. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Refusal } from "../../src/refusal.ts";
import { decodeWhole } from "../../src/text/decoder.ts";
import { encodeText } from "../../src/text/encode.ts";
import { heritageOf, newContent } from "../../src/text/encode_new.ts";
import { namedEncoding } from "../../src/text/encoding.ts";

const bytesOf = (text: string, name: string) => encodeText(text, namedEncoding(name));

/** Content written over an old one. */
function over(old: Uint8Array, text: string, encoding?: string, ending?: "lf" | "crlf" | "cr") {
  const named = encoding === undefined ? undefined : namedEncoding(encoding);
  const written = newContent({ text, heritage: heritageOf(old, named), encoding: named, ending });
  return [written.bytes.toHex(), written.encoding.name, written.ending, written.finalNewline];
}

const hex = (text: string, name: string) => bytesOf(text, name).toHex();

Deno.test("a new file is UTF-8 with LF", () => {
  const written = newContent({ text: "a\r\nb\rc" });
  assert.equal(written.text, "a\nb\nc");
  assert.deepEqual([written.encoding.name, written.ending, written.finalNewline], ["utf-8", "lf", false]);
  assert.equal(newContent({ text: "" }).ending, "none");
  assert.equal(newContent({ text: "a\n", ending: "crlf" }).text, "a\r\n");
  assert.equal(newContent({ text: "a\n", encoding: namedEncoding("utf-16le-bom") }).bytes.toHex(), "fffe61000a00");
  assert.equal(newContent({ text: "\ufeffa" }).encoding.name, "utf-8-bom");
});

Deno.test("bug B 37, scenarios 59, 61: the old file's encoding, mark and dominant ending are kept", () => {
  assert.deepEqual(over(bytesOf("é\r\n", "utf-8-bom"), "é\nb"), [
    hex("é\r\nb", "utf-8-bom"),
    "utf-8-bom",
    "crlf",
    false,
  ]);
  assert.deepEqual(over(bytesOf("a\rb\rc\n", "utf-8"), "x\ny\n"), [hex("x\ry\r", "utf-8"), "utf-8", "cr", true]);
  assert.deepEqual(over(bytesOf("a\n", "utf-16be-bom"), "é\n"), [
    hex("é\n", "utf-16be-bom"),
    "utf-16be-bom",
    "lf",
    true,
  ]);
  assert.deepEqual(over(bytesOf("a\r\n", "utf-8"), "x\n", undefined, "cr"), [hex("x\r", "utf-8"), "utf-8", "cr", true]);
  assert.deepEqual(over(bytesOf("", "utf-8"), "x\r\n"), [hex("x\n", "utf-8"), "utf-8", "lf", true]);
});

Deno.test("a named encoding converts; the ending stays the old one", () => {
  assert.deepEqual(over(bytesOf("é\r\n", "utf-8"), "é\n", "latin1"), ["e90d0a", "windows-1252", "crlf", true]);
  assert.deepEqual(over(bytesOf("é\r\n", "windows-1252"), "é\n", "latin1"), ["e90d0a", "windows-1252", "crlf", true]);
  assert.deepEqual(over(bytesOf("é\r\n", "utf-16le-bom"), "é\n", "utf-8"), [
    hex("é\r\n", "utf-8"),
    "utf-8",
    "crlf",
    true,
  ]);
  assert.deepEqual(over(bytesOf("é\r\n", "utf-8-bom"), "é\n", "utf-8"), [
    hex("é\r\n", "utf-8-bom"),
    "utf-8-bom",
    "crlf",
    true,
  ]);
  assert.deepEqual(over(bytesOf("é\n", "utf-8"), "é\n", "utf-8-bom"), [
    hex("é\n", "utf-8-bom"),
    "utf-8-bom",
    "lf",
    true,
  ]);
  assert.deepEqual(over(bytesOf("é\r\n", "utf-16le"), "é\n", "utf-16le"), [
    hex("é\r\n", "utf-16le"),
    "utf-16le",
    "crlf",
    true,
  ]);
  assert.deepEqual(over(new Uint8Array([0xff, 0xe9, 0x0d]), "é\n", "utf-8"), [
    hex("é\n", "utf-8"),
    "utf-8",
    "lf",
    true,
  ]);
});

Deno.test("binary content is simply replaced, text in an unknown encoding is not", () => {
  assert.equal(heritageOf(new Uint8Array([1, 0, 2])), undefined);
  for (const old of [[0xe9, 0x0a], [0xff, 0xfe, 0x61], [0xef, 0xbb, 0xbf, 0xff]]) {
    assert.throws(
      () => heritageOf(new Uint8Array(old), undefined, "p"),
      (error) =>
        error instanceof Refusal && error.outcome === "refused" && /--encoding/.test(error.message) &&
        error.path === "p",
    );
  }
});

Deno.test("scenario 58: a character the encoding lacks, with its line", () => {
  const write = () => newContent({ text: "a\r\nb\n→", encoding: namedEncoding("koi8-r"), path: "p" });
  assert.throws(write, (error) => error instanceof Refusal && /^line 3 would hold → \(U\+2192\)/.test(error.message));
});

Deno.test("a NUL is refused with its line, in every encoding", () => {
  for (const name of ["utf-8", "latin1", "utf-16le-bom", "utf-32le-bom"]) {
    assert.throws(
      () => newContent({ text: "a\r\nb\0", encoding: namedEncoding(name), path: "p" }),
      (error) =>
        error instanceof Refusal && error.outcome === "refused" && error.path === "p" &&
        /^line 2 would hold a NUL, which no text holds/.test(error.message),
    );
  }
});

Deno.test("scenario 55: read then written back unchanged gives the same bytes", () => {
  const names = ["utf-8", "utf-8-bom", "utf-16le-bom", "utf-16be-bom", "utf-32le-bom"];
  const text = fc.constantFrom("\n", "\r\n", "\r").chain((ending) =>
    fc.array(fc.constantFrom("a", "é", "🙂", "", "\u2028"), { maxLength: 8 }).map((lines) => lines.join(ending))
  );
  fc.assert(fc.property(fc.constantFrom(...names), text, (name, text) => {
    const bytes = bytesOf(text, name);
    const heritage = heritageOf(bytes)!;
    assert.equal(newContent({ text: decodeWhole(bytes, heritage.encoding), heritage }).bytes.toHex(), bytes.toHex());
  }));
});
