import { once } from "node:events";
import { connect } from "node:net";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { EventSchema, FollowEventsResponseSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import { cursorFrom } from "../../../server/events/cursor.ts";
import { createLinkServer } from "../../../server/fleet/agent/link-server.ts";
import type { NodeResponse } from "../../../server/rpc/protocols/http/http-exchange.ts";
import { envelopeOf } from "../../../server/rpc/protocols/wire/envelope.ts";
import { eventUnderBench } from "../fan-out/event-under-bench.ts";
import { answerParent } from "../servers/bench-process.ts";

// Hosts that send events on request. They have no log, and cost little: the benchmark is about their hub.

/** A host that writes one event after the other sends about so many at a time. */
const batchSize = 4;

const streams: NodeResponse[] = [];
const followed = Promise.withResolvers<void>();
let expected = 0;
let last = 0;

function write(response: NodeResponse, count: number): void {
  const events = Array.from({ length: count }, () => {
    last += 1;
    const { topic, type, resource, host, services, payload } = eventUnderBench(last);
    const { detail } = fromJson(EventSchema, payload as object as never);
    const event = { topic, type, resource, host, at: timestampFromMs(Date.now()), detail };
    return { event, services: [...services] };
  });
  const cursor = cursorFrom({ epoch: "bench", seq: last });
  const message = create(FollowEventsResponseSchema, { events, cursor });
  response.write(envelopeOf(toBinary(FollowEventsResponseSchema, message)));
}

const server = createLinkServer({
  onStream: () => false,
  onRequest(_request, response) {
    response.writeHead(200, { "content-type": "application/connect+proto" });
    write(response, 0);
    streams.push(response);
    if (streams.length === expected) {
      followed.resolve();
    }
  },
});

const answers = {
  /** Connects each host to the hub. Resolves when the hub follows all of them. */
  async connect({ port, hosts }: { port: number; hosts: number }): Promise<void> {
    expected = hosts;
    for (let index = 0; index < hosts; index += 1) {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      server.serve(socket, "hub");
    }
    await followed.promise;
  },
  /** Sends events, the same number from each host. */
  async publish(count: number): Promise<void> {
    for (let sent = 0; sent < count; ) {
      for (const stream of streams) {
        const size = Math.min(batchSize, count - sent);
        if (size > 0) {
          write(stream, size);
        }
        sent += size;
      }
    }
  },
};

export type EventHosts = typeof answers;

answerParent(answers, () => process.exit());
