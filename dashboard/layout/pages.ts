import type { ComponentType } from "preact";
import { lazy } from "preact/compat";
import { Role } from "../../gen/hostplane/v1/user_pb.ts";
import { Overview } from "../pages/overview/overview.tsx";

/** A page of the dashboard. */
export interface PageEntry {
  /** After the `#` of the address; what is below it is the page's own. */
  readonly path: string;
  readonly title: string;
  /** Who sees it; everybody when absent. */
  readonly role?: Role;
  readonly Page: ComponentType;
}

/** All pages, in the order of the navigation. Each is loaded when it is first opened, the overview with the dashboard. */
export const pages: readonly PageEntry[] = [
  { path: "/", title: "Overview", Page: Overview },
  {
    path: "/volumes",
    title: "Volumes",
    Page: lazy(async () => (await import("../pages/volumes/volumes.tsx")).Volumes),
  },
  {
    path: "/storage",
    title: "Ceph",
    Page: lazy(async () => (await import("../pages/storage/storage.tsx")).Storage),
  },
  {
    path: "/hypervisors",
    title: "Hypervisors",
    Page: lazy(async () => (await import("../pages/hypervisors/hypervisors.tsx")).Hypervisors),
  },
  {
    path: "/clusters",
    title: "Clusters",
    Page: lazy(async () => (await import("../pages/clusters/clusters.tsx")).Clusters),
  },
  { path: "/pods", title: "Pods", Page: lazy(async () => (await import("../pages/pods/pods.tsx")).Pods) },
  {
    path: "/operations",
    title: "Operations",
    Page: lazy(async () => (await import("../pages/operations/operations.tsx")).Operations),
  },
  {
    path: "/events",
    title: "Events",
    Page: lazy(async () => (await import("../pages/events/events.tsx")).Events),
  },
  {
    path: "/audit",
    title: "Audit",
    role: Role.ADMIN,
    Page: lazy(async () => (await import("../pages/audit/audit.tsx")).Audit),
  },
  {
    path: "/users",
    title: "Users",
    role: Role.ADMIN,
    Page: lazy(async () => (await import("../pages/users/users.tsx")).Users),
  },
];
