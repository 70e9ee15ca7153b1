import { isIPv6 } from "node:net";
import { groupsOf, unmapped } from "../config/address-range.ts";

/**
 * What stands for a client that is known by its address alone: an IPv4 address as it is, also when it is mapped into
 * IPv6; of an IPv6 address the first 64 bits, as one household has all of those. Any other text as it is.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) {
    return address;
  }
  const plain = unmapped(address.replace(/%.*/, ""));
  return isIPv6(plain)
    ? groupsOf(plain)
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(":")
    : plain;
}
