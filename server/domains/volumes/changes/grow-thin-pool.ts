import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { assertVolumeName, volumeGroupResource, volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { ResizeThinPoolRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { roundUpToExtents } from "../../../lvm/extents.ts";
import { assertWhole } from "../../../lvm/volume-refusals.ts";
import { atLeast, factsOf } from "../../../operations/plan-facts.ts";
import {
  assertDataSize,
  assertGroupSpace,
  assertMetadataSize,
  assertServedGroup,
  type PoolSpec,
  requireGroup,
  requirePool,
  targetOfPool,
} from "./thin-pool-change.ts";
import { factsOfVolume, stepOf, type VolumeChangeParts } from "./volume-change.ts";

interface PoolSizeSpec extends PoolSpec {
  /** 0: unchanged. */
  readonly sizeBytes: bigint;
  /** 0: unchanged. */
  readonly metadataSizeBytes: bigint;
}

/** volumes.resizeThinPool: grows a thin pool, first its metadata. There is no step for a space that already has its size. */
export function createGrowThinPool(
  parts: VolumeChangeParts,
): ShortChange<ResizeThinPoolRequest, PoolSizeSpec, LvmState> {
  return {
    /** @throws InfraError INVALID_FIELD */
    parse({ name, volumeGroup, sizeBytes, metadataSizeBytes }) {
      assertServedGroup(volumeGroup, parts.deviceClasses);
      assertVolumeName(name, "name", volumeGroup);
      assertDataSize(sizeBytes, 0n);
      assertMetadataSize(metadataSizeBytes);
      if (sizeBytes === 0n && metadataSizeBytes === 0n) {
        throw invalidField("size_bytes", "must be greater than 0 unless metadata_size_bytes is");
      }
      return { volumeGroup, name, sizeBytes, metadataSizeBytes };
    },

    targetOf: targetOfPool,

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_NOT_FOUND, SHRINK_NOT_ALLOWED, NO_SPACE */
    check(spec, state) {
      const group = requireGroup(state, spec.volumeGroup);
      const pool = requirePool(state, spec);
      const { volumeGroupName, name, metadataSizeBytes: metadataBytes = 0n } = pool;
      const resource = volumeResource(volumeGroupName, name);
      const parted = [
        {
          what: "metadata",
          kind: "resizeMetadata",
          before: metadataBytes,
          requested: spec.metadataSizeBytes,
        },
        { what: "data", kind: "resize", before: pool.sizeBytes, requested: spec.sizeBytes },
      ] as const;
      const grown = parted
        .map((part) => ({ ...part, after: roundUpToExtents(part.requested, group.extentSizeBytes) }))
        .filter(({ before, after, requested }) => requested > 0n && after !== before);
      for (const { what, before, after } of grown) {
        if (after < before) {
          const words = `the ${what} space of ${volumeGroupName}/${name} has ${before} bytes, and never shrinks: requested=${after}`;
          throw new InfraError(lvmReasons.SHRINK_NOT_ALLOWED, words, { resource });
        }
      }
      const neededBytes = grown.reduce((sum, { before, after }) => sum + after - before, 0n);
      assertGroupSpace(group, neededBytes);
      return {
        kind: "volumes.resizeThinPool",
        resource,
        backend: group.uuid,
        plan: {
          changes: grown.map(
            ({ what, before, after }) =>
              `the ${what} space of the thin pool ${volumeGroupName}/${name} grows from ${describeSize(before)} to ${describeSize(after)}`,
          ),
          losses: [],
          facts: [
            ...factsOfVolume(pool),
            ...(neededBytes === 0n
              ? []
              : factsOf(volumeGroupResource(group.name), { freeBytes: atLeast(neededBytes) })),
          ],
        },
        steps: grown.map(({ kind, after: sizeBytes }) =>
          stepOf(parts.lvm, { kind, volumeGroupName, name, sizeBytes }),
        ),
        pointOfNoReturn: 0,
      };
    },

    /** @throws InfraError VOLUME_GROUP_GONE */
    preflight({ volumeGroup }, state) {
      assertWhole(requireGroup(state, volumeGroup));
    },
  };
}
