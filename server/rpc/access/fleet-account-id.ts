/** Returns the ID that an account of a hub has on its hosts, where it is none of the host's own accounts. */
export function fleetAccountId(accountId: string): string {
  return accountId === "" ? "" : `fleet/${accountId}`;
}
