import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { type Moment, withMoment } from "../../charts/time-series.ts";
import { parseRate } from "./parse-rate.ts";

/** So much is kept and drawn. */
export const spanMs = 5 * 60_000;

/** How often the charts move on. */
const drawMs = 2_000;

/** Where each figure is in a moment. */
export const figureIndex = {
  readBytes: 0,
  writeBytes: 1,
  readOperations: 2,
  writeOperations: 3,
  usedBytes: 4,
};

/** What was told while the Ceph page was shown, as long as the dashboard is open; see `figureIndex`. */
export const trafficMoments = signal<readonly Moment[]>([]);

/** Takes in what the stream tells. */
export function takeTraffic(message: WatchClusterStatsResponse, atMs = Date.now()): void {
  take({ atMs, figures: figuresOf(message) });
}

/** Takes in that nobody listens from now on: what happens meanwhile is not known, and no line is drawn. */
export function pauseTraffic(atMs = Date.now()): void {
  if (trafficMoments.peek().length > 0) {
    take({ atMs, figures: Object.keys(figureIndex).map(() => undefined) });
  }
}

/** The time up to which charts are drawn, as long as the component is shown. */
export function useNowMs(): number {
  const nowMs = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      nowMs.value = Date.now();
    }, drawMs);
    return () => clearInterval(timer);
  }, [nowMs]);
  return nowMs.value;
}

function take(moment: Moment): void {
  trafficMoments.value = withMoment(trafficMoments.peek(), moment, spanMs);
}

/** By `figureIndex`. What is stale is not known now. */
function figuresOf({ stats, staleBecause }: WatchClusterStatsResponse): readonly (number | undefined)[] {
  const known = staleBecause === "" ? stats : undefined;
  const { clientRead, clientWrite, clientReadOps, clientWriteOps } = known?.iops ?? {};
  const used = known?.data?.usage?.used;
  return [
    ...[clientRead, clientWrite, clientReadOps, clientWriteOps].map((text) => parseRate(text ?? "")),
    used === undefined ? undefined : Number(used),
  ];
}
