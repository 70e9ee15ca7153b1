import { hasReason } from "../../host/infra-error.ts";
import type { StorageSource } from "../adapter.ts";
import type { VolumeUser } from "../backup-adapter.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import type { DomainRef } from "../rpc/objects.ts";
import { childOf, childrenOf, parseXml } from "../xml.ts";
import { attachedOf } from "./parse-domain.ts";

/** A VM's disk and the location of its data. */
export interface DiskUse extends VolumeUser {
  readonly source: StorageSource;
}

/** Parses the disks in a domain's XML. Drives without a medium are left out. @throws InfraError TOOL_OUTPUT */
export function parseDisks(text: string): readonly Pick<DiskUse, "target" | "source" | "isReadOnly">[] {
  const disks = childrenOf(childOf(parseXml(text, "domain"), "devices"), "disk");
  return disks.flatMap((disk) => {
    const isReadOnly = childOf(disk, "readonly") !== undefined;
    return attachedOf(disk, "dev").map((attached) => ({ ...attached, isReadOnly }));
  });
}

/**
 * Reads the disks of all VMs: for running ones as they are, for others as defined. VMs that disappear meanwhile are
 * left out.
 */
export async function readDiskUses(client: LibvirtClient): Promise<readonly DiskUse[]> {
  const { domains } = await client.call("connectListAllDomains", { needResults: true, flags: 0 });
  return (await Promise.all(domains.map((domain) => disksOf(client, domain)))).flat();
}

async function disksOf(client: LibvirtClient, domain: DomainRef): Promise<readonly DiskUse[]> {
  const { name, uuid, id } = domain;
  try {
    const { xml } = await client.call("domainGetXmlDesc", { domain, flags: 0 });
    return parseDisks(xml).map((disk) => ({ name, uuid, isRunning: id !== -1, ...disk }));
  } catch (error) {
    if (hasReason(error, libvirtReasons.DOMAIN_NOT_FOUND)) {
      return [];
    }
    throw error;
  }
}

/** Returns the disks that are this volume, matched by its name in its pool or by its path. */
export function usersOf(
  uses: readonly DiskUse[],
  volume: { readonly pool: string; readonly name: string; readonly path: string },
): readonly VolumeUser[] {
  return uses.filter(({ source }) => isVolume(source, volume)).map(({ source: _, ...user }) => user);
}

function isVolume(
  source: StorageSource,
  { pool, name, path }: { readonly pool: string; readonly name: string; readonly path: string },
): boolean {
  switch (source.kind) {
    case "volume":
      return source.pool === pool && source.volume === name;
    case "path":
      return source.path === path;
    case "other":
      return false;
  }
}
