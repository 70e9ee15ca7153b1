import { InfraError } from "../../host/infra-error.ts";
import type { VolumeUser } from "../backup-adapter.ts";
import { readDiskUses, usersOf } from "../domains/disk-uses.ts";
import { about } from "../errors.ts";
import { poolVolumeResource } from "../names.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import type { StorageVolRef } from "../rpc/objects.ts";
import type { VolumeFacts } from "./storage-xml.ts";
import { volumeFacts } from "./volume-steps.ts";

/** Checks that no VM uses a volume during a period of time. */
export interface UsersWatch {
  /**
   * Returns the current facts about the volume.
   * @throws InfraError STORAGE_VOLUME_IN_USE when a VM is running with it, did since the watch began, or may have;
   *   STORAGE_VOLUME_NOT_FOUND
   */
  read(): Promise<VolumeFacts>;
  /** Creates the error that `read` throws. */
  inUse(why: string): InfraError;
  end(): void;
}

/** Starts watching. @param isMeant reports whether a user of the volume conflicts */
export function watchUsers(
  client: LibvirtClient,
  { pool, name }: { readonly pool: string; readonly name: string },
  vol: StorageVolRef,
  isMeant: (user: VolumeUser) => boolean,
): UsersWatch {
  const resource = poolVolumeResource(pool, name);
  const started = new Set<string>();
  let wasAway = false;
  // Events also reveal a VM that is started and stopped between two checks.
  const end = client.subscribe((event) => {
    if (event.kind === "reconnected") {
      wasAway = true;
    } else if (event.kind === "domainLifecycle" && event.event === "started") {
      started.add(event.domain.uuid);
    }
  });

  function inUse(why: string): InfraError {
    return new InfraError(
      libvirtReasons.STORAGE_VOLUME_IN_USE,
      `the volume ${name} of ${pool} is in use: ${why}`,
      {
        resource,
      },
    );
  }

  return {
    async read() {
      const facts = await about(resource, volumeFacts(client, vol));
      const uses = await about(resource, readDiskUses(client));
      const user = usersOf(uses, { pool, name, path: facts.path }).find(
        (one) => isMeant(one) && (one.isRunning || started.has(one.uuid)),
      );
      if (user !== undefined) {
        throw inUse(`the VM ${user.name} uses it as ${user.target}, or did meanwhile`);
      }
      const known = new Set(uses.map(({ uuid }) => uuid));
      if (wasAway || [...started].some((uuid) => !known.has(uuid))) {
        throw inUse(
          "a VM disappeared or the connection was lost meanwhile, so its users cannot be determined",
        );
      }
      return facts;
    },
    inUse,
    end,
  };
}
