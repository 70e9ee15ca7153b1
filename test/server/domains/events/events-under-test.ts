import { setImmediate as turn } from "node:timers/promises";
import { type Client, createClient } from "@connectrpc/connect";
import type { Test } from "tap";
import { EventService, type SubscribeResponse } from "../../../../gen/hostplane/v1/event_pb.ts";
import { createVisibilityOf } from "../../../../server/domain/visibility.ts";
import { detailFromJson } from "../../../../server/domains/events/event-messages.ts";
import { createEventService } from "../../../../server/domains/events/service.ts";
import { createEvents, type Events, type EventsOptions } from "../../../../server/events/events.ts";
import type { NewEvent } from "../../../../server/events/store/events.ts";
import type { Caller } from "../../../../server/rpc/call/caller.ts";
import type { ServiceRegistration } from "../../../../server/rpc/call/service-handlers.ts";
import { openStoreWithEvents, type StoreWithEvents } from "../../events/store-with-events.ts";
import { type AppUnderTest, startAppUnderTest } from "../../harness/app-under-test.ts";
import type { Protocol } from "../../harness/protocols.ts";

const dayMs = 86_400_000;

/** The event service on a separate store, behind a listener. */
export interface EventsUnderTest extends AppUnderTest {
  readonly store: StoreWithEvents;
  readonly events: Events;
  /** Lines that the service has logged. */
  readonly warnings: readonly string[];
  /** Appends an event about a volume for each name, in separate transactions, one after another. */
  append(names: readonly string[], facts?: Partial<NewEvent>): Promise<void>;
  clientOf(protocol: Protocol): Client<typeof EventService>;
}

export interface EventsUnderTestOptions extends Partial<Omit<EventsOptions, "store">> {
  readonly silenceMs?: number;
  readonly recheckMs?: number;
  /** Wraps the store that the events use. */
  readonly aroundStore?: (store: EventsOptions["store"]) => EventsOptions["store"];
  /** Caller of every call. */
  readonly caller?: Caller;
}

/** Starts it; it is closed when the test ends. */
export async function startEventsUnderTest(
  t: Test,
  { silenceMs, recheckMs, caller, aroundStore = (store) => store, ...options }: EventsUnderTestOptions = {},
): Promise<EventsUnderTest> {
  const store = await openStoreWithEvents(t);
  const onFailed = (error: unknown) => t.fail(String(error));
  const events = await createEvents({ store: aroundStore(store), keepMs: 7 * dayMs, onFailed, ...options });
  t.teardown(() => events.close());
  const warnings: string[] = [];
  const service = createEventService({
    events,
    details: { volumes: detailFromJson, test: () => ({ case: undefined }) },
    visibilityOf: createVisibilityOf({ hub: undefined }),
    isSandbox: true,
    maxMessageBytes: 4 << 20,
    log: { warn: (message, cause) => warnings.push(`${message}: ${cause}`) },
    ...(silenceMs === undefined ? {} : { silenceMs }),
    ...(recheckMs === undefined ? {} : { recheckMs }),
  });
  const app = await startAppUnderTest(t, [caller === undefined ? service : calledBy(service, caller)]);
  return {
    ...app,
    store,
    events,
    warnings,
    async append(names, facts = {}) {
      for (const name of names) {
        await store.run("events.append", { events: [volumeEvent(name, facts)] });
      }
    },
    clientOf: (protocol) => createClient(EventService, protocol.createTransport(app.url)),
  };
}

export function volumeEvent(name: string, facts: Partial<NewEvent> = {}): NewEvent {
  return {
    topic: "volumes",
    type: "volume.created",
    resource: `volumeGroups/vg0/volumes/${name}`,
    host: "host",
    services: ["proto.LVService"],
    payload: { volume: { name, volumeGroup: "vg0", sizeBytes: "1073741824" } },
    ...facts,
  };
}

function calledBy(service: ServiceRegistration, caller: Caller): ServiceRegistration {
  return {
    ...service,
    handlerOf: (method) => (input, call) => {
      call.identify(caller);
      return service.handlerOf(method)(input, call);
    },
  };
}

/** A subscriber of a test. */
export interface Subscribed {
  /** Returns the next message. @throws the error that ends the stream */
  next(): Promise<SubscribeResponse["message"]>;
  /** Returns the names of the volumes of the next events, skipping heartbeats. */
  names(count: number): Promise<string[]>;
  leave(): void;
}

/** Subscribes; it disconnects when the test ends. */
export function subscribe(
  t: Test,
  client: Client<typeof EventService>,
  request: Parameters<Client<typeof EventService>["subscribe"]>[0] = {},
): Subscribed {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  t.teardown(async () => {
    leave();
    await turn();
  });
  const messages = client.subscribe(request, { signal: leaving.signal })[Symbol.asyncIterator]();
  async function next() {
    const { value, done } = await messages.next();
    if (done === true) {
      throw new Error("the stream has ended");
    }
    return value.message;
  }
  return {
    next,
    leave,
    async names(count) {
      const names: string[] = [];
      while (names.length < count) {
        const message = await next();
        if (message.case === "event") {
          names.push(nameOf(message.value));
        } else if (message.case !== "heartbeat") {
          throw new Error(`a ${message.case} among the events`);
        }
      }
      return names;
    },
  };
}

/** Returns the last part of an event's resource. */
export function nameOf({ resource }: { readonly resource: string }): string {
  return resource.split("/").at(-1) ?? "";
}
