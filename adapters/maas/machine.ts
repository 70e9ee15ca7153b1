/** The state of a machine, as MAAS has it; `unknown` for one that a version of MAAS newer than the gateway has. */
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
  /** Six characters, as `m6rnsc`. */
  readonly systemId: string;
  readonly hostname: string;
  readonly fqdn: string;
  readonly status: MaasMachineStatus;
  /** MAAS's own number of it, as 4 for `ready`. */
  readonly statusCode: number;
  /** What MAAS has to say about it, for people; empty when nothing. */
  readonly statusMessage: string;
  /** Who has it; undefined when nobody does. */
  readonly owner: string | undefined;
  /** What its owner has written on it (`workload_annotations`); gone once it is released. */
  readonly annotations: ReadonlyMap<string, string>;
  /** None in the answer of `deploy`: MAAS tells them from the next `machine` on. */
  readonly ipAddresses: readonly string[];
  readonly tags: readonly string[];
  readonly cpuCount: number;
  readonly memoryMib: number;
  /** As `amd64/generic`. */
  readonly architecture: string;
  readonly powerState: "on" | "off" | "unknown" | "error";
  /** Undefined when the account may not see it. */
  readonly pool: string | undefined;
  readonly zone: string | undefined;
  readonly isLocked: boolean;
  /** What it is deployed with, as `ubuntu` and `noble`; empty when nothing. */
  readonly osystem: string;
  readonly series: string;
}

/** What a machine must be like; all of it. */
export interface MaasConstraints {
  /** All of them. */
  readonly tags?: readonly string[];
  /** None of them. */
  readonly notTags?: readonly string[];
  readonly pool?: string;
  readonly notInPools?: readonly string[];
  readonly zone?: string;
  readonly notInZones?: readonly string[];
  /** As `amd64` or `amd64/generic`. */
  readonly architecture?: string;
  /** At least so many. */
  readonly cpuCount?: number;
  /** At least so much. */
  readonly memoryMib?: number;
}

export interface MaasMachineFilter {
  /** The name of an account. */
  readonly owner?: string;
  /** As `allocate` was given it. MAAS tells it of no machine: this filter is the only way to ask. */
  readonly agentName?: string;
  readonly systemIds?: readonly string[];
}
