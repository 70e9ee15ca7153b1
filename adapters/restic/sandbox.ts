import { createHash } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { InfraError } from "../host/infra-error.ts";
import { errorFromSignal, errorFromSource } from "../host/tool-errors.ts";
import { untilStopped } from "../host/until-stopped.ts";
import type { BackupSource, Repository, ResticAdapter, ResticSnapshot, TransferOptions } from "./adapter.ts";
import { environmentOfRepository, resticCommand } from "./commands.ts";
import { kept } from "./keep.ts";
import { assertFileName, assertRepository, assertSnapshotId, assertSomeTags, assertTags } from "./names.ts";

export interface ResticSandboxOptions {
  /** How long a transfer takes; 200 ms unless told. */
  readonly transferMs?: number;
  /** What snapshots say they were made on. */
  readonly hostname?: string;
  /** Asked before each step: the error with which it is to fail, for tests. */
  readonly fault?: (
    step: "backup" | "restore" | "read" | "verify" | "forget" | "prune",
  ) => InfraError | undefined;
}

interface SandboxSnapshot extends ResticSnapshot {
  readonly sizeBytes: number;
}

interface SandboxRepository {
  readonly password: string;
  readonly snapshots: Map<string, SandboxSnapshot>;
}

const progressSteps = 10;
const zeroes = Buffer.alloc(1 << 20);

/**
 * restic in memory: the same rules and errors as the real one, with snapshots that hold no data. It neither reads nor writes
 * a device, and touches neither a disk nor the network.
 */
