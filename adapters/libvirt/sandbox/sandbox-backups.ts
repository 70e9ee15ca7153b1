import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { InfraError, invalidField } from "../../host/infra-error.ts";
import { errorFromSignal } from "../../host/process/tool-errors.ts";
import { untilStopped } from "../../host/until-stopped.ts";
import type { LibvirtDomain } from "../adapter.ts";
import { measuredContent } from "../backup/measured-content.ts";
import type { LibvirtBackupAdapter, LibvirtVolume, VolumeUser } from "../backup-adapter.ts";
import { usersOf } from "../domains/disk-uses.ts";
import { poolVolumeResource } from "../names.ts";
import { libvirtReasons } from "../reasons.ts";
import { createWriteProgress } from "../volumes/write-progress.ts";
import { isOn, type SandboxHost } from "./sandbox-host.ts";
import { takenBytes } from "./sandbox-storage.ts";

/** Reads and writes the volumes of a sandbox. */
export interface SandboxBackups extends LibvirtBackupAdapter {
  /** Must be called when a VM has been started. */
  noteStart(uuid: string): void;
}

const pieceBytes = 1 << 20;

/**
 * Creates the backups of a sandbox. A volume's content is generated from its name: always the same bytes, as stored and
 * as guests see them, whatever is written to it.
 */
