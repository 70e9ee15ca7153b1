import { isIPv4, isIPv6 } from "node:net";
import { unmapped } from "./address-range.ts";

/** The most addresses that one text gives. */
export const maxAddresses = 1000;

/**
 * The addresses that a text stands for, in order: `10.20.0.200-10.20.0.250` for all of IPv4 from one to the other, a single one
 * of IPv4 or IPv6 for itself, in the form in which others write it. Undefined for anything else: a range that goes backwards or of
 * more than 1,000, and an address of IPv4 that is written in IPv6.
 */
export function addressesFrom(text: string): readonly string[] | undefined {
  if (isIPv4(text)) {
    return [text];
  }
  if (isIPv6(text)) {
    // A zone means something to one machine alone.
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
