import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter, once } from "node:events";
import { observeStep } from "../host/observe-step.ts";
import { createSnapshotCache } from "../host/snapshot.ts";
import type { EventPlace, PodRuntime, RuntimeEvent } from "./adapter.ts";
import { assertStep } from "./assert-step.ts";
import { createPodmanClient } from "./client.ts";
import { nowNs } from "./clock.ts";
import { commandOf } from "./commands.ts";
import { createEventInterpreter } from "./events/event-meaning.ts";
import { createEventQueue, gapEvent } from "./events/event-queue.ts";
import { createEventStream, marginNs } from "./events/event-stream.ts";
import { createPastReader } from "./events/past-events.ts";
import { type PodmanInfo, readInfo } from "./info.ts";
import { inspectPodman } from "./inspect.ts";
import { readLogs } from "./logs/logs.ts";
import { assertRuntimeId } from "./names.ts";
import type { EventRecord } from "./parse/parse-event.ts";
import type { RuntimeImage } from "./runtime-state.ts";
import { createStateReader, inspectImage, inspectPod, readImageUsers } from "./state.ts";
import { makeStep } from "./steps.ts";

export interface PodmanOptions {
  /** E.g. `/run/podman/podman.sock`. */
  readonly socketPath: string;
  /**
   * Interval of comparing everything with full lists, for changes without an event, such as an image that lost its
   * name; 60,000 by default.
   */
  readonly resyncMs?: number;
  /** Maximum number of events that wait for a slow reader; 10,000 by default. */
  readonly queueLimit?: number;
}

/**
 * Creates the adapter for this host's Podman. Each event marks the object that it names as stale; it is read again at
 * once if there are subscribers, else by the next read. So a read makes no calls while nothing happens. While the event
 * stream is down, each read fetches all lists.
 */
