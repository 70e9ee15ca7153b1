import { createHash } from "node:crypto";
import { InfraError, invalidField } from "../host/infra-error.ts";
import type { VolumeContent } from "./backup-adapter.ts";
import { readDiskUses, usersOf } from "./disk-uses.ts";
import { about, isReason } from "./errors.ts";
import { measuredContent } from "./measured-content.ts";
import { poolVolumeResource } from "./names.ts";
import type { LibvirtClient } from "./rpc/client.ts";
import type { StorageVolRef } from "./rpc/objects.ts";
import { createVolume, deleteVolume, volumeFacts, volumeOf } from "./volume-steps.ts";

/** A volume by its names. */
export interface VolumeName {
  readonly pool: string;
  readonly name: string;
}

/**
 * Writes all of a volume that is there. libvirt 9.0 hands what it is sent to a thread, and confirms the end of an upload also
 * when that thread could not write the last pieces: so what is there is read back.
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
  await about(resource, assertWritable(client, { pool, name }, vol, sizeBytes));
  const written = createHash("sha256");
  const measured = measuredContent({ content, sizeBytes }, (piece, doneBytes) => {
    written.update(piece);
    onProgress(doneBytes);
  });
  await about(resource, client.upload({ vol, offset: 0n, length: sizeBytes, flags: 0 }, measured, signal));
  const stored = createHash("sha256");
  for await (const piece of client.download({ vol, offset: 0n, length: sizeBytes, flags: 0 }, signal)) {
    stored.update(piece);
  }
  if (!stored.digest().equals(written.digest())) {
    const words = `the volume ${name} of ${pool} holds something else than libvirt was given for it`;
    throw new InfraError("LIBVIRT_FAILED", words, { resource });
  }
}

async function assertWritable(
  client: LibvirtClient,
  { pool, name }: VolumeName,
  vol: StorageVolRef,
  sizeBytes: bigint,
): Promise<void> {
  const { path, storedBytes } = await volumeFacts(client, vol);
  if (storedBytes !== sizeBytes) {
    throw invalidField("sizeBytes", `must be the ${storedBytes} bytes of ${name}, is ${sizeBytes}`);
  }
  const user = usersOf(await readDiskUses(client), { pool, name, path }).find(({ isRunning }) => isRunning);
  if (user !== undefined) {
    const words = `the volume ${name} of ${pool} is in use: the domain ${user.name} runs with it as ${user.target}`;
    throw new InfraError("STORAGE_VOLUME_IN_USE", words);
  }
}

/** Makes a raw volume that has these bytes, in place of one of the same name. What is half written is deleted. */
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
    if (!isReason(error, "STORAGE_VOLUME_NOT_FOUND")) {
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
