import type { ClusterMachine } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { StatusText } from "../../parts/status.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { machineStateText } from "./machine-state.ts";

/** What has happened to a machine of a cluster, the newest first. */
export function MachineHistory({ of: machine }: { readonly of: ClusterMachine }) {
  const { systemId, ipAddress, k8sVersion, message, history } = machine;
  return (
    <div class="scroll">
      <dl class="facts">
        <dt>Id in MAAS</dt>
        <dd>{systemId === "" ? "—" : <code>{systemId}</code>}</dd>
        <dt>Address</dt>
        <dd>{ipAddress || "—"}</dd>
        <dt>Kubernetes</dt>
        <dd>{k8sVersion || "—"}</dd>
        {message !== "" && (
          <>
            <dt>Now</dt>
            <dd>{message}</dd>
          </>
        )}
      </dl>
      <ol class="lines wrap" aria-label="History">
        {history.toReversed().map(({ at, state, message: what }, index) => {
          const { kind, text } = machineStateText(state);
          return (
            <li key={history.length - index}>
              <StatusText kind={kind === "running" ? "change" : kind}>{text}</StatusText>
              <span class="quiet">
                <TimeText at={at} />
              </span>
              {what !== "" && <span class="grow soft">{what}</span>}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
