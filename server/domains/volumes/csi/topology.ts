import type { Topology, TopologyRequirement } from "../../../../gen/csi/v1/csi_pb.ts";
import type { DeviceClass } from "../device-class.ts";

/** What the topology of this host consists of. */
export interface TopologyParts {
  readonly driverName: string;
  readonly host: string;
  readonly deviceClasses: readonly DeviceClass[];
}

/** Returns the segments of this host: its name, and each of its device classes. */
export function hostSegments(parts: TopologyParts): Record<string, string> {
  return Object.assign({}, ...parts.deviceClasses.map((each) => volumeSegments(parts, each)));
}

/** Returns the segments from which the volumes of a device class are accessible. */
export function volumeSegments(
  { driverName, host }: Omit<TopologyParts, "deviceClasses">,
  { name }: DeviceClass,
): Record<string, string> {
  return { [`${driverName}/host`]: host, [`${driverName}/class-${name}`]: "true" };
}

/** Reports whether a topology is part of this host: none of its segments has another value here. */
export function isHere({ segments }: Pick<Topology, "segments">, parts: TopologyParts): boolean {
  const own = hostSegments(parts);
  return Object.entries(segments).every(
    ([key, value]) => !key.startsWith(`${parts.driverName}/`) || own[key] === value,
  );
}

/**
 * Reports whether a volume on this host meets a requirement: one of the requisite topologies is here, or nothing is requisite.
 */
export function isMet(
  requirement: Pick<TopologyRequirement, "requisite"> | undefined,
  parts: TopologyParts,
): boolean {
  const requisite = requirement?.requisite ?? [];
  return requisite.length === 0 || requisite.some((each) => isHere(each, parts));
}