export function createSandboxBackups(host: SandboxHost, assertReachable: () => void): SandboxBackups {
  /** Tokens of backups by the UUID of their VM. */
  const backups = new Map<string, string>();
  /** Number of starts by the UUID of the VM. */
  const starts = new Map<string, number>();

  function uses() {
    return host.state().domains.flatMap(({ name, uuid, disks, ...domain }) =>
      // CD-ROM drives are named sd…
      disks.map(({ target, source }) => {
        const isReadOnly = target.startsWith("sd");
        return { name, uuid, target, source, isRunning: isOn(domain), isReadOnly };
      }),
    );
  }

  function volumes(pool: string): readonly LibvirtVolume[] {
    return host.storage.volumesOf(pool).map((volume) => {
      const { name, path, sizeBytes, format } = volume;
      const users = usersOf(uses(), { pool, name, path });
      return { name, path, sizeBytes, storedBytes: takenBytes(volume), format, users };
    });
  }

  function volumeIn(pool: string, name: string): LibvirtVolume {
    const found = volumes(pool).find((volume) => volume.name === name);
    if (found === undefined) {
      throw new InfraError(
        libvirtReasons.STORAGE_VOLUME_NOT_FOUND,
        `storage pool ${pool} has no volume ${name}`,
      );
    }
    return found;
  }

  /** @throws InfraError STORAGE_VOLUME_IN_USE */
  function assertUnused(pool: string, name: string): void {
    const { users } = volumeIn(pool, name);
    const writer = users.find(({ isRunning, isReadOnly }) => isRunning && !isReadOnly);
    if (writer !== undefined) {
      throw inUse(pool, name, `the VM ${writer.name} is using it`);
    }
  }

  function inUse(pool: string, name: string, why: string): InfraError {
    const resource = poolVolumeResource(pool, name);
    return new InfraError(
      libvirtReasons.STORAGE_VOLUME_IN_USE,
      `the volume ${name} of ${pool} is in use: ${why}`,
      {
        resource,
      },
    );
  }

  function startsOf(users: readonly VolumeUser[]): number {
    return users.reduce((sum, { uuid }) => sum + (starts.get(uuid) ?? 0), 0);
  }

  function writersOf(users: readonly VolumeUser[]): readonly VolumeUser[] {
    return users.filter(({ isReadOnly }) => !isReadOnly);
  }

  async function* bytesOf(
    what: string,
    sizeBytes: bigint,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void> {
    const digest = createHash("sha256").update(what).digest();
    const piece = Buffer.alloc(pieceBytes, digest);
    for (let left = sizeBytes; left > 0n; left -= BigInt(pieceBytes)) {
      await nextTurn();
      if (signal.aborted) {
        throw errorFromSignal(signal, "libvirt");
      }
      assertReachable();
      yield left < pieceBytes ? piece.subarray(0, Number(left)) : piece;
    }
  }

  function sizeOfDisk({ name, disks }: LibvirtDomain, target: string): bigint {
    const source = disks.find((disk) => disk.target === target && !target.startsWith("sd"))?.source;
    if (source === undefined) {
      throw new InfraError(libvirtReasons.DOMAIN_STATE, `the VM ${name} has no writable disk ${target}`);
    }
    // Other sources have no known size.
    return source.kind === "volume" ? volumeIn(source.pool, source.volume).sizeBytes : BigInt(pieceBytes);
  }

  const sandbox: SandboxBackups = {
    noteStart: (uuid) => void starts.set(uuid, (starts.get(uuid) ?? 0) + 1),
    async volumesOf(pool) {
      assertReachable();
      return volumes(pool);
    },
    async *readVolume(pool, name, signal) {
      assertReachable();
      const { users, storedBytes } = volumeIn(pool, name);
      assertUnused(pool, name);
      const before = startsOf(writersOf(users));
      yield* bytesOf(`${pool}/${name} as it is stored`, storedBytes, signal);
      assertUnused(pool, name);
      if (startsOf(writersOf(volumeIn(pool, name).users)) !== before) {
        throw inUse(pool, name, "a VM used it meanwhile");
      }
    },
    async writeVolume(pool, name, source, signal, onProgress = () => {}) {
      assertReachable();
      const { storedBytes, users } = volumeIn(pool, name);
      if (storedBytes !== source.sizeBytes) {
        throw invalidField(
          "sizeBytes",
          `must be the ${storedBytes} bytes of ${name}, is ${source.sizeBytes}`,
        );
      }
      const assertFree = () => {
        const user = volumeIn(pool, name).users.find(({ isRunning }) => isRunning);
        if (user !== undefined) {
          throw inUse(pool, name, `the VM ${user.name} is using it`);
        }
      };
      assertFree();
      const before = startsOf(users);
      const moved = createWriteProgress(storedBytes, onProgress);
      const content = measuredContent(source, ({ length }) => moved(length));
      for await (const _ of untilStopped(content, signal, "libvirt")) {
        assertReachable();
        volumeIn(pool, name);
      }
      assertFree();
      if (startsOf(volumeIn(pool, name).users) !== before) {
        throw inUse(pool, name, "a VM used it meanwhile");
      }
      moved(Number(storedBytes));
    },
    async beginBackup(request, signal) {
      assertReachable();
      const { name, uuid, targets, token } = request;
      await sandbox.endBackup(request);
      const domain = host.domainOf(name, uuid);
      if (backups.has(uuid)) {
        throw new InfraError(
          libvirtReasons.STORAGE_VOLUME_IN_USE,
          `another client is backing up the VM ${name}`,
        );
      }
      if (!isOn(domain) || targets.length === 0) {
        throw new InfraError(
          libvirtReasons.DOMAIN_STATE,
          `the VM ${name} is not running, or no disk was named`,
        );
      }
      const disks = targets.map((target) => ({ target, sizeBytes: sizeOfDisk(domain, target) }));
      signal.throwIfAborted();
      backups.set(uuid, token);
      const run = starts.get(uuid);
      const assertBacked = () => {
        if (backups.get(uuid) !== token || starts.get(uuid) !== run || !isOn(host.domainOf(name, uuid))) {
          throw new InfraError(
            libvirtReasons.STORAGE_VOLUME_IN_USE,
            `the backup of the VM ${name} has ended`,
          );
        }
      };
      return {
        disks,
        async *read(target, readSignal) {
          const { sizeBytes = 0n } = disks.find((disk) => disk.target === target) ?? {};
          for await (const piece of bytesOf(`${uuid} ${target}`, sizeBytes, readSignal)) {
            assertBacked();
            yield piece;
          }
        },
        end: () => sandbox.endBackup(request),
      };
    },
    async endBackup({ uuid, token }) {
      assertReachable();
      if (backups.get(uuid) === token) {
        backups.delete(uuid);
      }
    },
  };
  return sandbox;
}
