import { createHash } from "node:crypto";
import { hasReason, InfraError, invalidField } from "../../host/infra-error.ts";
import { measuredContent } from "../backup/measured-content.ts";
import type { VolumeContent } from "../backup-adapter.ts";
import { about } from "../errors.ts";
import { poolVolumeResource } from "../names.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import { createVolume, deleteVolume, volumeOf } from "./volume-steps.ts";
import { watchUsers } from "./watch-users.ts";
import { createWriteProgress } from "./write-progress.ts";

/** A volume by its names. */
export interface VolumeName {
  readonly pool: string;
  readonly name: string;
}

/**
 * Writes the whole of an existing volume. libvirt 9.0 passes the data to a thread, and confirms the end of an upload
 * even if that thread could not write the last pieces. So the volume is read back.
 */
export async function writeVolume(
  client: LibvirtClient,
  { pool, name }: VolumeName,
  { content, sizeBytes }: VolumeContent,
  signal: AbortSignal,
  onProgress: (doneBytes: bigint) => void = () => {},
): Promise<void> {
  await client.ready(signal);
  const resource = poolVolumeResource(pool, name);
  const vol = await volumeOf(client, pool, name);
  const users = watchUsers(client, { pool, name }, vol, () => true);
  const all = { vol, offset: 0n, length: sizeBytes, flags: 0 };
  const moved = createWriteProgress(sizeBytes, onProgress);

  async function readBack(): Promise<Buffer> {
    const stored = createHash("sha256");
    for await (const piece of client.download(all, signal)) {
      stored.update(piece);
      moved(piece.length);
    }
    return stored.digest();
  }

  try {
    const { storedBytes } = await users.read();
    if (storedBytes !== sizeBytes) {
      throw invalidField("sizeBytes", `must be the ${storedBytes} bytes of ${name}, is ${sizeBytes}`);
    }
    const written = createHash("sha256");
    const measured = measuredContent({ content, sizeBytes }, (piece) => {
      written.update(piece);
      moved(piece.length);
    });
    await about(resource, client.upload(all, measured, signal));
    const stored = await about(resource, readBack());
    // A VM started meanwhile may have read incomplete data, and may have written to the volume.
    await users.read();
    if (!stored.equals(written.digest())) {
      const words = `the content of volume ${name} in ${pool} differs from what was written`;
      throw new InfraError(libvirtReasons.LIBVIRT_FAILED, words, { resource });
    }
  } finally {
    users.end();
  }
}

/** Creates a raw volume with these bytes, replacing one of the same name. A partially written volume is deleted. */
export async function replaceVolume(
  client: LibvirtClient,
  pool: string,
  name: string,
  bytes: Uint8Array,
  signal = new AbortController().signal,
): Promise<void> {
  try {
    await deleteVolume(client, pool, name);
  } catch (error) {
    if (!hasReason(error, libvirtReasons.STORAGE_VOLUME_NOT_FOUND)) {
      throw error;
    }
  }
  const sizeBytes = BigInt(bytes.length);
  const empty = { kind: "createVolume", pool, name, format: "raw", sizeBytes, isPreallocated: true } as const;
  await createVolume(client, empty);
  try {
    await writeVolume(client, { pool, name }, { content: piecesOf(bytes), sizeBytes }, signal);
  } catch (error) {
    await deleteVolume(client, pool, name).catch(() => {});
    throw error;
  }
}

const pieceBytes = 256 * 1024;

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield bytes.subarray(at, at + pieceBytes);
  }
}
