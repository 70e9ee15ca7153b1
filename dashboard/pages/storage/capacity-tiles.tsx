import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { PercentText } from "../../parts/figure/meter.tsx";
import type { Tile } from "../../parts/figure/tiles.tsx";
import { parseSize } from "../../parts/form/parse-size.ts";
import { sizeText } from "../../parts/text/size-text.ts";

const unknown = "—";

/** The space of the cluster and what it holds. */
export function capacityTiles(cluster: WatchClusterStatsResponse): readonly Tile[] {
  const data = cluster.stats?.data;
  const usage = data?.usage;
  const used =
    usage === undefined || usage.total === 0n ? undefined : (Number(usage.used) / Number(usage.total)) * 100;
  // A number that could not be read is 0.
  const isVolumesMissing = cluster.missing.some(({ field }) => field === "data.volumes");
  return [
    {
      label: "Raw space used",
      value: <PercentText percent={used} />,
      ...(usage === undefined ? {} : { note: `${sizeText(usage.used)} of ${sizeText(usage.total)}` }),
    },
    {
      label: "Free",
      value: usage === undefined ? unknown : sizeText(usage.available),
      note: "before copies",
    },
    {
      label: "Stored",
      value: data?.objects?.size ? sizeText(parseSize(data.objects.size)) : unknown,
      ...(data?.objects === undefined
        ? {}
        : { note: `${data.objects.objectCount.toLocaleString("en")} objects` }),
    },
    {
      label: "Volumes",
      value: isVolumesMissing || data === undefined ? unknown : data.volumes.toLocaleString("en"),
      note: "images, subvolumes",
    },
    { label: "Pools", value: data?.pools?.pools ?? unknown },
    { label: "Placement groups", value: data?.pools?.pgs?.activeClean ?? unknown, note: "active+clean" },
  ];
}
