import type { BootPlan } from "./boot-plan.ts";

/** A machine that has been installed and runs. */
export interface BootedMachine {
  readonly systemId: string;
  readonly hostname: string;
  readonly address: string;
  /** For cloud-init, in plain text. */
  readonly userData: string;
  /** When it was: with the system id it tells one installation from the next. */
  readonly deployedAtMs: number;
  /** Of Kubernetes in its image, as `1.36.3`; what its cluster has unless told. */
  readonly version?: string | undefined;
}

/** One installation of a machine, for as long as the machine is left alone. */
export interface Boot {
  readonly machine: BootedMachine;
  readonly plan: BootPlan;
  /** When it is as far as to be a node. */
  readonly joinsAtMs: number;
  /** Of Kubernetes on it. */
  version: string;
  /** `starting` also while it waits for its cluster. */
  state: "starting" | "joined" | "failed";
  /** The machine is installed no more. */
  isGone: boolean;
}
