import { once } from "node:events";
import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { SubscribeResponseSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import { createEventMessages, detailFromJson } from "../../../server/domains/events/event-messages.ts";
import { createSharedMessage } from "../../../server/rpc/streams/shared-message.ts";
import { answerParent, cpuMs } from "../servers/bench-process.ts";
import { eventUnderBench } from "./event-under-bench.ts";
import type { FanOutServer } from "./fan-out.ts";

/** The minimum: prepared buffers, and Node's HTTP/2. */

const messages = createEventMessages({
  cursorOf: () => "A".repeat(22),
  details: { volumes: detailFromJson },
  isSandbox: true,
  maxMessageBytes: 4 << 20,
});
const frameOf = (message: ReturnType<typeof messages.event>) =>
  createSharedMessage(SubscribeResponseSchema, create(SubscribeResponseSchema, message)).encoded("binary")
    .frame;
const first = frameOf(messages.snapshot(""));
const event = frameOf(
  messages.event({ seq: 1, atMs: Date.now(), operationId: undefined, ...eventUnderBench(1) }),
);

const server = http2.createServer();
const streams = new Set<http2.ServerHttp2Stream>();
server.on("stream", (stream: http2.ServerHttp2Stream) => {
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
  stream.write(first);
  streams.add(stream);
  stream.on("close", () => streams.delete(stream));
  stream.on("error", () => {});
  stream.resume();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

answerParent(
  {
    target: async () => ({ port: (server.address() as AddressInfo).port }),
    async publish() {
      for (const stream of streams) {
        stream.write(event);
      }
    },
    cpuMs,
  } satisfies FanOutServer,
  () => server.close(),
);
