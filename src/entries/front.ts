/** Entry of the main process: the command line, and the server behind its verb `serve`. */

// The engine alone loads a library, and nobody connects; a program that is one file has one set of permissions for all its processes.
for (const name of ["ffi", "net", "import"] as const) Deno.permissions.revokeSync({ name });

const { main } = await import("../front/main.ts");
Deno.exit(await main(Deno.args));

export {};
