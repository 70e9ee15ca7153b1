import {
  ListHypervisorsResponseSchema,
  OperationsService,
} from "../../../gen/operations/v1/operations_pb.ts";
import { handlersOf } from "../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../rpc/streams/shared-answers.ts";
import type { HypervisorChanges } from "./changes/hypervisor-changes.ts";
import { hypervisorMessage } from "./hypervisor-messages.ts";
import type { Hypervisors } from "./hypervisors.ts";
import type { PublishedPoolChanges } from "./pool/changes/published-pool-changes.ts";

/** Creates operations.v1.OperationsService: hypervisors, and the storage pool that they share. */
export function createOperationsService(
  hypervisors: Pick<Hypervisors, "list">,
  changes: HypervisorChanges & PublishedPoolChanges,
): ServiceRegistration {
  const lists = createSharedAnswers(ListHypervisorsResponseSchema);
  return registerService(OperationsService, {
    async listHypervisors(_request, call) {
      const { hypervisors: all, readAtMs } = await hypervisors.list(call.signal);
      if (readAtMs !== undefined) {
        call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
      }
      return lists.of(all, "", () => ({ hypervisors: all.map(hypervisorMessage) }));
    },
    ...handlersOf(changes),
  });
}
