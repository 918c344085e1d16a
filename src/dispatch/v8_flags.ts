/** V8 flags of every process that matches patterns. In every launcher: setting them at run time has no effect. Decision 60. */
export const V8_FLAGS =
  "--v8-flags=--enable-experimental-regexp-engine,--enable-experimental-regexp-engine-on-excessive-backtracks";
