import { BlockList, isIP } from "node:net";
import type { MaasAddressRange, MaasSubnet } from "../../../../adapters/maas/adapter.ts";

/** Returns the range that contains an address; undefined when there is none. */
export function rangeOfAddress(
  ranges: readonly MaasAddressRange[],
  address: string,
): MaasAddressRange | undefined {
  return ranges.find(({ first, last }) => {
    const list = new BlockList();
    const family = familyOf(first);
    list.addRange(first, last, family);
    return familyOf(address) === family && list.check(address, family);
  });
}

/** Returns the smallest subnet that contains an address, as MAAS does; undefined when there is none. */
export function subnetOfAddress(subnets: readonly MaasSubnet[], address: string): MaasSubnet | undefined {
  const holding = subnets.filter(({ cidr }) => {
    const [network = "", length] = cidr.split("/");
    const list = new BlockList();
    const family = familyOf(network);
    list.addSubnet(network, Number(length), family);
    return familyOf(address) === family && list.check(address, family);
  });
  const lengthOf = ({ cidr }: MaasSubnet) => Number(cidr.split("/")[1]);
  return holding.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0];
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
