import { ClusterMachineState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import type { Tone } from "../../parts/badge.tsx";

const shown: Readonly<Record<number, { readonly tone: Tone; readonly text: string }>> = {
  [ClusterMachineState.WANTED]: { tone: "busy", text: "pending" },
  [ClusterMachineState.CANDIDATE]: { tone: "busy", text: "chosen" },
  [ClusterMachineState.ALLOCATED]: { tone: "busy", text: "allocated" },
  [ClusterMachineState.ANNOTATED]: { tone: "busy", text: "annotated" },
  [ClusterMachineState.DEPLOYING]: { tone: "busy", text: "deploying" },
  [ClusterMachineState.BOOTED]: { tone: "busy", text: "joining" },
  [ClusterMachineState.JOINED]: { tone: "ok", text: "joined" },
  [ClusterMachineState.DRAINING]: { tone: "warn", text: "draining" },
  [ClusterMachineState.RELEASING]: { tone: "warn", text: "releasing" },
  [ClusterMachineState.RELEASED]: { tone: "off", text: "released" },
};

/** Describes the state of a machine; the number for a state of a newer gateway. */
export function machineStateText(state: ClusterMachineState): { readonly tone: Tone; readonly text: string } {
  return shown[state] ?? { tone: "off", text: `state ${state}` };
}
