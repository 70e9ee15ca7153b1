import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import type {
  BackupSchema,
  ListBackupsRequest,
  RestoreBackupRequest,
} from "../../../gen/hostplane/v1/backup_pb.ts";
import type { RestoreSpec } from "../../backups/backup-source.ts";
import { describePlace, placeOf } from "../../backups/repository-place.ts";
import type { BackupFilters, BackupRow } from "../../backups/store/backups.ts";
import { parsePageSize, parseTextFilter } from "../../rpc/listing/listing-fields.ts";
import { seqFromPageToken } from "../../rpc/listing/page-token.ts";

/** Returns the volume that RestoreBackup creates. */
export function specFromRestore(request: RestoreBackupRequest): RestoreSpec {
  const { volumeName: name, deviceClass, sizeGb, tags } = request;
  return { name, deviceClass, sizeGb, tags };
}

/** A request for one page of backups. */
export interface BackupQuery {
  /** Always in the same order, since page tokens depend on it. */
  readonly filters: BackupFilters;
  readonly pageSize: number;
  /** End of the previous page; undefined for the first page. */
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
 * Validates the field `id` as the id of a backup.
 * @throws InfraError INVALID_FIELD
 */
export function parseBackupId(id: string): string {
  if (!/^[\w-]{1,64}$/.test(id)) {
    throw invalidField("id", "must be a backup ID of 1 to 64 letters, digits, - and _");
  }
  return id;
}

/** Converts a backup to its published message. */
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
