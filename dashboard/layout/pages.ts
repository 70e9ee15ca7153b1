import type { ComponentType } from "preact";
import { lazy } from "preact/compat";
import { Role } from "../../gen/hostplane/v1/user_pb.ts";
import { Overview } from "../pages/overview/overview.tsx";

export type PageGroup = "systems" | "activity" | "administration";

/** A page of the dashboard. */
export interface PageEntry {
  /** Path after the `#` of the address; the page itself handles what is below it. */
  readonly path: string;
  readonly title: string;
  /** Group in the navigation; at the top when absent. */
  readonly group?: PageGroup;
  /** Role that may see the page; every role when absent. */
  readonly role?: Role;
  readonly Page: ComponentType;
}

/** All pages, in the order of the navigation. A page is loaded when it is first opened; the overview comes with the dashboard. */
export const pages: readonly PageEntry[] = [
  { path: "/", title: "Overview", Page: Overview },
  {
    path: "/volumes",
    title: "Volumes",
    group: "systems",
    Page: lazy(async () => (await import("../pages/volumes/volumes.tsx")).Volumes),
  },
  {
    path: "/storage",
    title: "Ceph",
    group: "systems",
    Page: lazy(async () => (await import("../pages/storage/storage.tsx")).Storage),
  },
  {
    path: "/hypervisors",
    title: "Hypervisors",
    group: "systems",
    Page: lazy(async () => (await import("../pages/hypervisors/hypervisors.tsx")).Hypervisors),
  },
  {
    path: "/clusters",
    title: "Clusters",
    group: "systems",
    Page: lazy(async () => (await import("../pages/clusters/clusters.tsx")).Clusters),
  },
  {
    path: "/pods",
    title: "Pods",
    group: "systems",
    Page: lazy(async () => (await import("../pages/pods/pods.tsx")).Pods),
  },
  {
    path: "/operations",
    title: "Operations",
    group: "activity",
    Page: lazy(async () => (await import("../pages/operations/operations.tsx")).Operations),
  },
  {
    path: "/events",
    title: "Events",
    group: "activity",
    Page: lazy(async () => (await import("../pages/events/events.tsx")).Events),
  },
  {
    path: "/audit",
    title: "Audit",
    group: "administration",
    role: Role.ADMIN,
    Page: lazy(async () => (await import("../pages/audit/audit.tsx")).Audit),
  },
  {
    path: "/users",
    title: "Users",
    group: "administration",
    role: Role.ADMIN,
    Page: lazy(async () => (await import("../pages/users/users.tsx")).Users),
  },
];

/** Returns the page of an address, or undefined if there is none. */
export function pageAt(entries: readonly PageEntry[], location: string): PageEntry | undefined {
  return entries.find(({ path }) =>
    path === "/" ? location === "/" : location === path || location.startsWith(`${path}/`),
  );
}
