import { volumeGroupResource, volumeResource } from "../../../adapters/lvm/names.ts";
import { type MergeSnapshotRequest, VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { type CreateBackupRequest, LVService, VGService } from "../../../gen/lvmd/served/lvmd_pb.ts";
import {
  type AccessRegistration,
  registerAccess,
  type TouchedResource,
} from "../../rpc/access/method-access.ts";
import { specFromCreateBackup } from "./backups/backup-messages.ts";
import {
  parseVolumeHandle,
  resourceOf,
  resourcesByHandle,
  volumesByHandle,
} from "./backups/volume-handle.ts";
import { findDeviceClass } from "./device-class.ts";
import type { Volumes } from "./volumes.ts";

/** Returns what the calls of the services for volumes concern. */
export function createVolumeAccess(
  volumes: Pick<Volumes, "deviceClasses" | "readState">,
): readonly AccessRegistration[] {
  const { deviceClasses } = volumes;

  /** @throws InfraError DEVICE_CLASS_NOT_FOUND */
  function volumesNamed(deviceClass: string, ...names: readonly string[]): string[] {
    const { volumeGroup } = findDeviceClass(deviceClasses, deviceClass);
    return names.map((name) => volumeResource(volumeGroup, name));
  }

  /** @throws InfraError DEVICE_CLASS_NOT_FOUND */
  function groupOf(deviceClass: string): string {
    return volumeGroupResource(findDeviceClass(deviceClasses, deviceClass).volumeGroup);
  }

  /** A refusal names the same volume whether or not it exists. */
  async function volumesToBackUp(request: CreateBackupRequest): Promise<TouchedResource[]> {
    const handle = parseVolumeHandle(specFromCreateBackup(request).volumeHandle);
    const { value } = await volumes.readState();
    const existing = volumesByHandle(handle, deviceClasses, value).map(resourceOf);
    const named =
      handle.volumeGroup === undefined ? handle.name : volumeResource(handle.volumeGroup, handle.name);
    const touched = existing.length > 0 ? existing : resourcesByHandle(handle, deviceClasses);
    return (touched.length > 0 ? touched : [named]).map((resource) => ({ resource, named }));
  }

  /** A merge overwrites the volume that the snapshot was taken of. */
  async function snapshotAndOrigin({ name, deviceClass }: MergeSnapshotRequest): Promise<string[]> {
    const { volumeGroup } = findDeviceClass(deviceClasses, deviceClass);
    const { value } = await volumes.readState();
    const snapshot = value.volumes.find((one) => one.volumeGroupName === volumeGroup && one.name === name);
    return volumesNamed(deviceClass, ...[name, snapshot?.originName].filter((each) => each !== undefined));
  }

  const pool = {
    touches: ({ name, volumeGroup }: { readonly name: string; readonly volumeGroup: string }) => [
      volumeResource(volumeGroup, name),
    ],
  };
  const named = {
    touches: ({ name, deviceClass }: { readonly name: string; readonly deviceClass: string }) =>
      volumesNamed(deviceClass, name),
  };
  const group = {
    touches: ({ deviceClass }: { readonly deviceClass: string }) => [groupOf(deviceClass)],
  };
  return [
    registerAccess(LVService, {
      createLV: named,
      removeLV: named,
      resizeLV: named,
      createLVSnapshot: {
        touches: ({ name, sourceVolume, deviceClass }) => volumesNamed(deviceClass, name, sourceVolume),
      },
      createBackup: { touches: volumesToBackUp },
    }),
    registerAccess(VGService, {
      getLVList: {
        shows: ({ volumes: all = [] }, sees, { deviceClass }) => ({
          volumes: all.filter(({ name = "" }) => volumesNamed(deviceClass, name).every(sees)),
        }),
      },
      getFreeBytes: group,
      watch: {
        shows({ items = [], freeBytes = 0n }, sees) {
          const isSeen = ({ deviceClass = "" }) => sees(groupOf(deviceClass));
          return { items: items.filter(isSeen), freeBytes: sees(groupOf("")) ? freeBytes : 0n };
        },
      },
    }),
    registerAccess(VolumeService, {
      listVolumes: {
        shows: ({ volumes: all = [] }, sees) => ({
          volumes: all.filter(({ resource = "" }) => sees(resource)),
        }),
      },
      listThinPools: {
        shows: ({ thinPools = [] }, sees) => ({
          thinPools: thinPools.filter(({ resource = "" }) => sees(resource)),
        }),
      },
      getVolume: named,
      createVolume: named,
      resizeVolume: named,
      deleteVolume: named,
      cloneVolume: {
        touches: ({ name, source, deviceClass }) => volumesNamed(deviceClass, name, source),
      },
      createSnapshot: {
        touches: ({ name, source, deviceClass }) => volumesNamed(deviceClass, name, source),
      },
      mergeSnapshot: { touches: snapshotAndOrigin },
      createThinPool: pool,
      resizeThinPool: pool,
      deleteThinPool: pool,
      renameVolume: {
        touches: ({ name, newName, deviceClass }) => volumesNamed(deviceClass, name, newName),
      },
      setVolumeTags: named,
    }),
  ];
}
