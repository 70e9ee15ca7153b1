import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import {
  createPodmanSandbox,
  type PodmanSandbox,
  type PodmanSandboxOptions,
} from "../../../../../adapters/podman/sandbox.ts";
import { type Event, EventService } from "../../../../../gen/hostplane/v1/event_pb.ts";
import { PublicAPI } from "../../../../../gen/v1alpha/api_pb.ts";
import { createVisibilityOf } from "../../../../../server/domain/visibility.ts";
import { detailFromJson } from "../../../../../server/domains/events/event-messages.ts";
import { createEventService } from "../../../../../server/domains/events/service.ts";
import { createListenEvents } from "../../../../../server/domains/pods/events/listen-events.ts";
import { createOwnChanges, type OwnChanges } from "../../../../../server/domains/pods/events/own-changes.ts";
import {
  createPodObserver,
  type PodObserver,
  type PodObserverOptions,
} from "../../../../../server/domains/pods/events/pod-observer.ts";
import { createPublicApiService } from "../../../../../server/domains/pods/service.ts";
import { createEvents, type Events } from "../../../../../server/events/events.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { startAppUnderTest } from "../../../harness/app-under-test.ts";
import { openOwnStore } from "../../../store/own-store.ts";

export const image = "localhost/test/app:1";

/** A runtime with its own pods, their events, and clients. */
export interface PodEventsUnderTest {
  readonly runtime: PodmanSandbox;
  readonly store: Store;
  readonly events: Events;
  readonly own: OwnChanges;
  readonly publicApi: Client<typeof PublicAPI>;
  readonly eventService: Client<typeof EventService>;
  /** Starts an observer, and waits until it reports. */
  observe(options?: Partial<PodObserverOptions>): Promise<Observing>;
  /** Follows the events of pods from a position, up to a given one. */
  eventsUntil(afterSeq: number, isLast: (event: Event) => boolean): Promise<readonly Event[]>;
}

export interface Observing extends PodObserver {
  close(): Promise<void>;
}

export interface PodEventsOptions extends PodmanSandboxOptions {
  readonly silenceMs?: number;
  readonly keepMs?: number;
}

/** Starts the above; closed with the test. */
export async function startPodEvents(t: Test, options: PodEventsOptions = {}): Promise<PodEventsUnderTest> {
  const runtime = createPodmanSandbox({ pods: [], images: [image], restartMs: 100, ...options });
  const store = await openOwnStore(t);
  const onFailed = (error: unknown) => t.fail(String(error));
  const events = await createEvents({ store, keepMs: options.keepMs ?? 7 * 86_400_000, onFailed });
  const own = createOwnChanges();
  const silence = options.silenceMs === undefined ? {} : { silenceMs: options.silenceMs };
  const visibilityOf = createVisibilityOf({ hub: undefined });
  const app = await startAppUnderTest(t, [
    createEventService({
      events,
      details: { pods: detailFromJson },
      visibilityOf,
      isSandbox: true,
      maxMessageBytes: 4 << 20,
      log: { warn: (message) => t.fail(message) },
    }),
    createPublicApiService({
      runtime,
      importTimes: { importedAtNs: () => undefined },
      logs: { async *read() {} },
      listenEvents: createListenEvents({ events, host: "alpha", visibilityOf, ...silence }),
    }),
  ]);
  // Registered in reverse order of closing.
  t.teardown(() => runtime.close());
  t.teardown(() => events.close());
  const transport = createGrpcTransport({ baseUrl: app.url });
  const eventService = createClient(EventService, transport);

  return {
    runtime,
    store,
    events,
    own,
    publicApi: createClient(PublicAPI, transport),
    eventService,
    async observe(more = {}) {
      const before = await store.run("observed.read", { source: "sandbox-podman/alpha" });
      const observer = createPodObserver({
        runtime,
        own,
        store,
        host: "alpha",
        onFailed,
        settleMs: 20,
        ...more,
      });
      const { close } = observer.begin();
      t.teardown(close);
      for (;;) {
        const { observed } = await store.run("observed.read", { source: "sandbox-podman/alpha" });
        if ((observed?.version ?? 0) > (before.observed?.version ?? 0)) {
          return { ...observer, close };
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    async eventsUntil(afterSeq, isLast) {
      const start = { case: "cursor" as const, value: events.cursorOf(afterSeq) };
      const reported: Event[] = [];
      const signal = AbortSignal.timeout(20_000);
      try {
        for await (const { message } of eventService.subscribe({ start, topics: ["pods"] }, { signal })) {
          if (message.case === "event") {
            reported.push(message.value);
            if (isLast(message.value)) {
              return reported;
            }
          }
        }
      } catch (error) {
        throw new Error(`not reported; received ${reported.map(wordOf).join(", ")}`, { cause: error });
      }
      throw new Error("the stream has ended");
    },
  };
}

/** Summarizes an event: `container.exited web/app 3`. */
export function wordOf({ type, detail }: Event): string {
  switch (detail.case) {
    case "pod": {
      const { name, container, exitCode, reconciled } = detail.value;
      const code = exitCode === undefined ? "" : ` ${exitCode}`;
      return `${type} ${name}${container === "" ? "" : `/${container}`}${code}${reconciled ? " (reconciled)" : ""}`;
    }
    case "image":
      return `${type} ${detail.value.names.join(" ")}${detail.value.reconciled ? " (reconciled)" : ""}`;
    default:
      return type;
  }
}

/** Creates a pod with an app that runs until it is stopped. */
export function createPod(
  runtime: PodmanSandbox,
  name: string,
): { readonly id: string; readonly appId: string } {
  const program = { kind: "tick", everyMs: 10_000 } as const;
  const id = runtime.pods.createPod({ name, containers: [{ name: "app", image, program }] });
  const pod = runtime.pods.state().pods.find((each) => each.id === id);
  return { id, appId: pod?.containers.find(({ isInfra }) => !isInfra)?.id ?? "" };
}
