import { Link } from "wouter-preact";
import type { Pod, PodContainer, PodNetwork } from "../../../gen/hostplane/v1/pod_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { useWatch } from "../../live/use-watch.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client, hasRole } from "../../session.ts";
import { PodActions } from "./pod-actions.tsx";
import { PodLog } from "./pod-log.tsx";
import "./pods.css";
import { ContainerStateBadge, PodStateBadge } from "./pod-state.tsx";

/** One pod, live: its apps, networks and labels, its actions and its log. */
export function PodPage({ id }: { readonly id: string }) {
  const watching = useWatch((options) => client.pods.watchPods({}, options));
  return (
    <>
      <p>
        <Link href="/">All pods</Link>
      </p>
      <ReadState of={watching}>
        {({ pods }) => {
          const pod = pods.find((each) => each.id === id);
          return pod === undefined ? <NoPod id={id} /> : <KnownPod of={pod} />;
        }}
      </ReadState>
    </>
  );
}

function NoPod({ id }: { readonly id: string }) {
  return (
    <>
      <h1>No such pod</h1>
      <p>
        There is no pod <code>{id}</code>. It may have been removed.
      </p>
    </>
  );
}

const containerColumns: readonly Column<PodContainer>[] = [
  { title: "App", cell: ({ name }) => name },
  {
    title: "State",
    cell: ({ state, exitCode }) => <ContainerStateBadge state={state} exitCode={exitCode} />,
  },
  { title: "Image", cell: ({ imageName, imageId }) => <code>{imageName || imageId.slice(0, 12)}</code> },
  { title: "Started", cell: ({ startedAt }) => <TimeText at={startedAt} /> },
  { title: "Ended", cell: ({ exitedAt }) => <TimeText at={exitedAt} /> },
];

const networkColumns: readonly Column<PodNetwork>[] = [
  { title: "Network", cell: ({ name }) => name },
  { title: "IPv4", cell: ({ ipv4 }) => ipv4 !== "" && <code>{ipv4}</code> },
  { title: "IPv6", cell: ({ ipv6 }) => ipv6 !== "" && <code>{ipv6}</code> },
];

function KnownPod({ of: pod }: { readonly of: Pod }) {
  const isOperator = hasRole(Role.OPERATOR);
  return (
    <>
      <h1>{pod.name}</h1>
      <section class="card stack" aria-label="State">
        <PodFacts of={pod} />
        {isOperator && <PodActions of={pod} />}
      </section>
      <section class="card">
        <DataTable
          caption="Apps"
          columns={containerColumns}
          rows={pod.containers}
          keyOf={({ id }) => id}
          empty="No apps yet."
        />
      </section>
      <section class="card">
        <DataTable
          caption="Networks"
          columns={networkColumns}
          rows={pod.networks}
          keyOf={({ name }) => name}
          empty="No addresses."
        />
      </section>
      {isOperator ? (
        <PodLog pod={pod} />
      ) : (
        <p class="quiet">Only operators can see the log, because programs may print secrets.</p>
      )}
    </>
  );
}

function PodFacts({ of: { id, state, createdAt, startedAt, labels } }: { readonly of: Pod }) {
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <span role="status">
          <PodStateBadge state={state} />
        </span>
      </dd>
      <dt>Id</dt>
      <dd>
        <code>{id}</code>
      </dd>
      <dt>Created</dt>
      <dd>
        <TimeText at={createdAt} />
      </dd>
      <dt>Started</dt>
      <dd>{startedAt === undefined ? "never" : <TimeText at={startedAt} />}</dd>
      <dt>Labels</dt>
      <dd>
        {Object.entries(labels).map(([name, value]) => (
          <div key={name}>
            <code>
              {name}={value}
            </code>
          </div>
        ))}
        {Object.keys(labels).length === 0 && "none"}
      </dd>
    </dl>
  );
}
