import { useMemo } from "preact/hooks";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { inventory } from "../../live/inventory.ts";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { figureTitle } from "../../parts/text/figure-text.ts";
import { labelTexts } from "../../parts/text/label-texts.ts";
import { typeTitle } from "../../parts/text/operation-title.ts";
import { pathOfResource, statusOfResource } from "../../resources/kinds.ts";
import { Page } from "../../shell/page.tsx";
import { FigureValue } from "./figure-value.tsx";

/** The resources of a domain: title, type and state, a column for each figure that one of them has, and their labels. */
export function DomainList({ domain }: { readonly domain: string }) {
  const { resources, isComplete } = inventory.value;
  const rows = useMemo(
    () =>
      [...resources.values()]
        .filter((resource) => resource.domain === domain)
        .sort((a, b) => a.title.localeCompare(b.title)),
    [resources, domain],
  );
  const columns = useMemo(() => columnsOf(rows), [rows]);
  return (
    <Page title={figureTitle(domain)}>
      <DomainNotice domain={domain} />
      {rows.length === 0 && !isComplete ? (
        <Skeleton />
      ) : (
        <DataTable
          caption={figureTitle(domain)}
          columns={columns}
          rows={rows}
          keyOf={({ name }) => name}
          titleOf={({ title }) => title}
          statusOf={(resource) => ({ kind: statusOfResource(resource), text: resource.state })}
          textOf={({ name, state, reason, labels, properties }) =>
            [name, state, reason, ...labelTexts(labels), ...Object.values(properties)].join(" ")
          }
          pathOf={(resource) => pathOfResource(resource) ?? `/${domain}`}
          filters={filters}
          empty="No resources yet."
        />
      )}
    </Page>
  );
}

const title: Column<Resource> = {
  id: "name",
  title: "Name",
  cell: (resource) => resource.title,
  sortBy: (resource) => resource.title,
};

const type: Column<Resource> = {
  id: "type",
  title: "Type",
  width: "medium",
  cell: (resource) => typeTitle(resource.type),
  sortBy: (resource) => resource.type,
};

const state: Column<Resource> = {
  id: "state",
  title: "State",
  width: "medium",
  cell: (resource) => resource.reason || resource.state,
  sortBy: (resource) => resource.state,
  onCard: "place",
};

const labels: Column<Resource> = {
  id: "labels",
  title: "Labels",
  width: "wide",
  rank: 2,
  cell: (resource) => labelTexts(resource.labels).join(", ") || "—",
};

const filters: readonly Filter<Resource>[] = [
  { id: "type", title: "type", valuesOf: (resource) => [typeTitle(resource.type)] },
  { id: "state", title: "state", valuesOf: (resource) => [resource.state] },
  { id: "label", title: "label", valuesOf: (resource) => labelTexts(resource.labels) },
];

function columnsOf(rows: readonly Resource[]): readonly Column<Resource>[] {
  const hasTypes = new Set(rows.map((row) => row.type)).size > 1;
  const figures = new Set(rows.flatMap((row) => row.figures.map(({ name }) => name)));
  return [title, ...(hasTypes ? [type] : []), state, ...[...figures].map(figureColumn), labels];
}

function figureColumn(name: string): Column<Resource> {
  const figureIn = (resource: Resource) => resource.figures.find((figure) => figure.name === name);
  return {
    id: name,
    title: figureTitle(name),
    width: "figure",
    isNumber: true,
    cell: (resource) => <FigureValue of={figureIn(resource)} />,
    sortBy: (resource) => figureIn(resource)?.value,
    onCard: "figure",
  };
}
