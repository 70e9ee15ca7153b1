import { InfraError } from "../../../adapters/host/infra-error.ts";
import { resticReasons } from "../../../adapters/restic/reasons.ts";
import type { BackupSource } from "../../backups/backup-source.ts";
import type { BackupFilters, BackupRow } from "../../backups/store/backups.ts";
import { resourceOf } from "../../backups/stored-backup-plans.ts";
import { domainReasons } from "../../domain/reasons.ts";
import type { Store } from "../../store/store.ts";

/** The recorded backups of all domains. */
export interface Backups {
  /** Newest first. */
  list(
    filters: BackupFilters,
    page: { readonly belowSeq: number | undefined; readonly limit: number },
  ): Promise<{ readonly rows: readonly BackupRow[]; readonly nextSeq: number | undefined }>;
  /** @throws InfraError BACKUP_NOT_FOUND */
  get(id: string): Promise<BackupRow>;
  /**
   * Returns a backup with the source that its volume belongs to.
   * @throws InfraError BACKUP_NOT_FOUND, DOMAIN_NOT_BUILT if a later version of hostplane created it
   */
  find(id: string): Promise<{ readonly row: BackupRow; readonly source: BackupSource }>;
}

/** @param sources found by the resource names of their volumes: the first whose `resourceStart` fits */
export function createBackups(store: Pick<Store, "run">, sources: readonly BackupSource[]): Backups {
  async function get(id: string): Promise<BackupRow> {
    const row = await store.run("backups.get", { id });
    if (row === undefined) {
      throw new InfraError(resticReasons.BACKUP_NOT_FOUND, `backup ${id} not found`, {
        resource: resourceOf({ id }),
      });
    }
    return row;
  }

  async function find(id: string): Promise<{ readonly row: BackupRow; readonly source: BackupSource }> {
    const row = await get(id);
    const source = sources.find(({ resourceStart }) => row.volume.startsWith(resourceStart));
    if (source === undefined) {
      throw new InfraError(
        domainReasons.DOMAIN_NOT_BUILT,
        `this version does not support volumes such as ${row.volume}`,
        {
          resource: resourceOf(row),
        },
      );
    }
    return { row, source };
  }

  return {
    list: (filters, { belowSeq, limit }) => store.run("backups.list", { filters, belowSeq, limit }),
    get,
    find,
  };
}
