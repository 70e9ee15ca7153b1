import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmAdapter, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { MergeSnapshotRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { LongChange } from "../../../domain/long-change.ts";
import { createOperationVolumes } from "../../../lvm/operation-volumes.ts";
import { assertWhole, isProtected } from "../../../lvm/volume-refusals.ts";
import type { InlineRunner } from "../../../operations/engine/run-inline.ts";
import type { Operations } from "../../../operations/operations.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import {
  assertChangeable,
  factsOfVolume,
  requireVolume,
  type VolumeChangeParts,
} from "../changes/volume-change.ts";
import { assertResolved, findDeviceClass, type ResolvedClass } from "../device-class.ts";
import { assertRenamable } from "../protection.ts";
import { volumeReasons } from "../reasons.ts";
import { createMergeKind, type MergeInput } from "./merge-kind.ts";

export interface MergeSnapshotParts extends VolumeChangeParts {
  readonly lvm: LvmAdapter;
  readonly runner: InlineRunner;
  readonly operations: Pick<Operations, "assertFree">;
}

/**
 * Returns the operation that merges a snapshot into its origin. Its `check` throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD,
 * VOLUME_GROUP_GONE, VOLUME_NOT_FOUND, VOLUME_PROTECTED, NOT_A_SNAPSHOT and OPERATION_IN_PROGRESS.
 */
export function createMergeSnapshot(parts: MergeSnapshotParts): LongChange<MergeSnapshotRequest, MergeInput> {
  const { lvm, operations, runner } = parts;
  return {
    kind: createMergeKind(createOperationVolumes(lvm, runner)),
    async check({ name, deviceClass: className }, { signal, operation }) {
      const deviceClass = findDeviceClass(parts.deviceClasses, className);
      assertChangeable(name, deviceClass);
      const { value: state } = await lvm.refresh(signal);
      const resolved = assertResolved(deviceClass, state);
      const { group } = resolved;
      const { snapshot, origin } = findPair(parts, resolved, state, name);
      for (const each of [origin, snapshot]) {
        await operations.assertFree(volumeResource(group.name, each.name), operation?.id);
      }
      assertWhole(group);
      const isThin = snapshot.thinPoolName !== undefined;
      const resource = volumeResource(group.name, origin.name);
      const waitsForActivation = mergesLater(origin, snapshot);
      const step = { kind: "merge", volumeGroupName: group.name, name: snapshot.name, isThin } as const;
      return {
        resource,
        backend: group.uuid,
        input: {
          volumeGroup: group.name,
          groupUuid: group.uuid,
          volume: origin.name,
          volumeUuid: origin.uuid,
          thinPool: snapshot.thinPoolName ?? null,
          snapshot: snapshot.name,
          snapshotUuid: snapshot.uuid,
          waitsForActivation,
        },
        secrets: null,
        plan: {
          changes: describeMerge(origin, snapshot),
          losses: [
            `everything written to ${group.name}/${origin.name} since ${snapshot.name} was taken of it`,
            `the snapshot ${group.name}/${snapshot.name}, which is merged`,
          ],
          facts: [
            ...factsOfVolume(origin),
            ...factsOfVolume(snapshot),
            ...factsOf(resource, { waitsForActivation }),
          ],
        },
        steps: [
          { name: "merge", command: lvm.commandOf(step) },
          { name: "await", command: [] },
        ],
      };
    },
  };
}

/** Reports whether LVM merges a snapshot only when its origin is activated again. */
function mergesLater(origin: LogicalVolume, snapshot: LogicalVolume): boolean {
  const isThin = snapshot.thinPoolName !== undefined;
  return origin.open || snapshot.open || !(isThin || origin.active);
}

/** @throws InfraError VOLUME_NOT_FOUND, VOLUME_PROTECTED, NOT_A_SNAPSHOT */
function findPair(
  { isProtectedName }: Pick<MergeSnapshotParts, "isProtectedName">,
  resolved: ResolvedClass,
  state: LvmState,
  name: string,
): { readonly snapshot: LogicalVolume; readonly origin: LogicalVolume } {
  const snapshot = requireVolume(resolved, state, name);
  assertRenamable(snapshot, isProtectedName);
  const origin = state.volumes.find(
    (one) => one.volumeGroupName === resolved.group.name && one.name === snapshot.originName,
  );
  // The thick snapshot of a thin volume has an origin of another class.
  if (origin === undefined || origin.thinPoolName !== snapshot.thinPoolName) {
    const words = `${resolved.group.name}/${name} is not a snapshot of an existing volume of its device class`;
    throw new InfraError(volumeReasons.NOT_A_SNAPSHOT, words, {
      resource: volumeResource(resolved.group.name, name),
    });
  }
  assertRenamable(origin, isProtectedName);
  if (origin.merging) {
    throw isProtected(origin, "another snapshot is being merged into it");
  }
  if (snapshot.health === "invalidSnapshot") {
    throw isProtected(snapshot, "it was full and is invalid, so its data is lost");
  }
  return { snapshot, origin };
}

function describeMerge(origin: LogicalVolume, snapshot: LogicalVolume): string[] {
  const path = `${origin.volumeGroupName}/${origin.name}`;
  const size =
    origin.sizeBytes === snapshot.sizeBytes
      ? ""
      : `, and its size of ${describeSize(snapshot.sizeBytes)} instead of ${describeSize(origin.sizeBytes)}`;
  const users = [origin, snapshot].filter(({ open }) => open).map(({ name }) => name);
  const why = users.length === 0 ? "it is inactive" : `${users.join(" and ")} is in use`;
  return [
    `${path} gets the content of its snapshot ${snapshot.name}${size}`,
    ...(mergesLater(origin, snapshot)
      ? [
          `since ${why}, this happens only when ${path} is activated again; until then it keeps its present content`,
        ]
      : []),
  ];
}
