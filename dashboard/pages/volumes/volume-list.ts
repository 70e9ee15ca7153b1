import type { Signal } from "@preact/signals";
import type { LogicalVolume } from "../../../gen/proto/lvmd_pb.ts";
import { type Reading, useRead } from "../../live/use-read.ts";
import { client } from "../../session.ts";

/** A volume and its device class, which calls use to address it. */
export interface ClassVolume {
  readonly deviceClass: string;
  readonly volume: LogicalVolume;
}

/** The volumes of the given device classes, read again whenever an event of a volume arrives. */
export function useVolumes(deviceClasses: readonly string[]): Signal<Reading<readonly ClassVolume[]>> {
  const { reading } = useRead(
    async (options) => {
      const lists = await Promise.all(
        deviceClasses.map(async (deviceClass) => {
          const { volumes } = await client.volumeGroups.getLVList({ deviceClass }, options);
          return volumes.map((volume) => ({ deviceClass, volume }));
        }),
      );
      return lists.flat().toSorted((a, b) => a.volume.name.localeCompare(b.volume.name));
    },
    { topics: ["volumes"], key: deviceClasses.join(" ") },
  );
  return reading;
}
