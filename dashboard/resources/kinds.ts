import type { Resource } from "../../gen/hostplane/v1/inventory_pb.ts";
import { pathOfHost } from "../host/address-of-host.ts";
import { healthStatus, type StatusKind } from "../parts/status.tsx";
import { generalKind } from "./general-kind.ts";
import type { ResourceKind } from "./kind.ts";

const kinds = new Map<string, ResourceKind>();

/** Adds kinds, before the first page is shown. A domain's page contributes its own; see `layout/resource-kinds.ts`. */
export function addKinds(added: readonly ResourceKind[]): void {
  for (const kind of added) {
    kinds.set(kind.type, kind);
  }
}

/** Returns what the dashboard knows of a resource's type. */
export function kindOf(resource: Pick<Resource, "type">): ResourceKind {
  return kinds.get(resource.type) ?? generalKind(resource);
}

/** Reports whether a domain's page knows the resource's type; otherwise the general page of its domain shows it. */
export function hasOwnKind({ type }: Resource): boolean {
  return kinds.has(type);
}

/** Returns the path of the page of a resource, on its host; undefined if there is no such resource. */
export function pathOfResource(resource: Resource | undefined): string | undefined {
  if (resource === undefined) {
    return undefined;
  }
  const path = kindOf(resource).pathOf(resource);
  return resource.host === "" ? path : pathOfHost(resource.host, path);
}

/** Returns the status of a resource: that of its health, or "off". */
export function statusOfResource(resource: Resource): StatusKind {
  const status = healthStatus(resource.health);
  return status === "ok" && kindOf(resource).isOff?.(resource) ? "off" : status;
}
