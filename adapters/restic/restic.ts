import { hostname as machineName } from "node:os";
import { openTargetDevice } from "../host/block-device.ts";
import { InfraError } from "../host/infra-error.ts";
import { createLimiter } from "../host/limiter.ts";
import { filePosition } from "../host/process/file-position.ts";
import { stopMarked } from "../host/process/marked-processes.ts";
import { pulled } from "../host/pulled.ts";
import { hostReasons } from "../host/reasons.ts";
import type { Repository, ResticAdapter, TransferOptions } from "./adapter.ts";
import {
  backupArguments,
  dumpArguments,
  expiredArguments,
  resticCommand,
  snapshotsArguments,
} from "./commands.ts";
import { openSource } from "./device.ts";
import { inspectRestic } from "./inspect.ts";
import { assertFileName, assertRepository, assertSnapshotId, assertSomeTags, assertTags } from "./names.ts";
import { parseBackupSummary, parseExpired, parseRestoreSize, parseSnapshots } from "./parse.ts";
import {
  createResticProcesses,
  type ResticProcessOptions,
  type ResticResult,
  type TransferData,
} from "./processes.ts";
import { resticReasons } from "./reasons.ts";

/** Creates the adapter for this machine's restic. It starts nothing before the first call. Linux only. */
export function createRestic(options: ResticProcessOptions = {}): ResticAdapter {
  const { hostname = machineName() } = options;
  const processes = createResticProcesses(options);
  // If two create one repository at once, each leaves a key, and the first key found may not be the one that opens it:
  // "Fatal: config or key edd6e96d... is damaged: ciphertext verification failed".
  const creations = createLimiter({ what: "restic init", maxRunning: 1, maxWaiting: 256 });

  async function query(
    repository: Repository,
    subcommand: string,
    args: readonly string[],
    queryOptions: { readonly signal: AbortSignal; readonly token?: string },
  ): Promise<ResticResult> {
    assertRepository(repository);
    return succeeded(await processes.query(repository, subcommand, args, queryOptions));
  }

  /**
   * Quickly checks that a repository exists, is reachable and opens, before a long command starts; and removes locks of
   * dead processes (on other hosts: locks older than half an hour).
   */
  function unlock(repository: Repository, transferOptions: TransferOptions): Promise<ResticResult> {
    return query(repository, "unlock", [], transferOptions);
  }

  async function snapshots(repository: Repository, args: readonly string[], signal: AbortSignal) {
    return parseSnapshots((await query(repository, "snapshots", args, { signal })).stdout);
  }

  async function isRepository(repository: Repository, signal: AbortSignal): Promise<boolean> {
    const { exitCode, failure } = await processes.query(repository, "cat", ["--no-lock", "config"], {
      signal,
    });
    const error = exitCode === 0 ? undefined : failure();
    if (error !== undefined && !error.is(resticReasons.REPOSITORY_NOT_FOUND)) {
      throw error;
    }
    return error === undefined;
  }

  async function dump(
    repository: Repository,
    snapshot: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    transferOptions: TransferOptions,
    data: Omit<TransferData, "totalBytes">,
  ): Promise<void> {
    const args = dumpArguments(snapshot.id, snapshot.fileName);
    const all = { ...data, totalBytes: snapshot.sizeBytes };
    succeeded(await processes.transfer(repository, "dump", args, transferOptions, all));
    const doneBytes = await data.position();
    if (doneBytes !== snapshot.sizeBytes) {
      const words = `snapshot ${snapshot.id} has ${doneBytes} bytes instead of ${snapshot.sizeBytes}`;
      throw new InfraError(resticReasons.BACKUP_DAMAGED, words);
    }
  }

  return {
    kind: "real",
    commandOf: (step) => {
      const args = { backup: ["--stdin"], restore: [], forget: [], prune: [] }[step];
      return resticCommand(options, {}, step === "restore" ? "dump" : step, args);
    },
    async ensureRepository(repository, signal) {
      assertRepository(repository);
      if (await isRepository(repository, signal)) {
        return;
      }
      await creations.run(async () => {
        if (await isRepository(repository, signal)) {
          return;
        }
        const result = await processes.query(repository, "init", ["--quiet"], { signal });
        // Fatal: create repository at /srv/backup failed: config file already exists
        if (result.exitCode !== 0 && !(await isRepository(repository, signal))) {
          throw result.failure();
        }
      }, signal);
    },
    async list(repository, tags, signal) {
      assertTags(tags, "tags");
      return snapshots(repository, snapshotsArguments(tags), signal);
    },
    async backup(repository, source, transferOptions) {
      assertFileName(source.fileName, "fileName");
      assertTags(source.tags, "tags");
      const opened = await openSource(source);
      try {
        await unlock(repository, transferOptions);
        const args = backupArguments(source.fileName, source.tags, hostname);
        const data = {
          input: opened.input,
          totalBytes: source.sizeBytes,
          position: opened.position,
        };
        const result = await processes.transfer(repository, "backup", args, transferOptions, data);
        const summary = parseBackupSummary(result.stdout);
        const sizeBytes = source.sizeBytes ?? (await opened.position());
        if (result.exitCode === 0 && summary?.sizeBytes === sizeBytes) {
          return await wholeId(repository, summary.snapshotId, transferOptions.signal);
        }
        // With exit code 3, restic stored what it could read, and still created a snapshot.
        if (summary !== undefined) {
          // If this fails, the caller finds the snapshot by its tags.
          await query(repository, "forget", ["--", summary.snapshotId], transferOptions).catch(() => {});
        }
        const what = "device" in source ? source.device : source.fileName;
        throw errorFromBackup({ what, sizeBytes }, result, summary?.sizeBytes);
      } finally {
        await opened.close();
      }
    },
    async sizeOf(repository, snapshotId, signal) {
      assertSnapshotId(snapshotId, "snapshotId");
      const args = ["--no-lock", "--json", "--mode", "restore-size", "--", snapshotId];
      const result = await query(repository, "stats", args, { signal });
      const sizeBytes = parseRestoreSize(result.stdout);
      if (sizeBytes === undefined) {
        // 0.14 exits with 0: Ignoring "deadbeef...": no matching ID found for prefix "deadbeef..."
        throw result.failure();
      }
      return sizeBytes;
    },
    async restore(repository, snapshot, device, transferOptions) {
      assertFileName(snapshot.fileName, "fileName");
      assertSnapshotId(snapshot.id, "snapshotId");
      const target = await openTargetDevice(device);
      try {
        await unlock(repository, transferOptions);
        await dump(repository, snapshot, transferOptions, {
          output: target,
          position: () => filePosition(target),
        });
        await target.sync();
      } finally {
        await target.close();
      }
    },
    async *read(repository, snapshot, transferOptions) {
      assertFileName(snapshot.fileName, "fileName");
      assertSnapshotId(snapshot.id, "snapshotId");
      await unlock(repository, transferOptions);
      let doneBytes = 0;
      yield* pulled((take, signal) => {
        const data: Omit<TransferData, "totalBytes"> = {
          output: (chunk) => {
            doneBytes += chunk.length;
            return take(chunk);
          },
          position: async () => doneBytes,
        };
        return dump(repository, snapshot, { ...transferOptions, signal }, data);
      }, transferOptions.signal);
    },
    async verify(repository, snapshot, transferOptions) {
      assertFileName(snapshot.fileName, "fileName");
      assertSnapshotId(snapshot.id, "snapshotId");
      await unlock(repository, transferOptions);
      let doneBytes = 0;
      await dump(repository, snapshot, transferOptions, {
        output: (chunk) => {
          doneBytes += chunk.length;
        },
        position: async () => doneBytes,
        isUncached: true,
      });
      return doneBytes;
    },
    async forget(repository, snapshotIds, transferOptions) {
      for (const id of snapshotIds) {
        assertSnapshotId(id, "snapshotIds");
      }
      await unlock(repository, transferOptions);
      const there = await snapshots(repository, snapshotsArguments([]), transferOptions.signal);
      const ids = snapshotIds.filter((id) => there.some((snapshot) => snapshot.id.startsWith(id)));
      if (ids.length > 0) {
        await query(repository, "forget", ["--quiet", "--", ...ids], transferOptions);
      }
    },
    async prune(repository, transferOptions) {
      await unlock(repository, transferOptions);
      succeeded(await processes.transfer(repository, "prune", ["--quiet"], transferOptions));
    },
    async expired(repository, tags, keep, signal) {
      assertSomeTags(tags, "tags");
      if (keep.last <= 0 && keep.daily <= 0 && keep.weekly <= 0) {
        return [];
      }
      return parseExpired(
        (await query(repository, "forget", expiredArguments(tags, keep), { signal })).stdout,
      );
    },
    settle: stopMarked,
    inspect: () => inspectRestic(options),
    close: processes.close,
  };

  async function wholeId(repository: Repository, id: string, signal: AbortSignal): Promise<string> {
    if (id.length === 64) {
      return id;
    }
    const [snapshot] = await snapshots(repository, ["--no-lock", "--json", "--", id], signal);
    if (snapshot === undefined) {
      throw new InfraError(
        resticReasons.BACKUP_NOT_FOUND,
        `snapshot ${id} disappeared right after it was created`,
      );
    }
    return snapshot.id;
  }
}

function succeeded(result: ResticResult): ResticResult {
  if (result.exitCode !== 0) {
    throw result.failure();
  }
  return result;
}

function errorFromBackup(
  { what, sizeBytes }: { readonly what: string; readonly sizeBytes: number },
  result: ResticResult,
  storedBytes: number | undefined,
): InfraError {
  if (storedBytes === undefined) {
    return result.failure();
  }
  const words = `${storedBytes} bytes of ${what} were read instead of ${sizeBytes}`;
  const more = result.exitCode === 0 ? "" : `: ${result.failure().message}`;
  return new InfraError(hostReasons.TOOL_FAILED, words + more);
}
