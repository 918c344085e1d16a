/** The attacker of `changes.ts`, a thread of its own: exchanges pairs of entries by their paths until it is told to end. */
import { cString, loadLibc } from "./libc.ts";

export interface Order {
  /** Pairs of absolute paths. One that is not there at the moment is passed over. */
  pairs: readonly (readonly [string, string])[];
  /** Set to 1 to end it; the numbers of exchanges and of rounds stand behind. */
  shared: SharedArrayBuffer;
}

/** Paths that start from the root need no folder. */
const AT_FDCWD = -100;

/** Milliseconds between two rounds, in turn. */
const PAUSES = [0, 0, 0, 0.1, 0, 0.3, 0, 0.05, 1, 0, 0.2];

const scope = self as unknown as {
  onmessage: (event: MessageEvent<Order>) => void;
  postMessage(message: unknown): void;
};

scope.onmessage = ({ data: { pairs, shared } }) => {
  const libc = loadLibc()!;
  const state = new Int32Array(shared);
  const named = pairs.map(([a, b]) => [cString(a), cString(b)] as const);
  scope.postMessage("ready");
  while (Atomics.load(state, 0) === 0) {
    for (const [a, b] of named) if (libc.exchange(AT_FDCWD, a, AT_FDCWD, b) >= 0) Atomics.add(state, 1, 1);
    Atomics.add(state, 2, 1);
    // Now fast, now slow: some calls are long enough for one exchange only.
    const until = performance.now() + PAUSES[Atomics.load(state, 2) % PAUSES.length];
    while (performance.now() < until);
  }
  scope.postMessage("ended");
};
