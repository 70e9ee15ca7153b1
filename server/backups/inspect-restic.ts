import { join } from "node:path";
import type { ResticAdapter } from "../../adapters/restic/adapter.ts";
import type { backupSchema } from "../config/backup-schema.ts";
import type { ConfigOf } from "../config/config-of.ts";
import { inspectDirectory } from "../domain/inspect-directory.ts";
import type { Finding, Inspector } from "../domain/inspection.ts";

type BackupConfig = Pick<ConfigOf<typeof backupSchema>, "repository" | "restic">;

/**
 * Checks restic itself and the directories it writes to. No repository is opened, since its key is in the store.
 * @param key configuration key of the backup settings, e.g. `volumes.backup`
 */
export function createResticInspector(
  restic: ResticAdapter,
  backup: BackupConfig,
  data: string,
  key: string,
): Inspector {
  return {
    name: "restic",
    async inspect() {
      const { version, findings } = await restic.inspect();
      if (version === undefined) {
        return { findings };
      }
      return { findings: [...findings, ...(await inspectDirectories(backup, data, key))] };
    },
  };
}

async function inspectDirectories(
  { repository, restic: { command, cacheDir } }: BackupConfig,
  data: string,
  key: string,
): Promise<Finding[]> {
  // A wrapper command may run restic with other permissions and mounts.
  if (command.length > 1) {
    return [];
  }
  const cache = inspectDirectory(
    "cache directory",
    cacheDir ?? join(data, "restic-cache"),
    `choose another directory: ${key}.restic.cacheDir`,
  );
  const local =
    repository === undefined
      ? []
      : [inspectDirectory("repository", repository, `choose another directory: ${key}.repository`)];
  return Promise.all([...local, cache]);
}
