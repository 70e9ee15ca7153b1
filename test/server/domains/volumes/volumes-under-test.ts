import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import {
  CreateLVSnapshotRequestSchema,
  RemoveLVRequestSchema,
  ResizeLVRequestSchema,
} from "../../../../gen/lvmd/served/lvmd_pb.ts";
import {
  createVolumeChanges,
  type VolumeChanges,
} from "../../../../server/domains/volumes/changes/volume-changes.ts";
import type { DeviceClass } from "../../../../server/domains/volumes/device-class.ts";
import { createThickClones } from "../../../../server/domains/volumes/long-changes/thick-clones.ts";
import {
  createVolumeServiceChanges,
  type VolumeServiceChanges,
} from "../../../../server/domains/volumes/volume-service/volume-service-changes.ts";
import { createVolumes, type Volumes } from "../../../../server/domains/volumes/volumes.ts";
import { createInlineRunner } from "../../../../server/operations/engine/run-inline.ts";
import type { Operations } from "../../../../server/operations/operations.ts";

/** A caller that stays, of the lvmd protocol with backups. */
export const requester = {
  signal: new AbortController().signal,
  noteResource: () => {},
  peer: { lvmd: "backups" },
} as const;

/** Creates the volumes of an LVM, and their changes. By default no operation works on any. */
export function createVolumesUnderTest(
  lvm: LvmAdapter,
  deviceClasses: readonly DeviceClass[],
  operations: Pick<Operations, "assertFree"> = { assertFree: async () => {} },
  protect: readonly string[] = [],
): {
  readonly volumes: Volumes;
  readonly changes: VolumeChanges;
  readonly serviceChanges: VolumeServiceChanges;
} {
  const volumes = createVolumes({ lvm, deviceClasses });
  const runner = createInlineRunner(() => {});
  const registering = { ...operations, register: () => ({ start: refuseOperation }) };
  const parts = { lvm, deviceClasses, protect, runner, operations };
  return {
    volumes,
    changes: createVolumeChanges({ ...parts, volumes }),
    serviceChanges: createVolumeServiceChanges({
      ...parts,
      operations: registering,
      thickClones: createThickClones({ ...parts, operations: registering }),
      operationMessage: refuseOperation,
    }),
  };
}

/** Long changes need a whole gateway; these can only be planned. */
function refuseOperation(): never {
  throw new TypeError("no operations run here");
}

export const resizeRequest = (init: MessageInitShape<typeof ResizeLVRequestSchema>) =>
  create(ResizeLVRequestSchema, init);

export const removeRequest = (init: MessageInitShape<typeof RemoveLVRequestSchema>) =>
  create(RemoveLVRequestSchema, init);

export const snapshotRequest = (init: MessageInitShape<typeof CreateLVSnapshotRequestSchema>) =>
  create(CreateLVSnapshotRequestSchema, init);
