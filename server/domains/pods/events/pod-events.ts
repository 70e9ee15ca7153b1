import { create, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { EventSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import type { NewEvent } from "../../../events/store/events.ts";
import { timestampFromNs } from "../public/timestamp-from-ns.ts";
import type { Fact, GapFact, ImageFact, PodFact } from "./fact.ts";
import { imageResource, type OwnChanges, podResource } from "./own-changes.ts";

/** Topic of events about pods and images. */
export const podsTopic = "pods";

const services = ["v1alpha.PublicAPI", "hostplane.v1.PodService"];

/** Converts facts to events of this host. The payload is the JSON of a hostplane.v1.Event with only its detail set. */
export function podEvents(facts: readonly Fact[], own: OwnChanges, host: string, nowMs: number): NewEvent[] {
  return facts.map((fact) => {
    const { resource, operationId, detail } = podEvent(fact, own, nowMs);
    return {
      topic: podsTopic,
      type: fact.type,
      resource,
      host,
      operationId,
      services,
      payload: payloadOf(detail),
    };
  });
}

interface PodEvent {
  readonly resource: string;
  readonly operationId?: string | undefined;
  readonly detail: Detail;
}

type Detail = NonNullable<MessageInitShape<typeof EventSchema>["detail"]>;

function podEvent(fact: Fact, own: OwnChanges, nowMs: number): PodEvent {
  switch (fact.type) {
    case "gap":
      return gapEvent(fact, nowMs);
    case "image.added":
    case "image.removed":
      return imageEvent(fact, own);
    default:
      return eventOfPod(fact, own);
  }
}

function gapEvent({ sinceNs, reason }: GapFact, nowMs: number): PodEvent {
  const from = sinceNs === undefined ? {} : { from: timestampFromNs(sinceNs) };
  return {
    resource: podsTopic,
    detail: { case: "gap", value: { ...from, to: timestampFromMs(nowMs), reason } },
  };
}

function imageEvent({ id, names, timeNs, isReconciled }: ImageFact, own: OwnChanges): PodEvent {
  const value = { id, names: [...names], happenedAt: timestampFromNs(timeNs), reconciled: isReconciled };
  return {
    resource: imageResource(id),
    operationId: own.operationOfImage(id, names, timeNs),
    detail: { case: "image", value },
  };
}

function eventOfPod(fact: PodFact, own: OwnChanges): PodEvent {
  const { uuid, name, container, exitCode, timeNs, isReconciled } = fact;
  const pod = podResource(uuid);
  const resource = container === undefined ? pod : `${pod}/containers/${container.name}`;
  const value = {
    id: uuid,
    name,
    ...(container === undefined ? {} : { container: container.name, containerId: container.id }),
    ...(exitCode === undefined ? {} : { exitCode }),
    happenedAt: timestampFromNs(timeNs),
    reconciled: isReconciled,
  };
  return { resource, operationId: own.operationOf(resource, timeNs), detail: { case: "pod", value } };
}

function payloadOf(detail: Detail): JsonValue {
  return toJson(EventSchema, create(EventSchema, { detail }));
}
