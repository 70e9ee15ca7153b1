import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createNameMatch } from "../../../../adapters/host/name-match.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type {
  CloneVolumeRequest,
  ResizeVolumeRequest,
  VolumeService,
} from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ChangesOf } from "../../../domain/change.ts";
import type { DomainContext } from "../../../domain/domain-services.ts";
import { registerLongChange } from "../../../domain/long-change.ts";
import { createOperationVolumes } from "../../../lvm/operation-volumes.ts";
import type { Operations } from "../../../operations/operations.ts";
import { type ChangeVolumesOptions, createChangeVolumes } from "../changes/change-volumes.ts";
import { createCloneThinVolume, parseClone } from "../changes/clone-thin-volume.ts";
import { createCreateSnapshot } from "../changes/create-snapshot.ts";
import { createCreateThinPool } from "../changes/create-thin-pool.ts";
import { createNamedVolume } from "../changes/create-volume.ts";
import { createDeleteVolume } from "../changes/delete-volume.ts";
import { createGrowThinPool } from "../changes/grow-thin-pool.ts";
import { createGrowVolume, type GrowRequest } from "../changes/grow-volume.ts";
import { createRemoveThinPool } from "../changes/remove-thin-pool.ts";
import { createRenameVolume } from "../changes/rename-volume.ts";
import { createSetVolumeTags } from "../changes/set-volume-tags.ts";
import type { PoolSpec } from "../changes/thin-pool-change.ts";
import type { VolumeChangeParts, VolumeSpec } from "../changes/volume-change.ts";
import { type DeviceClass, findDeviceClass, type LvcreateOptionClass } from "../device-class.ts";
import type { MergeInput } from "../long-changes/merge-kind.ts";
import { createMergeSnapshot } from "../long-changes/merge-snapshot.ts";
import type { ThickClones } from "../long-changes/thick-clones.ts";
import { createWipeVolume } from "../long-changes/wipe-volume.ts";
import { listThinPools } from "./thin-pool-list.ts";
import { listVolumes } from "./volume-list.ts";

/** The changes of hostplane.v1.VolumeService. */
export type VolumeServiceChanges = ChangesOf<
  typeof VolumeService,
  | "createThinPool"
  | "resizeThinPool"
  | "deleteThinPool"
  | "createVolume"
  | "resizeVolume"
  | "deleteVolume"
  | "cloneVolume"
  | "createSnapshot"
  | "mergeSnapshot"
  | "renameVolume"
  | "setVolumeTags"
>;

export interface VolumeServiceChangesOptions extends ChangeVolumesOptions {
  readonly deviceClasses: readonly DeviceClass[];
  readonly lvcreateOptionClasses?: readonly LvcreateOptionClass[];
  /** Patterns of names that are never removed, resized, renamed or restored. */
  readonly protect: readonly string[];
  readonly mounts?: VolumeChangeParts["mounts"];
  readonly operations: Pick<Operations, "assertFree" | "register">;
  readonly operationMessage: DomainContext["operationMessage"];
  readonly thickClones: ThickClones;
}

/**
 * Creates the changes of hostplane.v1.VolumeService. Those that do not begin an operation return the volume as LVM reports it
 * afterwards. Registers kinds of operations; must run before `operations.begin`.
 */
export function createVolumeServiceChanges(options: VolumeServiceChangesOptions): VolumeServiceChanges {
  const { lvm, deviceClasses, protect } = options;
  const parts = { ...options, isProtectedName: createNameMatch(protect) };
  const change = createChangeVolumes(options);
  const respond = createRespond(options);
  const respondWithPool = createRespondWithPool(options);
  const resize = change(createGrowVolume(parts), respond);

  async function growRequest(message: ResizeVolumeRequest, signal: AbortSignal): Promise<GrowRequest> {
    const { name, deviceClass, resizeFileSystem } = message;
    const { volumeGroup } = findDeviceClass(deviceClasses, deviceClass);
    const { value: state } = await lvm.read(signal);
    const volume = state.volumes.find((one) => one.volumeGroupName === volumeGroup && one.name === name);
    // Without a device the change is refused anyway, with the reason.
    const isReadable = resizeFileSystem && volume?.active === true && volume.kind !== "thinPool";
    return { message, fileSystem: isReadable ? await lvm.data.fileSystemOn(volume, signal) : undefined };
  }

  return {
    createThinPool: change(createCreateThinPool(parts), respondWithPool),
    resizeThinPool: change(createGrowThinPool(parts), respondWithPool),
    deleteThinPool: change(createRemoveThinPool(parts), async () => ({})),
    createVolume: change(createNamedVolume(parts), respond),
    resizeVolume: {
      plan: async (message, by) => resize.plan(await growRequest(message, by.signal), by),
      run: async (message, call) => resize.run(await growRequest(message, call.signal), call),
    },
    ...createPossiblyLong(options),
    createSnapshot: change(createCreateSnapshot(parts), respond),
    renameVolume: change(createRenameVolume(parts), ({ newName, deviceClass }) =>
      respond({ name: newName, deviceClass }),
    ),
    setVolumeTags: change(createSetVolumeTags(parts), respond),
  };
}

