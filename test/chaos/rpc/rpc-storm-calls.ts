import { createClient, type Transport } from "@connectrpc/connect";
import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";

interface CallOptions {
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
}

/** This many consecutive indices include every kind of call. */
export const stormPeriod = 16;

/** Returns the unique image of a pull; undefined for an index with another call. */
export function referenceOf(index: number): string | undefined {
  return index % 4 === 0 ? `localhost/storm/image:${index}` : undefined;
}

/**
 * Creates the calls of a storm, by index: changes of several kinds, some independent and some that conflict with others.
 * @param timeoutMs of calls that change nothing
 */
export function createStormCalls(transport: Transport, timeoutMs: number) {
  const pods = createClient(PodService, transport);
  const pool = createClient(StoragePoolService, transport);
  const volumes = createClient(LVService, transport);
  const backups = createClient(BackupService, transport);
  const hypervisors = createClient(OperationsService, transport);

  /** Its response names no operation. */
  async function createBackup(index: number, options: CallOptions) {
    const backup = { name: `storm-${index}`, volumeHandle: "sandbox-db", fsName: "ext4" };
    await volumes.createBackup({ backup }, options);
    return {};
  }

  /** By key: a repeated call must be identical. */
  const restored = new Map<number, string>();
  async function restoreBackup(index: number, options: CallOptions) {
    if (!restored.has(index)) {
      const { backups: found } = await backups.listBackups({ pageSize: 1 }, { timeoutMs });
      restored.set(index, found[0]?.id ?? "none");
    }
    return backups.restoreBackup({ id: restored.get(index) ?? "", volumeName: `storm-${index}` }, options);
  }

  /** A stream takes no key, and its messages name no operation; it continues without its caller. */
  async function changeHypervisor(index: number, { timeoutMs }: CallOptions) {
    const leaving = new AbortController();
    const request = { id: "sandbox-hv-1" };
    const options = { timeoutMs, signal: leaving.signal };
    // The sandbox's VM runs at first.
    const isCreate = index % stormPeriod === 15;
    const stream = isCreate
      ? hypervisors.createHypervisor(request, options)
      : hypervisors.destroyHypervisor(request, options);
    for await (const _ of stream) {
      break;
    }
    leaving.abort();
    return {};
  }

  /** Makes the call of an index. Repeated calls are identical. */
  function send(
    index: number,
    options: CallOptions,
  ): Promise<{ readonly operation?: { readonly id: string } | undefined }> {
    switch (index % 8) {
      case 1:
        return pods.stopPod({ pod: "sandbox-web" }, options);
      case 2:
        return pods.startPod({ pod: "sandbox-web" }, options);
      case 3:
        return pool.expandStoragePool({ minBytes: 1n }, options);
      case 5:
        return createBackup(index, options);
      case 6:
        return restoreBackup(index, options);
      case 7:
        return changeHypervisor(index, options);
      default:
        return pods.pullImage({ reference: referenceOf(index) ?? "" }, options);
    }
  }

  return { send };
}
