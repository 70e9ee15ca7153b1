import { fromBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { EventService, SubscribeResponseSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { LVService, VGService, WatchResponseSchema } from "../../../../gen/proto/lvmd_pb.ts";
import { openCarrierClient } from "../../domains/streams/carrier-client.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { startFleetUnderTest } from "./fleet-under-test.ts";

test("a carrier of a hub has the hub's streams, and one of a host has the host's", async (t) => {
  const { hub, authorization } = await startFleetUnderTest(t);
  const transportTo = (headers: Readonly<Record<string, string>>) =>
    createConnectTransport({
      baseUrl: hub.url,
      httpVersion: "1.1",
      interceptors: [
        (next) => (request) => {
          for (const [name, value] of Object.entries({ authorization, ...headers })) {
            request.header.set(name, value);
          }
          return next(request);
        },
      ],
    });
  const ofHub = await openCarrierClient(t, transportTo({}));
  const events = await ofHub.open(EventService.method.subscribe);
  t.equal(events.status, 200);
  t.match(fromBinary(SubscribeResponseSchema, events.envelopes()[0]?.data ?? Buffer.of()), {
    message: { case: "snapshot" },
  });
  t.match(await rpcErrorOf(ofHub.open(VGService.method.watch)), {
    code: "FAILED_PRECONDITION",
    reason: "HOST_REQUIRED",
    message: /name one in CarryStreams/,
  });

  const onHost = transportTo({ "hostplane-host": "node-1" });
  const ofHost = await openCarrierClient(t, onHost);
  const space = await ofHost.open(VGService.method.watch);
  await createClient(LVService, onHost).createLV({ name: "carried", sizeGb: 1n });
  await ofHost.until(space, 2);
  const freeBytes = space.envelopes().map(({ data }) => fromBinary(WatchResponseSchema, data).freeBytes);
  t.equal((freeBytes[0] ?? 0n) - (freeBytes.at(-1) ?? 0n), 2n ** 30n);
});
