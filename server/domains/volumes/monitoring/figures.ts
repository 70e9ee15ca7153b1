import type { LvmAdapter, LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { FigureSource } from "../../../domain/figure-source.ts";
import { bytes, percent } from "../../../domain/inventory-source.ts";
import type { SampledSystem } from "../../../history/sampled-resource.ts";
import {
  creatableBytes,
  type DeviceClass,
  limitBytes,
  reportedFreeBytes,
  resolveClass,
} from "../device-class.ts";

/** Space of the device classes, as `deviceClasses/NAME`. A class whose volume group or thin pool is missing has no figures. */
export function createDeviceClassFigures(
  lvm: Pick<LvmAdapter, "read">,
  deviceClasses: readonly DeviceClass[],
): FigureSource {
  return {
    domain: "volumes",
    services: ["proto.VGService", "proto.LVService"],
    async read(signal) {
      const { value } = await lvm.read(signal);
      return deviceClasses.map((each) => classFigures(each, value));
    },
  };
}

function classFigures(deviceClass: DeviceClass, state: LvmState): SampledSystem {
  const name = `deviceClasses/${deviceClass.name}`;
  const resolved = resolveClass(deviceClass, state);
  if (resolved === undefined) {
    return { name, figures: [] };
  }
  const { pool } = resolved;
  const free = bytes("free", reportedFreeBytes(resolved, state));
  if (pool === undefined) {
    const sizeBytes = limitBytes(resolved, state);
    const usedBytes = sizeBytes - creatableBytes(resolved, state);
    return { name, figures: [bytes("size", sizeBytes), bytes("used", usedBytes), free] };
  }
  const written = pool.dataPercent === undefined ? [] : [percent("data_used", pool.dataPercent)];
  return { name, figures: [bytes("size", pool.sizeBytes), free, ...written] };
}
