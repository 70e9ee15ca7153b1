import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { WorkloadAdapter } from "../../../../adapters/workload/adapter.ts";
import type { Seal } from "../../../crypto/seal.ts";
import type { Store } from "../../../store/store.ts";
import type { ClusterImages } from "../cluster-images.ts";
import type { ClusterSettings } from "../cluster-settings.ts";

/** For tests: called before and after each write of the store and each call that changes something, by its name. */
export type Boundary = (point: string) => Promise<void> | void;

export interface ReconcilerOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  readonly maas: MaasAdapter;
  readonly workload: WorkloadAdapter;
  readonly images: ClusterImages;
  /** `createSeal(masterKey, "cluster")` */
  readonly seal: Seal;
  readonly settings: ClusterSettings;
  /** Of this process; no other ever has it. */
  readonly instanceId: string;
  readonly log: {
    info?(message: string): void;
    warn(message: string, cause?: unknown): void;
  };
  readonly boundary?: Boundary;
}
