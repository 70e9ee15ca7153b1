import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import { pointsOf } from "../../../../dashboard/charts/time-series.ts";
import {
  figureIndex,
  pauseTraffic,
  spanMs,
  takeTraffic,
  trafficMoments,
} from "../../../../dashboard/pages/storage/traffic.ts";
import {
  type WatchClusterStatsResponse,
  WatchClusterStatsResponseSchema,
} from "../../../../gen/hostplane/v1/storage_pb.ts";

function reading(clientRead: string): WatchClusterStatsResponse {
  return create(WatchClusterStatsResponseSchema, { stats: { iops: { clientRead } } });
}

test("figures are kept while the page is not shown, with a gap for that time", async (t) => {
  pauseTraffic(0);
  t.same(trafficMoments.value, [], "there is no gap before the first figure");
  takeTraffic(reading("100.00 B/s rd"), 10_000);
  pauseTraffic(20_000);
  takeTraffic(reading("300.00 B/s rd"), 50_000);
  t.same(pointsOf(trafficMoments.value, figureIndex.readBytes, 60_000, spanMs), [
    { x: -50, y: 100 },
    { x: -40, y: null },
    { x: -10, y: 300 },
    { x: 0, y: 300 },
  ]);
});
