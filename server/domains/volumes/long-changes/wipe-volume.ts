import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { DeleteVolumeRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { LongChange } from "../../../domain/long-change.ts";
import { createShownCommand } from "../../../lvm/shown-command.ts";
import { assertActive } from "../../../lvm/volume-refusals.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { DeleteVolume } from "../changes/delete-volume.ts";
import { requireVolume } from "../changes/volume-change.ts";
import { assertResolved } from "../device-class.ts";
import { createWipeKind, type WipeInput, type WipeTools } from "./wipe-kind.ts";

export interface WipeVolumeParts extends Omit<WipeTools, "data"> {
  readonly lvm: LvmAdapter;
  readonly operations: Pick<Operations, "assertFree">;
  /** The deletion without wiping, whose checks apply. */
  readonly deletion: DeleteVolume;
}

/**
 * Returns the operation that wipes and removes a volume. Its `check` throws what a deletion without wiping throws, and
 * VOLUME_INACTIVE.
 */
export function createWipeVolume(parts: WipeVolumeParts): LongChange<DeleteVolumeRequest, WipeInput> {
  const { lvm, operations, deletion } = parts;
  return {
    kind: createWipeKind({ ...parts, data: lvm.data }),
    async check(request, { signal, operation }) {
      const spec = deletion.parse(request);
      const { value: state } = await lvm.refresh(signal);
      const resource = volumeResource(spec.deviceClass.volumeGroup, spec.name);
      await operations.assertFree(resource, operation?.id);
      const { plan, backend } = await deletion.check(spec, state);
      deletion.preflight?.(spec, state);
      const volume = requireVolume(assertResolved(spec.deviceClass, state), state, spec.name);
      assertActive(volume, createShownCommand(lvm));
      const { volumeGroupName, name, sizeBytes, thinPoolName } = volume;
      const isThin = thinPoolName !== undefined;
      const wipe = { kind: "wipe", volumeGroupName, name, sizeBytes, isThin } as const;
      const how = isThin ? "its blocks are discarded" : "overwritten with zeros";
      return {
        resource,
        backend,
        input: {
          volumeGroup: volumeGroupName,
          groupUuid: backend,
          volume: name,
          volumeUuid: volume.uuid,
          thinPool: thinPoolName ?? null,
          sizeBytes: Number(sizeBytes),
        },
        secrets: null,
        plan: { ...plan, changes: [`${volumeGroupName}/${name} is wiped (${how}) and removed`] },
        steps: [
          { name: "wipe", command: lvm.data.commandOf(wipe) },
          { name: "remove", command: lvm.commandOf({ kind: "remove", volumeGroupName, name }) },
        ],
      };
    },
  };
}
