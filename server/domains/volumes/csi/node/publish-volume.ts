import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { devicePathOf } from "../../../../../adapters/lvm/names.ts";
import type { Mount, MountStep } from "../../../../../adapters/mounts/adapter.ts";
import { assertTargetPath, keptFlags } from "../../../../../adapters/mounts/names.ts";
import { mountReasons } from "../../../../../adapters/mounts/reasons.ts";
import type { NodePublishVolumeRequest } from "../../../../../gen/csi/v1/csi_pb.ts";
import type { LocatedChange } from "../../../../domain/short-change.ts";
import type { Mutation, MutationStep } from "../../../../operations/mutation.ts";
import { isMountOf } from "../../changes/assert-unmounted.ts";
import { factsOfVolume } from "../../changes/volume-change.ts";
import { assertResolved } from "../../device-class.ts";
import { type Capability, parseCapability } from "../capability.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertId, type CsiVolume, requireCsiVolume, resourceOfId } from "../csi-volume.ts";
import { csiReasons } from "../reasons.ts";
import {
  assertAsRequested,
  assertOneUse,
  isReadOnly,
  mountStepOf,
  ownMountsAt,
  visibleAt,
} from "./volume-mounts.ts";

/** A volume to publish. */
export interface PublishSpec {
  readonly id: string;
  readonly path: string;
  readonly stagingPath: string;
  readonly capability: Capability;
  readonly readOnly: boolean;
}

/** NodePublishVolume: makes a staged volume available at a target path by a bind mount. Without a step if it is. */
export function createPublishVolume(
  parts: CsiParts,
): LocatedChange<NodePublishVolumeRequest, PublishSpec, LvmState> {
  const { deviceClasses, mounts, settings } = parts;
  return {
    /** @throws InfraError INVALID_FIELD, MOUNT_MISSING */
    parse(request) {
      const { volumeId: id, targetPath: path, stagingTargetPath: stagingPath } = request;
      assertId(id, "volume_id");
      assertTargetPath(path, "target_path", settings.roots);
      const capability = parseCapability(request.volumeCapability, "volume_capability");
      if (stagingPath === "") {
        throw new InfraError(
          mountReasons.MOUNT_MISSING,
          "staging_target_path: must be set, since the driver stages volumes",
        );
      }
      assertTargetPath(stagingPath, "staging_target_path", settings.roots);
      if (path === stagingPath || path.startsWith(`${stagingPath}/`)) {
        throw invalidField("target_path", "must be neither the staging path nor in the staged volume");
      }
      if (request.readonly && capability.fileSystem === undefined) {
        throw invalidField("readonly", "must be false: a device node cannot be made read-only for a program");
      }
      return { id, path, stagingPath, capability, readOnly: request.readonly || capability.readOnly };
    },

    /** @throws InfraError VOLUME_NOT_FOUND */
    locate(spec, state) {
      requireCsiVolume(state, deviceClasses, "volume", spec.id);
      return spec;
    },

    targetOf: ({ id }) => ({ resource: resourceOfId(id) }),

    /** @throws InfraError MOUNT_MISSING, MOUNT_FOREIGN, MOUNT_DIFFERS, VOLUME_IN_USE, INVALID_FIELD */
    async check(spec, state) {
      const found = requireCsiVolume(state, deviceClasses, "volume", spec.id);
      const resource = resourceOfId(spec.id);
      const all = await mounts.mounts();
      const staged = assertStaged(all, spec, found, resource);
      const steps = isPublished(all, spec, found) ? [] : await publication(parts, spec, found, staged);
      return {
        kind: "volumes.publish",
        resource,
        backend: assertResolved(found.deviceClass, state).group.uuid,
        plan: {
          changes: steps.length === 0 ? [] : [`${spec.id} is mounted at ${spec.path}`],
          losses: [],
          facts: factsOfVolume(found.volume),
        },
        steps,
        pointOfNoReturn: steps.length,
      } satisfies Mutation;
    },
  };
}

/**
 * Returns the mount at the staging path; undefined for a raw block device.
 * @throws InfraError MOUNT_MISSING, MOUNT_FOREIGN, MOUNT_DIFFERS
 */
function assertStaged(
  all: readonly Mount[],
  { id, stagingPath, capability }: PublishSpec,
  { volume }: CsiVolume,
  resource: string,
): Mount | undefined {
  if (capability.fileSystem === undefined && volume.active) {
    return undefined;
  }
  const staged = visibleAt(all, stagingPath);
  if (staged === undefined || !isMountOf(staged, volume)) {
    throw new InfraError(mountReasons.MOUNT_MISSING, `volume ${id} is not staged at ${stagingPath}`, {
      resource,
    });
  }
  assertAsRequested(staged, capability, resource);
  return staged;
}

/**
 * Reports whether the volume is mounted at the target path as requested.
 * @throws InfraError MOUNT_FOREIGN, MOUNT_DIFFERS, VOLUME_IN_USE
 */
function isPublished(
  all: readonly Mount[],
  { id, path, stagingPath, capability, readOnly }: PublishSpec,
  found: CsiVolume,
): boolean {
  const resource = resourceOfId(id);
  const mounted = ownMountsAt(all, path, found, resource).at(-1);
  if (mounted !== undefined) {
    const isNode = mounted.node !== undefined;
    if (isNode !== (capability.fileSystem === undefined)) {
      const what = isNode ? "a block device" : "a file system";
      const message = `the volume is published at ${path}, but as ${what}`;
      throw new InfraError(csiReasons.MOUNT_DIFFERS, message, { resource });
    }
    if (isReadOnly(mounted) !== readOnly) {
      const message = `the volume is published at ${path}, but ${readOnly ? "writable" : "read-only"}`;
      throw new InfraError(csiReasons.MOUNT_DIFFERS, message, { resource });
    }
    return true;
  }
  assertOneUse(all, found, capability);
  const other = all.find(
    (mount) => mount.path !== stagingPath && mount.path !== path && isMountOf(mount, found.volume),
  );
  if (capability.singleTarget && other !== undefined) {
    throw new InfraError(
      hostReasons.VOLUME_IN_USE,
      `volume ${id} is published at ${other.path}, and its access mode allows one path only`,
      { resource },
    );
  }
  return false;
}

/** @throws InfraError INVALID_FIELD */
async function publication(
  { mounts }: CsiParts,
  { path, stagingPath, capability, readOnly }: PublishSpec,
  { volume }: CsiVolume,
  staged: Mount | undefined,
): Promise<MutationStep[]> {
  const isBlock = capability.fileSystem === undefined;
  const kind = await mounts.targetKind(path, "target_path");
  if (kind !== "absent" && kind !== (isBlock ? "file" : "directory")) {
    throw invalidField("target_path", `must be absent or ${isBlock ? "a file" : "a directory"}`);
  }
  const source = isBlock ? devicePathOf(volume.volumeGroupName, volume.name) : stagingPath;
  const create: MountStep = { kind: isBlock ? "createFile" : "createDirectory", path };
  const flags = keptFlags.filter((flag) => staged?.flags.includes(flag));
  const bind: MountStep = { kind: "bind", source, path, readOnly, flags };
  return [
    ...(kind === "absent" ? [mountStepOf(mounts, create, { kind: "removeTarget", path })] : []),
    mountStepOf(mounts, bind, { kind: "unmount", path }),
  ];
}
