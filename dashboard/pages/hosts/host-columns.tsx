import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Host } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { BackendHealth } from "../../../gen/hostplane/v1/system_pb.ts";
import { Meter } from "../../parts/figure/meter.tsx";
import { isLacking, isServed } from "../../parts/health/backend-health.ts";
import {
  figureName,
  fullestFigure,
  type HostNeed,
  type HostRow,
  usedPercentOfFigure,
} from "../../parts/health/host-needs.ts";
import { StatusText } from "../../parts/status.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { labelTexts } from "../../parts/text/label-texts.ts";
import { sizeText } from "../../parts/text/size-text.ts";
import { Tags } from "../../parts/text/tags.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";

/** @param hubVersion version that all hosts should have */
export function hostColumns(hubVersion: string): readonly Column<HostRow>[] {
  return [
    { id: "name", title: "Name", cell: ({ host }) => host.name, sortBy: ({ host }) => host.name },
    {
      id: "needs",
      title: "Needs you",
      width: "name",
      cell: ({ needs }) => <Needs of={needs} />,
      onCard: "place",
    },
    {
      id: "full",
      title: "Fullest",
      width: "usage",
      cell: ({ host }) => <Fullest of={host} />,
      sortBy: ({ host }) => fullestPercent(host),
      onCard: "figure",
    },
    {
      id: "load",
      title: "Load",
      width: "figure",
      isNumber: true,
      cell: ({ host: { report } }) =>
        report?.cpuLoad === undefined ? (
          "—"
        ) : (
          <span title="Processes that run or wait, per CPU, in the last minute">{report.cpuLoad}</span>
        ),
      sortBy: ({ host: { report } }) => report?.cpuLoad,
    },
    {
      id: "systems",
      title: "Systems",
      width: "figure",
      rank: 2,
      cell: ({ host }) => <Systems of={host} />,
    },
    {
      id: "version",
      title: "Version",
      width: "short",
      // If it differs, the needs say so.
      rank: 3,
      cell: ({ host: { report } }) =>
        report === undefined ? (
          "—"
        ) : report.version === hubVersion ? (
          report.version
        ) : (
          <span class="text-warn" title={`the hub has ${hubVersion}`}>
            {report.version} ≠
          </span>
        ),
      sortBy: ({ host }) => host.report?.version,
      onCard: "place",
    },
    {
      id: "seen",
      title: "Last seen",
      width: "time",
      isNumber: true,
      cell: ({ host: { connected, lastSeenAt } }) =>
        connected ? (
          <span class="quiet">now</span>
        ) : lastSeenAt === undefined ? (
          "never"
        ) : (
          <TimeText at={lastSeenAt} />
        ),
      sortBy: ({ host: { lastSeenAt } }) => (lastSeenAt === undefined ? undefined : timestampMs(lastSeenAt)),
      onCard: "figure",
    },
    {
      id: "labels",
      title: "Labels",
      width: "wide",
      rank: 2,
      cell: ({ host }) => <Tags of={labelTexts(host.labels)} />,
    },
  ];
}

/** What every table of hosts has in common. */
export const hostFilters: readonly Filter<HostRow>[] = [
  {
    id: "needs",
    title: "need",
    valuesOf: ({ needs }) => (needs.length === 0 ? ["none"] : [...new Set(needs.map(({ kind }) => kind))]),
  },
  { id: "label", title: "label", valuesOf: ({ host }) => labelTexts(host.labels) },
  {
    id: "version",
    title: "version",
    valuesOf: ({ host }) => (host.report === undefined ? [] : [host.report.version]),
  },
  { id: "system", title: "system", valuesOf: ({ host }) => systemsOf(host) },
];

/** The most urgent need in words, with the number of the others. */
function Needs({ of: needs }: { readonly of: readonly HostNeed[] }) {
  const [first, ...others] = needs;
  if (first === undefined) {
    return <span class="quiet">—</span>;
  }
  const all = needs.map(({ text }) => text).join("; ");
  return (
    <span title={all}>
      <span class={first.severity === "failed" ? "text-err" : "text-warn"}>{first.text}</span>
      {others.length > 0 && <span class="quiet"> and {others.length} more</span>}
    </span>
  );
}

/** How many of the systems are healthy, with all of them on hover. */
function Systems({ of: host }: { readonly of: Host }) {
  const systems = (host.report?.backends ?? []).filter(isServed);
  const lacking = systems.filter(isLacking);
  const worst = lacking.some(({ health }) => health === BackendHealth.UNAVAILABLE) ? "failed" : "warn";
  const names = systems.map(
    (system) => `${system.name || system.domain}${isLacking(system) ? ": not healthy" : ""}`,
  );
  return systems.length === 0 ? (
    <>—</>
  ) : (
    <span title={names.join(", ")}>
      <StatusText kind={lacking.length === 0 ? "ok" : worst}>
        {systems.length - lacking.length} of {systems.length}
      </StatusText>
    </span>
  );
}

function Fullest({ of: host }: { readonly of: Host }) {
  const figure = fullestFigure(host);
  if (figure === undefined) {
    return <span class="quiet">—</span>;
  }
  const free = sizeText(figure.totalBytes - figure.usedBytes);
  const name = figureName(figure);
  return (
    <span title={`${name}: ${free} of ${sizeText(figure.totalBytes)} free`}>
      <Meter percent={usedPercentOfFigure(figure)} label={`${name} of ${host.name}, in use`} />
    </span>
  );
}

function fullestPercent(host: Host): number | undefined {
  const figure = fullestFigure(host);
  return figure && usedPercentOfFigure(figure);
}

function systemsOf({ report }: Host): readonly string[] {
  return (report?.backends ?? []).filter(isServed).map(({ name, domain }) => name || domain);
}
