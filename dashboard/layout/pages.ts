import type { ComponentType } from "preact";
import { lazy } from "preact/compat";
import { Role } from "../../gen/hostplane/v1/user_pb.ts";
import { Overview } from "../pages/overview/overview.tsx";
import type { IconName } from "../parts/icon.tsx";

export type PageGroup = "resources" | "administration";

/** A page of the dashboard. */
export interface PageEntry {
  /** Path after the `#` of the address; the page itself handles what is below it. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** The key that opens it after G. */
  readonly key?: string;
  /** Types of the inventory that it shows: the navigation has the number of the first, and the worst health of all. */
  readonly types?: readonly string[];
  /** Group in the navigation; at the top when absent. */
  readonly group?: PageGroup;
  /** Role that may see the page; every role when absent. */
  readonly role?: Role;
  /** Whose page it is: that of hubs only, or of every gateway but not of a hub's hosts; by default of all. */
  readonly of?: "hub" | "gateway";
  readonly Page: ComponentType;
}

/** All pages, in the order of the navigation. A page is loaded when it is first opened; the overview comes with the dashboard. */
export const pages: readonly PageEntry[] = [
  { path: "/", title: "Overview", icon: "home", key: "o", Page: Overview },
  {
    path: "/operations",
    title: "Operations",
    icon: "pulse",
    key: "p",
    Page: lazy(async () => (await import("../pages/operations/operations.tsx")).Operations),
  },
  {
    path: "/events",
    title: "Events",
    icon: "list",
    key: "e",
    Page: lazy(async () => (await import("../pages/events/events.tsx")).Events),
  },
  {
    path: "/hosts",
    title: "Hosts",
    icon: "server",
    key: "h",
    group: "resources",
    of: "hub",
    Page: lazy(async () => (await import("../pages/hosts/hosts.tsx")).Hosts),
  },
  {
    path: "/volumes",
    title: "Volumes",
    icon: "disk",
    key: "v",
    types: ["volume", "thinPool", "volumeGroup"],
    group: "resources",
    Page: lazy(async () => (await import("../pages/volumes/volumes.tsx")).Volumes),
  },
  {
    path: "/storage",
    title: "Ceph",
    icon: "ceph",
    key: "c",
    types: ["osd", "cephCluster", "cephHost", "cephPool"],
    group: "resources",
    Page: lazy(async () => (await import("../pages/storage/storage.tsx")).Storage),
  },
  {
    path: "/hypervisors",
    title: "Machines",
    icon: "screen",
    key: "m",
    types: ["hypervisor", "storagePool"],
    group: "resources",
    Page: lazy(async () => (await import("../pages/hypervisors/hypervisors.tsx")).Hypervisors),
  },
  {
    path: "/clusters",
    title: "Clusters",
    icon: "hexagon",
    key: "k",
    types: ["cluster"],
    group: "resources",
    Page: lazy(async () => (await import("../pages/clusters/clusters.tsx")).Clusters),
  },
  {
    path: "/pods",
    title: "Pods",
    icon: "box",
    key: "d",
    types: ["pod"],
    group: "resources",
    Page: lazy(async () => (await import("../pages/pods/pods.tsx")).Pods),
  },
  {
    path: "/audit",
    title: "Audit",
    icon: "shield",
    key: "a",
    group: "administration",
    role: Role.ADMIN,
    Page: lazy(async () => (await import("../pages/audit/audit.tsx")).Audit),
  },
  {
    path: "/users",
    title: "Users",
    icon: "user",
    key: "u",
    group: "administration",
    role: Role.ADMIN,
    of: "gateway",
    Page: lazy(async () => (await import("../pages/users/users.tsx")).Users),
  },
];

/** Returns the page of an address, or undefined if there is none. */
export function pageAt(entries: readonly PageEntry[], location: string): PageEntry | undefined {
  return entries.find(({ path }) =>
    path === "/" ? location === "/" : location === path || location.startsWith(`${path}/`),
  );
}

/** Returns the pages of what is shown. @param shown a host of a hub, a hub, or any other gateway */
export function pagesOf(
  entries: readonly PageEntry[],
  shown: "host" | "hub" | "gateway",
): readonly PageEntry[] {
  return entries.filter(
    ({ of }) => of === undefined || of === shown || (of === "gateway" && shown === "hub"),
  );
}
