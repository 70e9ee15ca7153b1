import { InfraError } from "../host/infra-error.ts";
import { readDiskUses, usersOf } from "./disk-uses.ts";
import { about } from "./errors.ts";
import { poolVolumeResource } from "./names.ts";
import type { LibvirtClient } from "./rpc/client.ts";
import { volumeFacts, volumeOf } from "./volume-steps.ts";

/** Bytes of a volume as they are stored, which nobody may change meanwhile. */
export async function* readVolume(
  client: LibvirtClient,
  pool: string,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  await client.ready(signal);
  const resource = poolVolumeResource(pool, name);
  const vol = await volumeOf(client, pool, name);
  const started = new Set<string>();
  let wasAway = false;
  // One that is started and stopped between two looks is seen only so.
  const unsubscribe = client.subscribe((event) => {
    if (event.kind === "reconnected") {
      wasAway = true;
    } else if (event.kind === "domainLifecycle" && event.event === "started") {
      started.add(event.domain.uuid);
    }
  });

  async function look(): Promise<string> {
    const facts = await about(resource, volumeFacts(client, vol));
    const uses = await readDiskUses(client);
    const writer = usersOf(uses, { pool, name, path: facts.path }).find(
      ({ isReadOnly, isRunning, uuid }) => !isReadOnly && (isRunning || started.has(uuid)),
    );
    if (writer !== undefined) {
      throw inUse(`the domain ${writer.name} runs with it as ${writer.target}, or did meanwhile`);
    }
    const known = new Set(uses.map(({ uuid }) => uuid));
    if (wasAway || [...started].some((uuid) => !known.has(uuid))) {
      throw inUse("a domain that is gone again, or the end of a connection, keeps from telling who used it");
    }
    return `${facts.storedBytes} ${facts.changedAt}`;
  }

  function inUse(why: string): InfraError {
    return new InfraError("STORAGE_VOLUME_IN_USE", `the volume ${name} of ${pool} is in use: ${why}`, {
      resource,
    });
  }

  try {
    const before = await look();
    yield* client.download({ vol, offset: 0n, length: 0n, flags: 0 }, signal);
    if ((await look()) !== before) {
      throw inUse("it was written to while it was read");
    }
  } finally {
    unsubscribe();
  }
}
