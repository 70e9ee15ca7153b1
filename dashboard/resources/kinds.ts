import type { Resource } from "../../gen/hostplane/v1/inventory_pb.ts";
import { healthStatus, type StatusKind } from "../parts/status.tsx";
import type { ResourceKind } from "./kind.ts";

const kinds = new Map<string, ResourceKind>();

/** Adds kinds, before the first page is shown. A domain's page contributes its own; see `layout/resource-kinds.ts`. */
export function addKinds(added: readonly ResourceKind[]): void {
  for (const kind of added) {
    kinds.set(kind.type, kind);
  }
}

/** Returns what the dashboard knows of a resource's type; undefined for a type without a page. */
export function kindOf({ type }: Resource): ResourceKind | undefined {
  return kinds.get(type);
}

/** Returns the path of the page of a resource, by its name; undefined if there is none. */
export function pathOfResource(resource: Resource | undefined): string | undefined {
  return resource === undefined ? undefined : kindOf(resource)?.pathOf(resource);
}

/** Returns the status of a resource: that of its health, or "off". */
export function statusOfResource(resource: Resource): StatusKind {
  const status = healthStatus(resource.health);
  return status === "ok" && kindOf(resource)?.isOff?.(resource) ? "off" : status;
}
