import { ResourceHealthSchema } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import {
  type Volume,
  VolumeKindSchema,
  VolumeOwner,
  VolumeOwnerSchema,
} from "../../../../gen/hostplane/v1/volume_pb.ts";
import { enumText } from "../../../cli/table/enum-text.ts";
import { sizeText } from "../../../cli/table/size-text.ts";

/** Owners by their names on the command line. */
export const ownerNamed = {
  topolvm: VolumeOwner.TOPOLVM,
  csi: VolumeOwner.CSI,
  hostplane: VolumeOwner.HOSTPLANE,
} as const;

/** Formats the type of a volume, e.g. `thin`. */
export function kindText({ kind }: Volume): string {
  return enumText(VolumeKindSchema, kind);
}

/** Formats the owner of a volume; empty if it has none. */
export function ownerText({ owner }: Volume): string {
  return owner === VolumeOwner.UNSPECIFIED ? "" : enumText(VolumeOwnerSchema, owner);
}

/** Formats the share in use of a thin volume or snapshot; empty for other volumes. */
export function usedText({ dataPercent }: Volume): string {
  return percentText(dataPercent);
}

/** Formats a percentage; empty if it is not known. */
export function percentText(percent: number | undefined): string {
  return percent === undefined ? "" : `${percent.toFixed(1)} %`;
}

/** Formats the state of a volume, e.g. `active, open`. */
export function stateText({ state, open, readOnly, merging }: Volume): string {
  const further = { open, "read-only": readOnly, merging };
  return [state, ...Object.entries(further).flatMap(([word, isSo]) => (isSo ? [word] : []))].join(", ");
}

/** Returns everything known about a volume, for `volume show`. */
export function factsOf(volume: Volume): [string, string][] {
  const facts: [string, string][] = [
    ["name", volume.name],
    ["group", volume.volumeGroup],
    ["class", volume.deviceClass],
    ["kind", kindText(volume)],
    ["size", sizeText(volume.sizeBytes)],
    ["used", usedText(volume)],
    ["snapshot space", volume.snapshotSpaceBytes === 0n ? "" : sizeText(volume.snapshotSpaceBytes)],
    ["origin", volume.origin],
    ["thin pool", volume.thinPool],
    ["owner", ownerText(volume)],
    ["operation", volume.operationId],
    ["state", stateText(volume)],
    ["health", enumText(ResourceHealthSchema, volume.health)],
    ["device", volume.devicePath === "" ? "" : `${volume.devicePath} (${volume.deviceNumber})`],
    ["devices", volume.physicalVolumes.join(", ")],
    ...volume.tags.map((tag): [string, string] => ["tag", tag]),
    ["uuid", volume.uuid],
    ["resource", volume.resource],
  ];
  return facts.filter(([, value]) => value !== "");
}
