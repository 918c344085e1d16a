import {
  absolutePath,
  contains,
  isAbsolute,
  parentOf,
  rootOf,
  scopeFault,
  scopePath,
} from "../../src/config/written_path.ts";
import { assert } from "./support.ts";

const LINUX = { windows: false, ignoreCase: false };
const MACOS = { windows: false, ignoreCase: true };
const WINDOWS = { windows: true, ignoreCase: true };

Deno.test("absolute is recognised on every system", () => {
  for (const path of ["/", "/a", "C:/a", "c:\\a", "\\\\server\\x"]) assert.ok(isAbsolute(path), path);
  for (const path of ["a", ".", "C:", "C:a", "~/a", "$X/a", "\\a"]) assert.ok(!isAbsolute(path), path);
});

Deno.test("parents stop at the root", () => {
  assert.equal(parentOf("/a/b", LINUX), "/a");
  assert.equal(parentOf("/a", LINUX), "/");
  assert.equal(parentOf("/", LINUX), "/");
  assert.equal(parentOf("C:\\a", WINDOWS), "C:\\");
  assert.equal(parentOf("C:\\", WINDOWS), "C:\\");
  assert.equal(parentOf("\\\\s\\x\\a", WINDOWS), "\\\\s\\x\\");
  assert.equal(parentOf("\\\\s\\x\\", WINDOWS), "\\\\s\\x\\");
  assert.equal(rootOf("/a/b", LINUX), "/");
  assert.equal(rootOf("C:\\a\\b", WINDOWS), "C:\\");
});

Deno.test("relative and absolute", () => {
  assert.equal(absolutePath("../../../x", "/a/b", LINUX), "/x");
  assert.equal(absolutePath("a\\b", "/p", LINUX), "/p/a\\b");
  assert.equal(absolutePath("a\\..\\b", "C:\\p", WINDOWS), "C:\\p\\b");
  assert.equal(absolutePath("//server/share/a", "C:\\p", WINDOWS), "\\\\server\\share\\a");
});

Deno.test("containment is by whole segments and the case rule", () => {
  assert.ok(contains("/a", "/a", LINUX));
  assert.ok(contains("/a", "/a/b", LINUX));
  assert.ok(!contains("/a", "/ab", LINUX));
  assert.ok(contains("/", "/ab", LINUX));
  assert.ok(!contains("/A", "/a/b", LINUX));
  assert.ok(contains("/A", "/a/b", MACOS));
  assert.ok(contains("/\u00e9", "/e\u0301/x", LINUX));
  assert.ok(contains("C:\\P", "c:\\p\\x", WINDOWS));
});

Deno.test("scope keys", () => {
  for (const key of ["a", "a/b", ".env", "a/../b", "a b", "./a", "a/", "...", "a:b"]) {
    assert.equal(scopeFault(key), undefined, key);
  }
  for (const key of ["", ".", "..", "./", "a/..", "/a", "a/../../b", "*", "a?b", "a\\b", "C:/x", "a\0"]) {
    assert.ok(scopeFault(key), key);
  }
  assert.equal(scopePath("./a//b/../c/"), "a/c");
});
