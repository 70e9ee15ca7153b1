import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type {
  BackupSchema,
  ListBackupsRequest,
  RestoreBackupRequest,
} from "../../../../gen/hostplane/v1/backup_pb.ts";
import {
  type CreateBackupRequest,
  type CreateBackupResponseSchema,
  type CreateLVRequest,
  StateType,
} from "../../../../gen/proto/lvmd_pb.ts";
import { describePlace } from "../../../backups/repository-place.ts";
import { parsePageSize, parseTextFilter } from "../../../rpc/listing-fields.ts";
import { seqFromPageToken } from "../../../rpc/page-token.ts";
import type { BackupFilters, BackupRow } from "../../../store/backups.ts";
import type { WantedCreate } from "../volume-changes.ts";
import type { Backups } from "./backups.ts";
import type { BackupPoll, WantedBackup } from "./create-backup.ts";
import type { RestoreSource } from "./restore-volume.ts";
import { placeOf } from "./stored-backups.ts";

const numberOfState: Readonly<Record<BackupPoll["state"], StateType>> = {
  inProgress: StateType.INPROGRESS,
  complete: StateType.COMPLETE,
  error: StateType.ERROR,
};

/** @throws InfraError INVALID_FIELD */
export function wantedFromCreateBackup({ backup }: CreateBackupRequest): WantedBackup {
  if (backup === undefined) {
    throw invalidField("backup", "must be set");
  }
  const { name, volumeHandle, dataSource } = backup;
  return { name, volumeHandle, s3: dataSource?.type.value };
}

export function backupStateMessage(
  name: string,
  { state, message }: BackupPoll,
): MessageInitShape<typeof CreateBackupResponseSchema> {
  return { backupState: { name, state: numberOfState[state], msg: message } };
}

/** What CreateLV is to fill the volume from; undefined: nothing. */
export function sourceFromCreate({ dataSource }: CreateLVRequest): RestoreSource | undefined {
  return dataSource && { isSynchronous: dataSource.synchronousRestore, s3: dataSource.type.value };
}

/** The new volume of RestoreBackup. */
export function wantedFromRestore(request: RestoreBackupRequest): WantedCreate {
  const { volumeName: name, deviceClass, sizeGb, tags } = request;
  return { name, deviceClass, sizeGb, tags };
}

/** One page of backups, as it was asked for. */
export interface BackupQuery {
  /** In one order, by which the token of a page knows them. */
  readonly filters: BackupFilters;
  readonly pageSize: number;
  /** Where the page before ended; undefined for the first. */
  readonly belowSeq: number | undefined;
}

/** @throws InfraError INVALID_FIELD */
export function parseBackupQuery(request: ListBackupsRequest): BackupQuery {
  const filters = {
    ...parseTextFilter("volume", request.volume.replace(/\/+$/, "")),
    ...parseTextFilter("name", request.name),
    ...parseTextFilter("schedule", request.schedule),
  };
  const pageSize = parsePageSize(request.pageSize);
  return { filters, pageSize, belowSeq: seqFromPageToken(request.pageToken, filters) };
}

/**
 * The id of a backup, of the field `id`.
 * @throws InfraError INVALID_FIELD
 */
export function parseBackupId(id: string): string {
  if (!/^[\w-]{1,64}$/.test(id)) {
    throw invalidField("id", "must be the id of a backup: 1 to 64 letters, digits, - and _");
  }
  return id;
}

/** A backup as the contract tells it. */
export function backupMessage(row: BackupRow): MessageInitShape<typeof BackupSchema> {
  return {
    id: row.id,
    name: row.name,
    volume: row.volume,
    sizeBytes: BigInt(row.size_bytes),
    at: timestampFromMs(row.at),
    repository: describePlace(placeOf(row)),
    snapshotId: row.snapshot_id,
    key: row.key_name ?? "",
    host: row.host,
    schedule: row.schedule ?? "",
    operationId: row.operation_id,
    ...(row.verified_at === null ? {} : { verifiedAt: timestampFromMs(row.verified_at) }),
    damage: row.damage ?? "",
    actor: row.actor,
  };
}

/** What everything that needs backups ends with while they are not configured. */
export function backupsOff(): InfraError {
  return new InfraError("DOMAIN_OFF", "backups are off: set `volumes.backup` in the configuration");
}

/** @throws InfraError DOMAIN_OFF */
export function assertBackups(backups: Backups | undefined): Backups {
  if (backups === undefined) {
    throw backupsOff();
  }
  return backups;
}
