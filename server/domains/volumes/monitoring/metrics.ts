import type { LvmAdapter, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { MetricSample, MetricSource } from "../../../domain/metric-source.ts";
import { type DeviceClass, limitBytes, reportedFreeBytes, resolveClass } from "../device-class.ts";

const free = "hostplane_device_class_free_bytes";
const size = "hostplane_device_class_size_bytes";
const dataUsed = "hostplane_thin_pool_data_used_ratio";
const metadataUsed = "hostplane_thin_pool_metadata_used_ratio";

const snapshotUsed = "hostplane_snapshot_used_ratio";

/**
 * The space of each device class, and of the copy-on-write snapshots in their volume groups. A class whose volume group is missing has
 * no series.
 */
export function createVolumeMetrics(
  lvm: Pick<LvmAdapter, "readRecent">,
  deviceClasses: readonly DeviceClass[],
): MetricSource {
  return {
    families: [
      { name: free, help: "Space for new volumes of a device class.", labels: ["device_class"] },
      {
        name: size,
        help: "Space for all volumes of a device class; for a thin pool its size times overprovision.",
        labels: ["device_class"],
      },
      { name: dataUsed, help: "Used share of a thin pool's data space, 0 to 1.", labels: ["device_class"] },
      {
        name: metadataUsed,
        help: "Used share of a thin pool's metadata space, 0 to 1.",
        labels: ["device_class"],
      },
      {
        name: snapshotUsed,
        help: "Used share of a copy-on-write snapshot's space, 0 to 1; at 1 it is invalid.",
        labels: ["volume"],
      },
    ],
    async read(signal) {
      const { value: state } = await lvm.readRecent(signal);
      return [
        ...deviceClasses.flatMap((each) => samplesOf(each, state)),
        ...snapshotSamples(deviceClasses, state),
      ];
    },
  };
}

function snapshotSamples(deviceClasses: readonly DeviceClass[], { volumes }: LvmState): MetricSample[] {
  const groups = new Set(deviceClasses.map(({ volumeGroup }) => volumeGroup));
  return volumes.flatMap(({ volumeGroupName, name, kind, dataPercent }) =>
    kind === "snapshot" && dataPercent !== undefined && groups.has(volumeGroupName)
      ? [
          {
            name: snapshotUsed,
            labels: { volume: volumeResource(volumeGroupName, name) },
            value: dataPercent / 100,
          },
        ]
      : [],
  );
}

function samplesOf(deviceClass: DeviceClass, state: LvmState): MetricSample[] {
  const resolved = resolveClass(deviceClass, state);
  if (resolved === undefined) {
    return [];
  }
  const labels = { device_class: deviceClass.name };
  const share = (name: string, percent: number | undefined) =>
    percent === undefined ? [] : [{ name, labels, value: percent / 100 }];
  return [
    { name: free, labels, value: Number(reportedFreeBytes(resolved, state)) },
    { name: size, labels, value: Number(limitBytes(resolved, state)) },
    ...share(dataUsed, resolved.pool?.dataPercent),
    ...share(metadataUsed, resolved.pool?.metadataPercent),
  ];
}
