import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf } from "../../live/inventory.ts";
import { sizeText } from "../../parts/text/size-text.ts";

/** Reports whether a machine exists only as a template of the configuration. */
export function isTemplate({ properties }: Resource): boolean {
  return properties.source === "template";
}

/** The state of a machine in words: "running", "off", "not created" or "unknown". */
export function machineStateText(machine: Resource): string {
  return machine.state === "off" && isTemplate(machine) ? "not created" : machine.state;
}

/** What a machine can host, besides desktops: "storage", "gpu". */
export function capabilitiesOf({ labels }: Resource): readonly string[] {
  return Object.keys(labels).map((label) => label.replace(/^capability\//, ""));
}

/** The number of GPUs of a machine; 0 for none, "—" if it is not known. */
export function gpuCountText(machine: Resource): string {
  return countText(figureOf(machine, "gpus") ?? (figureOf(machine, "vcpus") === undefined ? undefined : 0));
}

/** A count, or "—" if it is not known. */
export function countText(count: number | undefined): string {
  return count === undefined ? "—" : count.toLocaleString("en");
}

/** A size in bytes, or "—" if it is not known. */
export function bytesText(bytes: number | undefined): string {
  return bytes === undefined ? "—" : sizeText(bytes);
}
