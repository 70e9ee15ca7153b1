import { Link } from "wouter-preact";
import {
  type Pod,
  PodContainerState,
  PodService,
  type UnreadablePod,
} from "../../../gen/hostplane/v1/pod_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useWatch } from "../../live/use-watch.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { RunningOperations } from "../../parts/operation-list.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client, hasRole } from "../../session.ts";
import { Images } from "./images.tsx";
import { PodStateBadge } from "./pod-state.tsx";

/** The pods of this host, live, and its images. */
export function PodList() {
  const watching = useWatch((options) => client.pods.watchPods({}, options));
  return (
    <>
      <h1>Pods</h1>
      <DomainNotice domain="pods" />
      <RunningOperations kinds={["pods", "images"]} />
      <section class="card stack">
        <ReadState of={watching}>
          {({ pods, unreadable }) => (
            <>
              <PodTable of={pods} />
              {unreadable.length > 0 && <Unreadable of={unreadable} />}
            </>
          )}
        </ReadState>
      </section>
      <Images />
    </>
  );
}

function PodTable({ of: pods }: { readonly of: readonly Pod[] }) {
  return (
    <DataTable
      caption="Pods on this host"
      columns={[
        { title: "Name", cell: ({ id, name }) => <Link href={`/${id}`}>{name}</Link> },
        { title: "State", cell: ({ state }) => <PodStateBadge state={state} /> },
        { title: "Containers", cell: containersText },
        { title: "Addresses", cell: ({ networks }) => networks.map(addressesText).join(", ") },
        { title: "Started", cell: ({ startedAt }) => <TimeText at={startedAt} /> },
        { title: "Created", cell: ({ createdAt }) => <TimeText at={createdAt} /> },
      ]}
      rows={[...pods].sort((one, other) => (one.name < other.name ? -1 : 1))}
      keyOf={({ id }) => id}
      empty="No pods. Create one on the host: podman pod create --name NAME."
    />
  );
}

function containersText({ containers }: Pod): string {
  const running = containers.filter(({ state }) => state === PodContainerState.RUNNING).length;
  return `${running} of ${containers.length} running`;
}

function addressesText({ ipv4, ipv6 }: { readonly ipv4: string; readonly ipv6: string }): string {
  return [ipv4, ipv6].filter((address) => address !== "").join(", ");
}

function Unreadable({ of: pods }: { readonly of: readonly UnreadablePod[] }) {
  return (
    <div class="note warn">
      <strong>Podman cannot read these pods:</strong>
      <ul>
        {pods.map(({ id, reason }) => (
          <li key={id}>
            <code>{id}</code>: {reason}{" "}
            {hasRole(Role.OPERATOR) && (
              <button
                type="button"
                class="danger"
                onClick={() =>
                  propose({
                    title: `Remove the pod ${id}`,
                    label: "Remove",
                    method: PodService.method.removePod,
                    request: { pod: id, force: true },
                    isDangerous: true,
                  })
                }
              >
                Remove …
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
