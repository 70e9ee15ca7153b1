import { InfraError } from "../../../adapters/host/infra-error.ts";
import { resticReasons } from "../../../adapters/restic/reasons.ts";
import type { BackupSource, WantedRestore } from "../../backups/backup-source.ts";
import type { AccessFields } from "../../backups/repositories.ts";
import type { BackupFilters, BackupRow } from "../../backups/store/backups.ts";
import { resourceOf } from "../../backups/stored-backup-plans.ts";
import { domainReasons } from "../../domain/reasons.ts";
import type { PlannedMutation } from "../../operations/mutation.ts";
import type { Operation } from "../../operations/operation.ts";
import type { Requester } from "../../rpc/call/requester.ts";
import type { Store } from "../../store/store.ts";

/**
 * The recorded backups of all domains. Operations on a backup are delegated to the source that its volume belongs to.
 */
export interface Backups {
  /** Newest first. */
  list(
    filters: BackupFilters,
    page: { readonly belowSeq: number | undefined; readonly limit: number },
  ): Promise<{ readonly rows: readonly BackupRow[]; readonly nextSeq: number | undefined }>;
  /** @throws InfraError BACKUP_NOT_FOUND */
  get(id: string): Promise<BackupRow>;
  /** @throws InfraError BACKUP_NOT_FOUND, DOMAIN_OFF, and as `BackupSource.verify` */
  verify(id: string, access: AccessFields | undefined, asker: Requester): Promise<Operation>;
  /** @throws InfraError BACKUP_NOT_FOUND, DOMAIN_OFF, and as `BackupSource.remove` */
  remove(id: string, access: AccessFields | undefined, asker: Requester): Promise<Operation>;
  /** @throws InfraError BACKUP_NOT_FOUND, DOMAIN_OFF, and as `BackupSource.restore` */
  restore(
    id: string,
    wanted: WantedRestore,
    access: AccessFields | undefined,
    asker: Requester,
  ): Promise<Operation>;
  /** Returns what `verify` would do now. @throws InfraError as `verify` does */
  planVerify(id: string, access: AccessFields | undefined): Promise<PlannedMutation>;
  /** Returns what `remove` would do now. @throws InfraError as `remove` does */
  planRemove(id: string, access: AccessFields | undefined): Promise<PlannedMutation>;
  /** Returns what `restore` would do now. @throws InfraError as `restore` does */
  planRestore(
    id: string,
    wanted: WantedRestore,
    access: AccessFields | undefined,
    signal: AbortSignal,
  ): Promise<PlannedMutation>;
}

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

  /** @throws InfraError BACKUP_NOT_FOUND, DOMAIN_NOT_BUILT if a later version of hostplane created it */
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

    async verify(id, access, asker) {
      const { row, source } = await find(id);
      return source.verify(row, access, asker);
    },
    async remove(id, access, asker) {
      const { row, source } = await find(id);
      return source.remove(row, access, asker);
    },
    async restore(id, wanted, access, asker) {
      const { row, source } = await find(id);
      return source.restore(row, wanted, access, asker);
    },
    async planVerify(id, access) {
      const { row, source } = await find(id);
      return source.planVerify(row, access);
    },
    async planRemove(id, access) {
      const { row, source } = await find(id);
      return source.planRemove(row, access);
    },
    async planRestore(id, wanted, access, signal) {
      const { row, source } = await find(id);
      return source.planRestore(row, wanted, access, signal);
    },
  };
}
