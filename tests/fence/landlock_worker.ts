/** A worker of the child: makes its tries when told where, and sends what came of them. */
import { denoAttacks, laterAttacks, rawAttacks, rights, type Target, tryAll } from "./landlock_attacks.ts";

const scope = self as unknown as { onmessage: (event: MessageEvent<Target>) => void; postMessage(data: unknown): void };
scope.onmessage = async ({ data: target }) => {
  const attacks = await tryAll({ ...rawAttacks(target), ...denoAttacks(target), ...laterAttacks(target) });
  scope.postMessage({ attacks, rights: await tryAll(rights(target)) });
};
scope.postMessage("ready");
