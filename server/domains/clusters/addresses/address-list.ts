import { isIPv4, isIPv6 } from "node:net";
import { unmapped } from "../../../config/address-range.ts";

/** Maximum number of addresses in one text. */
export const maxAddresses = 1000;

/**
 * Expands a text to its addresses, in order. `10.20.0.200-10.20.0.250` is an IPv4 range, both ends included; a single IPv4 or
 * IPv6 address stands for itself and is returned in canonical form. Returns undefined for anything else: a range that goes
 * backwards or has more than 1,000 addresses, or an IPv4 address written as IPv6.
 */
export function addressesFrom(text: string): readonly string[] | undefined {
  if (isIPv4(text)) {
    return [text];
  }
  if (isIPv6(text)) {
    // A zone is only meaningful on one machine.
    return text.includes("%") || unmapped(text) !== text
      ? undefined
      : [new URL(`http://[${text}]`).hostname.slice(1, -1)];
  }
  const [first = "", last = "", ...rest] = text.split("-").map((part) => part.trim());
  if (!isIPv4(first) || !isIPv4(last) || rest.length > 0) {
    return undefined;
  }
  const begin = numberOf(first);
  const count = numberOf(last) - begin + 1;
  return count < 1 || count > maxAddresses
    ? undefined
    : Array.from({ length: count }, (_, index) => addressOf(begin + index));
}

function numberOf(address: string): number {
  return address.split(".").reduce((number, byte) => number * 256 + Number(byte), 0);
}

function addressOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join(".");
}
