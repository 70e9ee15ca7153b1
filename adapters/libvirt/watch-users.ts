import { InfraError } from "../host/infra-error.ts";
import type { VolumeUser } from "./backup-adapter.ts";
import { readDiskUses, usersOf } from "./disk-uses.ts";
import { about } from "./errors.ts";
import { poolVolumeResource } from "./names.ts";
import type { LibvirtClient } from "./rpc/client.ts";
import type { StorageVolRef } from "./rpc/objects.ts";
import type { VolumeFacts } from "./storage-xml.ts";
import { volumeFacts } from "./volume-steps.ts";

/** A volume that no domain may use for a while. */
export interface UsersWatch {
  /**
   * What libvirt tells of the volume now.
   * @throws InfraError STORAGE_VOLUME_IN_USE when a domain runs with it, or did since the watch began, or when nobody can
   *   tell; STORAGE_VOLUME_NOT_FOUND
   */
  look(): Promise<VolumeFacts>;
  /** What `look` throws. */
  inUse(why: string): InfraError;
  end(): void;
}

/** @param isMeant which users of the volume are in the way */
export function watchUsers(
  client: LibvirtClient,
  { pool, name }: { readonly pool: string; readonly name: string },
  vol: StorageVolRef,
  isMeant: (user: VolumeUser) => boolean,
): UsersWatch {
  const resource = poolVolumeResource(pool, name);
  const started = new Set<string>();
  let wasAway = false;
  // One that is started and stopped between two looks is seen only so.
  const end = client.subscribe((event) => {
    if (event.kind === "reconnected") {
      wasAway = true;
    } else if (event.kind === "domainLifecycle" && event.event === "started") {
      started.add(event.domain.uuid);
    }
  });

  function inUse(why: string): InfraError {
    return new InfraError("STORAGE_VOLUME_IN_USE", `the volume ${name} of ${pool} is in use: ${why}`, {
      resource,
    });
  }

  return {
    async look() {
      const facts = await about(resource, volumeFacts(client, vol));
      const uses = await about(resource, readDiskUses(client));
      const user = usersOf(uses, { pool, name, path: facts.path }).find(
        (one) => isMeant(one) && (one.isRunning || started.has(one.uuid)),
      );
      if (user !== undefined) {
        throw inUse(`the domain ${user.name} runs with it as ${user.target}, or did meanwhile`);
      }
      const known = new Set(uses.map(({ uuid }) => uuid));
      if (wasAway || [...started].some((uuid) => !known.has(uuid))) {
        throw inUse(
          "a domain that is gone again, or the end of a connection, keeps from telling who used it",
        );
      }
      return facts;
    },
    inUse,
    end,
  };
}
