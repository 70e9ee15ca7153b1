import { setTimeout as sleep } from "node:timers/promises";
import { createOwnChanges } from "../../../server/domains/volumes/events/own-changes.ts";
import { observeVolumeChanges } from "../../../server/domains/volumes/events/volume-observer.ts";
import { createVolumeService } from "../../../server/domains/volumes/volume-service/volume-service.ts";
import { createVolumesUnderTest } from "../../server/domains/volumes/volumes-under-test.ts";
import type { Target } from "../load/target.ts";
import { answerParent } from "../servers/bench-process.ts";
import { startGatewayUnderBench } from "../servers/gateway-under-bench.ts";
import { createReportedLvm } from "./reported-lvm.ts";

/** What the process of a gateway with changing volumes answers. All times are in milliseconds. */
export type ChangedVolumes = {
  /** Mean CPU time of reading the JSON of a report, and nothing else. */
  readReports(count: number): number;
  /** Where the volumes are listed. */
  target(): Target;
  /** Changes a volume. Returns the CPU time of the event loop's thread so far. */
  change(): number;
  /** Returns the CPU time of the event loop's thread so far. */
  cpuMs(): number;
  /** Mean time from a change until its event is stored, or with a single volume on the host. */
  eventsOfChanges(parts: { readonly count: number; readonly isSingle: boolean }): Promise<number>;
};

const volumeCount = 3_000;
const deviceClasses = [{ name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 0 }];

const listed = createReportedLvm(volumeCount);
const gateway = await startGatewayUnderBench(async () => {
  const { volumes, serviceChanges } = createVolumesUnderTest(listed.lvm, deviceClasses);
  return [createVolumeService(volumes, serviceChanges)];
});
const { store } = gateway;
const observed = [volumeCount, 1].map((count) => {
  const reported = createReportedLvm(count);
  const own = createOwnChanges(reported.lvm);
  const observer = observeVolumeChanges({
    store,
    own,
    host: `host-with-${count}`,
    deviceClasses,
    lowSpacePercent: 10,
    onFailed: (error) => process.stderr.write(`${error}\n`),
  });
  return { reported, observer, source: `lvm/host-with-${count}` };
});
// The first state that an observer reads yields no event.
for (const { source } of observed) {
  while ((await store.run("observed.read", { source })).observed === undefined) {
    await sleep(10);
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

answerParent(
  {
    readReports(count) {
      const text = listed.report();
      const beganAtMs = threadCpuMs();
      for (let left = count; left > 0; left -= 1) {
        JSON.parse(text);
      }
      return (threadCpuMs() - beganAtMs) / count;
    },
    target: () => gateway.target,
    change() {
      listed.change();
      return threadCpuMs();
    },
    cpuMs: threadCpuMs,
    async eventsOfChanges({ count, isSingle }) {
      const { reported } = observed[isSingle ? 1 : 0] as (typeof observed)[number];
      let sumMs = 0;
      for (let left = count; left > 0; left -= 1) {
        const published = Promise.withResolvers<void>();
        const unsubscribe = store.subscribe("events", () => published.resolve());
        const beganAtMs = performance.now();
        reported.change();
        await published.promise;
        sumMs += performance.now() - beganAtMs;
        unsubscribe();
      }
      return sumMs / count;
    },
  } satisfies ChangedVolumes,
  async () => {
    await Promise.all(observed.map(({ observer }) => observer.close()));
    await gateway.close();
  },
);
