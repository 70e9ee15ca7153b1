import { HypervisorState } from "../../../gen/operations/v1/operations_pb.ts";
import type { Tone } from "../../parts/badge.tsx";

/** A hypervisor's state in words. The contract returns the possible actions, from which the state follows. */
export interface HypervisorStateText {
  readonly tone: Tone;
  readonly text: string;
}

const unknown: HypervisorStateText = { tone: "warn", text: "not known" };

const texts: Readonly<Record<number, HypervisorStateText>> = {
  [HypervisorState.UNKNOWN]: unknown,
  [HypervisorState.AVAILABLE_TO_CREATE]: { tone: "off", text: "off or not created" },
  [HypervisorState.AVAILABLE_TO_DESTROY]: { tone: "ok", text: "running" },
};

export function hypervisorStateText(state: HypervisorState): HypervisorStateText {
  return texts[state] ?? unknown;
}
