import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import type { Operation } from "../../operations/operation.ts";
import { registerAccess } from "../../rpc/access/method-access.ts";
import { type DetailOf, detailFromJson } from "./event-messages.ts";
import { createEventService } from "./service.ts";

/** Creates the service for the events of all domains. */
export function serveEvents(context: DomainContext): DomainServices {
  const { events, eventTopics, facts, maxMessageBytes, log, served } = context;
  const details = Object.fromEntries(eventTopics.map((topic): [string, DetailOf] => [topic, detailFromJson]));
  // An operation is stored as such, and not as its message.
  const operations: DetailOf = (payload) => ({
    case: "operation",
    value: context.operationMessage(payload as Operation),
  });

  function onSubscriber(topics: readonly string[]): () => void {
    const isSelected = (name: string) => topics.length === 0 || topics.includes(name);
    const leaves = [...served].flatMap(([name, domain]) =>
      isSelected(name) ? (domain.onSubscriber?.() ?? []) : [],
    );
    return () => {
      for (const leave of leaves) {
        leave();
      }
    };
  }

  return {
    registrations: [
      createEventService({
        events,
        details: { ...details, operations },
        visibilityOf: context.visibilityOf,
        isSandbox: facts.isSandbox,
        maxMessageBytes,
        log,
        onSubscriber,
      }),
    ],
    planners: [],
    access: [registerAccess(EventService, { subscribe: "own", followEvents: "own" })],
    backends: [],
  };
}
