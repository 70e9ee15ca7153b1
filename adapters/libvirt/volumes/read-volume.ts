import type { LibvirtClient } from "../rpc/client.ts";
import type { VolumeFacts } from "./storage-xml.ts";
import { volumeOf } from "./volume-steps.ts";
import { watchUsers } from "./watch-users.ts";

/** Reads the bytes of a volume as stored, and checks that nothing changes them meanwhile. */
export async function* readVolume(
  client: LibvirtClient,
  pool: string,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  await client.ready(signal);
  const vol = await volumeOf(client, pool, name);
  const users = watchUsers(client, { pool, name }, vol, ({ isReadOnly }) => !isReadOnly);
  const versionOf = ({ storedBytes, changedAt }: VolumeFacts) => `${storedBytes} ${changedAt}`;
  try {
    const before = versionOf(await users.read());
    yield* client.download({ vol, offset: 0n, length: 0n, flags: 0 }, signal);
    if (versionOf(await users.read()) !== before) {
      throw users.inUse("it was written to while it was read");
    }
  } finally {
    users.end();
  }
}
