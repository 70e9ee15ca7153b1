import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { Pod, PodContainer, PodNetwork } from "../../../gen/hostplane/v1/pod_pb.ts";
import { Panel } from "../../parts/panel.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { labelTexts } from "../../parts/text/label-texts.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { containerStatus, podIdOf } from "./pod-text.tsx";
import { usePod } from "./use-pod.ts";

/** A pod's containers, networks and labels, live. */
export function PodNow({ resource }: { readonly resource: Resource }) {
  const pod = usePod(podIdOf(resource));
  const labels = labelTexts(resource.labels);
  return (
    <>
      <ReadState of={pod}>{(found) => found !== null && <Parts of={found} />}</ReadState>
      <dl class="facts">
        <dt>Id</dt>
        <dd>
          <code>{podIdOf(resource)}</code>
        </dd>
        <dt>Labels</dt>
        <dd>
          {labels.map((label) => (
            <span key={label} class="tag">
              {label}
            </span>
          ))}
          {labels.length === 0 && "none"}
        </dd>
      </dl>
    </>
  );
}

const containerColumns: readonly Column<PodContainer>[] = [
  { id: "name", title: "Container", cell: ({ name }) => name, sortBy: ({ name }) => name },
  {
    id: "state",
    title: "State",
    width: "medium",
    cell: ({ state, exitCode }) => containerStatus(state, exitCode).text,
    sortBy: ({ state }) => state,
    onCard: "place",
  },
  {
    id: "image",
    title: "Image",
    width: "wide",
    rank: 2,
    cell: imageOf,
    sortBy: imageOf,
    onCard: "place",
  },
  {
    id: "started",
    title: "Started",
    width: "time",
    isNumber: true,
    cell: ({ startedAt }) => (startedAt === undefined ? "—" : <TimeText at={startedAt} />),
    sortBy: ({ startedAt }) => (startedAt === undefined ? undefined : timestampMs(startedAt)),
    onCard: "figure",
  },
  {
    id: "exited",
    title: "Exited",
    width: "time",
    isNumber: true,
    cell: ({ exitedAt }) => (exitedAt === undefined ? "—" : <TimeText at={exitedAt} />),
    sortBy: ({ exitedAt }) => (exitedAt === undefined ? undefined : timestampMs(exitedAt)),
  },
];

const networkColumns: readonly Column<PodNetwork>[] = [
  { id: "name", title: "Network", cell: ({ name }) => name, sortBy: ({ name }) => name },
  { id: "ipv4", title: "IPv4", width: "medium", cell: ({ ipv4 }) => ipv4 || "—", onCard: "figure" },
  { id: "ipv6", title: "IPv6", width: "wide", cell: ({ ipv6 }) => ipv6 || "—", onCard: "figure" },
];

function Parts({ of: { containers, networks } }: { readonly of: Pod }) {
  return (
    <>
      <Panel title="Containers">
        <DataTable
          name="containers"
          caption="Containers"
          columns={containerColumns}
          rows={containers}
          keyOf={({ id }) => id}
          titleOf={({ name }) => name}
          statusOf={({ state, exitCode }) => containerStatus(state, exitCode)}
          empty="No containers yet."
        />
      </Panel>
      <Panel title="Networks">
        <DataTable
          name="networks"
          caption="Networks"
          columns={networkColumns}
          rows={networks}
          keyOf={({ name }) => name}
          titleOf={({ name }) => name}
          empty="No addresses."
        />
      </Panel>
    </>
  );
}

function imageOf({ imageName, imageId }: PodContainer): string {
  return imageName || imageId.slice(0, 12);
}
