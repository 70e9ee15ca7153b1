import type { InfraError } from "../../../adapters/host/infra-error.ts";
import {
  ListHypervisorsResponseSchema,
  OperationsService,
} from "../../../gen/operations/v1/operations_pb.ts";
import { requesterFrom } from "../../rpc/call/requester.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../rpc/streams/shared-answers.ts";
import { hypervisorMessage, progressMessages } from "./hypervisor-messages.ts";
import type { Hypervisors } from "./hypervisors.ts";
import type { SharedPool } from "./pool/shared-pool.ts";

/**
 * Creates operations.v1.OperationsService: hypervisors, and the storage pool that they share.
 * @param sharedPool undefined if there is none; calls that need it then fail with `poolRefusal`
 */
export function createOperationsService(
  hypervisors: Hypervisors,
  sharedPool: SharedPool | undefined,
  poolRefusal: () => InfraError,
): ServiceRegistration {
  const assertPool = () => {
    if (sharedPool === undefined) {
      throw poolRefusal();
    }
    return sharedPool;
  };
  const lists = createSharedAnswers(ListHypervisorsResponseSchema);
  return registerService(OperationsService, {
    async listHypervisors(_request, call) {
      const { hypervisors: all, readAtMs } = await hypervisors.list(call.signal);
      if (readAtMs !== undefined) {
        call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
      }
      return lists.of(all, "", () => ({ hypervisors: all.map(hypervisorMessage) }));
    },
    createHypervisor: ({ id }, call) => progressMessages(hypervisors.create(id, requesterFrom(call))),
    createHypervisors: ({ ids }, call) => progressMessages(hypervisors.createAll(ids, requesterFrom(call))),
    destroyHypervisor: ({ id }, call) => progressMessages(hypervisors.destroy(id, requesterFrom(call))),
    destroyHypervisors: ({ ids }, call) => progressMessages(hypervisors.destroyAll(ids, requesterFrom(call))),
    async *expandStorage(request, call) {
      yield* progressMessages(assertPool().expandFromPublished(request, call));
    },
    async *shrinkStorage(request, call) {
      yield* progressMessages(assertPool().shrinkFromPublished(request, call));
    },
    async *createBackup(_request, call) {
      yield* progressMessages(assertPool().backUpFromPublished(call));
    },
  });
}
