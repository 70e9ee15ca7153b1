import { ClusterMachineState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import type { StatusKind } from "../../parts/status.tsx";

const shown: Readonly<Record<number, { readonly kind: StatusKind; readonly text: string }>> = {
  [ClusterMachineState.WANTED]: { kind: "running", text: "pending" },
  [ClusterMachineState.CANDIDATE]: { kind: "running", text: "chosen" },
  [ClusterMachineState.ALLOCATED]: { kind: "running", text: "allocated" },
  [ClusterMachineState.ANNOTATED]: { kind: "running", text: "annotated" },
  [ClusterMachineState.DEPLOYING]: { kind: "running", text: "deploying" },
  [ClusterMachineState.BOOTED]: { kind: "running", text: "joining" },
  [ClusterMachineState.JOINED]: { kind: "ok", text: "joined" },
  [ClusterMachineState.DRAINING]: { kind: "warn", text: "draining" },
  [ClusterMachineState.RELEASING]: { kind: "warn", text: "releasing" },
  [ClusterMachineState.RELEASED]: { kind: "off", text: "released" },
};

/** Describes the state of a machine; the number for a state of a newer gateway. */
export function machineStateText(state: ClusterMachineState): {
  readonly kind: StatusKind;
  readonly text: string;
} {
  return shown[state] ?? { kind: "off", text: `state ${state}` };
}
