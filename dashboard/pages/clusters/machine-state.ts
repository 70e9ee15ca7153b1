import { ClusterMachineState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import type { Tone } from "../../parts/badge.tsx";

const shown: Readonly<Record<number, { readonly tone: Tone; readonly text: string }>> = {
  [ClusterMachineState.WANTED]: { tone: "busy", text: "wanted" },
  [ClusterMachineState.CANDIDATE]: { tone: "busy", text: "chosen" },
  [ClusterMachineState.ALLOCATED]: { tone: "busy", text: "taken" },
  [ClusterMachineState.ANNOTATED]: { tone: "busy", text: "marked" },
  [ClusterMachineState.DEPLOYING]: { tone: "busy", text: "being installed" },
  [ClusterMachineState.BOOTED]: { tone: "busy", text: "joins" },
  [ClusterMachineState.JOINED]: { tone: "ok", text: "is a node" },
  [ClusterMachineState.DRAINING]: { tone: "warn", text: "is emptied" },
  [ClusterMachineState.RELEASING]: { tone: "warn", text: "is given back" },
  [ClusterMachineState.RELEASED]: { tone: "off", text: "was given back" },
};

/** Describes the state of a machine; the number for a state of a newer gateway. */
export function machineStateText(state: ClusterMachineState): { readonly tone: Tone; readonly text: string } {
  return shown[state] ?? { tone: "off", text: `state ${state}` };
}
