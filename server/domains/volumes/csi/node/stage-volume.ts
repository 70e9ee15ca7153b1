import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { devicePathOf } from "../../../../../adapters/lvm/names.ts";
import type { DeviceContent, FileSystemType, MountStep } from "../../../../../adapters/mounts/adapter.ts";
import { assertTargetPath } from "../../../../../adapters/mounts/names.ts";
import type { NodeStageVolumeRequest } from "../../../../../gen/csi/v1/csi_pb.ts";
import type { LocatedChange } from "../../../../domain/short-change.ts";
import type { Mutation, MutationStep } from "../../../../operations/mutation.ts";
import { factsOfVolume, stepOf } from "../../changes/volume-change.ts";
import { assertResolved } from "../../device-class.ts";
import { assertNotOfOperation } from "../../protection.ts";
import { type Capability, parseCapability } from "../capability.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertId, type CsiVolume, requireCsiVolume, resourceOfId } from "../csi-volume.ts";
import { csiReasons } from "../reasons.ts";
import { assertAsRequested, assertOneUse, mountStepOf, ownMountsAt } from "./volume-mounts.ts";

/** A volume to stage. */
export interface StageSpec {
  readonly id: string;
  readonly path: string;
  readonly capability: Capability;
}

/**
 * NodeStageVolume: activates a volume, formats it if it is empty, and mounts it at the staging path. An ext4 that exists is checked
 * before, since the kernel also mounts one with errors. A raw block device is only activated. Without a step if all that is done.
 */
export function createStageVolume(
  parts: CsiParts,
): LocatedChange<NodeStageVolumeRequest, StageSpec, LvmState> {
  const { deviceClasses, mounts, settings } = parts;
  return {
    /** @throws InfraError INVALID_FIELD */
    parse({ volumeId: id, stagingTargetPath: path, volumeCapability }) {
      assertId(id, "volume_id");
      assertTargetPath(path, "staging_target_path", settings.roots);
      return { id, path, capability: parseCapability(volumeCapability, "volume_capability") };
    },

    /** @throws InfraError VOLUME_NOT_FOUND */
    locate(spec, state) {
      requireCsiVolume(state, deviceClasses, "volume", spec.id);
      return spec;
    },

    targetOf: ({ id }) => ({ resource: resourceOfId(id) }),

    /** @throws InfraError VOLUME_PROTECTED, VOLUME_IN_USE, MOUNT_FOREIGN, MOUNT_DIFFERS, FILE_SYSTEM_DIFFERS, INVALID_FIELD */
    async check(spec, state) {
      const found = requireCsiVolume(state, deviceClasses, "volume", spec.id);
      assertNotOfOperation(found.volume);
      if ((await mounts.targetKind(spec.path, "staging_target_path")) !== "directory") {
        throw invalidField("staging_target_path", "must be an existing directory");
      }
      const resource = resourceOfId(spec.id);
      const all = await mounts.mounts();
      const mounted = ownMountsAt(all, spec.path, found, resource).at(-1);
      const describe = (steps: readonly MutationStep[], change: string): Mutation => ({
        kind: "volumes.stage",
        resource,
        backend: assertResolved(found.deviceClass, state).group.uuid,
        plan: { changes: steps.length === 0 ? [] : [change], losses: [], facts: factsOfVolume(found.volume) },
        steps,
        pointOfNoReturn: steps.length,
      });
      if (mounted !== undefined && spec.capability.fileSystem !== undefined) {
        assertAsRequested(mounted, spec.capability, resource);
        return describe([], "");
      }
      assertOneUse(all, found, spec.capability);
      if (spec.capability.fileSystem === undefined) {
        return describe(activation(parts, found), `${spec.id} is activated`);
      }
      const steps = [...activation(parts, found), ...(await mounting(parts, spec, found))];
      return describe(steps, `${spec.id} is mounted at ${spec.path}`);
    },
  };
}

function activation({ lvm }: CsiParts, { volume }: CsiVolume): MutationStep[] {
  const { volumeGroupName, name } = volume;
  const step = { kind: "activate", volumeGroupName, name } as const;
  return volume.active
    ? []
    : [{ ...stepOf(lvm, step), undo: () => lvm.run({ ...step, kind: "deactivate" }) }];
}

/**
 * Returns the steps that format a volume if it is empty, and mount it. What is on an inactive volume is only known once it is
 * active, so that the steps for it read that themselves.
 */
async function mounting(
  { mounts }: CsiParts,
  { id, path, capability }: StageSpec,
  { volume }: CsiVolume,
): Promise<MutationStep[]> {
  const device = devicePathOf(volume.volumeGroupName, volume.name);
  const requested = capability.fileSystem?.type;
  const flags = [...(capability.readOnly ? ["ro"] : []), ...(capability.fileSystem?.flags ?? [])];
  const read = async () => usableContent(await mounts.content(device), requested, { id, ...capability });
  let content: FileSystemType | undefined = volume.active ? await read() : undefined;
  const isEmpty = volume.active && content === undefined;
  const fileSystem = () => requested ?? content ?? "ext4";
  const format = (): MountStep => ({ kind: "format", device, fileSystem: fileSystem() });
  const mount = (): MountStep => ({ kind: "mount", device, fileSystem: fileSystem(), path, flags });
  const grow = (): MountStep => ({ kind: "grow", device, fileSystem: fileSystem(), path });
  const formatting: MutationStep = {
    name: "format",
    command: mounts.commandOf(format()),
    async forward() {
      content = await read();
      if (content === undefined) {
        await mounts.run(format());
      }
    },
  };
  const check: MountStep = { kind: "check", device };
  const checking: MutationStep = {
    ...mountStepOf(mounts, check),
    async forward() {
      if (content === "ext4") {
        await mounts.run(check);
      }
    },
  };
  const isChecked = !isEmpty && !capability.readOnly && fileSystem() === "ext4";
  return [
    ...(isEmpty || !volume.active ? [formatting] : []),
    ...(isChecked ? [checking] : []),
    {
      name: "mount",
      command: mounts.commandOf(mount()),
      forward: () => mounts.run(mount()),
      undo: () => mounts.run({ kind: "unmount", path }),
    },
    // A clone may be larger than its source, and a volume may have grown while it was not mounted.
    ...(isEmpty || capability.readOnly
      ? []
      : [{ ...mountStepOf(mounts, grow()), forward: () => mounts.run(grow()) }]),
  ];
}

/**
 * Returns the file system on a device; undefined if it is empty and may be formatted.
 * @throws InfraError VOLUME_IN_USE, FILE_SYSTEM_DIFFERS
 */
function usableContent(
  { type, busy }: DeviceContent,
  requested: FileSystemType | undefined,
  { id, readOnly }: { readonly id: string; readonly readOnly: boolean },
): FileSystemType | undefined {
  const resource = resourceOfId(id);
  if (busy) {
    throw new InfraError(
      hostReasons.VOLUME_IN_USE,
      `volume ${id} is in use: it is mounted at another path or in another mount namespace, or a program has its device`,
      { resource },
    );
  }
  if (type === undefined && readOnly) {
    throw new InfraError(
      csiReasons.FILE_SYSTEM_DIFFERS,
      `volume ${id} is empty, and cannot be formatted because the access is read-only`,
      { resource },
    );
  }
  if (type === undefined || ((type === "ext4" || type === "xfs") && (requested ?? type) === type)) {
    return type;
  }
  throw new InfraError(
    csiReasons.FILE_SYSTEM_DIFFERS,
    `volume ${id} contains ${type}, requested is ${requested ?? "ext4 or xfs"}`,
    { resource },
  );
}
