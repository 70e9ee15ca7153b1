import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { WorkloadAdapter } from "../../../../adapters/workload/adapter.ts";
import type { Seal } from "../../../crypto/seal.ts";
import type { Store } from "../../../store/store.ts";
import type { ClusterImages } from "../specs/cluster-images.ts";
import type { ClusterSettings } from "../specs/cluster-settings.ts";

/** For tests: called with a name before and after each write to the store and each call that changes something. */
export type Boundary = (point: string) => Promise<void> | void;

export interface ReconcilerOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  readonly maas: MaasAdapter;
  readonly workload: WorkloadAdapter;
  readonly images: ClusterImages;
  /** `createSeal(masterKeys, "cluster")` */
  readonly seal: Seal;
  readonly settings: ClusterSettings;
  /** Unique id of this process. */
  readonly instanceId: string;
  readonly log: {
    info?(message: string): void;
    warn(message: string, cause?: unknown): void;
  };
  readonly boundary?: Boundary;
}
