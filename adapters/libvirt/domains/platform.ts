import { InfraError } from "../../host/infra-error.ts";
import { libvirtReasons } from "../reasons.ts";
import { attributeOf, childOf, childrenOf, parseXml, textOf } from "../xml.ts";

/** Virtual hardware for guests of the host's own architecture. */
export interface Platform {
  readonly arch: string;
  /** `qemu` emulates the processor. */
  readonly type: "kvm" | "qemu";
  /** `q35` where available; undefined leaves it to libvirt. */
  readonly machine: string | undefined;
}

/** Assumed until libvirt has reported its capabilities. */
export const usualPlatform: Platform = { arch: "x86_64", type: "kvm", machine: "q35" };

/**
 * Parses the result of `virConnectGetCapabilities`, which lists KVM only if QEMU can open /dev/kvm.
 * @throws InfraError TOOL_OUTPUT, LIBVIRT_FAILED for a host that runs no guests of its own architecture
 */
export function parsePlatform(text: string): Platform {
  const capabilities = parseXml(text, "capabilities");
  const arch = textOf(childOf(capabilities, "host", "cpu", "arch"));
  const guest = childrenOf(capabilities, "guest")
    .filter((each) => textOf(childOf(each, "os_type")) === "hvm")
    .map((each) => childOf(each, "arch"))
    .find((each) => attributeOf(each, "name") === arch);
  const types = childrenOf(guest, "domain").map((each) => attributeOf(each, "type"));
  const type = (["kvm", "qemu"] as const).find((each) => types.includes(each));
  if (type === undefined) {
    throw new InfraError(
      libvirtReasons.LIBVIRT_FAILED,
      `libvirt has no QEMU for guests of ${arch || "this host"}`,
    );
  }
  const hasQ35 = childrenOf(guest, "machine").some((machine) => textOf(machine) === "q35");
  return { arch, type, machine: hasQ35 ? "q35" : undefined };
}
