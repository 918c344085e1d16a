/**
 * What a file's name says of its kind. The suffix alone decides; whether the content fits is for the reader to say.
 *
 * Spec: 3-documents-and-archives §3.2.1, §3.2.9, §3.2.10, §3.3; decision 64.
 */

/** How a file is served, as answers name it. */
export type Kind =
  | "text"
  | "notebook"
  | "pdf"
  | "spreadsheet"
  | "document"
  | "presentation"
  | "message"
  | "image"
  | "archive"
  | "gzip"
  | "zstd"
  | "xz"
  | "bzip2";

/** Suffixes in lower case, without the dot. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["ipynb", "notebook"],
  ["pdf", "pdf"],
  ["xlsx", "spreadsheet"],
  ["xlsm", "spreadsheet"],
  ["ods", "spreadsheet"],
  ["docx", "document"],
  ["docm", "document"],
  ["odt", "document"],
  ["epub", "document"],
  ["pptx", "presentation"],
  ["odp", "presentation"],
  ["eml", "message"],
  ["png", "image"],
  ["jpg", "image"],
  ["jpeg", "image"],
  ["gif", "image"],
  ["webp", "image"],
  ["zip", "archive"],
  ["tar", "archive"],
  ["tgz", "archive"],
  ["gz", "gzip"],
  ["zst", "zstd"],
  ["xz", "xz"],
  ["bz2", "bzip2"],
]);

/** Suffixes whose readers come with a later release: until then such a file is binary. Spec: decision 64, §3.2.9. */
const LATER: ReadonlySet<string> = new Set(["eml", "epub", "odt", "ods", "odp", "zst", "xz", "bz2"]);

/**
 * The kind of a file by its name or path: the suffix decides, ignoring case, the longest first.
 *
 * @example
 * ```ts
 * kindOf("site/Report.PDF"); // "pdf"
 * kindOf("a.tar.gz"); // "archive"
 * kindOf("a.log.gz"); // "gzip"
 * ```
 */
export function kindOf(name: string): Kind {
  const suffix = suffixOf(name);
  const kind = KINDS.get(suffix) ?? "text";
  if (!isCompressed(kind)) return kind;
  return /\.tar$/i.test(name.slice(0, name.length - suffix.length - 1)) ? "archive" : kind;
}

/** The last suffix in lower case, without the dot; empty where there is none. */
function suffixOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/** Whether this release has the reader that the name asks for. Plain text needs none. A file without its reader is binary (8). */
export function hasReader(name: string): boolean {
  return !LATER.has(suffixOf(name));
}

/** An office file or PDF: what is served of it is a fraction of the file. */
export function isDocument(kind: Kind): boolean {
  return kind === "pdf" || kind === "spreadsheet" || kind === "document" || kind === "presentation";
}

/** A picture: served by `read` as such, never searched. */
export function isImage(kind: Kind): boolean {
  return kind === "image";
}

/** A file with members. */
export function isArchive(kind: Kind): boolean {
  return kind === "archive";
}

/** One compressed file that is no archive. */
export function isCompressed(kind: Kind): boolean {
  return kind === "gzip" || kind === "zstd" || kind === "xz" || kind === "bzip2";
}

/** `read` serves, and `search` matches, a rendering instead of the file's own text. Spec: §3.3. */
export function isRendered(kind: Kind): boolean {
  return isDocument(kind) || isCompressed(kind) || kind === "notebook" || kind === "message";
}

/** Text itself, though a rendering of it is served: written as text, and searched as text under `--no-documents`. Spec: §3.2.10, §3.3. */
export function isTextual(kind: Kind): boolean {
  return kind === "text" || kind === "notebook" || kind === "message";
}

/** `write`, `edit` and `replace` refuse (8) a file of this kind, whether or not it is there. Spec: §3.2.10. */
export function isWriteRefused(kind: Kind): boolean {
  return !isTextual(kind);
}
