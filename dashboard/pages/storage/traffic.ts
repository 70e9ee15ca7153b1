import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { type Moment, withMoment } from "../../charts/time-series.ts";
import { connection } from "../../live/event-stream.ts";
import { parseRate } from "./parse-rate.ts";

/** So much is kept and drawn. */
export const spanMs = 5 * 60_000;

/** How often the charts move on. */
const drawMs = 2_000;

/** What was told since the page was opened, up to `nowMs`. */
export interface TrafficSoFar {
  readonly moments: readonly Moment[];
  readonly nowMs: number;
}

/** The figures of the last minutes. */
export interface Traffic {
  readonly soFar: Signal<TrafficSoFar>;
  /** Takes in what the stream tells. */
  readonly add: (message: WatchClusterStatsResponse) => void;
}

/** Where each figure is in a moment. */
export const figureIndex = {
  readBytes: 0,
  writeBytes: 1,
  readOperations: 2,
  writeOperations: 3,
  usedBytes: 4,
};

/** Collects the figures of a cluster while the page is open. Time stands still while the gateway is away. */
export function useTraffic(): Traffic {
  const soFar = useSignal<TrafficSoFar>({ moments: [], nowMs: Date.now() });
  const moments = useRef<readonly Moment[]>([]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (connection.value.state !== "lost") {
        soFar.value = { moments: moments.current, nowMs: Date.now() };
      }
    }, drawMs);
    return () => clearInterval(timer);
  }, [soFar]);
  const add = useCallback(
    (message: WatchClusterStatsResponse) => {
      const isFirst = moments.current.length === 0;
      const nowMs = Date.now();
      moments.current = withMoment(moments.current, { atMs: nowMs, figures: figuresOf(message) }, spanMs);
      if (isFirst) {
        soFar.value = { moments: moments.current, nowMs };
      }
    },
    [soFar],
  );
  return { soFar, add };
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
