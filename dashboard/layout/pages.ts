import type { ComponentType } from "preact";
import { lazy } from "preact/compat";
import { Role } from "../../gen/hostplane/v1/user_pb.ts";
import { Overview } from "../pages/overview/overview.tsx";
import type { IconName } from "../parts/icon.tsx";

/** What a dashboard shows: a host of a fleet, the hub of one, or any other gateway. */
export type Shown = "host" | "hub" | "gateway";

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
  /** What has the page; by default everything that can be shown. */
  readonly of?: readonly Shown[];
  readonly Page: ComponentType;
}

/** A hub has no volumes, machines and pods of its own. */
const ownSystems: readonly Shown[] = ["gateway", "host"];

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
    path: "/plans",
    title: "Plans",
    icon: "check",
    key: "l",
    Page: lazy(async () => (await import("../pages/plans/plans.tsx")).Plans),
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
    of: ["hub"],
    Page: lazy(async () => (await import("../pages/hosts/hosts.tsx")).Hosts),
  },
  {
    path: "/resources",
    title: "Resources",
    icon: "list",
    key: "r",
    group: "resources",
    of: ["hub"],
    Page: lazy(async () => (await import("../pages/resources/resources.tsx")).Resources),
  },
  {
    path: "/volumes",
    title: "Volumes",
    icon: "disk",
    key: "v",
    types: ["volume", "thinPool", "volumeGroup"],
    group: "resources",
    of: ownSystems,
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
    of: ownSystems,
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
    of: ownSystems,
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
    of: ["gateway", "hub"],
    Page: lazy(async () => (await import("../pages/users/users.tsx")).Users),
  },
];

/** Returns the page of an address, or undefined if there is none. */
export function pageAt(entries: readonly PageEntry[], location: string): PageEntry | undefined {
  return entries.find(({ path }) =>
    path === "/" ? location === "/" : location === path || location.startsWith(`${path}/`),
  );
}

/** Returns the pages of what is shown. */
export function pagesOf(entries: readonly PageEntry[], shown: Shown): readonly PageEntry[] {
  return entries.filter(({ of }) => of?.includes(shown) ?? true);
}
