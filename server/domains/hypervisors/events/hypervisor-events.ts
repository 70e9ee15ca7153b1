import { hypervisorResource } from "../../../../adapters/libvirt/names.ts";
import type { NewEvent } from "../../../store/events.ts";
import type { OwnChange } from "../own-changes.ts";
import type { HypervisorDifference } from "./hypervisor-differences.ts";

/** Who may call it learns of hypervisors by it already. */
export const services = ["operations.v1.OperationsService"];

// Payloads are the JSON of hostplane.v1.Event with its detail alone.

/** @param own what this gateway did that the difference comes of; undefined: somebody else did it, or it came by itself */
export function hypervisorEvent(
  { type, hypervisor, before, changes }: HypervisorDifference,
  own: OwnChange | undefined,
  host: string,
): NewEvent {
  const { id, state, reason, madeBy } = hypervisor;
  // What carries the mark of an operation when it is first seen was made by one, though perhaps by a gateway that died.
  const maker = madeBy !== null && madeBy !== before?.madeBy ? madeBy : undefined;
  const operationId = own?.operationId ?? maker;
  return {
    topic: "hypervisors",
    type,
    resource: hypervisorResource(id),
    host,
    ...(operationId === undefined ? {} : { operationId }),
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
