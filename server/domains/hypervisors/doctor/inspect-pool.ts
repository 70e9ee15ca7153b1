import { describeSize } from "../../../../adapters/host/describe-size.ts";
import type { Finding, Inspector } from "../../../domain/inspection.ts";
import { messageFromError } from "../../../domain/message-from-error.ts";
import type { PoolSpare, PoolState, StoragePool } from "../pool/storage-pool.ts";

/** Checks the storage pool and its devices, and whether each spare can be added. */
export function createPoolInspector(
  pool: Pick<StoragePool, "read" | "readSpares" | "kind" | "name" | "shown">,
): Inspector {
  return {
    name: "pool",
    async inspect() {
      try {
        return { findings: findingsOf((await pool.read()).value, pool) };
      } catch (error) {
        const fix =
          pool.kind === "directory"
            ? `mkdir ${pool.name}, or mount it; correct hypervisors.pool.directory if it has another name`
            : `list the volume groups with sudo ${pool.shown(["vgs", "-a"])}; correct hypervisors.pool if it has another name, and run the gateway as root`;
        // If the spares cannot be read either, the cause is the same failing tool.
        const spares = await pool.readSpares().catch(() => []);
        return { findings: [{ ok: false, what: messageFromError(error), fix }, ...spares.map(spareFinding)] };
      }
    },
  };
}

function findingsOf(
  { name, kind, sizeBytes, freeBytes, devices, spares }: PoolState,
  { shown }: Pick<StoragePool, "shown">,
): Finding[] {
  const what = `${kind === "directory" ? "directory" : "volume group"} ${name}: ${describeSize(freeBytes)} free of ${describeSize(sizeBytes)}`;
  const missing = devices.filter((device) => device.missing);
  return [
    { ok: true, what },
    ...missing.map(({ path }) => ({
      ok: false,
      what: `${name} is missing its device ${path}: no device can be added or removed until it is back`,
      fix: `sudo ${shown(["pvs", "-a", "-o", "pv_name,vg_name,pv_missing"])} shows the devices; plug it in, then sudo ${shown(["vgextend", "--restoremissing", name, "DEVICE"])}`,
    })),
    ...spares.map(spareFinding),
  ];
}

function spareFinding({ path, sizeBytes, unusable }: PoolSpare): Finding {
  return unusable === ""
    ? { ok: true, what: `spare ${path}: ${describeSize(sizeBytes)}` }
    : {
        ok: false,
        what: `spare ${path} cannot be added: ${unusable}`,
        fix: `sudo lsblk -f ${path} and sudo wipefs ${path} show its content; wipe it yourself if that is no longer needed, or remove it from hypervisors.pool.devices`,
      };
}
