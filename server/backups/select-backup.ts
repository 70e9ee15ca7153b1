import { InfraError } from "../../adapters/host/infra-error.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import type { StoredBackup } from "./stored-backup.ts";

/**
 * Selects a backup of a repository. A selector is the backup's ID, the ID of its snapshot (8 digits or more), its name, its
 * volume (`data` or `vg0/data`), or volume and name (`data/monday`, `vg0/data/monday`). Without a selector it selects a backup
 * of the volume to be created, else of the only volume in the repository. Of several backups of one volume it selects the
 * latest. Hosts that share a repository may have volumes of the same name: backups of `host` are preferred, and those of other hosts are never mixed.
 * @param stored all backups of the repository
 * @param selector empty for none
 * @param target the volume to be created, as `group/volume`
 * @param host host of that volume
 * @param where the repository, for messages
 * @throws InfraError BACKUP_NOT_FOUND when there is none, or when several volumes match
 */
export function selectBackup(
  stored: readonly StoredBackup[],
  selector: string,
  { target, host }: { readonly target: string; readonly host: string },
  where: string,
): StoredBackup {
  const meant =
    selector === "" ? withoutSelector(stored, target) : stored.filter((one) => isNamed(one, selector));
  const matching = selector === "" ? "" : ` matching ${JSON.stringify(selector)}`;
  const volumes = [...new Set(meant.map(({ id, volume }) => volume ?? `snapshot ${id.slice(0, 8)}`))];
  if (volumes.length > 1) {
    throw notFound(
      `${where} contains backups of ${listed(volumes)}${matching}: select one at the end of \`path\`, such as #${volumes[0]} or #${volumes[0]}/<name of the backup>`,
    );
  }
  const own = meant.filter(({ hostname }) => hostname === host);
  const ofOneHost = own.length > 0 ? own : meant;
  const hosts = [...new Set(ofOneHost.map(({ hostname }) => hostname))];
  const latest = ofOneHost.toSorted((a, b) => a.atMs - b.atMs).at(-1);
  if (latest !== undefined && hosts.length > 1) {
    throw notFound(
      `${where} contains backups of ${listed(volumes)} from the hosts ${listed(hosts)}${matching}: select one by its ID at the end of \`path\`, such as #${latest.backupId ?? latest.id}`,
    );
  }
  if (latest === undefined) {
    throw notFound(`${where} contains no backup${matching}`);
  }
  return latest;
}

function withoutSelector(stored: readonly StoredBackup[], target: string): readonly StoredBackup[] {
  const ours = stored.filter(({ volume }) => volume !== undefined);
  const same = ours.filter(({ volume }) => volume === target);
  const sameName = ours.filter(({ volume }) => shortNameOf(volume) === shortNameOf(target));
  return [same, sameName, ours].find(({ length }) => length > 0) ?? [];
}

function isNamed({ id, backupId, volume, name }: StoredBackup, selector: string): boolean {
  const names = [
    backupId,
    name,
    volume,
    shortNameOf(volume),
    ...(name === undefined || volume === undefined
      ? []
      : [`${volume}/${name}`, `${shortNameOf(volume)}/${name}`]),
  ];
  return names.includes(selector) || (/^[0-9a-f]{8,64}$/.test(selector) && id.startsWith(selector));
}

function shortNameOf(volume: string | undefined): string | undefined {
  return volume?.split("/").at(-1);
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

function notFound(message: string): InfraError {
  return new InfraError(resticReasons.BACKUP_NOT_FOUND, message);
}
