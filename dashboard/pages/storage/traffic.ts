import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { type Moment, withMoment } from "../../charts/time-series.ts";
import { parseRate } from "./parse-rate.ts";

/** Time span that is kept and drawn. */
export const spanMs = 5 * 60_000;

/** Time between two redraws of the charts. */
const drawMs = 2_000;

/** Index of each figure in a moment. */
export const figureIndex = {
  readBytes: 0,
  writeBytes: 1,
  readOperations: 2,
  writeOperations: 3,
  recoveryBytes: 4,
  usedBytes: 5,
};

/** Figures received while the Ceph page was shown, kept until the dashboard is closed; see `figureIndex`. */
export const trafficMoments = signal<readonly Moment[]>([]);

/** Adds a message of the stream. */
export function takeTraffic(message: WatchClusterStatsResponse, atMs = Date.now()): void {
  take({ atMs, figures: figuresOf(message) });
}

/** Records that no messages are received from now on; the charts draw no line for that time. */
export function pauseTraffic(atMs = Date.now()): void {
  if (trafficMoments.peek().length > 0) {
    take({ atMs, figures: Object.keys(figureIndex).map(() => undefined) });
  }
}

/** The time up to which charts are drawn, updated while the component is shown. */
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

/** Returns the figures in the order of `figureIndex`. Stale ones are unknown. */
function figuresOf({
  stats,
  recovery,
  staleBecause,
}: WatchClusterStatsResponse): readonly (number | undefined)[] {
  const isKnown = staleBecause === "";
  const known = isKnown ? stats : undefined;
  const { clientRead, clientWrite, clientReadOps, clientWriteOps } = known?.iops ?? {};
  const used = known?.data?.usage?.used;
  return [
    ...[clientRead, clientWrite, clientReadOps, clientWriteOps].map((text) => parseRate(text ?? "")),
    isKnown ? recovery?.bytesPerSecond : undefined,
    used === undefined ? undefined : Number(used),
  ];
}
