/**
 * `deno task build`: makes `dist/portable/` and, for each system whose runtime can be had, `dist/<target>/fettle`.
 *
 * `--complete` makes it an error that a runtime cannot be had. Spec: design, Packaging.
 */
import { TOP } from "./bundle.ts";
import { compileAll } from "./compile.ts";
import { buildPortable } from "./portable.ts";

if (import.meta.main) {
  const dist = new URL("dist/", TOP);
  console.log(`dist/portable: ${await buildPortable(new URL("portable/", dist))}`);
  const { modules, targets } = await compileAll(dist);
  const bytes = modules.reduce((sum, module) => sum + module.bytes, 0);
  console.log(`dist/compile.json: ${modules.length} modules of ${Math.ceil(bytes / 1024)} KiB are embedded in each of`);
  for (const { target, file, bytes = 0, missing } of targets) {
    console.log(missing ? `dist/${target}: not made: ${missing}` : `dist/${file}: ${(bytes / 2 ** 20).toFixed(1)} MiB`);
  }
  if (Deno.args.includes("--complete") && targets.some((target) => target.missing)) Deno.exit(1);
}
