import { randomUUID } from "node:crypto";
import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";
import { assertSameGroup } from "../../../backups/lvm/made-volumes.ts";
import { createShownCommand } from "../../../backups/lvm/shown-command.ts";
import { snapshotStep } from "../../../backups/lvm/snapshot-volume.ts";
import type { NamedRepository, S3Fields } from "../../../backups/repositories.ts";
import type { RepositorySecrets } from "../../../backups/repository-place.ts";
import type { Operation } from "../../../operations/operation.ts";
import type { OperationStarter } from "../../../operations/operations.ts";
import type { Requester } from "../../../rpc/call/requester.ts";
import type { BackupParts } from "./backup-parts.ts";
import type { BackupInput } from "./backup-run.ts";
import { backupConfigKey as configKey } from "./backup-settings.ts";
import { resourceOf } from "./volume-handle.ts";

/** Name and destination of a requested backup. */
export interface BackupRequest {
  readonly name: string;
  /** Undefined: the local repository. */
  readonly s3: S3Fields | undefined;
  /** Name of the schedule that requests the backup; absent for a caller's request. */
  readonly schedule?: string;
}

/** A backup whose request has passed every check that is possible before it begins. */
export interface PlannedBackup {
  readonly volume: LogicalVolume;
  readonly group: VolumeGroup;
  readonly named: NamedRepository;
  readonly input: Omit<BackupInput, "keyName" | "actor">;
}

export interface BeginBackup {
  /** @throws InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED, VOLUME_PROTECTED, VOLUME_INACTIVE, VOLUME_GROUP_GONE, NO_SPACE */
  describe(request: BackupRequest, volume: LogicalVolume, state: LvmState): PlannedBackup;
  /**
   * Begins the backup, or returns the operation in progress for this volume and name.
   * @throws InfraError BUSY, STORE_UNAVAILABLE
   */
  begin(planned: PlannedBackup, asker: Requester): Promise<Operation>;
}

const s3Prefix = "backup.data_source.s3.";

export function createBeginBackup(
  { lvm, repositories, keys, settings, host }: BackupParts,
  starter: OperationStarter<BackupInput, RepositorySecrets | null>,
): BeginBackup {
  function describe(request: BackupRequest, volume: LogicalVolume, state: LvmState): PlannedBackup {
    const named = repositories.named(request.s3, s3Prefix);
    repositories.assertKeyFits(named, s3Prefix);
    if (named.selector !== "") {
      throw invalidField(`${s3Prefix}path`, "must not contain #, which selects a backup to restore");
    }
    const { volumeGroupName, name, uuid, thinPoolName } = volume;
    const groupUuid = state.volumeGroups.find((one) => one.name === volumeGroupName)?.uuid ?? "";
    const group = assertSameGroup(state, { volumeGroup: volumeGroupName, groupUuid });
    const input = {
      backupId: randomUUID(),
      name: request.name,
      schedule: request.schedule ?? null,
      host,
      volumeGroup: volumeGroupName,
      groupUuid,
      volume: name,
      volumeUuid: uuid,
      thinPool: thinPoolName ?? null,
      snapshotPercent: settings.snapshotPercent,
      place: named.place,
    };
    const percent = settings.snapshotPercent;
    // A schedule has no caller to report an error to: its operation begins and fails instead, which is visible.
    if (request.schedule === undefined) {
      const shown = createShownCommand(lvm);
      snapshotStep({ volume, group, name: "", tags: [], percent, configKey, shown });
    }
    return { volume, group, named, input };
  }

  async function begin({ volume, named, input }: PlannedBackup, asker: Requester): Promise<Operation> {
    const { secrets, place } = named;
    const keyName = typeof secrets?.encryptionKey === "string" ? null : await keys.ensure(place);
    const resource = resourceOf(volume);
    const { operation } = await starter.start({
      resource,
      backend: input.groupUuid,
      input: { ...input, actor: asker.actor, keyName },
      secrets,
      asker: { actor: asker.actor, accountId: asker.accountId, rpc: asker.rpc },
      attachKey: `backup ${host} ${resource} ${input.name}`,
    });
    return operation;
  }

  return { describe, begin };
}
