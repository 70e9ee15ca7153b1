import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { EventService, SubscribeResponseSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import type { Call } from "../../../server/rpc/call.ts";
import type { DirectSink } from "../../../server/rpc/direct-sink.ts";
import { registerService } from "../../../server/rpc/service-handlers.ts";
import { createSharedMessage } from "../../../server/rpc/shared-message.ts";
import { startAppUnderTest } from "../../server/app-under-test.ts";
import { answerParent, cpuMs } from "../bench-process.ts";
import type { FanOutServer } from "./fan-out.ts";

const sinks = new Set<DirectSink>();

async function* subscribe(
  call: Call,
): AsyncGenerator<MessageInitShape<typeof SubscribeResponseSchema>, void> {
  yield { message: { case: "snapshot", value: { cursor: "begin" } } };
  const sink = call.openSink();
  sinks.add(sink);
  await new Promise<void>((resolve) =>
    call.signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  sinks.delete(sink);
}

const service = registerService(EventService, { subscribe: (_request, call) => subscribe(call) });
const app = await startAppUnderTest({ teardown: () => {} }, [service], { logLevel: "warn" });
let sequence = 0;

answerParent(
  {
    port: async () => Number(new URL(app.url).port),
    async publish() {
      sequence += 1;
      const message = createSharedMessage(
        SubscribeResponseSchema,
        create(SubscribeResponseSchema, {
          message: {
            case: "event",
            value: {
              cursor: `cursor ${sequence}`,
              topic: "volumes",
              type: "volume.created",
              resource: "volumeGroups/vg0/volumes/data",
              host: "host",
              detail: {
                case: "volume",
                value: { name: "data", volumeGroup: "vg0", sizeBytes: 1n << 30n, tags: ["a".repeat(80)] },
              },
            },
          },
        }),
      );
      for (const sink of sinks) {
        sink.write(message);
      }
    },
    cpuMs,
  } satisfies FanOutServer,
  () => app.close(),
);
