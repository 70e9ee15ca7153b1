import { setTimeout as delay } from "node:timers/promises";
import type { Test } from "tap";
import type { LvmAdapter, LvmStep } from "../../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import { createOwnChanges } from "../../../../../server/domains/volumes/events/own-changes.ts";
import {
  observeVolumeChanges,
  type VolumeObserverOptions,
} from "../../../../../server/domains/volumes/events/volume-observer.ts";
import type { SystemObserver } from "../../../../../server/events/observe-system.ts";
import type { NewEvent } from "../../../../../server/events/store/events.ts";
import type { Store } from "../../../../../server/store/store.ts";

/** An observer, and the LVM adapter through which its gateway makes changes. */
export interface ObserverUnderTest extends SystemObserver {
  readonly lvm: LvmAdapter;
  readonly failures: readonly unknown[];
}

/** Creates an in-memory LVM with a group `vg0` of 1,000 extents of 4 MiB; closed when the test ends. */
export function makeLvm(t: Test): LvmAdapter {
  const lvm = createLvmSandbox({ volumeGroups: [{ name: "vg0", sizeBytes: 1000n << 22n }] });
  t.teardown(() => lvm.close());
  return lvm;
}

/** Starts an observer; closed when the test ends. */
export function startObserver(
  t: Test,
  lvm: LvmAdapter,
  store: Pick<Store, "run">,
  options: Partial<VolumeObserverOptions> = {},
): ObserverUnderTest {
  const own = createOwnChanges(lvm);
  const failures: unknown[] = [];
  const observer = observeVolumeChanges({
    store,
    own,
    host: "h1",
    deviceClasses: [{ name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 0 }],
    lowSpacePercent: 10,
    onFailed: (error) => failures.push(error),
    retryMs: 20,
    ...options,
  });
  t.teardown(() => observer.close());
  return { ...observer, lvm: own.lvm, failures };
}

/** Returns all published events. */
export async function publishedEvents(store: Pick<Store, "run">): Promise<NewEvent[]> {
  const { rows } = await store.run("events.read", { afterSeq: 0, limit: 10_000 });
  return rows.map(({ topic, type, resource, host, operation_id, services, payload_json }) => ({
    topic,
    type,
    resource,
    host,
    ...(operation_id === null ? {} : { operationId: operation_id }),
    services: JSON.parse(services),
    payload: JSON.parse(payload_json),
  }));
}

/** Waits until the published events satisfy the condition. */
export async function untilPublished(
  store: Pick<Store, "run" | "subscribe">,
  isEnough: (events: readonly NewEvent[]) => boolean,
): Promise<NewEvent[]> {
  let wake = () => {};
  const unsubscribe = store.subscribe("events", () => wake());
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const events = await publishedEvents(store);
      if (isEnough(events)) {
        return events;
      }
      await woken;
    }
  } finally {
    unsubscribe();
  }
}

/** Waits until the stored state has at least this version. */
export async function untilVersion(
  store: Pick<Store, "run">,
  version: number,
  source = "sandbox-lvm/h1",
): Promise<void> {
  for (;;) {
    const { observed } = await store.run("observed.read", { source });
    if ((observed?.version ?? 0) >= version) {
      return;
    }
    await delay(5);
  }
}

export function create(name: string, tags: readonly string[] = []): LvmStep {
  return { kind: "create", volumeGroupName: "vg0", name, sizeBytes: 1n << 22n, tags };
}
