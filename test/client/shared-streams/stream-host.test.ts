import { mock } from "node:test";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { type Test, test } from "tap";
import type { FromHost, ToHost } from "../../../client/shared-streams/port-messages.ts";
import { createStreamHost } from "../../../client/shared-streams/stream-host.ts";
import { CarryStreamsResponseSchema } from "../../../gen/hostplane/v1/stream_pb.ts";

type CarrierMessage = NonNullable<MessageInitShape<typeof CarryStreamsResponseSchema>["message"]>;

const mebibyte = 1 << 20;

/** Lets pending promises settle: none of them waits for a real timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) {
    await new Promise(setImmediate);
  }
}

/** Starts a host, with a gateway that answers what the test sends, and one window. */
async function startHost(t: Test) {
  let carrier: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isCarried = false;
  const paths: string[] = [];
  const host = createStreamHost(async (input, init) => {
    const path = new URL(String(input)).pathname.split("/").at(-1) ?? "";
    paths.push(path);
    if (path !== "CarryStreams") {
      return new Response(new Uint8Array(), { headers: { "content-type": "application/proto" } });
    }
    isCarried = true;
    init?.signal?.addEventListener("abort", () => {
      isCarried = false;
      carrier?.error(init.signal?.reason);
    });
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        carrier = controller;
      },
    });
    return new Response(body, { headers: { "content-type": "application/connect+proto" } });
  });
  const posted: FromHost[] = [];
  let receive = (_event: { readonly data: unknown }) => {};
  host.serve({
    postMessage: (message) => posted.push(message as FromHost),
    addEventListener: (_type, listener) => {
      receive = listener;
    },
    start: () => {},
    close: () => {},
  });
  const window = (data: ToHost) => receive({ data });
  const send = async (message: CarrierMessage) => {
    const bytes = toBinary(CarryStreamsResponseSchema, create(CarryStreamsResponseSchema, { message }));
    if (isCarried) {
      carrier?.enqueue(encodeEnvelope(0, bytes));
    }
    await settle();
  };
  const headers = { "content-type": "application/connect+proto" };
  const open = (id: number) =>
    window({ type: "open", id, baseUrl: "http://gateway", method: "p.S/M", headers, body: new Uint8Array() });
  open(1);
  open(2);
  t.teardown(async () => {
    window({ type: "close", id: 1 });
    window({ type: "close", id: 2 });
    await settle();
  });
  await settle();
  await send({ case: "opened", value: { carrierId: "c" } });
  t.same(paths, ["CarryStreams", "OpenStream", "OpenStream"]);
  return { window, send, posted, paths, isCarried: () => isCarried };
}

test("the stream of a window that reads too slowly is cut; others continue", async (t) => {
  const { window, send, posted, paths } = await startHost(t);
  const data = new Uint8Array(mebibyte);
  for (let sent = 0; sent < 40; sent += 1) {
    await send({ case: "data", value: { stream: 1, data } });
    await send({ case: "data", value: { stream: 2, data } });
    window({ type: "read", id: 2, bytes: mebibyte });
  }
  const received = (id: number) => posted.filter((each) => each.type === "data" && each.id === id).length;
  t.equal(received(1), 17, "16 MiB and one part");
  t.equal(received(2), 40);
  t.same(
    posted.filter(({ type }) => type === "lost"),
    [{ type: "lost", id: 1 }],
  );
  t.equal(paths.at(-1), "CloseStream");
});

test("the streams of a window that has closed without notice end, and the connection with them", async (t) => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  t.teardown(() => mock.timers.reset());
  const { window, send, posted, isCarried } = await startHost(t);
  // Hidden pages send one ping a minute.
  for (let minute = 0; minute < 10; minute += 1) {
    for (let seconds = 0; seconds < 60; seconds += 5) {
      mock.timers.tick(5_000);
      await send({ case: "heartbeat", value: {} });
    }
    window({ type: "ping" });
  }
  t.ok(isCarried());
  t.ok(posted.every(({ type }) => type === "pong"));
  for (let seconds = 0; isCarried() && seconds < 240; seconds += 5) {
    mock.timers.tick(5_000);
    await settle();
    await send({ case: "heartbeat", value: {} });
  }
  t.notOk(isCarried());
});

test("a carrier without heartbeats is lost, with all of its streams", async (t) => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  t.teardown(() => mock.timers.reset());
  const { send, posted, isCarried } = await startHost(t);
  mock.timers.tick(14_000);
  await send({ case: "heartbeat", value: {} });
  mock.timers.tick(14_000);
  await settle();
  t.ok(isCarried());
  mock.timers.tick(1_000);
  await settle();
  t.notOk(isCarried());
  t.same(posted, [
    { type: "lost", id: 1 },
    { type: "lost", id: 2 },
  ]);
});
