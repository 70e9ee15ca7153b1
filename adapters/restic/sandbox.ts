import { createHash } from "node:crypto";
import { InfraError } from "../host/infra-error.ts";
import { systemClock } from "../sandbox/clock.ts";
import type { SandboxOptions } from "../sandbox/sandbox-options.ts";
import { createStepFaults } from "../sandbox/step-faults.ts";
import type { Repository, ResticAdapter, ResticSnapshot, TransferOptions } from "./adapter.ts";
import { environmentOfRepository, resticCommand } from "./commands.ts";
import { kept } from "./keep.ts";
import { assertFileName, assertRepository, assertSnapshotId, assertSomeTags, assertTags } from "./names.ts";
import { resticReasons } from "./reasons.ts";
import { createSandboxTransfers, type SandboxTransfer } from "./sandbox-transfers.ts";

export interface ResticSandboxOptions extends SandboxOptions<SandboxTransfer> {
  /** Duration of a transfer, or of one that moves this many bytes; 200 ms by default. */
  readonly transferMs?: number | ((totalBytes: number) => number);
  /** Host name recorded in snapshots. */
  readonly hostname?: string;
}

interface SandboxSnapshot extends ResticSnapshot {
  readonly sizeBytes: number;
}

interface SandboxRepository {
  readonly password: string;
  readonly snapshots: Map<string, SandboxSnapshot>;
}

/**
 * restic in memory: the same rules and errors as the real one, with snapshots that hold no data. It accesses no
 * devices, no disk and no network.
 */
export function createResticSandbox(options: ResticSandboxOptions = {}): ResticAdapter {
  const { transferMs = 200, hostname = "sandbox" } = options;
  const { clock = systemClock, faults = createStepFaults() } = options;
  const repositories = new Map<string, SandboxRepository>();
  const transfers = createSandboxTransfers({
    durationMs: typeof transferMs === "number" ? () => transferMs : transferMs,
    clock,
    faults,
  });
  let snapshotCount = 0;
  let lastAtMs = 0;

  function placeOf(repository: Repository): string {
    assertRepository(repository);
    return environmentOfRepository(repository).RESTIC_REPOSITORY ?? "";
  }

  function open(repository: Repository): SandboxRepository {
    const place = placeOf(repository);
    const opened = repositories.get(place);
    if (opened === undefined) {
      throw new InfraError(resticReasons.REPOSITORY_NOT_FOUND, `there is no repository at ${place}`);
    }
    if (opened.password !== repository.password) {
      throw new InfraError(resticReasons.REPOSITORY_KEY_WRONG, "wrong password or no key found");
    }
    return opened;
  }

  function snapshotOf(repository: Repository, id: string): SandboxSnapshot {
    assertSnapshotId(id, "snapshotId");
    const snapshot = [...open(repository).snapshots.values()].find((one) => one.id.startsWith(id));
    if (snapshot === undefined) {
      throw new InfraError(resticReasons.BACKUP_NOT_FOUND, `no matching ID found for prefix "${id}"`);
    }
    return snapshot;
  }

  function list(repository: Repository, tags: readonly string[]): ResticSnapshot[] {
    assertTags(tags, "tags");
    return [...open(repository).snapshots.values()]
      .filter((snapshot) => tags.every((tag) => snapshot.tags.includes(tag)))
      .map(({ sizeBytes, ...snapshot }) => snapshot);
  }

  /** Looks up the file of a snapshot for a transfer. */
  function fileOf(
    repository: Repository,
    { id, fileName }: { readonly id: string; readonly fileName: string },
  ): SandboxSnapshot {
    assertFileName(fileName, "fileName");
    const snapshot = snapshotOf(repository, id);
    if (snapshot.fileName !== fileName) {
      throw new InfraError(resticReasons.BACKUP_NOT_FOUND, `path "/${fileName}" not found in snapshot`);
    }
    return snapshot;
  }

  async function dump(
    step: "restore" | "verify",
    repository: Repository,
    file: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    transferOptions: TransferOptions,
  ): Promise<number> {
    const { sizeBytes } = fileOf(repository, file);
    await transfers.run({ kind: step }, sizeBytes, transferOptions);
    assertWhole(file, sizeBytes);
    return sizeBytes;
  }

  return {
    kind: "sandbox",
    commandOf: (step) => resticCommand({}, {}, step === "restore" ? "dump" : step, []),
    async ensureRepository(repository) {
      const place = placeOf(repository);
      if (!repositories.has(place)) {
        repositories.set(place, { password: repository.password, snapshots: new Map() });
      }
      open(repository);
    },
    list: async (repository, tags) => list(repository, tags),
    async backup(repository, source, transferOptions) {
      const { fileName, tags } = source;
      assertFileName(fileName, "fileName");
      assertTags(tags, "tags");
      const { snapshots } = open(repository);
      const sizeBytes = await transfers.store(source, transferOptions);
      snapshotCount += 1;
      lastAtMs = Math.max(clock.nowMs(), lastAtMs + 1);
      const id = createHash("sha256").update(`sandbox-snapshot-${snapshotCount}`).digest("hex");
      snapshots.set(id, { id, atMs: lastAtMs, hostname, tags: [...tags], fileName, sizeBytes });
      return id;
    },
    sizeOf: async (repository, id) => snapshotOf(repository, id).sizeBytes,
    async restore(repository, snapshot, _device, transferOptions) {
      await dump("restore", repository, snapshot, transferOptions);
    },
    async *read(repository, snapshot, transferOptions) {
      const { sizeBytes } = fileOf(repository, snapshot);
      yield* transfers.read(sizeBytes, transferOptions);
      assertWhole(snapshot, sizeBytes);
    },
    verify: (repository, snapshot, transferOptions) => dump("verify", repository, snapshot, transferOptions),
    async forget(repository, snapshotIds, transferOptions) {
      for (const id of snapshotIds) {
        assertSnapshotId(id, "snapshotIds");
      }
      const { snapshots } = open(repository);
      transferOptions.signal.throwIfAborted();
      faults.assertWorks({ kind: "forget" });
      for (const { id } of [...snapshots.values()]) {
        if (snapshotIds.some((prefix) => id.startsWith(prefix))) {
          snapshots.delete(id);
        }
      }
    },
    async prune(repository, transferOptions) {
      open(repository);
      await transfers.run({ kind: "prune" }, 0, transferOptions);
    },
    async expired(repository, tags, keep) {
      assertSomeTags(tags, "tags");
      const candidates = list(repository, tags);
      if (keep.last <= 0 && keep.daily <= 0 && keep.weekly <= 0) {
        return [];
      }
      const keptMs = kept(
        candidates.map(({ atMs }) => atMs),
        keep,
      );
      return candidates.filter(({ atMs }) => !keptMs.has(atMs)).map(({ id }) => id);
    },
    settle: async (token) => transfers.settle(token),
    inspect: async () => ({
      version: "sandbox",
      findings: [
        { ok: true, what: "backups exist only in memory, hold no data, and disappear with the gateway" },
      ],
    }),
    close: async () => transfers.close(),
  };
}

function assertWhole(
  { id, sizeBytes }: { readonly id: string; readonly sizeBytes: number },
  doneBytes: number,
): void {
  if (doneBytes !== sizeBytes) {
    const words = `snapshot ${id} has ${doneBytes} bytes instead of ${sizeBytes}`;
    throw new InfraError(resticReasons.BACKUP_DAMAGED, words);
  }
}
