import { fromJsonString } from "@bufbuild/protobuf";
import { HostReportSchema } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { BackendKind } from "../../../gen/hostplane/v1/system_pb.ts";
import type { FleetHost, FleetHosts } from "../forward/fleet-hosts.ts";
import type { HostRecord } from "../store/hosts.ts";
import type { Hub } from "./hub.ts";

/** Returns the hosts of a hub, as far as calls to them need them. */
export function fleetHostsOf({ hosts, links }: Pick<Hub, "hosts" | "links">): FleetHosts {
  const domainsByReport = new Map<string, ReadonlySet<string>>();

  function hostFrom({ name, labels, report }: HostRecord): FleetHost {
    const domains = report === undefined ? new Set<string>() : domainsOf(report);
    return { name, labels, domains, link: links.find(name) };
  }

  /** Reports of equal hosts are equal, and are read once. */
  function domainsOf(report: string): ReadonlySet<string> {
    const known = domainsByReport.get(report);
    if (known !== undefined) {
      return known;
    }
    const { backends } = fromJsonString(HostReportSchema, report, { ignoreUnknownFields: true });
    const isOn = (kind: BackendKind) => kind === BackendKind.REAL || kind === BackendKind.SANDBOX;
    const domains = new Set(backends.flatMap(({ domain, kind }) => (isOn(kind) ? domain : [])));
    domainsByReport.set(report, domains);
    return domains;
  }

  hosts.onChange(() => {
    const current = new Set(hosts.list().map(({ report }) => report));
    for (const report of domainsByReport.keys()) {
      if (!current.has(report)) {
        domainsByReport.delete(report);
      }
    }
  });
  return {
    find(name) {
      const record = hosts.find(name);
      return record && hostFrom(record);
    },
    hosts: () => hosts.list().map(hostFrom),
  };
}
