import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type {
  Controller,
  DeleteSnapshotRequest,
  DeleteVolumeRequest,
  Node,
  NodeUnpublishVolumeRequest,
  NodeUnstageVolumeRequest,
} from "../../../../gen/csi/v1/csi_pb.ts";
import type { Change, ChangeRequester, ChangesOf } from "../../../domain/change.ts";
import type { CreateChange, LocatedChange } from "../../../domain/short-change.ts";
import type { Mutation } from "../../../operations/mutation.ts";
import { createCopyCsiVolume } from "./controller/copy-csi-volume.ts";
import { createCreateCsiSnapshot } from "./controller/create-csi-snapshot.ts";
import { createCreateCsiVolume } from "./controller/create-csi-volume.ts";
import type { CopyParts } from "./controller/csi-copies.ts";
import { createDeleteCsiVolume } from "./controller/delete-csi-volume.ts";
import { createExpandCsiVolume } from "./controller/expand-csi-volume.ts";
import { createRemoveCsiVolume } from "./controller/remove-csi-volume.ts";
import { withCsiCodes } from "./csi-codes.ts";
import type { CsiKind } from "./csi-marks.ts";
import type { CsiParts } from "./csi-parts.ts";
import { type CsiVolume, findByName, findCsiVolume } from "./csi-volume.ts";
import { csiSnapshotMessage, csiVolumeMessage } from "./messages.ts";
import { createExpandMountedVolume } from "./node/expand-mounted-volume.ts";
import { createPublishVolume } from "./node/publish-volume.ts";
import { createStageVolume } from "./node/stage-volume.ts";
import { createUnmountVolume } from "./node/unmount-volume.ts";
import type { TopologyParts } from "./topology.ts";

/** The changes of csi.v1.Controller. */
export type ControllerChanges = ChangesOf<
  typeof Controller,
  "createVolume" | "deleteVolume" | "createSnapshot" | "deleteSnapshot" | "controllerExpandVolume"
>;

/** The changes of csi.v1.Node. */
export type NodeChanges = ChangesOf<
  typeof Node,
  "nodeStageVolume" | "nodeUnstageVolume" | "nodePublishVolume" | "nodeUnpublishVolume" | "nodeExpandVolume"
>;

/** Makes a change executable, with the codes of the specification. */
type CreateCsiChange = <Request, Spec, Response>(
  change: LocatedChange<Request, Spec, LvmState>,
  respond: (spec: Spec, mutation: Mutation) => Promise<Response>,
) => Change<Request, Promise<Response>, ChangeRequester>;

/** Creates the changes of csi.v1.Controller. @param topology of this host */
export function createControllerChanges(
  parts: CopyParts,
  createChange: CreateChange<LvmState>,
  topology: TopologyParts,
): ControllerChanges {
  const change = withCodesOf(createChange);
  const { lvm, deviceClasses } = parts;

  /** Returns a volume as LVM reports it after a change. @throws InfraError VOLUME_NOT_FOUND if it was removed at once */
  async function after(
    find: (state: LvmState) => CsiVolume | undefined,
    resource: string,
  ): Promise<CsiVolume> {
    const found = find((await lvm.read()).value);
    if (found === undefined) {
      const message = "the volume was changed, but removed outside hostplane immediately afterwards";
      throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, message, { resource, effect: "done" });
    }
    return found;
  }

  const named = (kind: CsiKind, name: string) => (state: LvmState) =>
    findByName(state, deviceClasses, kind, name);

  const created = async (name: string, resource: string) => ({
    volume: csiVolumeMessage(await after(named("volume", name), resource), topology),
  });
  const create = change(createCreateCsiVolume(parts), ({ name }, { resource }) => created(name, resource));
  const removeVolume = change(
    createRemoveCsiVolume<DeleteVolumeRequest>(parts, "volume", "volume_id", (one) => one.volumeId),
    async () => ({}),
  );

  return {
    createVolume: withCodes(createCopyCsiVolume(parts, create, created)),
    deleteVolume: withCodes(createDeleteCsiVolume(parts, removeVolume)),
    createSnapshot: change(createCreateCsiSnapshot(parts), async ({ name }, { resource }) => ({
      snapshot: csiSnapshotMessage(await after(named("snapshot", name), resource)),
    })),
    deleteSnapshot: change(
      createRemoveCsiVolume<DeleteSnapshotRequest>(parts, "snapshot", "snapshot_id", (one) => one.snapshotId),
      async () => ({}),
    ),
    controllerExpandVolume: change(createExpandCsiVolume(parts), async ({ id, isBlock }, { resource }) => {
      const find = (state: LvmState) => findCsiVolume(state, deviceClasses, "volume", id);
      const { volume } = await after(find, resource);
      return { capacityBytes: volume.sizeBytes, nodeExpansionRequired: !isBlock };
    }),
  };
}

/** Creates the changes of csi.v1.Node. */
export function createNodeChanges(parts: CsiParts, createChange: CreateChange<LvmState>): NodeChanges {
  const change = withCodesOf(createChange);
  const { lvm, deviceClasses } = parts;
  return {
    nodeStageVolume: change(createStageVolume(parts), async () => ({})),
    nodeUnstageVolume: change(
      createUnmountVolume<NodeUnstageVolumeRequest>(parts, {
        kind: "volumes.unstage",
        field: "staging_target_path",
        specOf: ({ volumeId: id, stagingTargetPath: path }) => ({ id, path }),
        removesPath: false,
      }),
      async () => ({}),
    ),
    nodePublishVolume: change(createPublishVolume(parts), async () => ({})),
    nodeUnpublishVolume: change(
      createUnmountVolume<NodeUnpublishVolumeRequest>(parts, {
        kind: "volumes.unpublish",
        field: "target_path",
        specOf: ({ volumeId: id, targetPath: path }) => ({ id, path }),
        removesPath: true,
      }),
      async () => ({}),
    ),
    nodeExpandVolume: change(createExpandMountedVolume(parts), async ({ id }) => {
      const { value } = await lvm.read();
      const found = findCsiVolume(value, deviceClasses, "volume", id);
      return { capacityBytes: found?.volume.sizeBytes ?? 0n };
    }),
  };
}

function withCodesOf(createChange: CreateChange<LvmState>): CreateCsiChange {
  return (change, respond) => withCodes(createChange(change, respond));
}

function withCodes<Request, Response, By>({
  plan,
  run,
}: Change<Request, Promise<Response>, By>): Change<Request, Promise<Response>, By> {
  return { plan: withCsiCodes(plan), run: withCsiCodes(run) };
}
