import type { MaasAddressRange, MaasSubnet } from "../../../../adapters/maas/adapter.ts";
import type { Finding } from "../../../domain/inspection.ts";
import { rangeOfAddress, subnetOfAddress } from "../addresses/range-of-address.ts";

export interface EndpointFacts {
  /** All of `clusters.endpoint.addresses`. */
  readonly endpoints: readonly string[];
  /** The addresses reserved by the gateway's MAAS account. */
  readonly reserved: readonly string[];
  readonly subnets: readonly MaasSubnet[];
  readonly ranges: readonly MaasAddressRange[];
}

/** Checks whether MAAS keeps the clusters' addresses reserved, or may assign them to machines. */
export function inspectEndpoints({ endpoints, reserved, subnets, ranges }: EndpointFacts): Finding[] {
  if (endpoints.length === 0) {
    return [
      {
        ok: true,
        what: "no cluster addresses are configured (clusters.endpoint): control planes are limited to one machine, and upgrades are unavailable",
      },
    ];
  }
  const count = endpoints.filter((address) => reserved.includes(address)).length;
  const counts = `cluster addresses: ${endpoints.length}; reserved in MAAS by the gateway: ${count}`;
  const groups = new Map<
    string,
    { readonly finding: (listed: string) => Finding; readonly addresses: string[] }
  >();
  for (const address of endpoints) {
    const verdict = verdictOf(address, reserved.includes(address), subnets, ranges);
    const group = groups.get(verdict.name) ?? { ...verdict, addresses: [] };
    group.addresses.push(address);
    groups.set(verdict.name, group);
  }
  const found = [...groups.values()].map(({ finding, addresses }) => finding(listOf(addresses)));
  return [{ ok: true, what: counts }, ...found];
}

interface Verdict {
  /** Identical for addresses that share a finding. */
  readonly name: string;
  readonly finding: (listed: string) => Finding;
}

function verdictOf(
  address: string,
  isReserved: boolean,
  subnets: readonly MaasSubnet[],
  ranges: readonly MaasAddressRange[],
): Verdict {
  const range = rangeOfAddress(ranges, address);
  const subnet = range?.subnet ?? subnetOfAddress(subnets, address);
  const elsewhere = "choose other addresses for clusters.endpoint.addresses";
  if (subnet === undefined) {
    const what = (listed: string) => `MAAS has no subnet for the cluster addresses ${listed}`;
    return { name: "unknown", finding: (listed) => ({ ok: false, what: what(listed), fix: elsewhere }) };
  }
  const { cidr, isManaged } = subnet;
  if (range !== undefined) {
    const { kind, first, last } = range;
    const place = `the ${kind} range ${first}-${last} of the ${isManaged ? "managed" : "unmanaged"} subnet ${cidr}`;
    const isKept = kind === "reserved" && isManaged;
    const end = isKept
      ? "which MAAS does not assign to machines"
      : "from which MAAS assigns addresses to machines";
    return {
      name: place,
      finding: (listed) => ({
        ok: isKept,
        what: `the cluster addresses ${listed} are in ${place}, ${end}`,
        ...(isKept ? {} : { fix: elsewhere }),
      }),
    };
  }
  if (!isManaged) {
    const what = (listed: string) =>
      `the cluster addresses ${listed} are outside the ranges of the unmanaged subnet ${cidr}, so MAAS does not assign them`;
    return { name: `unmanaged ${cidr}`, finding: (listed) => ({ ok: true, what: what(listed) }) };
  }
  if (isReserved) {
    return {
      name: "reserved",
      finding: (listed) => ({ ok: true, what: `the addresses ${listed} are reserved for clusters` }),
    };
  }
  return {
    name: `managed ${cidr}`,
    finding: (listed) => ({
      ok: false,
      what: `MAAS may assign the cluster addresses ${listed} to machines: subnet ${cidr} is managed and they are in no reserved range`,
      fix: reservationsOf(listed, cidr),
    }),
  };
}

/** Returns the commands that reserve the addresses, one per contiguous range, joined as one shell line. */
function reservationsOf(listed: string, cidr: string): string {
  const commands = listed.split(", ").map((run) => {
    const [first = "", last = first] = run.split("-");
    return `maas PROFILE ipranges create type=reserved subnet=${cidr} start_ip=${first} end_ip=${last}`;
  });
  return commands.join(" && ");
}

/** Formats addresses as ranges: `10.20.0.200-10.20.0.250, 10.20.1.7`. */
function listOf(addresses: readonly string[]): string {
  const runs: [string, string][] = [];
  for (const address of addresses) {
    const run = runs.at(-1);
    if (run !== undefined && isNext(run[1], address)) {
      run[1] = address;
    } else {
      runs.push([address, address]);
    }
  }
  return runs.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(", ");
}

function isNext(address: string, next: string): boolean {
  const numberOf = (text: string) => text.split(".").reduce((number, byte) => number * 256 + Number(byte), 0);
  return numberOf(next) === numberOf(address) + 1;
}
