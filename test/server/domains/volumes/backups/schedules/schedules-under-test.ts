import { randomBytes } from "node:crypto";
import type { Test } from "tap";
import type { LvmAdapter } from "../../../../../../adapters/lvm/adapter.ts";
import type { BackupRow } from "../../../../../../server/backups/store/backups.ts";
import { createSeal } from "../../../../../../server/crypto/seal.ts";
import type { BackupSchedule } from "../../../../../../server/domains/volumes/backups/schedules/backup-schedule.ts";
import {
  createVolumeBackups,
  type VolumeBackups,
} from "../../../../../../server/domains/volumes/backups/volume-backups.ts";
import { createEvents } from "../../../../../../server/events/events.ts";
import { createOperations } from "../../../../../../server/operations/engine/create-operations.ts";
import { createInlineRunner } from "../../../../../../server/operations/engine/run-inline.ts";
import type { Operation } from "../../../../../../server/operations/operation.ts";
import type { Operations } from "../../../../../../server/operations/operations.ts";
import { createHost, deviceClasses, type HostUnderTest, settings } from "../backups-under-test.ts";

/** Hourly backups of all volumes. */
export const hourly: BackupSchedule = { name: "hourly", volumes: ["*"], timeZone: "UTC", everyHours: 1 };

/** 2026-11-21T00:00Z; the schedule `hourly` has a slot each hour after it. */
export const startMs = Date.UTC(2026, 10, 21);

/** Returns the time `count` hours after `startMs`. */
export function hour(count: number): number {
  return startMs + count * 3_600_000;
}

/** Creates a host whose store is shared by several gateways, which leave each other's operations alone. */
export async function createSharedHost(t: Test): Promise<HostUnderTest> {
  const host = await createHost(t);
  return { ...host, store: { ...host.store, isShared: true } };
}

export interface SchedulesGateway extends Pick<VolumeBackups, "schedules" | "source"> {
  readonly operations: Operations;
  /** Logged warnings. */
  readonly logged: readonly string[];
  /** Begins what is due and waits until all operations have ended; twice, because retention follows the backups. */
  runAll(nowMs: number): Promise<void>;
  /** All operations, oldest first. */
  all(): Promise<readonly Operation[]>;
  /** All backups, oldest first. */
  backups(): Promise<readonly BackupRow[]>;
  close(): Promise<void>;
}

/** Creates the parts of a gateway that run schedules, driven only by the test's clock; closed when the test ends. */
export async function createSchedulesGateway(
  t: Test,
  hostUnderTest: HostUnderTest,
  schedules: readonly BackupSchedule[],
  options: {
    readonly minimumAgeHours?: number;
    readonly isIdle?: boolean;
    readonly lvm?: LvmAdapter;
    readonly host?: string;
  } = {},
): Promise<SchedulesGateway> {
  const { masterKeys, store, restic } = hostUnderTest;
  const { minimumAgeHours = 0, lvm = hostUnderTest.lvm, host = "alpha" } = options;
  const logged: string[] = [];
  const log = {
    info: () => {},
    warn: (message: string, cause?: unknown) => void logged.push(`${message}: ${cause}`),
  };
  const events = await createEvents({
    store,
    keepMs: 86_400_000,
    onFailed: (error) => t.fail(String(error)),
  });
  const operations = createOperations({
    store,
    instance: { instanceId: randomBytes(4).toString("hex"), host },
    seal: createSeal(masterKeys, "operations"),
    limits: { perSystem: 4, maxOpen: 100, leaseMs: 20_000, keepMs: 86_400_000 },
    log,
    firstPauseMs: 5,
  });
  const runner = createInlineRunner((_mutation, step, error) => t.fail(`undo of ${step.name}: ${error}`));
  const { schedules: running, source } = createVolumeBackups({
    lvm,
    restic,
    deviceClasses,
    settings: { ...settings, minimumAgeHours, schedules },
    runner,
    operations,
    events,
    store,
    keySeal: createSeal(masterKeys, "repository-key"),
    host,
    log,
  });
  if (options.isIdle !== true) {
    operations.begin();
  }
  let isClosed = false;
  async function close(): Promise<void> {
    if (!isClosed) {
      isClosed = true;
      await operations.close();
      await runner.drain();
      await events.close();
    }
  }
  t.teardown(close);

  const all = async () => {
    const { operations: newest } = await operations.list({}, { belowSeq: undefined, limit: 100 });
    return newest.toReversed();
  };
  async function untilEnded(): Promise<void> {
    const signal = AbortSignal.timeout(60_000);
    await Promise.all((await all()).map(({ id }) => operations.ended(id, signal)));
  }
  return {
    schedules: running,
    source,
    operations,
    logged,
    async runAll(nowMs) {
      await running.runDue(nowMs);
      await untilEnded();
      await running.runDue(nowMs);
      await untilEnded();
    },
    all,
    async backups() {
      const newest = { filters: {}, belowSeq: undefined, limit: 100 };
      return (await store.run("backups.list", newest)).rows.toReversed();
    },
    close,
  };
}
