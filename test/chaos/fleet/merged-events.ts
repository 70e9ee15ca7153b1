import { setTimeout as delay } from "node:timers/promises";
import { create, toJsonString } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Test } from "tap";
import {
  type Event,
  EventSchema,
  type EventService,
  type SubscribeResponse,
} from "../../../gen/hostplane/v1/event_pb.ts";
import type { ConnectionHistory, HistoryMessage } from "../events/event-history.ts";

/** Returns everything that a host has reported in an event, whether it was read at the host or at its hub. */
export function factsOf(event: Event): string {
  const { topic, type, resource, host, operationId, detail, fleetHost, fleetHostAt, at } = event;
  const facts = { topic, type, resource, host, operationId, detail };
  return toJsonString(
    EventSchema,
    create(EventSchema, { ...facts, at: fleetHost === "" ? at : fleetHostAt }),
  );
}

/** Reads the events of a gateway from a cursor or the beginning, up to one that meets the condition. */
export async function readEvents(
  client: Client<typeof EventService>,
  cursor: string | undefined,
  isLast: (event: Event) => boolean,
): Promise<Event[]> {
  const events: Event[] = [];
  const start =
    cursor === undefined
      ? { case: "time" as const, value: { seconds: 0n, nanos: 0 } }
      : { case: "cursor" as const, value: cursor };
  for await (const { message } of client.subscribe({ start })) {
    if (message.case === "event") {
      events.push(message.value);
      if (isLast(message.value)) {
        break;
      }
    }
  }
  return events;
}

/** A subscriber that continues from its last cursor whenever its stream ends. */
export interface PatientSubscriber {
  /** Everything that it received, by connection. */
  readonly connections: readonly ConnectionHistory[];
  /** Events that it received. */
  readonly events: readonly Event[];
  /** Ends the connection; it continues at once. */
  drop(): void;
  stop(): Promise<void>;
}

export function subscribePatiently(client: Client<typeof EventService>, cursor: string): PatientSubscriber {
  const connections: { from: string; messages: HistoryMessage[] }[] = [];
  const events: Event[] = [];
  let last = cursor;
  let isStopped = false;
  let leaving = new AbortController();

  function take({ message }: SubscribeResponse, messages: HistoryMessage[]): void {
    if (message.case === undefined) {
      throw new Error("a message without a kind");
    }
    ({ cursor: last } = message.value);
    if (message.case === "event") {
      events.push(message.value);
      messages.push({ kind: "event", cursor: last, id: factsOf(message.value) + last });
    } else {
      messages.push({ kind: message.case, cursor: last });
    }
  }

  async function subscribe(): Promise<void> {
    while (!isStopped) {
      leaving = new AbortController();
      const messages: HistoryMessage[] = [];
      connections.push({ from: last, messages });
      try {
        const start = { case: "cursor" as const, value: last };
        for await (const response of client.subscribe({ start }, { signal: leaving.signal })) {
          take(response, messages);
        }
      } catch {
        await delay(50);
      }
    }
  }

  const subscribing = subscribe();
  return {
    connections,
    events,
    drop: () => leaving.abort(),
    async stop() {
      isStopped = true;
      leaving.abort();
      await subscribing;
    },
  };
}

/** Returns a function that finds the creation of a volume. */
export const isMarker = (name: string) => (event: Event) =>
  event.type === "volume.created" && event.resource.endsWith(`/${name}`);

/** Compares the events of a host in the hub's log with those in its own, from the first one that the hub has. */
export function assertMerged(t: Test, host: string, merged: readonly Event[], own: readonly Event[]): void {
  const mergedFacts = merged.filter(({ fleetHost }) => fleetHost === host).map(factsOf);
  const ownFacts = own.map(factsOf);
  const expected = ownFacts.slice(ownFacts.indexOf(mergedFacts[0] ?? ""));
  const known = new Set(expected);
  const counts = Map.groupBy(mergedFacts, (facts) => facts);
  const lost = expected.filter((facts) => !counts.has(facts));
  const foreign = mergedFacts.filter((facts) => !known.has(facts));
  t.same(lost, [], `no event of ${host} is lost`);
  t.same(foreign, [], `no event of ${host} is from elsewhere`);
  t.equal(mergedFacts.length, expected.length, `no event of ${host} is doubled`);
  t.ok(
    mergedFacts.every((facts, index) => facts === expected[index]),
    `the events of ${host} are in its order`,
  );
  t.comment(`${host}: ${mergedFacts.length} events`);
}
