import { invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { OperationsService } from "../../../../../gen/operations/v1/operations_pb.ts";
import type { ChangesOf } from "../../../../domain/change.ts";
import type { BegunOperation } from "../../../../domain/long-change.ts";
import type { Json } from "../../../../operations/operation.ts";
import { type OperationViewSources, operationView } from "../../../../operations/operation-view.ts";
import type { Call } from "../../../../rpc/call/call.ts";
import { progressMessages } from "../../hypervisor-messages.ts";
import { describePoolBackup, type PoolBackupResult } from "../backups/backup-run.ts";
import type { SharedPool } from "../shared-pool.ts";
import { describePoolResult, type PoolResult } from "./pool-run.ts";

/** The changes of operations.v1.OperationsService that concern the storage pool: streams of progress and failure. */
export type PublishedPoolChanges = ChangesOf<
  typeof OperationsService,
  "expandStorage" | "shrinkStorage" | "createBackup"
>;

/** @param assertPool returns the pool. @throws InfraError DOMAIN_OFF if there is none */
export function createPublishedPoolChanges(
  assertPool: () => Pick<SharedPool, "pool" | "expand" | "shrink" | "backUp">,
  sources: OperationViewSources,
): PublishedPoolChanges {
  /** @param describe called only for completed operations, which have a result */
  async function* view<Result extends Json>(
    call: Call,
    begin: () => Promise<BegunOperation>,
    describe: (result: Result) => string,
  ) {
    call.noteResource("storagePool");
    yield* operationView(sources, call, begin, ({ result }) => describe(result as Result));
  }
  const run = <Result extends Json>(...parameters: Parameters<typeof view<Result>>) =>
    progressMessages(view(...parameters));

  return {
    expandStorage: {
      plan: async ({ minBytes }, requester) =>
        assertPool().expand.plan(publishedBytes(minBytes, "min_bytes"), requester),
      run: ({ minBytes }, call) =>
        run(
          call,
          async () => assertPool().expand.begin(publishedBytes(minBytes, "min_bytes"), call),
          (result: PoolResult) => describePoolResult(`${assertPool().pool.name} has grown by`, "on", result),
        ),
    },
    shrinkStorage: {
      plan: async ({ maxBytes }, requester) =>
        assertPool().shrink.plan(publishedBytes(maxBytes, "max_bytes"), requester),
      run: ({ maxBytes }, call) =>
        run(
          call,
          async () => assertPool().shrink.begin(publishedBytes(maxBytes, "max_bytes"), call),
          (result: PoolResult) =>
            describePoolResult(`${assertPool().pool.name} has shrunk by`, "after the removal of", result),
        ),
    },
    createBackup: {
      plan: async (request, requester) => assertPool().backUp().plan(request, requester),
      run: (request, call) =>
        run(
          call,
          async () => assertPool().backUp().begin(request, call),
          (result: PoolBackupResult) => describePoolBackup(assertPool().pool.name, result),
        ),
    },
  };
}

/** Validates a 32-bit field, whose decoder has already rejected larger values. @throws InfraError INVALID_FIELD */
function publishedBytes(bytes: number, field: string): bigint {
  if (bytes < 1) {
    const words = `must be from 1 to 2147483647 bytes, is ${bytes}; for more, use hostplane.v1.StoragePoolService`;
    throw invalidField(field, words);
  }
  return BigInt(bytes);
}
