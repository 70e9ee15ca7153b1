import type { Reason } from "../../host/define-reasons.ts";
import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import { type RemoteError, remoteError } from "./objects.ts";
import { libvirtRpcReasons } from "./reasons.ts";
import { decodeExactly } from "./xdr-reader.ts";

/** Reasons by libvirt's code (virErrorNumber), whichever part of libvirt reports it. */
const codes: Readonly<Record<number, Reason>> = {
  28: libvirtRpcReasons.DOMAIN_EXISTS,
  29: libvirtRpcReasons.LIBVIRT_DENIED,
  42: libvirtRpcReasons.DOMAIN_NOT_FOUND,
  43: libvirtRpcReasons.NETWORK_NOT_FOUND,
  45: libvirtRpcReasons.LIBVIRT_DENIED,
  49: libvirtRpcReasons.STORAGE_POOL_NOT_FOUND,
  50: libvirtRpcReasons.STORAGE_VOLUME_NOT_FOUND,
  53: libvirtRpcReasons.NODE_DEVICE_NOT_FOUND,
  // Timed out during operation: cannot acquire state change lock (held by monitor=remoteDispatchDomainDestroyFlags)
  68: libvirtRpcReasons.LIBVIRT_UNAVAILABLE,
  79: libvirtRpcReasons.LIBVIRT_DENIED,
  86: libvirtRpcReasons.AGENT_UNRESPONSIVE,
  88: libvirtRpcReasons.LIBVIRT_DENIED,
  90: libvirtRpcReasons.STORAGE_VOLUME_EXISTS,
  94: libvirtRpcReasons.LIBVIRT_DENIED,
  97: libvirtRpcReasons.AGENT_UNRESPONSIVE,
};

const operationInvalid = 55;
const noSupport = 3;
/**
 * virErrorDomain of the parts that work on domains: the object, QEMU, the test driver, its configuration, checkpoints.
 */
const domainParts: readonly number[] = [6, 10, 12, 20, 69];

const noSpaceErrno = 28;
/** libvirt's own message of checks before the work, and the kernel's message that qemu-img and others repeat. */
const noSpaceWords = /not enough (free )?space|no space left on device/i;
/** operation failed: domain 'a' already exists with uuid 8e7ad4c2-... */
const domainExistsWords = /domain '.*' (already exists|is already defined) with uuid/;

const maxWordsLength = 1_000;
const libvirtCodeKey = "libvirtCode";

/** Decodes the payload of a packet with status `error`. */
export function errorFromPayload(payload: Uint8Array): InfraError {
  return errorFromLibvirt(decodeExactly(remoteError, payload));
}

/** Converts a libvirt error, with its message; `metadata.libvirtCode` is its number. */
export function errorFromLibvirt(error: RemoteError): InfraError {
  const words = (error.message ?? "").replaceAll(/\s+/g, " ").trim().slice(0, maxWordsLength);
  return new InfraError(reasonOf(error), words || `libvirt refused with code ${error.code} and no message`, {
    metadata: { [libvirtCodeKey]: String(error.code) },
  });
}

function reasonOf({ code, domain, message, int1 }: RemoteError): Reason {
  const words = message ?? "";
  // For a failed system call, int1 is the errno.
  if ((code === 38 && int1 === noSpaceErrno) || noSpaceWords.test(words)) {
    return hostReasons.NO_SPACE;
  }
  if (code === operationInvalid && domainParts.includes(domain)) {
    return libvirtRpcReasons.DOMAIN_STATE;
  }
  if (domainExistsWords.test(words)) {
    return libvirtRpcReasons.DOMAIN_EXISTS;
  }
  return codes[code] ?? libvirtRpcReasons.LIBVIRT_FAILED;
}

/** Reports whether the driver that libvirt uses does not implement the procedure. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof InfraError && error.metadata[libvirtCodeKey] === String(noSupport);
}
