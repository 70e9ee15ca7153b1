import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState } from "../../../../../adapters/lvm/adapter.ts";
import type { RepositorySecrets } from "../../../../backups/repository-place.ts";
import type { RegisteredChange } from "../../../../domain/long-change.ts";
import { hasEnded } from "../../../../operations/operation.ts";
import type { OperationStarter } from "../../../../operations/operations.ts";
import type { VolumeBackupRequest } from "../back-up-volume.ts";
import { backupKindName } from "../backup-kind.ts";
import type { BackupParts } from "../backup-parts.ts";
import type { BackupInput } from "../backup-run.ts";
import { resourceOf } from "../volume-handle.ts";
import { type BackupSchedule, latestSlotMs, slotName, volumesOfSchedule } from "./backup-schedule.ts";
import { createBeginRetention } from "./begin-retention.ts";
import type { RetentionInput } from "./retention-kind.ts";
import { actorOf, operationsOfSchedule } from "./schedule-operations.ts";

export interface BackupSchedulesLog {
  warn(message: string, cause?: unknown): void;
}

/** Runs scheduled backups. */
export interface BackupSchedules {
  /**
   * Begins what is due at `nowMs`, unless a gateway of this host has begun it already. Of each schedule only the newest slot
   * runs, no matter how many were missed. Never throws; the next call retries temporary failures.
   */
  runDue(nowMs: number): Promise<void>;
  /** Calls `runDue` now and every 15 seconds, until closed. */
  begin(): { close(): Promise<void> };
}

const runEveryMs = 15_000;

/** The newest slot of a schedule and its progress. */
interface SlotState {
  readonly slotMs: number;
  areBackupsStarted: boolean;
  isRetentionStarted: boolean;
  /** Failures that were logged; each is logged once per slot. */
  readonly logged: Set<string>;
}

/** @param backUpVolume the operation of a slot @param retention the operation that deletes old backups after it */
export function createBackupSchedules(
  parts: BackupParts & { readonly log: BackupSchedulesLog },
  backUpVolume: Pick<
    RegisteredChange<VolumeBackupRequest, BackupInput, RepositorySecrets | null>,
    "check" | "start"
  >,
  retention: OperationStarter<RetentionInput, null>,
): BackupSchedules {
  const { lvm, store, deviceClasses, settings, host, log } = parts;
  const closing = new AbortController();
  const beginRetention = createBeginRetention(parts, retention);
  const slots = new Map<BackupSchedule, SlotState>();

  /** @returns `refused` if a retry would fail as well */
  async function attempt(
    what: string,
    logged: Set<string>,
    work: () => Promise<void>,
  ): Promise<"done" | "refused" | "failed"> {
    try {
      await work();
      return "done";
    } catch (error) {
      const words = `${what}: ${error instanceof Error ? error.message : String(error)}`;
      if (!logged.has(words) && !closing.signal.aborted) {
        log.warn(`${what} failed`, error);
      }
      logged.add(words);
      return error instanceof InfraError && !error.retryable ? "refused" : "failed";
    }
  }

  async function beginOne(schedule: BackupSchedule, name: string, volume: LogicalVolume, state: LvmState) {
    const resource = resourceOf(volume);
    const { backups } = await store.run("backups.named", { host, volumes: [resource], name });
    if (backups.length > 0) {
      return;
    }
    const actor = actorOf(schedule);
    const existing = await operationsOfSchedule(parts, { kind: backupKindName, resource, actor });
    // Already begun, here or by another gateway; the operation shows its outcome.
    if (existing.some(({ input }) => (input as { readonly name?: unknown }).name === name)) {
      return;
    }
    const open = existing.find((operation) => !hasEnded(operation));
    if (open !== undefined) {
      log.warn(`${name} of ${resource} is skipped: operation ${open.id} of an earlier slot has not ended`);
      return;
    }
    const request = { name, s3: undefined, schedule: schedule.name, volume, state };
    const requester = { signal: closing.signal, peer: { lvmd: "backups" } } as const;
    await backUpVolume.start(await backUpVolume.check(request, requester), {
      actor,
      accountId: actor,
      rpc: "proto.LVService/CreateBackup",
    });
  }

  async function beginBackups(schedule: BackupSchedule, { slotMs, logged }: SlotState): Promise<boolean> {
    const name = slotName(schedule, slotMs);
    let areStarted = true;
    const read = await attempt(name, logged, async () => {
      const { value: state } = await lvm.read(closing.signal);
      const volumes = volumesOfSchedule(schedule, deviceClasses, state);
      if (volumes.length === 0) {
        log.warn(`${name} backs up nothing: no volume matches ${schedule.volumes.join(" or ")}`);
      }
      for (const volume of volumes) {
        const begin = () => beginOne(schedule, name, volume, state);
        const outcome = await attempt(`${name} of ${resourceOf(volume)}`, logged, begin);
        areStarted &&= outcome !== "failed";
      }
    });
    return read === "done" && areStarted;
  }

  async function runSchedule(schedule: BackupSchedule, nowMs: number): Promise<void> {
    const slotMs = latestSlotMs(schedule, nowMs);
    if (slotMs === undefined) {
      return;
    }
    let slot = slots.get(schedule);
    if (slot?.slotMs !== slotMs) {
      slot = { slotMs, areBackupsStarted: false, isRetentionStarted: false, logged: new Set() };
      slots.set(schedule, slot);
    }
    slot.areBackupsStarted ||= await beginBackups(schedule, slot);
    if (!slot.isRetentionStarted) {
      await attempt(`the retention of schedule ${schedule.name}`, slot.logged, async () => {
        const isStarted = await beginRetention(schedule);
        slot.isRetentionStarted = isStarted && slot.areBackupsStarted;
      });
    }
  }

  const runDue: BackupSchedules["runDue"] = async (nowMs) => {
    for (const schedule of settings.schedules ?? []) {
      if (!closing.signal.aborted) {
        await runSchedule(schedule, nowMs);
      }
    }
  };

  return {
    runDue,
    begin() {
      let running: Promise<void> | undefined;
      const run = () => {
        running ??= runDue(Date.now()).finally(() => {
          running = undefined;
        });
      };
      const timer = setInterval(run, runEveryMs).unref();
      run();
      return {
        async close() {
          clearInterval(timer);
          closing.abort();
          await running;
        },
      };
    },
  };
}
