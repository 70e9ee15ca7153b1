import { hypervisorResource } from "../../../../adapters/libvirt/names.ts";
import type { NewEvent } from "../../../events/store/events.ts";
import type { HypervisorDifference } from "./hypervisor-differences.ts";
import type { OwnChange } from "./own-changes.ts";

/** Services that already expose hypervisors: their callers may receive these events. */
export const services = ["operations.v1.OperationsService"];

// A payload is the JSON of a hostplane.v1.Event with only its detail set.

/** @param own the gateway's change that caused the difference; undefined for a change from outside or without a cause */
export function hypervisorEvent(
  { type, hypervisor, before, changes }: HypervisorDifference,
  own: OwnChange | undefined,
  host: string,
): NewEvent {
  const { id, state, reason, madeBy } = hypervisor;
  // A new VM with an operation's mark was created by that operation, even if its gateway has died since.
  const maker = madeBy !== null && madeBy !== before?.madeBy ? madeBy : undefined;
  const operationId = own?.operationId ?? maker;
  return {
    topic: "hypervisors",
    type,
    resource: hypervisorResource(id),
    host,
    operationId,
    services,
    payload: {
      hypervisor: {
        id,
        state,
        previousState: before?.state ?? "",
        reason,
        outside: operationId === undefined,
        changes,
      },
    },
  };
}
