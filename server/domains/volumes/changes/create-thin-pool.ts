import { describeSize } from "../../../../adapters/host/describe-size.ts";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { assertPoolName, volumeGroupResource, volumeResource } from "../../../../adapters/lvm/names.ts";
import type { CreateThinPoolRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
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
  targetOfPool,
} from "./thin-pool-change.ts";
import { assertNameFree, assertTags, describeTags, stepOf, type VolumeChangeParts } from "./volume-change.ts";

interface NewPoolSpec extends PoolSpec {
  readonly sizeBytes: bigint;
  /** Undefined: what LVM computes. */
  readonly metadataSizeBytes: bigint | undefined;
  readonly tags: readonly string[];
}

/** Smallest metadata space that LVM computes. */
const leastMetadataBytes = 4n << 20n;

/** volumes.createThinPool: creates a thin pool. */
export function createCreateThinPool(
  parts: VolumeChangeParts,
): ShortChange<CreateThinPoolRequest, NewPoolSpec, LvmState> {
  return {
    /** @throws InfraError INVALID_FIELD */
    parse({ name, volumeGroup, sizeBytes, metadataSizeBytes, tags }) {
      assertServedGroup(volumeGroup, parts.deviceClasses);
      assertPoolName(volumeGroup, name, "name");
      assertDataSize(sizeBytes, 1n);
      assertMetadataSize(metadataSizeBytes);
      assertTags(tags);
      return {
        volumeGroup,
        name,
        sizeBytes,
        metadataSizeBytes: metadataSizeBytes === 0n ? undefined : metadataSizeBytes,
        tags,
      };
    },

    targetOf: targetOfPool,

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_EXISTS, NO_SPACE */
    check(spec, state) {
      const { name, tags, volumeGroup: volumeGroupName } = spec;
      const group = requireGroup(state, volumeGroupName);
      assertNameFree(state, group.name, name);
      const roundUp = (bytes: bigint) => roundUpToExtents(bytes, group.extentSizeBytes);
      const sizeBytes = roundUp(spec.sizeBytes);
      // With the spare, which LVM may have to create.
      const neededBytes = sizeBytes + 2n * roundUp(spec.metadataSizeBytes ?? leastMetadataBytes);
      assertGroupSpace(group, neededBytes);
      const metadata =
        spec.metadataSizeBytes === undefined ? {} : { metadataSizeBytes: roundUp(spec.metadataSizeBytes) };
      const step = { kind: "createThinPool", volumeGroupName, name, sizeBytes, ...metadata, tags } as const;
      return {
        kind: "volumes.createThinPool",
        resource: volumeResource(group.name, name),
        backend: group.uuid,
        plan: {
          changes: [
            `the thin pool ${group.name}/${name} is created with ${describeSize(sizeBytes)}${describeTags(tags)}`,
          ],
          losses: [],
          facts: factsOf(volumeGroupResource(group.name), { freeBytes: atLeast(neededBytes) }),
        },
        steps: [stepOf(parts.lvm, step)],
        pointOfNoReturn: 0,
      };
    },

    /** @throws InfraError VOLUME_GROUP_GONE */
    preflight({ volumeGroup }, state) {
      assertWhole(requireGroup(state, volumeGroup));
    },
  };
}
