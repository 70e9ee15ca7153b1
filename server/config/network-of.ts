import { isIPv6 } from "node:net";
import { groupsOf, unmapped } from "./address-range.ts";

/**
 * Returns the key of a client that is only known by its address: an IPv4 address (unmapped if it is mapped into IPv6), or the
 * first 64 bits of an IPv6 address, since one household has all of those. Any other text is returned unchanged.
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
