import type { BootPlan } from "./boot-plan.ts";

/** An installed, running machine. */
export interface BootedMachine {
  readonly systemId: string;
  readonly hostname: string;
  readonly address: string;
  /** User data for cloud-init, in plain text. */
  readonly userData: string;
  /** Time of the deployment; together with the system id, it identifies the installation. */
  readonly deployedAtMs: number;
  /** Kubernetes version of its image, e.g. `1.36.3`; the cluster's version by default. */
  readonly version?: string | undefined;
}

/** One installation of a machine, until it is released or installed again. */
export interface Boot {
  readonly machine: BootedMachine;
  readonly plan: BootPlan;
  /** When it is ready to become a node. */
  readonly joinsAtMs: number;
  /** Its Kubernetes version. */
  version: string;
  /** `starting` also while it waits for its cluster. */
  state: "starting" | "joined" | "failed";
  /** The machine is no longer installed. */
  isGone: boolean;
}
