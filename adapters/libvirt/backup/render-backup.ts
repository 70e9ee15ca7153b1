import { dirname } from "node:path";
import { InfraError } from "../../host/infra-error.ts";
import type { DomainBackupRequest } from "../backup-adapter.ts";
import { type DiskUse, parseDisks } from "../domains/disk-uses.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import type { DomainRef } from "../rpc/objects.ts";
import { volumeFacts, volumeOf } from "../volumes/volume-steps.ts";
import { renderXml, xml } from "../xml.ts";
import { backupDirectory, backupSocket, scratchPath } from "./backup-names.ts";

/**
 * Returns the `domainbackup` element for a pull-mode backup of these disks (https://libvirt.org/formatbackup.html).
 * @param directory of this host for the sockets
 * @throws InfraError DOMAIN_STATE if the VM has no writable disk of that name, and as `volumeFacts`
 */
export async function renderBackup(
  { client, directory }: { readonly client: LibvirtClient; readonly directory: string },
  domain: DomainRef,
  { name, token, targets }: DomainBackupRequest,
): Promise<string> {
  const disks = parseDisks((await client.call("domainGetXmlDesc", { domain, flags: 0 })).xml);
  const absent = targets.find((target) => !disks.some((disk) => disk.target === target && !disk.isReadOnly));
  if (absent !== undefined || targets.length === 0) {
    throw new InfraError(libvirtReasons.DOMAIN_STATE, `the VM ${name} has no writable disk ${absent ?? ""}`);
  }
  const socket = backupSocket(directory, token);
  const diskNodes = disks.map(async (disk) => {
    const { target } = disk;
    if (!targets.includes(target)) {
      return xml("disk", { name: target, backup: "no" });
    }
    const place = (await directoryBeside(client, disk)) ?? backupDirectory(directory, token);
    const scratch = xml("scratch", { file: scratchPath(place, token, target) });
    return xml("disk", { name: target, backup: "yes", type: "file", exportname: target }, scratch);
  });
  const server = xml("server", { transport: "unix", socket });
  return renderXml(
    xml("domainbackup", { mode: "pull" }, server, xml("disks", {}, ...(await Promise.all(diskNodes)))),
  );
}

/**
 * Returns the directory of the disk's own file, so that overwritten data has space where the guest's disk has space. If
 * space runs out, QEMU 7.2 fails the guest's write, not the backup. Undefined if the disk is not a file.
 */
async function directoryBeside(
  client: LibvirtClient,
  { source }: Pick<DiskUse, "source">,
): Promise<string | undefined> {
  if (source.kind === "other") {
    return undefined;
  }
  const path =
    source.kind === "path"
      ? source.path
      : (await volumeFacts(client, await volumeOf(client, source.pool, source.volume))).path;
  return path.startsWith("/dev/") ? undefined : dirname(path);
}
