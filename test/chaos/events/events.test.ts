import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { test } from "tap";
import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { createVisibilityOf } from "../../../server/domain/visibility.ts";
import { detailFromJson } from "../../../server/domains/events/event-messages.ts";
import { createEventService } from "../../../server/domains/events/service.ts";
import { parseCursor } from "../../../server/events/cursor.ts";
import { createEvents } from "../../../server/events/events.ts";
import { nameOf, volumeEvent } from "../../server/domains/events/events-under-test.ts";
import { openStoreWithEvents, type StoreWithEvents } from "../../server/events/store-with-events.ts";
import { startAppUnderTest } from "../../server/harness/app-under-test.ts";
import { eventStreamProtocols, protocols } from "../../server/harness/protocols.ts";
import { openCutRelay } from "../cut-relay.ts";
import { subscribeThroughDrops } from "./dropped-subscriber.ts";
import { type AppendedEvent, historyFailures, type SubscriberHistory } from "./event-history.ts";

// No gateway is killed here; rpc-storm.test.ts does that.

/** Number of dropped connections of all subscribers together. */
const dropCount = Number(process.env.EVENT_DROPS ?? 400);
const subscriberCount = 20;

const placeOf = (cursor: string) => parseCursor(cursor).seq;
const random = (below: number) => Math.floor(Math.random() * below);

/** Filters of the subscribers, in turn. */
const filters = [
  {},
  { topics: ["test"] },
  { resources: ["volumeGroups/vg1", "volumeGroups/vg2/volumes"] },
  { topics: ["volumes"], resources: ["volumeGroups/vg0"] },
];

interface Written {
  readonly topic: string;
  readonly resource: string;
}

/** Writes events until it is stopped: mostly a few at a time, sometimes many. */
function startWriter(store: StoreWithEvents, name: string, written: Map<string, Written>) {
  let isStopped = false;
  let count = 0;
  const tag = "x".repeat(200);
  async function write(): Promise<void> {
    while (!isStopped) {
      const size = random(20) === 0 ? 100 : 1 + random(3);
      const events = Array.from({ length: size }, () => {
        count += 1;
        const id = `${name}-${count}`;
        const topic = random(3) === 0 ? "test" : "volumes";
        const resource = `volumeGroups/vg${random(4)}/volumes/${id}`;
        written.set(id, { topic, resource });
        return volumeEvent(id, { topic, resource, payload: { volume: { name: id, tags: [tag] } } });
      });
      await store.run("events.append", { events });
      await delay(random(60));
    }
  }
  const writing = write();
  return async () => {
    isStopped = true;
    await writing;
  };
}

function isWithin(
  resource: string,
  { topics = [], resources = [] }: { topics?: string[]; resources?: string[] },
) {
  return (topic: string) =>
    (topics.length === 0 || topics.includes(topic)) &&
    (resources.length === 0 ||
      resources.some((each) => resource === each || resource.startsWith(`${each}/`)));
}

test(`${subscriberCount} subscribers that are dropped ${dropCount} times miss nothing and get nothing twice`, async (t) => {
  const store = await openStoreWithEvents(t);
  const written = new Map<string, Written>();
  // Two gateways with one store and little room for recent events, so that most drops require reading the store.
  const gateways = await Promise.all(
    [40, 400].map(async (maxRecords) => {
      const events = await createEvents({
        store,
        keepMs: 86_400_000,
        recent: { maxRecords, maxBytes: 1 << 20 },
        onFailed: (error) => t.fail(String(error)),
      });
      t.teardown(() => events.close());
      const details = { volumes: detailFromJson, test: detailFromJson };
      const service = createEventService({
        events,
        details,
        visibilityOf: createVisibilityOf({ hub: undefined }),
        isSandbox: true,
        maxMessageBytes: 4 << 20,
        log: { warn: (message, cause) => t.fail(`${message} ${cause}`) },
        silenceMs: 150,
      });
      return { events, url: (await startAppUnderTest(t, [service], { logLevel: "warn" })).url };
    }),
  );
  const [first] = gateways;
  const firstCursor = first?.events.cursorOf(0) ?? "";
  const writers = ["a", "b", "c"].map((name) => startWriter(store, name, written));
  let endSeq = Number.POSITIVE_INFINITY;
  const forms = [...protocols.filter(({ isGet }) => isGet === undefined), ...eventStreamProtocols];

  async function subscriberHistory(index: number): Promise<SubscriberHistory> {
    const form = forms[index % forms.length] as (typeof forms)[number];
    const name = `subscriber ${index + 1} (${form.name})`;
    const filter = filters[index % filters.length] ?? {};
    const relays = await Promise.all(gateways.map(({ url }) => openCutRelay(t, url)));
    const clients = relays.map(({ url }) => createClient(EventService, form.createTransport(url)));
    const connections = await subscribeThroughDrops({
      name,
      clientOf: (connection) => clients[connection % clients.length] as (typeof clients)[number],
      filter,
      // Half of them start with past events, the others with new ones.
      ...(index % 2 === 0 ? { firstCursor } : {}),
      drops: Math.ceil(dropCount / subscriberCount),
      cut() {
        for (const relay of relays) {
          relay.cut();
        }
      },
      lifeMs: () => random(random(4) === 0 ? 600 : 200),
      isComplete: (cursor) => placeOf(cursor) >= endSeq,
      idOf: ({ value }) => (value !== undefined && "resource" in value ? nameOf(value) : ""),
    });
    const matches = ({ id }: AppendedEvent) => {
      const { topic = "", resource = "" } = written.get(id) ?? {};
      return isWithin(resource, filter)(topic);
    };
    return { name, matches, connections };
  }

  const subscribing = Promise.all(
    Array.from({ length: subscriberCount }, (_, index) => subscriberHistory(index)),
  );
  // The writers stop a little after the last drop, so that each subscriber has more events to receive.
  const lastDropMs = Math.ceil(dropCount / subscriberCount) * 175;
  await delay(lastDropMs);
  await Promise.all(writers.map((stop) => stop()));
  ({ headSeq: endSeq } = await store.run("events.head", undefined));

  const appended: AppendedEvent[] = [];
  for (let afterSeq = 0; afterSeq < endSeq; afterSeq = appended.at(-1)?.seq ?? endSeq) {
    const { rows } = await store.run("events.read", { afterSeq, limit: 1000 });
    appended.push(...rows.map(({ seq, resource }) => ({ seq, id: nameOf({ resource }) })));
  }
  t.equal(appended.length, written.size, "every written event is in the store once");

  let received = 0;
  let dropped = 0;
  for (const history of await subscribing) {
    t.same(historyFailures(history, appended, placeOf), [], history.name);
    received += history.connections.reduce((sum, { messages }) => sum + messages.length, 0);
    dropped += history.connections.length - 1;
  }
  t.comment(`${appended.length} events, ${received} messages, ${dropped} drops`);
  t.ok(dropped >= dropCount);
});
