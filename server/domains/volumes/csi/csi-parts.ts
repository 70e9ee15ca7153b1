import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import type { MountAdapter } from "../../../../adapters/mounts/adapter.ts";
import type { ConfigOf } from "../../../config/config-of.ts";
import type { VolumeChangeParts } from "../changes/volume-change.ts";
import type { csiSchema } from "./csi-schema.ts";

/** Settings of the driver. */
export type CsiSettings = ConfigOf<typeof csiSchema>;

/** What the driver works with. */
export interface CsiParts extends VolumeChangeParts {
  readonly lvm: LvmAdapter;
  readonly mounts: MountAdapter;
  readonly settings: CsiSettings;
  /** Name of this host, which is the ID of the node. */
  readonly host: string;
}
