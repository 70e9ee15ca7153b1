import type { LibvirtDomain } from "./adapter.ts";
import { isReason, unlessGone } from "./errors.ts";
import { type DomainFacts, domainStateOf, parseDomain } from "./parse-domain.ts";
import type { LibvirtClient } from "./rpc/client.ts";
import type { DomainRef } from "./rpc/objects.ts";

/** What is known of a domain; the GPUs of its host devices are looked up when the state is told. */
export interface KnownDomain extends Pick<LibvirtDomain, "state" | "isPersistent" | "unreadableBecause"> {
  /** What `facts` were read from: parsing takes longer than asking, and mostly finds the same. Empty if from nothing. */
  readonly xml: string;
  readonly facts: DomainFacts;
}

/** What is known of a domain that could never be read. */
const noFacts: Omit<DomainFacts, "name" | "uuid"> = {
  vcpuCount: 0,
  memoryBytes: 0n,
  mark: undefined,
  disks: [],
  filesystems: [],
  hostDevices: [],
};

/**
 * Reads a domain; undefined when it has gone. One that cannot be read is told as such, with what was known of it.
 * @throws InfraError LIBVIRT_UNAVAILABLE and its like
 */
export async function readKnownDomain(
  client: LibvirtClient,
  domain: DomainRef,
  known: KnownDomain | undefined,
  signal: AbortSignal,
): Promise<KnownDomain | undefined> {
  try {
    return await askAbout(client, domain, known, signal);
  } catch (error) {
    // What is wrong with libvirt itself, or its connection, has other reasons.
    if (!isReason(error, "TOOL_OUTPUT", "LIBVIRT_FAILED")) {
      throw error;
    }
    const { xml = "", facts = noFacts, isPersistent = true } = known ?? {};
    const { name, uuid } = domain;
    const unreadable = { state: "unknown", unreadableBecause: error.message } as const;
    return { xml, facts: { ...facts, name, uuid }, isPersistent, ...unreadable };
  }
}

async function askAbout(
  client: LibvirtClient,
  domain: DomainRef,
  known: KnownDomain | undefined,
  signal: AbortSignal,
): Promise<KnownDomain | undefined> {
  const found = await unlessGone("DOMAIN_NOT_FOUND", [
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
