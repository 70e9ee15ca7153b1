import { create } from "@bufbuild/protobuf";
import { oncePerObject } from "../../../../adapters/host/once-per-object.ts";
import type { LogicalVolume, LogicalVolumeKind, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { devicePathOf, volumeResource } from "../../../../adapters/lvm/names.ts";
import {
  type Volume,
  VolumeKind,
  VolumeOwner,
  VolumeSchema,
} from "../../../../gen/hostplane/v1/volume_pb.ts";
import { healthMessages } from "../../../domain/health-messages.ts";
import { operationOf, shownVolume } from "../../../lvm/operation-marks.ts";
import { type DeviceClass, deviceClassOf } from "../device-class.ts";
import { healthOf, stateOf } from "../monitoring/volume-state.ts";
import { ownerOf } from "./volume-owner.ts";

const kinds: Readonly<Record<LogicalVolumeKind, VolumeKind>> = {
  linear: VolumeKind.LINEAR,
  thinVolume: VolumeKind.THIN,
  snapshot: VolumeKind.SNAPSHOT,
  raid: VolumeKind.RAID,
  mirror: VolumeKind.MIRROR,
  cache: VolumeKind.CACHE,
  thinPool: VolumeKind.UNSPECIFIED,
  other: VolumeKind.UNSPECIFIED,
};

const owners = {
  topolvm: VolumeOwner.TOPOLVM,
  csi: VolumeOwner.CSI,
  hostplane: VolumeOwner.HOSTPLANE,
} as const;

/** The messages of volumes, with what they were made from besides the volume. */
const messagesFor = oncePerObject(
  (_deviceClasses: readonly DeviceClass[]) =>
    new WeakMap<LogicalVolume, { readonly message: Volume; readonly devicePaths: readonly string[] }>(),
);

/**
 * Returns the volumes in the groups of the device classes, without thin pools, ordered by group and name. A volume that is the
 * same object as in an earlier state has the same message again, which must not be modified.
 */
export function listVolumes(state: LvmState, deviceClasses: readonly DeviceClass[]): Volume[] {
  const groups = new Set(deviceClasses.map(({ volumeGroup }) => volumeGroup));
  const pools = new Map(
    state.volumes
      .filter(({ kind }) => kind === "thinPool")
      .map((pool) => [`${pool.volumeGroupName}/${pool.name}`, pool]),
  );
  const messages = messagesFor(deviceClasses);
  const messageOf = (volume: LogicalVolume) => {
    const { volumeGroupName, thinPoolName } = volume;
    const pool = thinPoolName === undefined ? undefined : pools.get(`${volumeGroupName}/${thinPoolName}`);
    const { devicePaths } = pool ?? volume;
    const kept = messages.get(volume);
    if (kept?.devicePaths === devicePaths) {
      return kept.message;
    }
    const message = volumeMessage(volume, devicePaths, deviceClasses);
    messages.set(volume, { message, devicePaths });
    return message;
  };
  return state.volumes
    .filter(({ volumeGroupName, kind }) => groups.has(volumeGroupName) && kind !== "thinPool")
    .map(messageOf)
    .sort(compareNames);
}

function volumeMessage(
  volume: LogicalVolume,
  devicePaths: readonly string[],
  deviceClasses: readonly DeviceClass[],
): Volume {
  const { name, tags, active, device, open } = shownVolume(volume);
  const { volumeGroupName, dataPercent, metadataPercent } = volume;
  const owner = ownerOf(volume);
  return create(VolumeSchema, {
    name,
    volumeGroup: volumeGroupName,
    deviceClass: deviceClassOf(volume, deviceClasses) ?? "",
    resource: volumeResource(volumeGroupName, name),
    uuid: volume.uuid,
    kind: kinds[volume.kind],
    sizeBytes: volume.sizeBytes,
    ...(dataPercent === undefined ? {} : { dataPercent }),
    ...(metadataPercent === undefined ? {} : { metadataPercent }),
    snapshotSpaceBytes: volume.roomBytes ?? 0n,
    origin: volume.originName ?? "",
    thinPool: volume.thinPoolName ?? "",
    owner: owner === undefined ? VolumeOwner.UNSPECIFIED : owners[owner],
    operationId: operationOf(volume) ?? "",
    active,
    open,
    readOnly: volume.readOnly,
    merging: volume.merging,
    devicePath: active ? devicePathOf(volumeGroupName, name) : "",
    deviceNumber: device === undefined ? "" : `${device.major}:${device.minor}`,
    physicalVolumes: [...devicePaths],
    tags: [...tags],
    health: healthMessages[healthOf(volume)],
    state: stateOf({ health: volume.health, active }),
  });
}

interface NamedInGroup {
  readonly volumeGroup: string;
  readonly name: string;
}

/** Orders by group and name. */
export function compareNames(one: NamedInGroup, other: NamedInGroup): number {
  return compare(one.volumeGroup, other.volumeGroup) || compare(one.name, other.name);
}

/** Compares names by code unit, as LVM orders them in the C locale. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