export function createPodman(options: PodmanOptions): PodRuntime {
  const { socketPath, resyncMs = 60_000, queueLimit = 10_000 } = options;
  const client = createPodmanClient(socketPath);
  const interpreter = createEventInterpreter();
  const past = createPastReader(client, interpreter);
  const state = createStateReader(client, { onLists: interpreter.learn, onImages: emitImageEvents });
  const cache = createSnapshotCache({ system: "podman", load: state.load });
  const emitter = new EventEmitter<{ event: [RuntimeEvent]; change: [containerId: string | undefined] }>();
  emitter.setMaxListeners(0);
  const closing = new AbortController();
  let info: Promise<PodmanInfo> | undefined;
  let imageChanges = 0;

  const stream = createEventStream({
    client,
    onRecords: interpreter.preview,
    onRecord: take,
    async onLive() {
      touch(undefined);
      // The containers and their pods must be known to interpret the stream.
      await cache.read();
    },
    onLost() {
      // The service that comes back may have another version.
      info = undefined;
      touch(undefined);
    },
    onGap: (sinceNs) => emitter.emit("event", gapEvent(sinceNs, nowNs())),
  });
  // The timer's work must not be attributed to the call that created the adapter.
  const timer = AsyncLocalStorage.snapshot()(() => setInterval(() => touch(undefined), resyncMs).unref());

  /** Marks the state as stale. @param containerId undefined when anything may have changed */
  function touch(containerId: string | undefined): void {
    if (closing.signal.aborted) {
      return;
    }
    if (containerId === undefined) {
      state.touchAll();
    }
    cache.invalidate();
    emitter.emit("change", containerId);
  }

  function take(record: EventRecord, isPast: boolean): void {
    const { event, podId, isUnknown } = interpreter.read(record);
    if (isPast) {
      return;
    }
    // Image events are unreliable: `pull` occurs whenever a container is created, `remove` when one of two names is
    // removed, and `build`, `pull` and `load` name no image. So the lists of images are compared instead.
    if (record.type === "image" || record.action === "commit") {
      state.touchImages();
      cache.invalidate();
    } else if (podId !== undefined) {
      state.touchPod(podId);
      touch(record.id);
    } else if (isUnknown || record.type === "system") {
      touch(undefined);
    } else if (record.type === "container") {
      emitter.emit("change", record.id);
    }
    if (event !== undefined) {
      emitter.emit("event", event);
    }
  }

  function emitImageEvents(added: readonly RuntimeImage[], removed: readonly RuntimeImage[]): void {
    const emit = (kind: "imageAdded" | "imageRemoved", { id: imageId, names: imageNames }: RuntimeImage) => {
      const timeNs = nowNs();
      imageChanges += 1;
      emitter.emit("event", { kind, timeNs, key: `${timeNs}:${kind}:${imageChanges}`, imageId, imageNames });
    };
    for (const image of removed) {
      emit("imageRemoved", image);
    }
    for (const image of added) {
      emit("imageAdded", image);
    }
  }

  async function* events(
    { after }: { readonly after?: EventPlace },
    leaving: AbortSignal,
  ): AsyncGenerator<readonly RuntimeEvent[], void> {
    const signal = AbortSignal.any([leaving, closing.signal]);
    const queue = createEventQueue(queueLimit);
    const undeliveredSinceNs = stream.sinceNs();
    emitter.on("event", queue.push);
    // Image events result from reading images, which a subscription keeps going.
    const unsubscribe = cache.subscribe(() => {});
    try {
      cache.read().catch(() => {});
      const delivered = new Set<string>();
      if (after !== undefined) {
        // The lists are needed to interpret the records, and records made between reading them and the start of the
        // stream would be lost.
        await cache.read(signal);
        await Promise.race([stream.started, once(signal, "abort")]);
        const { records, events } = await past.readAfter(after, undeliveredSinceNs, signal);
        // The stream may still deliver records from before `after`.
        for (const { key, timeNs } of records) {
          if (timeNs > undeliveredSinceNs - marginNs) {
            delivered.add(key);
          }
        }
        yield events;
      }
      for (let batch = await queue.take(signal); batch !== undefined; batch = await queue.take(signal)) {
        const events = batch.filter(({ key }) => !delivered.delete(key));
        if (events.length > 0) {
          yield events;
        }
      }
    } finally {
      emitter.off("event", queue.push);
      unsubscribe();
    }
  }

  function onContainerChange(containerId: string, listener: () => void): () => void {
    const onChange = (id: string | undefined) => {
      if (id === undefined || id === containerId) {
        listener();
      }
    };
    emitter.on("change", onChange);
    return () => emitter.off("change", onChange);
  }

  return {
    kind: "real",
    read(signal) {
      if (!stream.isLive()) {
        state.touchAll();
        cache.invalidate();
      }
      return cache.read(signal);
    },
    subscribe: cache.subscribe,
    events,
    async history({ sinceNs, untilNs }, signal) {
      const records = await past.read(sinceNs, signal);
      const window = records.filter(({ timeNs }) => timeNs >= sinceNs && timeNs <= untilNs);
      return window.flatMap(({ event }) => event ?? []);
    },
    logs(containerId, options, signal) {
      assertRuntimeId(containerId, "containerId");
      const source = { client, onChange: onContainerChange };
      return readLogs(source, containerId, options, AbortSignal.any([signal, closing.signal]));
    },
    async inspectPod(podId, signal) {
      assertRuntimeId(podId, "podId");
      return inspectPod(client, podId, signal);
    },
    async inspectContainer(containerId, signal) {
      assertRuntimeId(containerId, "containerId");
      return (await client.text(`containers/${containerId}/json`, signal)).trim();
    },
    async inspectImage(imageId, signal) {
      assertRuntimeId(imageId, "imageId");
      return inspectImage(client, imageId, signal);
    },
    imageUsers: (imageId, signal) => readImageUsers(client, imageId, signal),
    commandOf,
    async run(step, options = {}) {
      assertStep(step);
      try {
        const tool = { program: "podman", subcommand: step.kind, argv: commandOf(step) };
        return await observeStep(tool, () => makeStep(client, step, options));
      } finally {
        // Also after a failure, which often means that the caller relied on an outdated state.
        if ("podId" in step) {
          state.touchPod(step.podId);
        } else {
          state.touchImages();
        }
        cache.invalidate();
      }
    },
    async info(signal) {
      signal?.throwIfAborted();
      info ??= readInfo(client).catch((error: unknown) => {
        info = undefined;
        throw error;
      });
      const { name, version, storeDirectory, configDirectory } = await info;
      return { name, version, storeDirectory, configDirectory };
    },
    inspect: () => inspectPodman(client, socketPath),
    async close() {
      closing.abort();
      clearInterval(timer);
      cache.close();
      await stream.close();
      await client.close();
    },
  };
}
