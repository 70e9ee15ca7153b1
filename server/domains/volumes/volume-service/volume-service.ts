import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { Snapshot } from "../../../../adapters/host/snapshot.ts";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import {
  ListThinPoolsResponseSchema,
  type ListVolumesRequest,
  ListVolumesResponseSchema,
  type Volume,
  VolumeOwner,
  VolumeService,
} from "../../../../gen/hostplane/v1/volume_pb.ts";
import { handlersOf } from "../../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../../rpc/streams/shared-answers.ts";
import { createListEncoders } from "../../../rpc/streams/shared-lists.ts";
import { assertResolved, findDeviceClass } from "../device-class.ts";
import { setSnapshotAge } from "../service.ts";
import type { Volumes } from "../volumes.ts";
import { listThinPools } from "./thin-pool-list.ts";
import { listVolumes } from "./volume-list.ts";
import type { VolumeServiceChanges } from "./volume-service-changes.ts";

/** Creates hostplane.v1.VolumeService, which lists volumes with their use, origin, owner and devices, and changes them. */
export function createVolumeService(volumes: Volumes, changes: VolumeServiceChanges): ServiceRegistration {
  const { deviceClasses } = volumes;
  const lists = createSharedAnswers(ListVolumesResponseSchema, createListEncoders(ListVolumesResponseSchema));
  const pools = createSharedAnswers(ListThinPoolsResponseSchema);

  /**
   * Returns the state of LVM.
   * @param className the class whose group or pool must exist; empty: none
   * @throws InfraError DEVICE_CLASS_NOT_FOUND, VOLUME_GROUP_GONE
   */
  async function readOf(className: string, signal: AbortSignal): Promise<Snapshot<LvmState>> {
    const deviceClass = className === "" ? undefined : findDeviceClass(deviceClasses, className);
    const check = (read: Snapshot<LvmState>) => {
      if (deviceClass !== undefined) {
        assertResolved(deviceClass, read.value);
      }
      return read;
    };
    return volumes.check(check, signal);
  }

  return registerService(VolumeService, {
    ...handlersOf(changes),
    async listVolumes(request, call) {
      assertOwner(request);
      const { deviceClass: className, name, owner, origin } = request;
      const snapshot = await readOf(className, call.signal);
      setSnapshotAge(call, snapshot);
      return lists.of(snapshot.value, JSON.stringify([className, name, owner, origin]), () => ({
        volumes: listVolumes(snapshot.value, deviceClasses).filter((volume) => isListed(volume, request)),
      }));
    },
    async listThinPools({ deviceClass: className }, call) {
      const snapshot = await readOf(className, call.signal);
      setSnapshotAge(call, snapshot);
      return pools.of(snapshot.value, className, () => ({
        thinPools: listThinPools(snapshot.value, deviceClasses).filter(
          (pool) => className === "" || pool.deviceClasses.includes(className),
        ),
      }));
    },
    async getVolume({ name, deviceClass: className }, call) {
      if (name === "") {
        throw invalidField("name", "must not be empty");
      }
      const deviceClass = findDeviceClass(deviceClasses, className);
      const find = (snapshot: Snapshot<LvmState>) => {
        const { group } = assertResolved(deviceClass, snapshot.value);
        const volume = listVolumes(snapshot.value, deviceClasses).find(
          (one) => one.volumeGroup === group.name && one.name === name,
        );
        if (volume === undefined) {
          throw new InfraError(
            lvmReasons.VOLUME_NOT_FOUND,
            `volume ${name} not found in volume group ${group.name}`,
            { resource: volumeResource(group.name, name) },
          );
        }
        return { volume, snapshot };
      };
      const { volume, snapshot } = await volumes.check(find, call.signal);
      setSnapshotAge(call, snapshot);
      return { volume };
    },
  });
}

/** @throws InfraError INVALID_FIELD for an owner of a newer version, by which nothing could be found */
function assertOwner({ owner }: ListVolumesRequest): void {
  if (!Object.values<number>(VolumeOwner).includes(owner)) {
    throw invalidField("owner", `unknown owner ${owner}`);
  }
}

function isListed(volume: Volume, filter: ListVolumesRequest): boolean {
  return (
    (filter.deviceClass === "" || volume.deviceClass === filter.deviceClass) &&
    (filter.name === "" || volume.name === filter.name) &&
    (filter.owner === VolumeOwner.UNSPECIFIED || volume.owner === filter.owner) &&
    (filter.origin === "" || volume.origin === filter.origin)
  );
}
