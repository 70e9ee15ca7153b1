import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Test } from "tap";
import { ErrorInfoSchema } from "../../../../gen/google/rpc/error_details_pb.ts";
import {
  type EventSchema,
  FollowEventsRequestSchema,
  FollowEventsResponseSchema,
  type FollowedEvent,
  FollowedEventSchema,
} from "../../../../gen/hostplane/v1/event_pb.ts";
import { createLinkServer } from "../../../../server/fleet/agent/link-server.ts";
import { envelopeHeadBytes, envelopeOf } from "../../../../server/rpc/protocols/wire/envelope.ts";
import { type LinkUnderTest, openLink } from "../../harness/hosts-under-test.ts";

/** What a scripted host can answer to FollowEvents. */
export interface HostAnswer {
  send(message: MessageInitShape<typeof FollowEventsResponseSchema>): void;
  /** Sends bytes as they are. */
  sendBytes(bytes: Uint8Array): void;
  /** Ends the stream without an error. */
  end(): void;
  /** Ends the stream with an error. */
  fail(reason: string, metadata?: Readonly<Record<string, string>>): void;
}

/** Opens the connection of a host that answers as a test says, and not as an agent does. */
export function openScriptedHost(
  t: Test,
  name: string,
  answer: (cursor: string, host: HostAnswer) => void,
): Promise<LinkUnderTest> {
  const server = createLinkServer({
    onStream: () => false,
    async onRequest(request, response) {
      const chunks: Buffer[] = [];
      for await (const chunk of request) {
        chunks.push(chunk);
      }
      const { cursor } = fromBinary(
        FollowEventsRequestSchema,
        Buffer.concat(chunks).subarray(envelopeHeadBytes),
      );
      response.writeHead(200, { "content-type": "application/connect+proto" });
      answer(cursor, {
        sendBytes: (bytes) => void response.write(bytes),
        end: () => void response.end(envelopeOf(Buffer.from("{}"), 2)),
        send(message) {
          const bytes = toBinary(FollowEventsResponseSchema, create(FollowEventsResponseSchema, message));
          response.write(envelopeOf(bytes));
        },
        fail(reason, metadata = {}) {
          const value = toInfo(reason, metadata);
          const error = {
            code: "out_of_range",
            message: "gone",
            details: [{ type: "google.rpc.ErrorInfo", value }],
          };
          response.end(envelopeOf(Buffer.from(JSON.stringify({ error })), 2));
        },
      });
    },
  });
  return openLink(t, name, (connection) => server.serve(connection, "hub"));
}

function toInfo(reason: string, metadata: Readonly<Record<string, string>>): string {
  const info = create(ErrorInfoSchema, { reason, domain: "hostplane", metadata });
  return Buffer.from(toBinary(ErrorInfoSchema, info)).toString("base64").replace(/=+$/, "");
}

/** Returns an event of a host that is identified by its resource. */
export function hostEvent(id: number, facts: MessageInitShape<typeof EventSchema> = {}): FollowedEvent {
  return create(FollowedEventSchema, {
    event: {
      at: timestampFromMs(1000),
      topic: "volumes",
      type: "volume.created",
      resource: `volumes/${id}`,
      host: "one",
      ...facts,
    },
    services: ["proto.LVService"],
  });
}
