/** Which folders the flags name, and what they say. Decision 43. */
import assert from "node:assert/strict";
import { Survey } from "../../src/boundary/survey.ts";
import type { Permission, Tree } from "../../src/boundary/types.ts";
import { permissionFlags, planFence } from "../../src/fence/plan.ts";

let number = 0;
function plan(
  trees: Record<string, { can: Permission[]; scopes?: Record<string, Permission[]>; real?: Record<string, string> }>,
) {
  const { read, denyRead } = whole(trees);
  return { read, denyRead };
}

function whole(
  trees: Record<string, { can: Permission[]; scopes?: Record<string, Permission[]>; real?: Record<string, string> }>,
  inForce: string[] = [],
) {
  return planFence(
    new Survey({
      names: { windows: false, ignoreCase: false },
      generated: [],
      inForce,
      trees: Object.entries(trees).map(([path, { can, scopes = {}, real = {} }]): Tree => ({
        name: `t${++number}`,
        path,
        real: path,
        identity: { dev: 1, ino: number },
        can,
        scopes: Object.entries(scopes).map(([path, can]) => ({
          path,
          can,
          declared: "f",
          real: real[path],
          isFolder: !path.endsWith(".txt"),
        })),
      })),
    }),
  );
}

Deno.test("listed trees are allowed, hidden scopes in them denied, by both their paths", () => {
  assert.deepEqual(
    plan({ "/w": { can: ["list", "read"], scopes: { a: [], b: ["list"], "b/c": ["read"] }, real: { a: "/w/x" } } }),
    {
      read: ["/w"],
      denyRead: ["/w/a", "/w/b/c", "/w/x"],
    },
  );
});

Deno.test("a hidden tree gives nothing but its listed scopes", () => {
  assert.deepEqual(plan({ "/n": { can: [], scopes: { open: ["list"], "open/shut": [] } } }), {
    read: ["/n/open"],
    denyRead: ["/n/open/shut"],
  });
  assert.deepEqual(plan({ "/n": { can: [] } }), { read: [], denyRead: [] });
});

Deno.test("a hidden scope that holds a listed one cannot be denied, which would deny both", () => {
  assert.deepEqual(plan({ "/w": { can: ["list"], scopes: { h: [], "h/open": ["list"], "h/open/no": [] } } }), {
    read: ["/w", "/w/h/open"],
    denyRead: ["/w/h/open/no"],
  });
});

Deno.test("nested trees", () => {
  assert.deepEqual(plan({ "/w": { can: ["list"] }, "/w/in": { can: [] }, "/w/in/deep": { can: ["list"] } }), {
    read: ["/w", "/w/in/deep"],
    denyRead: [],
  });
});

Deno.test("flags: reading, writing and libc, and nothing else; what has a comma cannot be named", () => {
  assert.deepEqual(
    permissionFlags(
      {
        read: ["/a,b", "/c", "/e"],
        denyRead: ["/c/d", "/c/d,e", "/p"],
        write: ["/a,b", "/c"],
        denyWrite: ["/c/.mcp.json", "/c/x,y"],
      },
      ["/p/lib"],
      "/lib/libc.so.6",
    ),
    [
      "--no-prompt",
      "--deny-import",
      "--allow-read=/c",
      "--allow-read=/e",
      "--allow-read=/p/lib",
      "--deny-read=/c/d",
      "--allow-write=/c",
      "--deny-write=/c/.mcp.json",
      "--allow-ffi=/lib/libc.so.6",
    ],
  );
  assert.deepEqual(permissionFlags({ read: [], denyRead: [], write: [], denyWrite: [] }, [], undefined), [
    "--no-prompt",
    "--deny-import",
  ]);
});

Deno.test("writing: where something may be changed, less what is read-only, governed at a tree's top, or in force", () => {
  const { write, denyWrite } = whole({
    "/w": {
      can: ["list", "read", "create"],
      scopes: { "ro": ["list", "read"], "ro/deep": ["list", "update"], "shut": ["list"], "hidden": ["update"] },
    },
    "/r": { can: ["list", "read"], scopes: { out: ["list", "delete"] } },
  }, ["/w/conf/fettle.jsonc", "/elsewhere/x.json"]);
  assert.deepEqual(write, ["/r/out", "/w", "/w/ro/deep"]);
  assert.deepEqual(denyWrite.filter((path) => !/\.(json|toml)$/.test(path)), [
    "/w/conf/fettle.jsonc",
    "/w/hidden",
    "/w/shut",
  ]);
  assert.ok(denyWrite.includes("/w/.fettler.json") && denyWrite.includes("/w/.codex/config.toml"));
  assert.ok(!denyWrite.some((path) => path.startsWith("/r/") || path.startsWith("/elsewhere/")));
});

Deno.test("a scope that is no folder is changed by way of the one that holds it, less what else is declared there", () => {
  const { write, denyWrite } = whole({
    "/w": {
      can: ["list", "read"],
      scopes: {
        "one.txt": ["list", "update"],
        "a/b/two.txt": ["list", "create"],
        "a/b/shut": ["list"],
        "out": ["list", "create"],
      },
    },
    "/r": { can: ["list", "read"], scopes: { "read.txt": ["list", "read"] } },
  });
  assert.deepEqual(write, ["/w"]);
  assert.deepEqual(denyWrite.filter((path) => !/\.(json|toml)$/.test(path)), ["/w/a/b/shut"]);
  const deep = whole({ "/w": { can: [], scopes: { "a/b/two.txt": ["list", "create"] } } });
  assert.deepEqual(deep.write, ["/w/a/b"]);
});