/** Creates the changes that either begin an operation or are made at once. */
function createPossiblyLong(
  options: VolumeServiceChangesOptions,
): Pick<VolumeServiceChanges, "deleteVolume" | "cloneVolume" | "mergeSnapshot"> {
  const { lvm, deviceClasses, protect, operations, operationMessage, thickClones } = options;
  const parts = { ...options, isProtectedName: createNameMatch(protect) };
  const change = createChangeVolumes(options);
  const operationVolumes = createOperationVolumes(lvm, options.runner);
  const isThin = (className: string) => findDeviceClass(deviceClasses, className).thinPool !== undefined;

  const deletion = createDeleteVolume(parts);
  const remove = change(deletion, async () => ({}));
  const wipe = registerLongChange(operations, createWipeVolume({ ...options, operationVolumes, deletion }));
  const cloneThin = change(createCloneThinVolume(parts), createRespond(options));
  const merge = registerLongChange(operations, createMergeSnapshot(parts));
  const thickClone = (request: CloneVolumeRequest) => ({ spec: parseClone(parts, request) });

  return {
    deleteVolume: {
      plan: async (request, by) => (request.wipe ? wipe.plan(request, by) : remove.plan(request, by)),
      async run(request, call) {
        return request.wipe
          ? { operation: operationMessage((await wipe.begin(request, call)).operation) }
          : remove.run(request, call);
      },
    },
    cloneVolume: {
      plan: async (request, by) =>
        isThin(request.deviceClass) ? cloneThin.plan(request, by) : thickClones.plan(thickClone(request), by),
      async run(request, call) {
        return isThin(request.deviceClass)
          ? cloneThin.run(request, call)
          : { operation: operationMessage((await thickClones.begin(thickClone(request), call)).operation) };
      },
    },
    mergeSnapshot: {
      plan: merge.plan,
      async run(request, call) {
        const { operation } = await merge.begin(request, call);
        const { waitsForActivation } = operation.input as MergeInput;
        return { operation: operationMessage(operation), waitsForActivation };
      },
    },
  };
}

/** Returns a function that builds the response with the thin pool after a change. */
function createRespondWithPool({ lvm, deviceClasses }: VolumeServiceChangesOptions) {
  return async ({ volumeGroup, name }: PoolSpec) => {
    const resource = volumeResource(volumeGroup, name);
    // As for volumes.
    const read = await lvm.read().catch(() => undefined);
    if (read === undefined) {
      return { thinPool: { name, volumeGroup, resource } };
    }
    const thinPool = listThinPools(read.value, deviceClasses).find((one) => one.resource === resource);
    if (thinPool === undefined) {
      throw goneAfterwards(name, resource);
    }
    return { thinPool };
  };
}

function goneAfterwards(name: string, resource: string): InfraError {
  const message = `${name} was changed, but removed outside hostplane immediately afterwards`;
  return new InfraError(lvmReasons.VOLUME_NOT_FOUND, message, { resource, effect: "done" });
}

/** Returns a function that builds the response with the volume after a change. */
function createRespond({ lvm, deviceClasses }: VolumeServiceChangesOptions) {
  return async ({ name, deviceClass }: VolumeSpec) => {
    const { name: className, volumeGroup } = deviceClass;
    const resource = volumeResource(volumeGroup, name);
    // The change is made; a failure to read LVM now must not fail the call.
    const read = await lvm.read().catch(() => undefined);
    if (read === undefined) {
      return { volume: { name, volumeGroup, deviceClass: className, resource } };
    }
    const volume = listVolumes(read.value, deviceClasses).find((one) => one.resource === resource);
    if (volume === undefined) {
      throw goneAfterwards(name, resource);
    }
    return { volume };
  };
}