export function createResticSandbox(options: ResticSandboxOptions = {}): ResticAdapter {
  const { transferMs = 200, hostname = "sandbox", fault = () => undefined } = options;
  const repositories = new Map<string, SandboxRepository>();
  const closing = new AbortController();
  const transfers = new Set<{ readonly token: string; readonly settling: AbortController }>();
  let snapshotsMade = 0;
  let lastAtMs = 0;

  function placeOf(repository: Repository): string {
    assertRepository(repository);
    return environmentOfRepository(repository).RESTIC_REPOSITORY ?? "";
  }

  function open(repository: Repository): SandboxRepository {
    const place = placeOf(repository);
    const opened = repositories.get(place);
    if (opened === undefined) {
      throw new InfraError("REPOSITORY_NOT_FOUND", `there is no repository at ${place}`);
    }
    if (opened.password !== repository.password) {
      throw new InfraError("REPOSITORY_KEY_WRONG", "wrong password or no key found");
    }
    return opened;
  }

  function snapshotOf(repository: Repository, id: string): SandboxSnapshot {
    assertSnapshotId(id, "snapshotId");
    const snapshot = [...open(repository).snapshots.values()].find((one) => one.id.startsWith(id));
    if (snapshot === undefined) {
      throw new InfraError("BACKUP_NOT_FOUND", `no matching ID found for prefix "${id}"`);
    }
    return snapshot;
  }

  function list(repository: Repository, tags: readonly string[]): ResticSnapshot[] {
    assertTags(tags, "tags");
    return [...open(repository).snapshots.values()]
      .filter((snapshot) => tags.every((tag) => snapshot.tags.includes(tag)))
      .map(({ sizeBytes, ...snapshot }) => snapshot);
  }

  /** `settle` and `close` stop it from now until its end. */
  function begin({ token, signal }: TransferOptions) {
    const running = { token, settling: new AbortController() };
    transfers.add(running);
    return {
      stop: AbortSignal.any([signal, closing.signal, running.settling.signal]),
      end: () => void transfers.delete(running),
    };
  }

  /** Takes its time, and tells how far it is. */
  async function transfer(
    step: "backup" | "restore" | "verify" | "prune",
    totalBytes: number,
    transferOptions: TransferOptions,
  ): Promise<void> {
    const { stop, end } = begin(transferOptions);
    try {
      for (let done = 1; done <= progressSteps; done += 1) {
        await sleep(transferMs / progressSteps, undefined, { signal: stop }).catch(() => {
          throw errorFromSignal(stop, "restic");
        });
        const failure = fault(step);
        if (failure !== undefined) {
          throw failure;
        }
        const doneBytes = Math.floor((totalBytes * done) / progressSteps);
        transferOptions.onProgress({ doneBytes, totalBytes });
      }
    } finally {
      end();
    }
  }

  /** Takes its time over a device, and reads whatever else it is given; how much there was. */
  async function store(source: BackupSource, transferOptions: TransferOptions): Promise<number> {
    if ("device" in source) {
      await transfer("backup", source.sizeBytes, transferOptions);
      return source.sizeBytes;
    }
    const { content, sizeBytes, fileName } = source;
    const { stop, end } = begin(transferOptions);
    let doneBytes = 0;
    try {
      for await (const chunk of untilStopped(content, stop, "restic")) {
        const failure = fault("backup");
        if (failure !== undefined) {
          throw failure;
        }
        doneBytes += chunk.length;
        transferOptions.onProgress(
          sizeBytes === undefined ? { doneBytes } : { doneBytes, totalBytes: sizeBytes },
        );
      }
    } catch (cause) {
      throw errorFromSource(cause, "restic");
    } finally {
      end();
    }
    if (sizeBytes !== undefined && doneBytes !== sizeBytes) {
      const words = `of ${fileName} ${doneBytes} bytes could be read instead of ${sizeBytes}`;
      throw new InfraError("TOOL_FAILED", words);
    }
    return doneBytes;
  }

  /** The file of a snapshot that a transfer is about. */
  function fileOf(
    repository: Repository,
    { id, fileName }: { readonly id: string; readonly fileName: string },
  ): SandboxSnapshot {
    assertFileName(fileName, "fileName");
    const snapshot = snapshotOf(repository, id);
    if (snapshot.fileName !== fileName) {
      throw new InfraError("BACKUP_NOT_FOUND", `path "/${fileName}" not found in snapshot`);
    }
    return snapshot;
  }

  /** Zeroes, since snapshots hold no data. */
  async function* read(
    repository: Repository,
    wanted: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    transferOptions: TransferOptions,
  ): AsyncGenerator<Uint8Array, void> {
    const { sizeBytes: totalBytes } = fileOf(repository, wanted);
    const { stop, end } = begin(transferOptions);
    try {
      for (let doneBytes = 0; doneBytes < totalBytes; ) {
        await nextTurn();
        const failure = stop.aborted ? errorFromSignal(stop, "restic") : fault("read");
        if (failure !== undefined) {
          throw failure;
        }
        const piece = zeroes.subarray(0, totalBytes - doneBytes);
        doneBytes += piece.length;
        yield piece;
        transferOptions.onProgress({ doneBytes, totalBytes });
      }
    } finally {
      end();
    }
    assertWhole(wanted, totalBytes);
  }

  async function dump(
    step: "restore" | "verify",
    repository: Repository,
    wanted: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    transferOptions: TransferOptions,
  ): Promise<number> {
    const { sizeBytes } = fileOf(repository, wanted);
    await transfer(step, sizeBytes, transferOptions);
    assertWhole(wanted, sizeBytes);
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
      const sizeBytes = await store(source, transferOptions);
      snapshotsMade += 1;
      lastAtMs = Math.max(Date.now(), lastAtMs + 1);
      const id = createHash("sha256").update(`sandbox-snapshot-${snapshotsMade}`).digest("hex");
      snapshots.set(id, { id, atMs: lastAtMs, hostname, tags: [...tags], fileName, sizeBytes });
      return id;
    },
    sizeOf: async (repository, id) => snapshotOf(repository, id).sizeBytes,
    async restore(repository, snapshot, _device, transferOptions) {
      await dump("restore", repository, snapshot, transferOptions);
    },
    read,
    verify: (repository, snapshot, transferOptions) => dump("verify", repository, snapshot, transferOptions),
    async forget(repository, snapshotIds, transferOptions) {
      for (const id of snapshotIds) {
        assertSnapshotId(id, "snapshotIds");
      }
      const { snapshots } = open(repository);
      transferOptions.signal.throwIfAborted();
      const failure = fault("forget");
      if (failure !== undefined) {
        throw failure;
      }
      for (const { id } of [...snapshots.values()]) {
        if (snapshotIds.some((wanted) => id.startsWith(wanted))) {
          snapshots.delete(id);
        }
      }
    },
    async prune(repository, transferOptions) {
      open(repository);
      await transfer("prune", 0, transferOptions);
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
    async settle(token) {
      for (const transfer of transfers) {
        if (transfer.token === token) {
          transfer.settling.abort(new InfraError("SHUTTING_DOWN", "the gateway that began it is gone"));
        }
      }
    },
    inspect: async () => ({
      version: "sandbox",
      findings: [{ ok: true, what: "backups are kept in memory, hold no data, and vanish with the gateway" }],
    }),
    async close() {
      closing.abort(new InfraError("SHUTTING_DOWN", "The gateway is stopping"));
    },
  };
}

function assertWhole(
  { id, sizeBytes }: { readonly id: string; readonly sizeBytes: number },
  doneBytes: number,
): void {
  if (doneBytes !== sizeBytes) {
    const words = `snapshot ${id} holds ${doneBytes} bytes instead of ${sizeBytes}`;
    throw new InfraError("BACKUP_DAMAGED", words);
  }
}
