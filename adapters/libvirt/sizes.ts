import type { Element } from "@xmldom/xmldom";
import { InfraError } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";
import { attributeOf, textOf } from "./xml.ts";

// libvirt's units (formatdomain.html, "Memory Allocation"): powers of 1024, except for those that end in B without an
// i.
const letters = ["", "k", "m", "g", "t", "p", "e"];

/**
 * Returns the size in an element, in bytes. Without a unit it is in `defaultUnit`: KiB for memory, bytes for storage. 0
 * if there is no element.
 * @throws InfraError TOOL_OUTPUT for an invalid size
 */
export function bytesOf(element: Element | undefined, defaultUnit: "KiB" | "bytes"): bigint {
  const text = textOf(element);
  const unit = attributeOf(element, "unit") ?? defaultUnit;
  const factor = factorOf(unit.toLowerCase());
  if (!/^\d*$/.test(text) || factor === undefined) {
    throw new InfraError(hostReasons.TOOL_OUTPUT, `libvirt sent "${text}" ${unit} as a size`);
  }
  return BigInt(text) * factor;
}

function factorOf(unit: string): bigint | undefined {
  if (unit === "b" || unit === "bytes") {
    return 1n;
  }
  const [, letter = "", suffix = ""] = /^([kmgtpe])(b|ib)?$/.exec(unit) ?? [];
  const power = letters.indexOf(letter);
  return power <= 0 ? undefined : (suffix === "b" ? 1000n : 1024n) ** BigInt(power);
}
