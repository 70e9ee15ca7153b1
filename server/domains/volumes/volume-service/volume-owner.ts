import type { LogicalVolume } from "../../../../adapters/lvm/adapter.ts";
import { operationOf } from "../../../lvm/operation-marks.ts";
import { csiMarksOf } from "../csi/csi-marks.ts";

/** Who created and manages a volume. */
export type VolumeOwner = "topolvm" | "csi" | "hostplane";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/** topolvm-node names volumes by the UID of their LogicalVolume resource. */
const topolvmName = new RegExp(`^${uuid}$`);

/** Default names of external-provisioner (`--volume-name-prefix`), which all CSI drivers in Kubernetes get. */
const csiName = new RegExp(`^pvc-${uuid}$`);

/** Returns who manages a volume, as far as its name and tags show; undefined if they show no owner. */
export function ownerOf({ name, tags }: Pick<LogicalVolume, "name" | "tags">): VolumeOwner | undefined {
  if (operationOf({ tags }) !== undefined) {
    return "hostplane";
  }
  if (csiMarksOf({ tags }) !== undefined) {
    return "csi";
  }
  if (topolvmName.test(name)) {
    return "topolvm";
  }
  return csiName.test(name) ? "csi" : undefined;
}
