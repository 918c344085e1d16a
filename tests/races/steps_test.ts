/** What a race showed once, played step by step: always, and without a race. */
import assert from "node:assert/strict";
import { DiskError, type Folder } from "../../src/disk/disk.ts";
import { call, DISKS, sideOf } from "../support/side.ts";
import { boundaryOf, makeFolder, put } from "../support/tree.ts";

const MARKED_DAY = new Date("2001-09-09T12:00:00Z");

/** A folder that lets something happen after each look at an entry of it, or below it. */
function watched(folder: Folder, looked: (name: string) => void): Folder {
  return new Proxy(folder, {
    get(target, key) {
      if (key === "look") {
        return (name: string) => {
          const facts = target.look(name);
          looked(name);
          return facts;
        };
      }
      if (key === "folder") return (name: string) => watched(target.folder(name), looked);
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

for (const [kind, library] of DISKS) {
  // Spec: 1-boundary §1.3 rule 8, §1.10.
  Deno.test(`${kind}: a folder that was exchanged with a hidden one after it was judged is not told by the other's facts`, async () => {
    const top = makeFolder({ "place/a.txt": "inside\n", "shut/HIDDEN-a.txt": "HIDDEN-\n" });
    Deno.utimeSync(`${top}/shut`, MARKED_DAY, MARKED_DAY);
    const side = sideOf(boundaryOf({ work: { path: top, scopes: { shut: [] } } }), library);
    const exchange = () => {
      Deno.renameSync(`${top}/place`, `${top}/third`);
      Deno.renameSync(`${top}/shut`, `${top}/place`);
      Deno.renameSync(`${top}/third`, `${top}/shut`);
    };
    const { disk } = side;
    for (const type of ["any", "dir"]) {
      let looks = 0;
      side.disk = {
        kind: disk.kind,
        close: () => disk.close(),
        top: (tree) => watched(disk.top(tree), (name) => name === "place" && ++looks === 1 && exchange()),
      };
      const { outcome, text } = await call(side, "find", { type });
      assert.equal(outcome, "ok");
      assert.ok(looks > 0);
      assert.ok(!/2001-09-09|HIDDEN-/.test(text), text);
      exchange();
    }
    side.disk.close();
    Deno.removeSync(top, { recursive: true });
  });

  Deno.test(`${kind}: a folder that was listed and cannot be looked at any more is no fault`, async () => {
    const top = makeFolder({ "a.txt": "", "place/b.txt": "" });
    const side = sideOf(boundaryOf({ work: top }), library);
    const { disk } = side;
    for (const fault of ["denied", "not-folder", "missing", "failed"] as const) {
      side.disk = {
        kind: disk.kind,
        close: () => disk.close(),
        top: (tree) =>
          watched(disk.top(tree), (name) => {
            if (name === "place") throw new DiskError(fault, "changed since the listing");
          }),
      };
      for (const type of ["any", "dir", "file"]) {
        const { outcome } = await call(side, "find", { type });
        assert.equal(outcome, "ok", `${fault}, ${type}`);
      }
    }
    side.disk.close();
    Deno.removeSync(top, { recursive: true });
  });

  Deno.test({
    name: `${kind}: calls that are refused or find nothing leave no handle open`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      const top = makeFolder({
        "app/a.txt": "inside\n",
        "app/sub/b.txt": "",
        "app/shut/s.txt": "",
        "outside/o.txt": "",
      });
      put(`${top}/app`, {
        "to-outside": { link: "../outside" },
        "to-hidden": { link: "shut" },
        "loop": { link: "loop" },
        "dangling": { link: "never" },
        "to-sub": { link: "sub" },
      });
      const side = sideOf(boundaryOf({ work: { path: `${top}/app`, scopes: { shut: [] } } }), library);
      const handles = () => [...Deno.readDirSync("/proc/self/fd")].length;
      const leaking: string[] = [];
      const paths = ["to-outside", "to-hidden", "loop", "dangling", "to-sub", "a.txt", "never", "sub", "shut"];
      for (const path of paths.flatMap((path) => [path, `${path}/o.txt`, `${path}/*`])) {
        for (
          const [verb, args] of [
            ["find", { pattern: path }],
            ["find", { pattern: path, type: "any" }],
            ["search", { patterns: ["x"], glob: path }],
            ["read", { paths: [path] }],
            ["read", { paths: ["a.txt", path] }],
          ] as const
        ) {
          await call(side, verb, args);
          const before = handles();
          for (let i = 0; i < 5; i++) await call(side, verb, args);
          if (handles() > before) leaking.push(`${verb} ${JSON.stringify(args)}`);
        }
      }
      side.disk.close();
      Deno.removeSync(top, { recursive: true });
      assert.deepEqual(leaking, []);
    },
  });
}
