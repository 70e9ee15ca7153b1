import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";

/** Returns the volume group of a volume. */
export function groupOf({ properties }: Resource): string {
  return properties.volume_group ?? "";
}

/** Returns the device class by which calls address a volume; empty if it has none. */
export function deviceClassOf({ properties }: Resource): string {
  return properties.device_class ?? "";
}
