import { BlockList, isIPv4 } from "node:net";
import fc from "fast-check";
import { test } from "tap";
import { networkOf } from "../../../server/config/network-of.ts";

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
