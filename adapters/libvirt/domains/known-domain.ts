import { hasReason } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { LibvirtDomain } from "../adapter.ts";
import { unlessGone } from "../errors.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import type { DomainRef } from "../rpc/objects.ts";
import { type DomainFacts, domainStateOf, parseDomain } from "./parse-domain.ts";

/** Known facts of a VM. The GPUs among its host devices are looked up later, when the state is assembled. */
export interface KnownDomain extends Pick<LibvirtDomain, "state" | "isPersistent" | "unreadableBecause"> {
  /**
   * The XML that `facts` were parsed from: parsing takes longer than fetching, and the XML is usually unchanged. Empty
   * if there is none.
   */
  readonly xml: string;
  readonly facts: DomainFacts;
}

/** Facts of a VM that could never be read. */
const noFacts: Omit<DomainFacts, "name" | "uuid"> = {
  vcpuCount: 0,
  memoryBytes: 0n,
  mark: undefined,
  disks: [],
  filesystems: [],
  hostDevices: [],
};

/**
 * Reads a VM; undefined if it has disappeared. One that cannot be read is marked as such, with its last known facts.
 * @throws InfraError LIBVIRT_UNAVAILABLE, LIBVIRT_DENIED
 */
export async function readKnownDomain(
  client: LibvirtClient,
  domain: DomainRef,
  known: KnownDomain | undefined,
  signal: AbortSignal,
): Promise<KnownDomain | undefined> {
  try {
    return await query(client, domain, known, signal);
  } catch (error) {
    // Failures of libvirt itself or of its connection have other reasons.
    if (!hasReason(error, hostReasons.TOOL_OUTPUT, libvirtReasons.LIBVIRT_FAILED)) {
      throw error;
    }
    const { xml = "", facts = noFacts, isPersistent = true } = known ?? {};
    const { name, uuid } = domain;
    const unreadable = { state: "unknown", unreadableBecause: error.message } as const;
    return { xml, facts: { ...facts, name, uuid }, isPersistent, ...unreadable };
  }
}

async function query(
  client: LibvirtClient,
  domain: DomainRef,
  known: KnownDomain | undefined,
  signal: AbortSignal,
): Promise<KnownDomain | undefined> {
  const found = await unlessGone(libvirtReasons.DOMAIN_NOT_FOUND, [
    client.call("domainGetXmlDesc", { domain, flags: 0 }, { signal }),
    client.call("domainGetState", { domain, flags: 0 }, { signal }),
    client.call("domainIsPersistent", { domain }, { signal }),
  ]);
  if (found === undefined) {
    return undefined;
  }
  const [{ xml }, { state }, { persistent }] = found;
  const facts = known?.xml === xml ? known.facts : parseDomain(xml);
  return { xml, facts, state: domainStateOf(state), isPersistent: persistent };
}
