/** Kinds by suffix. Spec: 3-documents-and-archives §3.2.1, §3.2.9, §3.2.10, §3.3. */
import assert from "node:assert/strict";
import {
  hasReader,
  isArchive,
  isCompressed,
  isDocument,
  isImage,
  isRendered,
  isTextual,
  isWriteRefused,
  type Kind,
  kindOf,
} from "../../src/documents/kinds.ts";

const TABLE: Record<Kind, string[]> = {
  text: ["a", "a.txt", "a.csv", "a.svg", "a.doc", "a.xls", "a.xlsb", "pdf", "gz", "a.tar.b", "x.pdf/y", "a.", ".", ""],
  notebook: ["a.ipynb", "A.IPYNB"],
  pdf: ["a.pdf", "x/y.b.PDF", ".pdf"],
  spreadsheet: ["a.xlsx", "a.xlsm", "a.ods"],
  document: ["a.docx", "a.docm", "a.odt", "a.epub"],
  presentation: ["a.pptx", "a.odp"],
  message: ["a.eml"],
  image: ["a.png", "a.jpg", "a.JPEG", "a.gif", "a.webp"],
  archive: ["a.zip", "a.tar", "a.tar.gz", "a.tgz", "A.TAR.GZ", "a.tar.zst", "a.tar.xz", "a.tar.bz2"],
  gzip: ["a.gz", "a.log.gz", "tar.gz", "a.tar.b.gz"],
  zstd: ["a.zst"],
  xz: ["a.xz"],
  bzip2: ["a.bz2"],
};

Deno.test("the suffix decides, ignoring case, longest first", () => {
  for (const [kind, names] of Object.entries(TABLE)) {
    for (const name of names) assert.equal(kindOf(name), kind, name);
  }
});

Deno.test("what is done with a kind", () => {
  const kinds = Object.keys(TABLE) as Kind[];
  const those = (is: (kind: Kind) => boolean) => kinds.filter(is).join(" ");
  assert.equal(those(isDocument), "pdf spreadsheet document presentation");
  assert.equal(those(isImage), "image");
  assert.equal(those(isArchive), "archive");
  assert.equal(those(isCompressed), "gzip zstd xz bzip2");
  assert.equal(those(isTextual), "text notebook message");
  assert.equal(those(isRendered), "notebook pdf spreadsheet document presentation message gzip zstd xz bzip2");
  assert.equal(
    those(isWriteRefused),
    "pdf spreadsheet document presentation image archive gzip zstd xz bzip2",
  );
});

Deno.test("decision 64: readers that come later", () => {
  for (const name of ["a.eml", "a.odt", "a.tar.xz", "A.BZ2"]) assert.equal(hasReader(name), false, name);
  for (const name of ["a.txt", "a.pptx", "a.docx", "a.tar.gz", "a.gz", "a.png"]) {
    assert.equal(hasReader(name), true, name);
  }
});
