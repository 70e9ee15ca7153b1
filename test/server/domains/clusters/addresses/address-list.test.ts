import { isIP } from "node:net";
import fc from "fast-check";
import { test } from "tap";
import {
  addressesFrom,
  maxAddresses,
} from "../../../../../server/domains/clusters/addresses/address-list.ts";

/** Returns the address with this number. */
const addressAt = (number: number) =>
  [number / 2 ** 24, number / 2 ** 16, number / 2 ** 8, number]
    .map((each) => Math.floor(each) % 256)
    .join(".");

test("a range contains all addresses from its first to its last", async (t) => {
  t.same(addressesFrom("10.20.0.254-10.20.1.2"), [
    "10.20.0.254",
    "10.20.0.255",
    "10.20.1.0",
    "10.20.1.1",
    "10.20.1.2",
  ]);
  t.same(addressesFrom("10.20.0.7 - 10.20.0.7"), ["10.20.0.7"]);
  t.same(addressesFrom("255.255.255.254-255.255.255.255"), ["255.255.255.254", "255.255.255.255"]);
});

test("a single address is returned in canonical form", async (t) => {
  t.same(addressesFrom("10.20.0.7"), ["10.20.0.7"]);
  t.same(addressesFrom("2001:DB8:0:0::7"), ["2001:db8::7"]);
});

test("invalid addresses, and ranges that are too large or go backwards, are refused", async (t) => {
  for (const text of [
    ...["", "-", "10.20.0", "10.20.0.1-", "-10.20.0.1", "10.20.0.2-10.20.0.1", "10.20.0.0-10.20.3.232"],
    ...["10.20.0.0/24", "10.20.0.1-2", "10.20.0.1-10.20.0.2-10.20.0.3", "010.0.0.1", "kube.example.org"],
    ...["fe80::1%eth0", "::ffff:10.0.0.1", "2001:db8::1-2001:db8::2", "0.0.0.0-255.255.255.255"],
  ]) {
    t.equal(addressesFrom(text), undefined, JSON.stringify(text));
  }
});

test("a range of n addresses gives n, each once and in order", async () => {
  const start = fc.nat(2 ** 32 - maxAddresses - 1);
  fc.assert(
    fc.property(start, fc.integer({ min: 1, max: maxAddresses }), (first, count) => {
      const found = addressesFrom(`${addressAt(first)}-${addressAt(first + count - 1)}`);
      return found?.length === count && found.every((address, index) => address === addressAt(first + index));
    }),
  );
});

test("any text gives addresses or nothing", async () => {
  const near = fc.tuple(fc.ipV4(), fc.ipV4()).map((ends) => ends.join("-"));
  fc.assert(
    fc.property(fc.oneof(near, fc.ipV6(), fc.string()), (text) => {
      const found = addressesFrom(text) ?? [];
      return found.length <= maxAddresses && found.every((address) => isIP(address) !== 0);
    }),
    { numRuns: 2000 },
  );
});
