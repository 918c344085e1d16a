/** Hosts whose passwords are no secrets. Spec: 6-screens §6.7. */

const EXEMPT =
  /^(?:localhost|host\.docker\.internal|127(?:\.\d{1,3}){3}|::1|\[::1\]|example|example\.(?:com|net|org)|.*\.(?:example|test|invalid|localhost))$/;

/**
 * The host is the machine itself or a name that is reserved for examples.
 *
 * @param written As an address has it: a host, perhaps with a port and what follows that.
 */
export function isExempt(written: string): boolean {
  const host = /^(?:\[[^\]]*\]|::1$|[\w.-]*)/.exec(written)![0];
  return EXEMPT.test(host.toLowerCase().replace(/\.$/, ""));
}
