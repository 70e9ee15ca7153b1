import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { assertTargetPath } from "../../../../../adapters/mounts/names.ts";
import type { LocatedChange } from "../../../../domain/short-change.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertId, findCreatedAs, findCsiVolume, resourceOfId } from "../csi-volume.ts";
import { mountStepOf, ownMountsAt } from "./volume-mounts.ts";

/** A volume to unmount from a path. */
export interface UnmountSpec {
  readonly id: string;
  readonly path: string;
}

interface UnmountRules<Request> {
  readonly kind: "volumes.unpublish" | "volumes.unstage";
  /** The request's field with the path. */
  readonly field: string;
  readonly specOf: (request: Request) => UnmountSpec;
  /** Whether the path is removed too, because publishing created it. */
  readonly removesPath: boolean;
}

/**
 * NodeUnpublishVolume and NodeUnstageVolume: unmounts a volume from a path, also if it is mounted there several times, or if the
 * volume no longer exists. Without a step if nothing is there.
 */
export function createUnmountVolume<Request>(
  { deviceClasses, mounts, settings }: CsiParts,
  { kind, field, specOf, removesPath }: UnmountRules<Request>,
): LocatedChange<Request, UnmountSpec, LvmState> {
  return {
    /** @throws InfraError INVALID_FIELD */
    parse(request) {
      const spec = specOf(request);
      assertId(spec.id, "volume_id");
      assertTargetPath(spec.path, field, settings.roots);
      return spec;
    },

    locate: (spec) => spec,

    targetOf: ({ id }) => ({ resource: resourceOfId(id) }),

    /** @throws InfraError MOUNT_FOREIGN, INVALID_FIELD */
    async check({ id, path }, state) {
      // The mounts of a volume that was renamed meanwhile must not stay.
      const found =
        findCsiVolume(state, deviceClasses, "volume", id) ?? findCreatedAs(state, deviceClasses, id);
      const resource = resourceOfId(id);
      const mounted = ownMountsAt(await mounts.mounts(), path, found, resource);
      // The root of a mounted file system that has failed cannot be read.
      const isThere = mounted.length > 0 || (await mounts.targetKind(path, field)) !== "absent";
      const unmounts = mounted.map(() => mountStepOf(mounts, { kind: "unmount", path }));
      const isRemoved = removesPath && isThere;
      const group = state.volumeGroups.find(({ name }) => name === found?.volume.volumeGroupName);
      return {
        kind,
        resource,
        backend: group?.uuid ?? "",
        plan: {
          changes: [
            ...(unmounts.length === 0 ? [] : [`${id} is unmounted from ${path}`]),
            ...(isRemoved ? [`${path} is removed if it is empty`] : []),
          ],
          losses: [],
          facts: [],
        },
        steps: [...unmounts, ...(isRemoved ? [mountStepOf(mounts, { kind: "removeTarget", path })] : [])],
        pointOfNoReturn: 0,
      };
    },
  };
}
