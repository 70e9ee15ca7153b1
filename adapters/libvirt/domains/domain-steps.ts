import { InfraError } from "../../host/infra-error.ts";
import type { DomainDefinition } from "../adapter.ts";
import { acpiPowerButton, undefineFlags } from "../commands.ts";
import { about } from "../errors.ts";
import { domainResource, poolVolumeResource } from "../names.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import type { DomainRef } from "../rpc/objects.ts";
import { volumeOf } from "../volumes/volume-steps.ts";
import { nodeDeviceName } from "./node-device.ts";
import type { Platform } from "./platform.ts";
import { renderDomain } from "./render-domain.ts";

/**
 * Defines a VM, or redefines the VM of this name and UUID from its next start on. libvirt accepts a definition whose
 * volumes, network or devices are missing, and only the start would fail, so they are checked first.
 */
export async function defineDomain(
  client: LibvirtClient,
  domain: DomainDefinition,
  platform: Platform,
): Promise<DomainRef> {
  const { name, disks, network, hostDevices } = domain;
  for (const { pool, volume } of disks) {
    await about(poolVolumeResource(pool, volume), volumeOf(client, pool, volume));
  }
  if (network !== undefined) {
    await about(`networks/${network}`, client.call("networkLookupByName", { name: network }));
  }
  for (const address of hostDevices) {
    const device = client.call("nodeDeviceLookupByName", { name: nodeDeviceName(address) });
    await about(`nodeDevices/${nodeDeviceName(address)}`, device);
  }
  const xml = renderDomain(domain, platform);
  const defined = client.call("domainDefineXmlFlags", { xml, flags: 0 });
  return (await about(domainResource(name), defined)).domain;
}

/** The object of a step. */
export interface DomainStep {
  readonly kind: "start" | "shutDown" | "powerOff" | "undefine";
  readonly name: string;
  readonly uuid: string;
}

/** Starts, shuts down, powers off or undefines the VM that has both this name and this UUID. */
export function changeDomain(client: LibvirtClient, step: DomainStep): Promise<unknown> {
  return about(domainResource(step.name), change(client, step));
}

async function change(client: LibvirtClient, { kind, name, uuid }: DomainStep): Promise<unknown> {
  const domain = await domainOf(client, { name, uuid });
  switch (kind) {
    case "start":
      return client.call("domainCreateWithFlags", { domain, flags: 0 });
    case "shutDown":
      return client.call("domainShutdownFlags", { domain, flags: acpiPowerButton });
    case "powerOff":
      return client.call("domainDestroyFlags", { domain, flags: 0 });
    case "undefine":
      // libvirt would keep a running VM, which then disappears when it stops.
      if ((await client.call("domainIsActive", { domain })).active) {
        throw new InfraError(libvirtReasons.DOMAIN_STATE, `the VM ${name} is running`);
      }
      return client.call("domainUndefineFlags", { domain, flags: undefineFlags });
  }
}

/** Looks up the VM that has both this name and this UUID. @throws InfraError DOMAIN_NOT_FOUND */
export async function domainOf(
  client: LibvirtClient,
  { name, uuid }: Pick<DomainStep, "name" | "uuid">,
): Promise<DomainRef> {
  const { domain } = await client.call("domainLookupByUuid", { uuid });
  if (domain.name !== name) {
    throw new InfraError(
      libvirtReasons.DOMAIN_NOT_FOUND,
      `the VM with UUID ${uuid} is called ${domain.name}`,
    );
  }
  return domain;
}
