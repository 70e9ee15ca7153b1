import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { Snapshot } from "../../../../../adapters/host/snapshot.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { Controller, ControllerServiceCapability_RPC_Type as Rpc } from "../../../../../gen/csi/v1/csi_pb.ts";
import { handlersOf } from "../../../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../../../rpc/call/service-handlers.ts";
import { whyUnusable } from "../../changes/volume-change.ts";
import { type DeviceClass, type ResolvedClass, reportedFreeBytes, resolveClass } from "../../device-class.ts";
import type { Volumes } from "../../volumes.ts";
import { leastBytesOf, parseCapabilities } from "../capability.ts";
import { noLimits, sizeWithin } from "../capacity-range.ts";
import type { ControllerChanges } from "../csi-changes.ts";
import type { CsiKind } from "../csi-marks.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertId, type CsiVolume, findCsiVolume, listCsiVolumes, requireCsiVolume } from "../csi-volume.ts";
import { csiSnapshotMessage, csiVolumeMessage } from "../messages.ts";
import { assertParameters, deviceClassFrom, deviceClassOrDefault } from "../parameters.ts";
import { csiReasons } from "../reasons.ts";
import { isHere, type TopologyParts } from "../topology.ts";
import { conditionsIn } from "../volume-condition.ts";
import { pageOf } from "./csi-pages.ts";
import { allocationUnitBytes } from "./requested-volume.ts";

const capabilities: readonly Rpc[] = [
  Rpc.CREATE_DELETE_VOLUME,
  Rpc.LIST_VOLUMES,
  Rpc.GET_CAPACITY,
  Rpc.CREATE_DELETE_SNAPSHOT,
  Rpc.LIST_SNAPSHOTS,
  Rpc.CLONE_VOLUME,
  Rpc.VOLUME_CONDITION,
  Rpc.GET_VOLUME,
  Rpc.GET_SNAPSHOT,
  Rpc.SINGLE_NODE_MULTI_WRITER,
];

/** A volume with the state in which it was found. */
type FoundVolume = CsiVolume & { readonly state: LvmState };

