import { BlockList, isIPv4, isIPv6 } from "node:net";

/** A range of IP addresses. An IPv4 address is never in an IPv6 range. */
export interface AddressRange {
  readonly family: "ipv4" | "ipv6";
  readonly network: string;
  readonly prefixLength: number;
}

const expectation = "expected an IP address or a range such as 192.0.2.0/24 or 2001:db8::/32";

/**
 * Parses an address (`192.0.2.7`) or a range in CIDR notation. Returns a string with the expected form if the text is neither, or
 * if bits are set after the prefix: `10.0.0.7/8` is ambiguous.
 */
export function parseAddressRange(text: string): AddressRange | string {
  const [, network = "", prefix] = /^([\da-fA-F.:]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const family = isIPv4(network) ? "ipv4" : "ipv6";
  const bits = family === "ipv4" ? 32 : 128;
  if ((family === "ipv6" && !isIPv6(network)) || Number(prefix ?? 0) > bits) {
    return expectation;
  }
  if (family === "ipv6" && unmapped(network) !== network) {
    return `${expectation}; write an IPv4 address as such, not as IPv6`;
  }
  const prefixLength = Number(prefix ?? bits);
  if (hasBitsBehind(network, family, prefixLength)) {
    return `${expectation}, with no bits set after the prefix of ${prefixLength} bits`;
  }
  return { family, network, prefixLength };
}

/**
 * Returns a function that reports whether an address, as Node reports it for a socket, is in one of the ranges. A dual-stack
 * socket shows IPv4 addresses as `::ffff:192.0.2.7`; they are compared as IPv4.
 */
export function createAddressFilter(ranges: readonly AddressRange[]): (address: string) => boolean {
  // One list per family: a BlockList also matches IPv4 addresses against IPv6 ranges, so `::/0` would admit every address.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { family, network, prefixLength } of ranges) {
    lists[family].addSubnet(network, prefixLength, family);
  }
  return (address) => {
    const plain = unmapped(address.replace(/%.*/, ""));
    if (isIPv4(plain)) {
      return lists.ipv4.check(plain, "ipv4");
    }
    return isIPv6(plain) && lists.ipv6.check(plain, "ipv6");
  };
}

const loopback = createAddressFilter([
  { family: "ipv4", network: "127.0.0.0", prefixLength: 8 },
  { family: "ipv6", network: "::1", prefixLength: 128 },
]);

/** Reports whether only this host can reach a listener on `host`, which is an address or `localhost`. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || loopback(host);
}

/** Returns the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2), and any other text unchanged. */
export function unmapped(address: string): string {
  if (!address.includes(":") || !isIPv6(address) || address.includes("%")) {
    return address;
  }
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? groups.slice(6).flatMap(bytesOf).join(".") : address;
}

function hasBitsBehind(network: string, family: AddressRange["family"], prefixLength: number): boolean {
  const bytes = family === "ipv4" ? network.split(".").map(Number) : groupsOf(network).flatMap(bytesOf);
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return bits.includes("1", prefixLength);
}

/** Returns the eight groups of an IPv6 address without a zone. The URL parser converts an IPv4 tail to two groups. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const read = (part: string) =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const first = read(head);
  const last = read(tail ?? "");
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

function bytesOf(group: number): [number, number] {
  return [group >> 8, group & 0xff];
}

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
