import { invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { StoragePoolService } from "../../../../../gen/hostplane/v1/storage_pool_pb.ts";
import type { ChangesOf } from "../../../../domain/change.ts";
import type { DomainContext } from "../../../../domain/domain-services.ts";
import type { BegunOperation } from "../../../../domain/long-change.ts";
import type { Call } from "../../../../rpc/call/call.ts";
import type { SharedPool } from "../shared-pool.ts";

/** The changes of hostplane.v1.StoragePoolService, which answer with the operation. */
export type StoragePoolChanges = ChangesOf<
  typeof StoragePoolService,
  "expandStoragePool" | "shrinkStoragePool" | "backUpStoragePool"
>;

/** @param operationMessage converts the operation that a change begins, for its answer */
export function createStoragePoolChanges(
  { expand, shrink, backUp }: Pick<SharedPool, "expand" | "shrink" | "backUp">,
  operationMessage: DomainContext["operationMessage"],
): StoragePoolChanges {
  const answer = async (call: Call, begin: () => Promise<BegunOperation>) => {
    call.noteResource("storagePool");
    return { operation: operationMessage((await begin()).operation) };
  };
  return {
    expandStoragePool: {
      plan: async ({ minBytes }, requester) => expand.plan(assertBytes(minBytes, "min_bytes"), requester),
      run: ({ minBytes }, call) =>
        answer(call, async () => expand.begin(assertBytes(minBytes, "min_bytes"), call)),
    },
    shrinkStoragePool: {
      plan: async ({ maxBytes }, requester) => shrink.plan(assertBytes(maxBytes, "max_bytes"), requester),
      run: ({ maxBytes }, call) =>
        answer(call, async () => shrink.begin(assertBytes(maxBytes, "max_bytes"), call)),
    },
    backUpStoragePool: {
      plan: async (request, requester) => backUp().plan(request, requester),
      run: (request, call) => answer(call, async () => backUp().begin(request, call)),
    },
  };
}

const largestBytes = (1n << 63n) - 1n;

/** @throws InfraError INVALID_FIELD */
function assertBytes(bytes: bigint, field: string): bigint {
  if (bytes < 1n) {
    throw invalidField(field, `must be from 1 to ${largestBytes} bytes, is ${bytes}`);
  }
  return bytes;
}
