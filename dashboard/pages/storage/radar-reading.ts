import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import type { ClusterRadar } from "../../../gen/resources/stats/stats_pb.ts";
import { type Reading, useRead } from "../../live/use-read.ts";
import { client } from "../../session.ts";
import { parseRadarWords, type RadarWords } from "./radar-words.ts";

/** The scores with their explanations. */
export interface RadarReading {
  readonly radar: ClusterRadar | undefined;
  readonly because: RadarWords;
}

/**
 * The radar of GetClusterRadar.
 * @param cluster the newest message of the cluster's stream: if its scores differ, the radar is read again
 */
export function useRadar(cluster: WatchClusterStatsResponse | undefined): Signal<Reading<RadarReading>> {
  const { reading, reload } = useRead(
    async (options) => {
      let because: RadarWords = {};
      const { radar } = await client.stats.getClusterRadar(
        {},
        {
          ...options,
          onHeader: (headers) => {
            because = parseRadarWords(headers.get("hostplane-radar") ?? "");
          },
        },
      );
      return { radar, because };
    },
    { topics: ["storage"] },
  );
  const scores = JSON.stringify(cluster?.radar);
  const before = useRef(scores);
  useEffect(() => {
    // The first message repeats what has just been read.
    if (before.current !== undefined && before.current !== scores) {
      reload();
    }
    before.current = scores;
  }, [scores, reload]);
  return reading;
}
