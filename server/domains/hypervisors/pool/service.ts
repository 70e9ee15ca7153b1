import type { MessageInitShape } from "@bufbuild/protobuf";
import type { OperationSchema } from "../../../../gen/hostplane/v1/operation_pb.ts";
import {
  GetStoragePoolResponseSchema,
  StoragePoolKind,
  type StoragePoolSchema,
  StoragePoolService,
  WatchStoragePoolResponseSchema,
} from "../../../../gen/hostplane/v1/storage_pool_pb.ts";
import type { Operation } from "../../../operations/operation.ts";
import { registerService, type ServiceRegistration } from "../../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../../rpc/streams/shared-answers.ts";
import { watchState } from "../../../rpc/streams/watch-state.ts";
import type { SharedPool } from "./shared-pool.ts";
import type { PoolState } from "./storage-pool.ts";

/**
 * Creates hostplane.v1.StoragePoolService: the storage pool that hypervisors share.
 * @param operationMessage converts an operation to its published message
 */
export function createStoragePoolService(
  shared: SharedPool,
  operationMessage: (operation: Operation) => MessageInitShape<typeof OperationSchema>,
): ServiceRegistration {
  const { pool } = shared;
  const answers = createSharedAnswers(GetStoragePoolResponseSchema);
  const watched = createSharedAnswers(WatchStoragePoolResponseSchema);
  return registerService(StoragePoolService, {
    async getStoragePool(_request, call) {
      const { value, readAtMs } = await pool.read(call.signal);
      call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
      return answers.of(value, "", () => ({ pool: poolMessage(value) }));
    },
    async *watchStoragePool(_request, call) {
      const states = watchState(pool.subscribe, () => pool.read(call.signal), call.signal);
      for await (const { value } of states) {
        yield watched.of(value, "", () => ({ pool: poolMessage(value) }));
      }
    },
    async expandStoragePool({ minBytes }, call) {
      return { operation: operationMessage(await shared.expand(minBytes, call)) };
    },
    async shrinkStoragePool({ maxBytes }, call) {
      return { operation: operationMessage(await shared.shrink(maxBytes, call)) };
    },
    async backUpStoragePool(_request, call) {
      return { operation: operationMessage(await shared.backUp(call)) };
    },
  });
}

const numberOfKind = {
  volumeGroup: StoragePoolKind.VOLUME_GROUP,
  directory: StoragePoolKind.DIRECTORY,
} as const;

function poolMessage(state: PoolState): MessageInitShape<typeof StoragePoolSchema> {
  const { name, kind, sizeBytes, usedBytes, freeBytes, devices, spares } = state;
  return {
    name,
    kind: numberOfKind[kind],
    sizeBytes,
    usedBytes,
    freeBytes,
    devices: devices.map((device) => ({ ...device })),
    spares: spares.map((spare) => ({ ...spare })),
  };
}
