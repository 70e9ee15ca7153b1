import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { type Event, EventService } from "../../../../../gen/hostplane/v1/event_pb.ts";
import { PodService } from "../../../../../gen/hostplane/v1/pod_pb.ts";
import { EventType, PublicAPI, type Event as RktEvent } from "../../../../../gen/v1alpha/api_pb.ts";
import { startGatewayUnderTest } from "../../../harness/gateway-under-test.ts";
import { wordOf } from "./pod-events-under-test.ts";

const patience = () => AbortSignal.timeout(20_000);

function clientsOf(url: string) {
  const transport = createGrpcTransport({ baseUrl: url });
  return {
    events: createClient(EventService, transport),
    pods: createClient(PodService, transport),
    publicApi: createClient(PublicAPI, transport),
  };
}

test("events of pods continue, and past ones are kept, when the gateway is restarted on its store", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "hostplane-data-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const startedSeconds = BigInt(Math.floor(Date.now() / 1_000)) - 1n;

  const first = await startGatewayUnderTest(t, { data });
  const { events, pods } = clientsOf(first.url);
  let cursor = "";
  async function* reported(client: typeof events): AsyncGenerator<Event> {
    const start = cursor === "" ? {} : { start: { case: "cursor" as const, value: cursor } };
    for await (const { message } of client.subscribe(
      { ...start, topics: ["pods"] },
      { signal: patience() },
    )) {
      cursor = message.value?.cursor ?? cursor;
      if (message.case === "event") {
        yield message.value;
      }
    }
  }
  const stream = reported(events);
  const opening = stream.next();
  const created = (await pods.listPods({})).pods.find(({ name }) => name === "sandbox-new");
  const { operation } = await pods.startPod({ pod: created?.id ?? "" });
  await pods.pullImage({ reference: "localhost/sandbox/pulled:1" });
  const words: Event[] = [];
  for (let next = await opening; next.done !== true; next = await stream.next()) {
    words.push(next.value);
    const [started, pulled] = [
      "container.started sandbox-new/sandbox-idle",
      "image.added localhost/sandbox/pulled:1",
    ];
    if ([started, pulled].every((word) => words.map(wordOf).includes(word))) {
      break;
    }
  }
  const start = words.find((event) => wordOf(event) === "pod.started sandbox-new");
  t.equal(start?.operationId, operation?.id);
  t.equal(start?.resource, `pods/${created?.id}`);
  await first.gateway.close();

  // Its pods are back in their initial state, and there is no record of earlier changes.
  const second = await startGatewayUnderTest(t, { data });
  const clients = clientsOf(second.url);
  const later: string[] = [];
  for await (const event of reported(clients.events)) {
    later.push(wordOf(event));
    if (event.type === "gap") {
      break;
    }
  }
  t.ok(later.includes("pod.exited sandbox-new (reconciled)"), later.join(", "));
  t.ok(later.includes("image.removed localhost/sandbox/pulled:1 (reconciled)"));

  const replayed: RktEvent[] = [];
  const isOver = ({ type, id }: RktEvent) => type === EventType.POD_EXITED && id === created?.id;
  const filter = { sinceTime: startedSeconds };
  for await (const message of clients.publicApi.listenEvents({ filter }, { signal: patience() })) {
    replayed.push(...message.events);
    if (message.events.some(isOver)) {
      break;
    }
  }
  t.ok(replayed.some(({ type, id }) => type === EventType.POD_STARTED && id === created?.id));
  t.ok(replayed.some(({ from }) => from === "localhost/sandbox/pulled:1"));
});
