import type { MaasMachineStatus } from "../machine.ts";

/** State of a machine of the fake. */
export interface FakeMachine {
  readonly systemId: string;
  readonly hostname: string;
  readonly architecture: string;
  readonly cpuCount: number;
  readonly memoryMib: number;
  readonly tags: readonly string[];
  readonly pool: string;
  readonly zone: string;
  readonly status: MaasMachineStatus;
  /** The last state that MAAS recorded; undefined if there was no event yet. */
  readonly statusMessage: string | undefined;
  readonly owner: string | undefined;
  /** Not part of any reply. */
  readonly agentName: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly isLocked: boolean;
  readonly osystem: string;
  readonly series: string;
  readonly powerState: "on" | "off";
  /** `manual`: MAAS cannot switch it. */
  readonly powerType: "ipmi" | "manual";
  readonly address: string | undefined;
  /** Base64, as received. */
  readonly userData: string | undefined;
}

export type FakeMachineOptions = Pick<FakeMachine, "systemId" | "hostname"> &
  Partial<
    Pick<
      FakeMachine,
      "architecture" | "cpuCount" | "memoryMib" | "tags" | "pool" | "zone" | "status" | "powerType"
    >
  >;

/** Creates a commissioned machine. */
export function newFakeMachine(options: FakeMachineOptions): FakeMachine {
  return {
    architecture: "amd64/generic",
    cpuCount: 8,
    memoryMib: 16_384,
    tags: [],
    pool: "default",
    zone: "default",
    status: "ready",
    powerType: "ipmi",
    ...options,
    ...unallocated,
    statusMessage: undefined,
  };
}

/** What a machine loses when it is released. */
export const unallocated = {
  owner: undefined,
  agentName: "",
  annotations: {},
  isLocked: false,
  osystem: "",
  series: "",
  powerState: "off",
  address: undefined,
  userData: undefined,
} as const;
