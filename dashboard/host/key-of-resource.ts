import type { Resource } from "../../gen/hostplane/v1/inventory_pb.ts";

/** Returns a key that no other resource of a fleet has; for a resource of the gateway itself its name. */
export function keyOfResource({ host, name }: Pick<Resource, "host" | "name">): string {
  return host === "" ? name : `${host}:${name}`;
}
