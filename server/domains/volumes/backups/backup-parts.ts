import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import type { ResticAdapter } from "../../../../adapters/restic/adapter.ts";
import type { Repositories } from "../../../backups/repositories.ts";
import type { RepositoryKeys } from "../../../backups/repository-keys.ts";
import type { Events } from "../../../events/events.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { Store } from "../../../store/store.ts";
import type { DeviceClass } from "../device-class.ts";
import type { BackupSettings } from "./backup-settings.ts";

/** Dependencies of backups and restores. */
export interface BackupParts {
  readonly lvm: LvmAdapter;
  readonly restic: ResticAdapter;
  readonly deviceClasses: readonly DeviceClass[];
  readonly settings: BackupSettings;
  readonly repositories: Repositories;
  readonly keys: RepositoryKeys;
  readonly store: Pick<Store, "run">;
  readonly operations: Operations;
  readonly events: Pick<Events, "follow">;
  /** Name of this host. */
  readonly host: string;
}
