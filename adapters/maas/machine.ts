/** State of a machine in MAAS; `unknown` for a state of a newer MAAS version. */
export type MaasMachineStatus =
  | "new"
  | "commissioning"
  | "failedCommissioning"
  | "missing"
  | "ready"
  | "reserved"
  | "deployed"
  | "retired"
  | "broken"
  | "deploying"
  | "allocated"
  | "failedDeployment"
  | "releasing"
  | "failedReleasing"
  | "diskErasing"
  | "failedDiskErasing"
  | "rescueMode"
  | "enteringRescueMode"
  | "failedEnteringRescueMode"
  | "exitingRescueMode"
  | "failedExitingRescueMode"
  | "testing"
  | "failedTesting"
  | "unknown";

export interface MaasMachine {
  /** Six characters, e.g. `m6rnsc`. */
  readonly systemId: string;
  readonly hostname: string;
  readonly fqdn: string;
  readonly status: MaasMachineStatus;
  /** MAAS's number of the status, e.g. 4 for `ready`. */
  readonly statusCode: number;
  /** MAAS's message about the status, for users; empty if there is none. */
  readonly statusMessage: string;
  /** The user who has allocated it; undefined if it is not allocated. */
  readonly owner: string | undefined;
  /** Annotations set by its owner (`workload_annotations`); removed when it is released. */
  readonly annotations: ReadonlyMap<string, string>;
  /** Empty in the reply to `deploy`: MAAS reports them from the next `machine` on. */
  readonly ipAddresses: readonly string[];
  readonly tags: readonly string[];
  readonly cpuCount: number;
  readonly memoryMib: number;
  /** E.g. `amd64/generic`. */
  readonly architecture: string;
  readonly powerState: "on" | "off" | "unknown" | "error";
  /** Undefined if the account may not see it. */
  readonly pool: string | undefined;
  readonly zone: string | undefined;
  readonly isLocked: boolean;
  /** The deployed system, e.g. `ubuntu` and `noble`; empty if there is none. */
  readonly osystem: string;
  readonly series: string;
}

/** Requirements that a machine must meet. */
export interface MaasConstraints {
  /** Must have all of them. */
  readonly tags?: readonly string[];
  /** Must have none of them. */
  readonly notTags?: readonly string[];
  readonly pool?: string;
  readonly notInPools?: readonly string[];
  readonly zone?: string;
  readonly notInZones?: readonly string[];
  /** E.g. `amd64` or `amd64/generic`. */
  readonly architecture?: string;
  /** Minimum. */
  readonly cpuCount?: number;
  /** Minimum. */
  readonly memoryMib?: number;
}

export interface MaasMachineFilter {
  /** Name of an account. */
  readonly owner?: string;
  /** Agent name given to `allocate`. MAAS never returns it; this filter is the only way to query it. */
  readonly agentName?: string;
  readonly systemIds?: readonly string[];
}
