import { BlockList, isIPv4 } from "node:net";
import fc from "fast-check";
import { test } from "tap";
import {
  createAddressFilter,
  isLoopbackHost,
  networkOf,
  parseAddressRange,
  unmapped,
} from "../../../server/config/address-range.ts";

function filterOf(...texts: string[]): (address: string) => boolean {
  return createAddressFilter(
    texts.map((text) => {
      const range = parseAddressRange(text);
      if (typeof range === "string") {
        throw new Error(`${text}: ${range}`);
      }
      return range;
    }),
  );
}

test("addresses are in their range and nowhere else", async (t) => {
  const cases: readonly [range: string, inside: readonly string[], outside: readonly string[]][] = [
    [
      "10.0.0.0/8",
      ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3", "::ffff:a01:203"],
      ["9.255.255.255", "11.0.0.0", "::10.1.2.3"],
    ],
    ["192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127", "192.0.3.128"]],
    ["192.0.2.7", ["192.0.2.7", "::FFFF:192.0.2.7"], ["192.0.2.6", "::1"]],
    ["0.0.0.0/0", ["1.2.3.4", "::ffff:1.2.3.4"], ["::1", "fe80::1"]],
    ["::/0", ["::1", "2001:db8::1", "fe80::1%eth0"], ["1.2.3.4", "::ffff:1.2.3.4"]],
    ["2001:db8::/33", ["2001:db8:7fff::1"], ["2001:db8:8000::1", "2001:db9::"]],
    ["2001:DB8::7/128", ["2001:db8:0:0::7"], ["2001:db8::8"]],
    ["fe80::/10", ["fe80::1%eth0", "febf::"], ["fec0::1"]],
  ];
  for (const [range, inside, outside] of cases) {
    const isInside = filterOf(range);
    for (const address of inside) {
      t.ok(isInside(address), `${address} is in ${range}`);
    }
    for (const address of outside) {
      t.notOk(isInside(address), `${address} is not in ${range}`);
    }
  }
  t.notOk(filterOf("10.0.0.0/8")("no address"));
  t.notOk(filterOf("10.0.0.0/8", "::/0")(""));
  t.ok(filterOf("10.0.0.0/8", "::1")("::1"), "in one of several ranges");
});

test("text that is not a range, or is ambiguous, is refused", async (t) => {
  for (const text of [
    ...[
      "",
      "10",
      "10.0.0",
      "10.0.0.0/",
      "10.0.0.0/33",
      "10.0.0.0/-1",
      "10.0.0.0/08",
      "010.0.0.1",
      "10.0.0.0/8/8",
    ],
    ...[
      " 10.0.0.1",
      "10.0.0.1 ",
      "::/129",
      "fe80::1%eth0",
      "[::1]",
      "example.org",
      "::ffff:10.0.0.0/104",
      "::ffff:a00:1",
    ],
  ]) {
    t.match(parseAddressRange(text), /^expected an IP address or a range/, JSON.stringify(text));
  }
  t.match(parseAddressRange("10.0.0.7/8"), /no bits set after the prefix of 8 bits/);
  t.match(parseAddressRange("2001:db8::1/32"), /no bits set after/);
  t.match(parseAddressRange("::ffff:1.2.3.4"), /write an IPv4 address as such/);
});

test("loopback is 127.0.0.0/8, ::1 and localhost", async (t) => {
  for (const host of ["127.0.0.1", "127.9.8.7", "::1", "0:0:0:0:0:0:0:1", "localhost", "::ffff:127.0.0.1"]) {
    t.ok(isLoopbackHost(host), host);
  }
  for (const host of ["0.0.0.0", "::", "128.0.0.1", "fe80::1", "localhost.example", "::ffff:1.2.3.4", ""]) {
    t.notOk(isLoopbackHost(host), host);
  }
});

test("every text is a range or refused with an explanation, and a range contains its own network", async () => {
  const near = fc
    .tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.option(fc.nat(130)))
    .map(([address, prefix]) => (prefix === null ? address : `${address}/${prefix}`));
  fc.assert(
    fc.property(fc.oneof(near, fc.string()), (text) => {
      const range = parseAddressRange(text);
      return typeof range === "string"
        ? range.startsWith("expected ")
        : createAddressFilter([range])(range.network);
    }),
    { numRuns: 2000 },
  );
});

test("an IPv4-mapped IPv6 address is recognised, and no other", async () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV6(), (ip4, ip6) => {
      const hex = ip4.split(".").map((byte) => Number(byte).toString(16).padStart(2, "0"));
      const spellings = [`::ffff:${ip4}`, `::ffff:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`];
      const other = unmapped(ip6);
      return spellings.every((text) => unmapped(text) === ip4) && (other === ip6 || /ffff/i.test(ip6));
    }),
  );
});

test("an address is in the network that is its key, and an address with another key is not", async (t) => {
  const sameNetwork = (a: string, b: string) => {
    const list = new BlockList();
    list.addSubnet(a, 64, "ipv6");
    return list.check(b, "ipv6");
  };
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV6(), fc.boolean(), (a, other, isNear) => {
      const b = isNear ? other.replace(/^.*$/, () => `${networkOf(a)}:1:2:3:4`) : other;
      fc.pre(!isIPv4(networkOf(a)) && !isIPv4(networkOf(b)));
      t.equal(networkOf(a) === networkOf(b), sameNetwork(a, b), `${a} ${b}`);
    }),
  );
  fc.assert(fc.property(fc.ipV4(), (a) => networkOf(a) === a && networkOf(`::ffff:${a}`) === a));
});
