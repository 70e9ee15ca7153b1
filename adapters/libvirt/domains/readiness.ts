import { once } from "node:events";
import { createConnection } from "node:net";
import { hasReason } from "../../host/infra-error.ts";
import type { Readiness } from "../adapter.ts";
import { about } from "../errors.ts";
import { domainResource } from "../names.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import type { DomainRef } from "../rpc/objects.ts";

const limitMs = 2_000;

/**
 * Reports whether a guest is up. A guest that does not answer within two seconds is not.
 * @throws InfraError DOMAIN_NOT_FOUND, LIBVIRT_UNAVAILABLE, and the signal's reason
 */
export async function isGuestReady(
  client: LibvirtClient,
  name: string,
  readiness: Readiness,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  const limit = AbortSignal.timeout(limitMs);
  const stop = AbortSignal.any([signal, limit]);
  try {
    await client.ready(stop);
    const lookup = client.call("domainLookupByName", { name }, { signal: stop });
    const { domain } = await about(domainResource(name), lookup);
    const { active } = await client.call("domainIsActive", { domain }, { signal: stop });
    if (!active) {
      return false;
    }
    return await (readiness.kind === "agent"
      ? agentAnswers(client, domain, stop)
      : takesConnections(client, domain, readiness.port, stop));
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) {
      return false;
    }
    throw error;
  }
}

async function agentAnswers(client: LibvirtClient, domain: DomainRef, signal: AbortSignal): Promise<boolean> {
  const command = JSON.stringify({ execute: "guest-ping" });
  const args = { domain, command, timeoutSeconds: limitMs / 1000, flags: 0 };
  return unlessRefused(
    client.call("qemuDomainAgentCommand", args, { signal }).then(() => true),
    false,
  );
}

// virDomainInterfaceAddressesSource: leases of libvirt's own DHCP, the guest agent, the host's ARP table.
const sources = [0, 1, 2];

async function takesConnections(
  client: LibvirtClient,
  domain: DomainRef,
  port: number,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await Promise.all(sources.map((source) => addressesOf(client, domain, source, signal)));
  const attempts = [...new Set(found.flat())].map((address) => connects(address, port, signal));
  return Promise.any(attempts).then(
    () => true,
    () => false,
  );
}

async function addressesOf(
  client: LibvirtClient,
  domain: DomainRef,
  source: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const call = client.call("domainInterfaceAddresses", { domain, source, flags: 0 }, { signal });
  const { interfaces } = await unlessRefused(call, { interfaces: [] });
  const addresses = interfaces.flatMap((each) => each.addresses.map(({ address }) => address));
  // The agent also reports the guest's loopback addresses, which would be this host's.
  return addresses.filter((address) => !/^127\.|^::1$|^fe80:/i.test(address));
}

async function connects(host: string, port: number, signal: AbortSignal): Promise<void> {
  const socket = createConnection({ host, port, signal });
  try {
    await once(socket, "connect", { signal });
  } finally {
    socket.destroy();
  }
}

/** Returns a default if libvirt or the guest refuses, e.g. because there is no agent, or not yet. */
async function unlessRefused<T>(call: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (
      hasReason(
        error,
        libvirtReasons.AGENT_UNRESPONSIVE,
        libvirtReasons.DOMAIN_STATE,
        libvirtReasons.LIBVIRT_FAILED,
      )
    ) {
      return otherwise;
    }
    throw error;
  }
}
