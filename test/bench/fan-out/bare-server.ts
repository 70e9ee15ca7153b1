import { once } from "node:events";
import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { answerParent, cpuMs } from "../bench-process.ts";
import type { FanOutServer } from "./fan-out.ts";

/** The least: one buffer, and Node's HTTP/2. */

const server = http2.createServer();
const streams = new Set<http2.ServerHttp2Stream>();
server.on("stream", (stream) => {
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
  stream.write(Buffer.from(encodeEnvelope(0, new Uint8Array([0x0a, 0]))));
  streams.add(stream);
  stream.on("close", () => streams.delete(stream));
  stream.on("error", () => {});
  stream.resume();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

// As long as the message of `event-server.ts`, and marked as an event.
const event = new Uint8Array(190);
event.set([0x12, 0xbb, 0x01]);
const frame = Buffer.from(encodeEnvelope(0, event));

answerParent(
  {
    port: async () => (server.address() as AddressInfo).port,
    async publish() {
      for (const stream of streams) {
        stream.write(frame);
      }
    },
    cpuMs,
  } satisfies FanOutServer,
  () => server.close(),
);