/** Creates csi.v1.Controller. @param topology of this host */
export function createControllerService(
  parts: CsiParts,
  volumes: Volumes,
  changes: ControllerChanges,
  topology: TopologyParts,
): ServiceRegistration {
  const { deviceClasses, settings } = parts;
  const isExpander = settings.expansion === "controller";
  const types = [...capabilities, ...(isExpander ? [Rpc.EXPAND_VOLUME] : [])];
  const handlers = handlersOf(changes);

  const read = async (signal: AbortSignal): Promise<LvmState> =>
    volumes.check(({ value }: Snapshot<LvmState>) => value, signal);
  const require = (kind: CsiKind, id: string, field: string, signal: AbortSignal): Promise<FoundVolume> => {
    assertId(id, field);
    return volumes.check(
      ({ value: state }) => ({ state, ...requireCsiVolume(state, deviceClasses, kind, id) }),
      signal,
    );
  };
  const refuse = (method: string) => async (): Promise<never> => {
    throw new InfraError(
      csiReasons.CSI_NOT_SUPPORTED,
      `${method} is not supported: ControllerGetCapabilities does not list its capability`,
    );
  };

  return registerService(Controller, {
    ...handlers,
    controllerExpandVolume: isExpander ? handlers.controllerExpandVolume : refuse("ControllerExpandVolume"),
    controllerPublishVolume: refuse("ControllerPublishVolume"),
    controllerUnpublishVolume: refuse("ControllerUnpublishVolume"),
    controllerModifyVolume: refuse("ControllerModifyVolume"),
    controllerGetCapabilities: async () => ({
      capabilities: types.map((type) => ({ type: { case: "rpc", value: { type } } })),
    }),
    async validateVolumeCapabilities(request, { signal }) {
      const { volumeId, volumeCapabilities, volumeContext, parameters, mutableParameters } = request;
      assertId(volumeId, "volume_id");
      if (volumeCapabilities.length === 0) {
        throw invalidField("volume_capabilities", "must have at least one entry");
      }
      const { deviceClass } = await require("volume", volumeId, "volume_id", signal);
      try {
        parseCapabilities(volumeCapabilities);
        assertOfClass(deviceClass, deviceClassFrom(parameters, deviceClasses));
        assertParameters(mutableParameters, [], "mutable_parameters");
      } catch (error) {
        if (error instanceof InfraError) {
          return { message: error.message };
        }
        throw error;
      }
      return { confirmed: { volumeCapabilities, volumeContext, parameters, mutableParameters } };
    },
    async listVolumes(request, { signal }) {
      const state = await read(signal);
      const conditionOf = conditionsIn(state);
      const all = listCsiVolumes(state, deviceClasses, "volume");
      const { entries, nextToken } = pageOf(all, request, {});
      return {
        entries: entries.map((each) => ({
          volume: csiVolumeMessage(each, topology),
          status: { volumeCondition: conditionOf(each) },
        })),
        nextToken,
      };
    },
    async controllerGetVolume({ volumeId }, { signal }) {
      const found = await require("volume", volumeId, "volume_id", signal);
      return {
        volume: csiVolumeMessage(found, topology),
        status: { volumeCondition: conditionsIn(found.state)(found) },
      };
    },
    async getCapacity({ parameters, volumeCapabilities, accessibleTopology }, { signal }) {
      const deviceClass = deviceClassOrDefault(parameters, deviceClasses);
      const requested = volumeCapabilities.length === 0 ? [] : parseCapabilities(volumeCapabilities);
      if (accessibleTopology !== undefined && !isHere(accessibleTopology, topology)) {
        return { availableCapacity: 0n };
      }
      const state = await read(signal);
      const resolved = resolveClass(deviceClass, state);
      if (resolved === undefined) {
        return { availableCapacity: 0n };
      }
      const unitBytes = allocationUnitBytes(resolved);
      const freeBytes = availableBytes(resolved, state);
      return {
        availableCapacity: freeBytes,
        maximumVolumeSize: (freeBytes / unitBytes) * unitBytes,
        minimumVolumeSize: sizeWithin(noLimits, leastBytesOf(requested), unitBytes),
      };
    },
    async listSnapshots(request, { signal }) {
      const { snapshotId, sourceVolumeId } = request;
      const state = await read(signal);
      const only =
        snapshotId === "" ? undefined : findCsiVolume(state, deviceClasses, "snapshot", snapshotId);
      const all =
        snapshotId === ""
          ? listCsiVolumes(state, deviceClasses, "snapshot")
          : only === undefined
            ? []
            : [only];
      const listed = all.filter(({ marks }) => sourceVolumeId === "" || marks.source?.id === sourceVolumeId);
      const { entries, nextToken } = pageOf(listed, request, { snapshotId, sourceVolumeId });
      return { entries: entries.map((each) => ({ snapshot: csiSnapshotMessage(each) })), nextToken };
    },
    async getSnapshot({ snapshotId }, { signal }) {
      return { snapshot: csiSnapshotMessage(await require("snapshot", snapshotId, "snapshot_id", signal)) };
    },
  });
}

/** @throws InfraError INVALID_FIELD if the parameters of a request name another class than that of the volume */
function assertOfClass({ name }: DeviceClass, requested: DeviceClass | undefined): void {
  if (requested !== undefined && requested.name !== name) {
    throw invalidField("parameters[deviceClass]", `the volume is of device class ${name}`);
  }
}

/** Returns the bytes that new volumes may take: none where CreateVolume would refuse each. */
function availableBytes(resolved: ResolvedClass, state: LvmState): bigint {
  const { group, pool } = resolved;
  const isUnusable = group.missingPvCount > 0 || (pool !== undefined && whyUnusable(pool) !== undefined);
  return isUnusable ? 0n : reportedFreeBytes(resolved, state);
}
