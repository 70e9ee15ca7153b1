import { useMemo } from "preact/hooks";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { keyOfResource } from "../../host/key-of-resource.ts";
import { figureOf, inventory, usedPercentOf } from "../../live/inventory.ts";
import { Meter } from "../../parts/figure/meter.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { labelTexts } from "../../parts/text/label-texts.ts";
import { sizeText } from "../../parts/text/size-text.ts";
import { Tags } from "../../parts/text/tags.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { kindOf, pathOfResource, statusOfResource } from "../../resources/kinds.ts";
import { Page } from "../../shell/page.tsx";

/** The resources of a hub and of all its hosts, to search. */
export function Resources() {
  const { resources, ofHosts, isComplete } = inventory.value;
  const rows = useMemo(() => [...ofHosts.values(), ...resources.values()], [resources, ofHosts]);
  return (
    <Page title="Resources" note={`${rows.length.toLocaleString("en")} on all hosts`}>
      <Outdated />
      {rows.length === 0 && !isComplete ? (
        <Skeleton />
      ) : (
        <DataTable
          caption="Resources"
          columns={columns}
          rows={rows}
          keyOf={keyOfResource}
          titleOf={({ title }) => title}
          statusOf={(resource) => ({ kind: statusOfResource(resource), text: resource.state })}
          textOf={({ host, name, type, state, reason, labels }) =>
            [host, name, type, state, reason, ...labelTexts(labels)].join(" ")
          }
          pathOf={(resource) => pathOfResource(resource) ?? "/resources"}
          filters={filters}
          hasTools
          empty="No resources yet."
        />
      )}
    </Page>
  );
}

/** Lists the hosts whose resources are missing or old. */
function Outdated() {
  const outdated = [...inventory.value.hosts.values()].filter(({ reason }) => reason !== "");
  return outdated.length === 0 ? null : (
    <Note tone="warn" role="status">
      <ul>
        {outdated.map(({ host, message, readTime }) => (
          <li key={host}>
            <strong>{host}</strong>: {message}
            {readTime !== undefined && (
              <>
                {" "}
                Shown as read <TimeText at={readTime} />.
              </>
            )}
          </li>
        ))}
      </ul>
    </Note>
  );
}

/** A hub's own resources have no host. */
const hostOf = ({ host }: Resource) => host || "hub";
const kindTitleOf = (resource: Resource) => kindOf(resource).title;

const columns: readonly Column<Resource>[] = [
  { id: "name", title: "Name", cell: ({ title }) => title, sortBy: ({ title }) => title },
  { id: "host", title: "Host", width: "medium", cell: hostOf, sortBy: hostOf, onCard: "place" },
  { id: "type", title: "Type", width: "short", cell: kindTitleOf, sortBy: kindTitleOf, onCard: "place" },
  {
    id: "state",
    title: "State",
    width: "medium",
    cell: ({ state, reason }) => reason || state,
    sortBy: ({ state }) => state,
    onCard: "figure",
  },
  {
    id: "size",
    title: "Size",
    width: "figure",
    isNumber: true,
    cell: (resource) => {
      const size = figureOf(resource, "size");
      return size === undefined ? "—" : sizeText(size);
    },
    sortBy: (resource) => figureOf(resource, "size"),
    onCard: "figure",
  },
  {
    id: "used",
    title: "Used",
    width: "usage",
    rank: 2,
    cell: (resource) => <Meter percent={usedPercentOf(resource)} label={`${resource.title}, in use`} />,
    sortBy: usedPercentOf,
  },
  {
    id: "labels",
    title: "Labels",
    width: "wide",
    rank: 3,
    cell: ({ labels }) => <Tags of={labelTexts(labels)} />,
  },
];

const filters: readonly Filter<Resource>[] = [
  { id: "host", title: "host", valuesOf: (resource) => [hostOf(resource)] },
  { id: "type", title: "type", valuesOf: (resource) => [kindTitleOf(resource)] },
  { id: "state", title: "state", valuesOf: ({ state }) => [state] },
  { id: "label", title: "label", valuesOf: ({ labels }) => labelTexts(labels) },
];
