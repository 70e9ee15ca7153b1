import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import type { Finding, Inspector } from "../../../domain/inspection.ts";
import type { HypervisorsConfig } from "../config.ts";

type PoolConfig = Pick<NonNullable<HypervisorsConfig["pool"]>, "directory" | "libvirtPool">;

/** Checks what backups of the storage pool need besides restic. Backups of a directory are created through libvirt. */
export function createPoolBackupInspector(
  libvirt: Pick<LibvirtAdapter, "inspectBackups">,
  { directory, libvirtPool }: PoolConfig,
): Inspector {
  return {
    name: "pool",
    async inspect() {
      return { findings: directory === undefined ? [] : await inspectDirectoryBackups() };
    },
  };

  async function inspectDirectoryBackups(): Promise<Finding[]> {
    const fix =
      "set hypervisors.pool.libvirtPool to the libvirt storage pool of this directory; list pools with virsh pool-list --all";
    const what = `${directory} cannot be backed up: hypervisors.pool.libvirtPool is not set`;
    const unnamed = libvirtPool === undefined ? [{ ok: false, what, fix }] : [];
    return [...unnamed, ...(await libvirt.inspectBackups())];
  }
}
