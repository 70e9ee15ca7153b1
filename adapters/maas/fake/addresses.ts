/**
 * A range of addresses that an administrator has reserved in a subnet, by the last numbers of its addresses, inclusive.
 */
export interface FakeRange {
  /**
   * `dynamic`: for DHCP. `reserved`: excluded in a managed subnet; the only assignable addresses in an unmanaged one.
   */
  readonly type: "reserved" | "dynamic";
  readonly first: number;
  readonly last: number;
}

export interface FakeSubnet {
  readonly isManaged: boolean;
  readonly ranges: readonly FakeRange[];
}

const gateway = 1;
/** The network and broadcast addresses are never assigned. */
const hosts = Array.from({ length: 254 }, (_, index) => index + 1);

/** Returns the range that contains a number. */
export function rangeOf({ ranges }: FakeSubnet, type: FakeRange["type"], number: number) {
  return ranges.find((range) => range.type === type && range.first <= number && number <= range.last);
}

/**
 * Returns the number that MAAS assigns next: the first of the smallest run of free ones, and of equal runs the lowest
 * (`Subnet.get_next_ip_for_allocation` of 3.4.10). Undefined if there is none.
 */
export function nextNumber(subnet: FakeSubnet, isTaken: (number: number) => boolean): number | undefined {
  const isFree = (number: number) =>
    number !== gateway &&
    rangeOf(subnet, "dynamic", number) === undefined &&
    (rangeOf(subnet, "reserved", number) === undefined) === subnet.isManaged &&
    !isTaken(number);
  const runs: { readonly first: number; count: number }[] = [];
  for (const number of hosts.filter(isFree)) {
    const run = runs.at(-1);
    if (run !== undefined && run.first + run.count === number) {
      run.count += 1;
    } else {
      runs.push({ first: number, count: 1 });
    }
  }
  return runs.toSorted((a, b) => a.count - b.count || a.first - b.first)[0]?.first;
}
