import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  GetStoragePoolResponseSchema,
  StoragePoolKind,
  type StoragePoolSchema,
  StoragePoolService,
  WatchStoragePoolResponseSchema,
} from "../../../../gen/hostplane/v1/storage_pool_pb.ts";
import { handlersOf } from "../../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../../rpc/streams/shared-answers.ts";
import { watchState } from "../../../rpc/streams/watch-state.ts";
import type { StoragePoolChanges } from "./changes/storage-pool-changes.ts";
import type { PoolState, StoragePool } from "./storage-pool.ts";

/** Creates hostplane.v1.StoragePoolService: the storage pool that hypervisors share. */
export function createStoragePoolService(
  pool: Pick<StoragePool, "read" | "subscribe">,
  changes: StoragePoolChanges,
): ServiceRegistration {
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
    ...handlersOf(changes),
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
