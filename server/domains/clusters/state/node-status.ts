import type { MaasMachine, MaasMachineStatus } from "../../../../adapters/maas/machine.ts";
import type { WorkloadNode } from "../../../../adapters/workload/adapter.ts";
import type { ClusterRecord, SlotRecord, SlotState } from "../store/records.ts";

/** State of a cluster's machine in Kubernetes and MAAS. */
export interface NodeStatus {
  /**
   * `Ready`, `NotReady: …` or `Unknown: …` for a node. For a machine that is not a node yet or no longer, the current activity,
   * in texts that clients of the API know.
   */
  readonly kubernetes: string;
  readonly k8sVersion: string;
  /** Undefined when no machine is chosen yet. */
  readonly systemId: string | undefined;
  readonly hostname: string;
  /** The status in MAAS's own words, such as `Deployed`; `Unknown` when MAAS does not report it, empty without a machine. */
  readonly maas: string;
  readonly ipAddress: string;
}

/** The answer of a system, or why there is none: a clause without a full stop. */
export type Answer<T> = { readonly value: T } | { readonly why: string };

/** As displayed by MAAS 3.4 (src/maascommon/enums/node.py). */
const maasWords: Readonly<Record<MaasMachineStatus, string>> = {
  new: "New",
  commissioning: "Commissioning",
  failedCommissioning: "Failed commissioning",
  missing: "Missing",
  ready: "Ready",
  reserved: "Reserved",
  deployed: "Deployed",
  retired: "Retired",
  broken: "Broken",
  deploying: "Deploying",
  allocated: "Allocated",
  failedDeployment: "Failed deployment",
  releasing: "Releasing",
  failedReleasing: "Releasing failed",
  diskErasing: "Disk erasing",
  failedDiskErasing: "Failed disk erasing",
  rescueMode: "Rescue mode",
  enteringRescueMode: "Entering rescue mode",
  failedEnteringRescueMode: "Failed to enter rescue mode",
  exitingRescueMode: "Exiting rescue mode",
  failedExitingRescueMode: "Failed to exit rescue mode",
  testing: "Testing",
  failedTesting: "Failed testing",
  unknown: "Unknown",
};

/** Returns the statuses of a cluster's machines: the control plane's first, then by pool, oldest first. */
export function nodeStatusesOf(
  { pools }: Pick<ClusterRecord, "pools">,
  slots: readonly SlotRecord[],
  machines: Answer<readonly MaasMachine[]>,
  nodes: Answer<readonly WorkloadNode[]>,
): readonly NodeStatus[] {
  const order = new Map<string | undefined, number>([
    [undefined, -1],
    ...pools.map(({ name }, index) => [name, index] as const),
  ]);
  const placeOf = ({ pool }: SlotRecord) => order.get(pool) ?? pools.length;
  return slots.toSorted((a, b) => placeOf(a) - placeOf(b)).map((slot) => nodeStatusOf(slot, machines, nodes));
}

function nodeStatusOf(
  slot: SlotRecord,
  machines: Answer<readonly MaasMachine[]>,
  nodes: Answer<readonly WorkloadNode[]>,
): NodeStatus {
  const { systemId } = slot;
  const machine = "value" in machines ? machines.value.find((each) => each.systemId === systemId) : undefined;
  const hostname = slot.hostname ?? machine?.hostname;
  const node =
    "value" in nodes ? nodes.value.find(({ name }) => name === hostname?.toLowerCase()) : undefined;
  return {
    kubernetes: node === undefined ? withoutNode(slot.state, nodes) : kubernetesWords(node),
    k8sVersion: node?.kubeletVersion ?? slot.k8sVersion,
    systemId,
    hostname: hostname ?? "",
    maas: systemId === undefined ? "" : maasWords[machine?.status ?? "unknown"],
    ipAddress: slot.ipAddress ?? machine?.ipAddresses[0] ?? "",
  };
}

function kubernetesWords({ isReady, readyReason, readyMessage }: WorkloadNode): string {
  if (isReady === true) {
    return "Ready";
  }
  const why = [readyReason, readyMessage].filter((text) => text !== "").join(", ") || "no reason given";
  return `${isReady === false ? "NotReady" : "Unknown"}: ${why}`;
}

function withoutNode(state: SlotState, nodes: Answer<readonly WorkloadNode[]>): string {
  switch (state) {
    case "draining":
    case "releasing":
    case "released":
      return "DeletingMachine";
    case "joined":
      return "why" in nodes ? `Unknown: ${nodes.why}` : "ErrorMachine";
    default:
      return "CreatingMachine";
  }
}
