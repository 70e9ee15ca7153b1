import type { DescService } from "@bufbuild/protobuf";

/** An API: services that belong together, because one project published them. */
export interface Api {
  readonly name: string;
  readonly summary: string;
  readonly packages: readonly string[];
}

/** The APIs of the contract, in the order of the index. */
const apis: readonly Api[] = [
  {
    name: "hostplane.v1",
    summary: "The gateway's own API: operations, events, plans, users, and what the published APIs lack.",
    packages: ["hostplane.v1"],
  },
  { name: "lvmd", summary: "LVM volumes, as TopoLVM's lvmd serves them.", packages: ["proto"] },
  {
    name: "Koor",
    summary: "Logins and figures of a Ceph cluster, as Koor's data control center serves them.",
    packages: ["services.auth", "stats"],
  },
  {
    name: "IsardVDI",
    summary: "VMs that host desktops, and their storage pool, as IsardVDI's operations service serves them.",
    packages: ["operations.v1"],
  },
  {
    name: "kaas",
    summary: "Kubernetes clusters on MAAS machines, as cluster-manager-api serves them.",
    packages: ["cnct.kaas.api"],
  },
  {
    name: "rkt",
    summary: "Pods and images, read-only, as rkt's API service serves them.",
    packages: ["v1alpha"],
  },
  {
    name: "CSI",
    summary: "LVM volumes for Kubernetes, Nomad and other orchestrators, by the Container Storage Interface.",
    packages: ["csi.v1"],
  },
  {
    name: "gRPC",
    summary: "The services of gRPC itself: health checks and reflection.",
    packages: ["grpc.health.v1", "grpc.reflection.v1", "grpc.reflection.v1alpha"],
  },
];

/** Groups services by their API. A package that belongs to none of the known APIs is an API of its own, after the others. */
export function groupByApi(
  services: readonly DescService[],
): readonly (readonly [Api, readonly DescService[]])[] {
  const known = new Set(apis.flatMap(({ packages }) => packages));
  const further = new Set(services.map(packageOf).filter((name) => !known.has(name)));
  const all = [...apis, ...[...further].map((name) => ({ name, summary: "", packages: [name] }))];
  return all
    .map((api) => [api, services.filter((service) => api.packages.includes(packageOf(service)))] as const)
    .filter(([, ofApi]) => ofApi.length > 0);
}

function packageOf({ file }: DescService): string {
  return file.proto.package;
}
