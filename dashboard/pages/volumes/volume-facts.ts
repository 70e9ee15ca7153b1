import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, inventory, usedPercentOf } from "../../live/inventory.ts";
import { sizeText } from "../../parts/text/size-text.ts";

/** Returns the volume group of a volume. */
export function groupOf({ properties }: Resource): string {
  return properties.volume_group ?? "";
}

/** Returns the device class by which calls address a volume; empty if it has none. */
export function deviceClassOf({ properties }: Resource): string {
  return properties.device_class ?? "";
}

/** Returns the room that a volume can grow into, as a sentence: that of its thin pool, or of its volume group. Empty if not known. */
export function roomText(volume: Resource): string {
  const group = groupOf(volume);
  const { thin_pool: pool } = volume.properties;
  const { resources } = inventory.value;
  const room = resources.get(
    pool === undefined ? `volumeGroups/${group}` : `volumeGroups/${group}/volumes/${pool}`,
  );
  if (room === undefined) {
    return "";
  }
  if (pool === undefined) {
    const free = figureOf(room, "free");
    return free === undefined ? "" : ` ${sizeText(free)} free in the volume group ${group}.`;
  }
  const size = figureOf(room, "size");
  const used = usedPercentOf(room);
  return size === undefined || used === undefined
    ? ""
    : ` ${sizeText(size * (1 - used / 100))} of ${sizeText(size)} free in the thin pool ${pool}.`;
}
