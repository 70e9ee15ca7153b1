import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { hasReason, InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { createLimiter } from "../../../../adapters/host/limiter.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { backupReasons } from "../../../backups/reasons.ts";
import type { RepositorySecrets } from "../../../backups/repository-place.ts";
import type { BackupRow } from "../../../backups/store/backups.ts";
import { nothingToDo, type RegisteredChange } from "../../../domain/long-change.ts";
import { lvmBackupReasons } from "../../../lvm/reasons.ts";
import { findOperation } from "../../../operations/find-operation.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import { hasEnded, type Operation } from "../../../operations/operation.ts";
import type { PlanRequester } from "../../../operations/planner.ts";
import type { Call } from "../../../rpc/call/call.ts";
import type { BackupRequest, VolumeBackupRequest } from "./back-up-volume.ts";
import type { BackupParts } from "./backup-parts.ts";
import type { BackupInput } from "./backup-run.ts";
import { backupDone, backupFailed, backupUnderWay } from "./backup-words.ts";
import {
  ambiguousHandle,
  parseVolumeHandle,
  resourceOf,
  resourcesByHandle,
  volumesByHandle,
} from "./volume-handle.ts";

/** A backup as CreateBackup requests it. */
export interface BackupSpec extends BackupRequest {
  readonly volumeHandle: string;
}

/** Progress of a backup. */
export interface BackupPoll {
  readonly state: "inProgress" | "complete" | "error";
  readonly message: string;
}

export interface CreateBackup {
  /**
   * Begins the backup, or reports its progress: COMPLETE while the backup exists, ERROR once. Errors that depend on the
   * volume are reported as ERROR.
   * @throws InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED, BUSY, STORE_UNAVAILABLE, and what reading LVM throws
   */
  poll(spec: BackupSpec, call: Call): Promise<BackupPoll>;
  /**
   * Plans what a poll would begin now: nothing if the backup exists or is in progress.
   * @throws InfraError as `poll`, and the errors that `poll` reports as ERROR
   */
  plan(spec: BackupSpec, requester: PlanRequester): Promise<PlannedMutation>;
}

/** Reasons reported as the state ERROR, which is all that clients of the original server understand. */
const reportedAsState: readonly Reason[] = [
  lvmReasons.VOLUME_NOT_FOUND,
  lvmReasons.VOLUME_PROTECTED,
  lvmBackupReasons.VOLUME_INACTIVE,
  lvmReasons.VOLUME_GROUP_GONE,
  hostReasons.NO_SPACE,
  backupReasons.BACKUP_EXISTS,
];

/** @param backUpVolume the operation that a poll begins */
export function createCreateBackup(
  parts: BackupParts,
  backUpVolume: RegisteredChange<VolumeBackupRequest, BackupInput, RepositorySecrets | null>,
): CreateBackup {
  const { lvm, deviceClasses, store, operations, host } = parts;
  // No other request may begin a backup between the check and the beginning of this one.
  const turns = createLimiter({ what: "requests for backups", maxRunning: 1, maxWaiting: 256 });

  /** @throws InfraError VOLUME_NOT_FOUND if the handle matches more than one volume */
  function findVolume({ volumeHandle }: BackupSpec, state: LvmState): LogicalVolume | undefined {
    const volumes = volumesByHandle(parseVolumeHandle(volumeHandle), deviceClasses, state);
    if (volumes.length > 1) {
      throw ambiguousHandle(volumeHandle, volumes.map(resourceOf));
    }
    return volumes[0];
  }

  /** Returns the backup of that name or, without one, the operation that was to create it. */
  async function known(name: string, resources: readonly string[], handle: string): Promise<Known> {
    const { backups, requests } = await store.run("backups.named", { host, volumes: resources, name });
    const found = new Set([...backups, ...requests].map(({ volume }) => volume));
    if (found.size > 1) {
      throw ambiguousHandle(handle, [...found]);
    }
    const [backup] = backups;
    const [request] = requests;
    if (backup !== undefined) {
      return { backup };
    }
    const operation = request && (await findOperation(operations, request.operation_id));
    if (operation?.state !== "completed") {
      return { operation, resource: request?.volume };
    }
    // The operation recorded the backup after the first read, or the backup was deleted since.
    const [late] = (await store.run("backups.named", { host, volumes: resources, name })).backups;
    return { backup: late };
  }

  async function pollInTurn(spec: BackupSpec, call: Call, state: LvmState): Promise<BackupPoll> {
    const { name, volumeHandle } = spec;
    const volume = findVolume(spec, state);
    const resources =
      volume === undefined
        ? resourcesByHandle(parseVolumeHandle(volumeHandle), deviceClasses)
        : [resourceOf(volume)];
    if (resources.length === 0) {
      throw noVolume(volumeHandle);
    }
    const { backup, operation, resource } = await known(name, resources, volumeHandle);
    const about = volume === undefined ? (backup?.volume ?? resource) : resourceOf(volume);
    if (about !== undefined) {
      call.noteResource(about);
    }
    if (backup !== undefined) {
      assertOfVolume(backup, volume, state);
      call.noteOperation(backup.operation_id);
      return { state: "complete", message: backupDone(backup) };
    }
    if (operation !== undefined && resource !== undefined) {
      if (!hasEnded(operation)) {
        call.noteOperation(operation.id);
        return { state: "inProgress", message: backupUnderWay(operation) };
      }
      const address = { host, volume: resource, name };
      const { ended } = await store.run("backups.untrack", { address, operationId: operation.id });
      if (ended) {
        call.noteOperation(operation.id);
        return { state: "error", message: backupFailed(operation) };
      }
    }
    if (volume === undefined) {
      throw noVolume(volumeHandle);
    }
    const { operation: started } = await backUpVolume.begin({ ...spec, volume, state }, call);
    const address = { host, volume: resourceOf(volume), name };
    await store.run("backups.track", { address, operationId: started.id });
    return { state: "inProgress", message: backupUnderWay(started) };
  }

  return {
    async poll(spec, call) {
      assertBackupName(spec.name, "backup.name");
      assertHandle(spec.volumeHandle);
      const { value: state } = await lvm.read(call.signal);
      try {
        return await turns.run(() => pollInTurn(spec, call, state), call.signal);
      } catch (error) {
        if (hasReason(error, ...reportedAsState)) {
          return { state: "error", message: error.message };
        }
        throw error;
      }
    },

    async plan(spec, requester) {
      assertBackupName(spec.name, "backup.name");
      assertHandle(spec.volumeHandle);
      const { value: state } = await lvm.refresh(requester.signal);
      const volume = findVolume(spec, state);
      if (volume === undefined) {
        throw noVolume(spec.volumeHandle);
      }
      const resource = resourceOf(volume);
      const { backup, operation } = await known(spec.name, [resource], spec.volumeHandle);
      if (backup !== undefined) {
        assertOfVolume(backup, volume, state);
      }
      const isRunning =
        operation !== undefined && operation.id !== requester.operation?.id && !hasEnded(operation);
      const isThere = backup !== undefined || isRunning;
      return isThere
        ? nothingToDo(backUpVolume.kind.kind, { resource, backend: "" })
        : backUpVolume.plan({ ...spec, volume, state }, requester);
    },
  };
}

interface Known {
  readonly backup?: BackupRow | undefined;
  readonly operation?: Operation | undefined;
  /** Resource of the operation's volume. */
  readonly resource?: string | undefined;
}

/**
 * Rejects names that restic cannot store as part of a tag.
 * @throws InfraError INVALID_FIELD
 */
function assertBackupName(name: string, field: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,252}$/.test(name)) {
    throw invalidField(
      field,
      "must be 1 to 253 characters of letters, digits and . _ : @ + -, beginning with a letter or digit",
    );
  }
}

/**
 * Rejects the backup of a former volume that had the name of an existing one. If no volume has the name now, any backup is
 * accepted.
 * @throws InfraError BACKUP_EXISTS
 */
function assertOfVolume(backup: BackupRow, volume: LogicalVolume | undefined, state: LvmState): void {
  if (volume === undefined) {
    return;
  }
  const group = state.volumeGroups.find(({ name }) => name === volume.volumeGroupName);
  if (volume.uuid !== backup.volume_uuid || group?.uuid !== backup.backend) {
    throw new InfraError(
      backupReasons.BACKUP_EXISTS,
      `the backup ${backup.name} belongs to an earlier volume of this name: delete that backup, or choose another name`,
      { resource: resourceOf(volume) },
    );
  }
}

function assertHandle(handle: string): void {
  if (handle === "" || handle.length > 300) {
    throw invalidField("backup.volume_handle", "must name a logical volume");
  }
}

function noVolume(handle: string): InfraError {
  return new InfraError(
    lvmReasons.VOLUME_NOT_FOUND,
    `logical volume ${handle} not found in any device class`,
  );
}
