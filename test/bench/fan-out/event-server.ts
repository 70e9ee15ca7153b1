import { createVisibilityOf } from "../../../server/domain/visibility.ts";
import { detailFromJson } from "../../../server/domains/events/event-messages.ts";
import { createEventService } from "../../../server/domains/events/service.ts";
import { createEvents } from "../../../server/events/events.ts";
import { answerParent, cpuMs } from "../servers/bench-process.ts";
import { startGatewayUnderBench } from "../servers/gateway-under-bench.ts";
import { eventUnderBench } from "./event-under-bench.ts";
import type { FanOutServer } from "./fan-out.ts";

/** A gateway with its event log and no systems; the benchmark writes events to its store. */

const gateway = await startGatewayUnderBench(async ({ store, maxMessageBytes, onFailed, opened }) => {
  const events = await createEvents({ store, keepMs: 3_600_000, onFailed });
  opened.defer(() => events.close());
  return [
    createEventService({
      events,
      details: { volumes: detailFromJson },
      visibilityOf: createVisibilityOf({ hub: undefined }),
      isSandbox: true,
      maxMessageBytes,
      log: { warn: () => {} },
    }),
  ];
});

answerParent(
  {
    target: async () => gateway.target,
    publish: (count: number) => gateway.store.run("events.append", { events: [eventUnderBench(count)] }),
    cpuMs,
  } satisfies FanOutServer,
  () => gateway.close(),
);
