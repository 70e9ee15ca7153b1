import { useMemo } from "preact/hooks";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { inventory, resourcesOf } from "../../live/inventory.ts";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { kindOf, pathOfResource } from "../../resources/kinds.ts";
import { Page } from "../../shell/page.tsx";
import { ImageList } from "./image-list.tsx";
import { podColumns, podFilters, podRow } from "./pod-columns.tsx";

/** The pods and images of this host. */
export function PodList() {
  const listed = resourcesOf("pod");
  const pods = useMemo(() => listed.toSorted((a, b) => a.title.localeCompare(b.title)), [listed]);
  const [first] = pods;
  return (
    <Page title="Pods" note={runningText(pods)}>
      <DomainNotice domain="pods" />
      {first === undefined && !inventory.value.isComplete ? (
        <Skeleton />
      ) : (
        <DataTable
          {...podRow}
          caption="Pods"
          columns={podColumns}
          rows={pods}
          filters={podFilters}
          pathOf={(pod) => pathOfResource(pod) ?? "/pods"}
          actions={first === undefined ? [] : kindOf(first).actions()}
          hasTools={pods.length > 0}
          empty={
            <>
              <strong>No pods yet</strong>
              <span>
                Create one on the host: <code>podman pod create --name NAME</code>
              </span>
            </>
          }
        />
      )}
      <ImageList />
    </Page>
  );
}

function runningText(pods: readonly Resource[]): string | undefined {
  const running = pods.filter(({ state }) => state === "running").length;
  return pods.length === 0 ? undefined : `${running} of ${pods.length} running`;
}
