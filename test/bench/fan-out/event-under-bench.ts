import type { NewEvent } from "../../../server/events/store/events.ts";

/** Returns the event of a new volume, a frequent event of a gateway with many clients. */
export function eventUnderBench(count: number): NewEvent {
  const name = `pvc-${String(count).padStart(8, "0")}`;
  return {
    topic: "volumes",
    type: "volume.created",
    resource: `volumeGroups/vg0/volumes/${name}`,
    host: "host",
    services: ["proto.LVService", "proto.VGService"],
    payload: {
      volume: { name, volumeGroup: "vg0", deviceClass: "ssd", sizeBytes: String(1 << 30), tags: ["app=web"] },
    },
  };
}
