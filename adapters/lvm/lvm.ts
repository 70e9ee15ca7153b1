import { AsyncLocalStorage } from "node:async_hooks";
import { InfraError } from "../host/infra-error.ts";
import { createLimiter, type Limiter } from "../host/limiter.ts";
import { run } from "../host/process/run.ts";
import type { ToolEnd, ToolResult } from "../host/process/tool-result.ts";
import { hostReasons } from "../host/reasons.ts";
import { createSnapshotCache } from "../host/snapshot.ts";
import type { LvmAdapter, LvmState } from "./adapter.ts";
import { backupConfigurationCommand, parseBackupConfiguration } from "./backup-configuration.ts";
import { commandOf, type LvmCommandOptions, readStateCommand, toolOf } from "./commands.ts";
import { createLvmData } from "./data/lvm-data.ts";
import type { LvmDeviceStep } from "./device-adapter.ts";
import { anyCommandOf } from "./device-commands.ts";
import { errorFromDeviceStep } from "./device-errors.ts";
import { createDeviceStepRunner, type MoveOptions } from "./device-step-runner.ts";
import { checkDevicesHeld, readDeviceFacts } from "./devices.ts";
import { errorFromReadResult, errorFromStepResult } from "./errors.ts";
import { inspectLvm, versionOf } from "./inspect.ts";
import { assertSnapshotNames, volumeGroupResource } from "./names.ts";
import { lvmReasons } from "./reasons.ts";
import { createReportParser } from "./report/report-parser.ts";
import { watchBlockDevices } from "./watch/block-devices.ts";
import { type DirectoryWatch, watchDirectory } from "./watch/watch-directory.ts";

export interface LvmOptions extends LvmCommandOptions {
  /** LVM_SYSTEM_DIR, which contains lvm.conf; LVM's default (/etc/lvm) if absent. */
  readonly systemDir?: string | undefined;
  /** Called after each tool has exited, for logs and metrics. */
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
  /** Time after which a reading lvm is stopped; 30,000 by default. */
  readonly readTimeoutMs?: number;
  /** Maximum number of changing commands that run at once (LVM itself runs one at a time per group); 4 by default. */
  readonly maxRunning?: number;
  /** Maximum number of changes that wait for a slot; 256 by default. */
  readonly maxWaiting?: number;
  /** Interval at which the state is read again, for changes without an event; 10 minutes by default. */
  readonly resyncMs?: number;
}

/** While changes are running, LVM is read all the time, at some 30 ms each with a hundred volumes. */
const recentMs = 500;

/**
 * Creates the adapter for this host's LVM. It starts nothing until the first read. From then on it watches the
 * directory of LVM's metadata backups, which every change of a group touches; /dev/mapper (with activation), where
 * volumes appear and vanish as they are activated and deactivated; and the kernel's list of block devices, for added
 * and removed disks.
 */
export function createLvm(options: LvmOptions = {}): LvmAdapter {
  const { readTimeoutMs = 30_000, maxRunning = 4, maxWaiting = 256, resyncMs = 600_000 } = options;
  const { onToolEnd } = options;
  const env = {
    // Otherwise lvm complains about each file descriptor that the gateway's parent left open.
    LVM_SUPPRESS_FD_WARNINGS: "1",
    ...(options.systemDir === undefined ? {} : { LVM_SYSTEM_DIR: options.systemDir }),
  };
  /** The equivalent command for a shell, which does not have the gateway's environment. */
  const shown = (argv: readonly string[]) =>
    options.systemDir === undefined ? argv : ["env", `LVM_SYSTEM_DIR=${options.systemDir}`, ...argv];
  const limiter = createLimiter({ what: "lvm commands", maxRunning, maxWaiting });
  // Moves take hours and must not delay other changes.
  const moves = createLimiter({ what: "moves of data", maxRunning: 1, maxWaiting: 16 });
  const inspections = createLimiter({ what: "device inspections", maxRunning: 4, maxWaiting: 1024 });
  // LVM serializes the changes of a group anyway. Commands that wait for its lock only take CPU time from calls, and
  // one that started before a device was added to the group fails: "Cannot change VG vg0 while PVs are missing."
  const turnsOfGroups = new Map<string, Limiter>();
  const cache = createSnapshotCache({ system: "lvm", load, recentMs });
  const parseReport = createReportParser();
  const closing = new AbortController();
  const watches: DirectoryWatch[] = [];
  let resyncTimer: NodeJS.Timeout | undefined;
  // Watches outlive the call that reads first, so their work must not be attributed to that call.
  const outsideCalls = AsyncLocalStorage.snapshot();

  function read(argv: readonly string[], signal?: AbortSignal): Promise<ToolResult> {
    const stop = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
    const tool = toolOf(options, argv);
    return run(argv, { kind: "read", tool, env, onToolEnd, timeoutMs: readTimeoutMs, signal: stop });
  }

  async function load(signal: AbortSignal): Promise<LvmState> {
    // First, so that no change between the read and the watch is missed.
    if (watches.length === 0) {
      await startWatching(signal);
    }
    const result = await read(readStateCommand(options), signal);
    const error = errorFromReadResult(result);
    if (error !== undefined) {
      throw error;
    }
    return parseReport(result.stdout);
  }

  async function startWatching(signal: AbortSignal): Promise<void> {
    const { stdout } = await read(backupConfigurationCommand(options), signal);
    const { directory } = parseBackupConfiguration(stdout);
    if (closing.signal.aborted) {
      return;
    }
    clearInterval(resyncTimer);
    resyncTimer = outsideCalls(() => setInterval(() => cache.invalidate(), resyncMs).unref());
    // Usually the read that follows fails for the same reason and reports it.
    if (directory === undefined) {
      return;
    }
    const directories = [directory, ...(options.activation === "none" ? [] : ["/dev/mapper"])];
    watches.push(
      ...directories.map((directory) =>
        outsideCalls(() => watchDirectory({ directory, onChange: cache.invalidate })),
      ),
      outsideCalls(() => watchBlockDevices({ onChange: () => cache.invalidate() })),
    );
    await Promise.all(watches.map(({ ready }) => ready));
  }

  function turnsOf(volumeGroupName: string): Limiter {
    const turns =
      turnsOfGroups.get(volumeGroupName) ??
      createLimiter({
        what: `changes of ${volumeGroupName}`,
        queue: "lvm commands",
        maxRunning: 1,
        // Each change has already passed the limit of all groups.
        maxWaiting: Number.POSITIVE_INFINITY,
      });
    turnsOfGroups.set(volumeGroupName, turns);
    return turns;
  }

  async function change(
    turns: Limiter,
    runTool: () => Promise<ToolResult>,
    errorFrom: (result: ToolResult) => InfraError | undefined,
  ): Promise<void> {
    let hasStarted = false;
    try {
      await turns.run(async () => {
        hasStarted = true;
        try {
          const error = errorFrom(await runTool());
          if (error !== undefined) {
            throw error;
          }
        } finally {
          // Also after a failure, which often means that the caller relied on an outdated state.
          cache.invalidate();
        }
      });
    } finally {
      // So that `readRecent` includes the change. Readers get the error of a failed read.
      if (hasStarted) {
        await cache.read(closing.signal).catch(() => {});
      }
    }
  }

  /**
   * Checks that the group can be extended. vgextend creates the physical volumes before it looks up the group, and
   * leaves them behind if there is none.
   */
  async function assertExtendable({ volumeGroupName }: LvmDeviceStep): Promise<LvmState> {
    cache.invalidate();
    const { value } = await cache.read(closing.signal);
    const { volumeGroups } = value;
    const group = volumeGroups.find(({ name }) => name === volumeGroupName);
    if (group === undefined || group.missingPvCount > 0) {
      const what = group === undefined ? "not found" : "has missing devices";
      throw new InfraError(lvmReasons.VOLUME_GROUP_GONE, `Volume group "${volumeGroupName}" ${what}`, {
        resource: volumeGroupResource(volumeGroupName),
      });
    }
    return value;
  }

  /**
   * Checks the devices of a step. They are not open between the end of this check and LVM's own exclusive open; LVM
   * then checks for signatures itself and refuses.
   */
  async function checkAdded(
    step: Extract<LvmDeviceStep, { kind: "addDevices" }>,
  ): Promise<readonly string[]> {
    const { physicalVolumes } = await assertExtendable(step);
    const marked = physicalVolumes.filter(({ volumeGroupName }) => volumeGroupName === undefined);
    return checkDevicesHeld(step.paths, read, step.isRepeated === true ? marked : []);
  }

  function mutate(argv: readonly string[], runOptions?: MoveOptions): Promise<ToolResult> {
    const tool = toolOf(options, argv);
    return run(argv, { kind: "mutate", tool, shownArgv: shown(argv), env, onToolEnd, ...runOptions });
  }

  const runDeviceStep = createDeviceStepRunner({ options, mutate, closing: closing.signal });

  const data = createLvmData({
    prefix: (options.command ?? ["lvm"]).slice(0, -1),
    read,
    mutate,
    onToolEnd,
    closing: closing.signal,
  });

  return {
    kind: "real",
    read: cache.read,
    readRecent: cache.readRecent,
    refresh: cache.refresh,
    subscribe: cache.subscribe,
    commandOf: (step) => shown(anyCommandOf(options, step)),
    async run(step) {
      closing.signal.throwIfAborted();
      if (step.kind === "snapshot" && step.roomBytes !== undefined) {
        assertSnapshotNames(step.volumeGroupName, step.name, step.originName);
      }
      const argv = commandOf(options, step);
      await change(
        limiter,
        () => turnsOf(step.volumeGroupName).run(() => mutate(argv)),
        (result) => errorFromStepResult(step, result),
      );
    },
    devices: (paths) => Promise.all(paths.map((path) => inspections.run(() => readDeviceFacts(path, read)))),
    async runOnDevices(step, stepOptions = {}) {
      closing.signal.throwIfAborted();
      const isMove = step.kind === "moveAway";
      const work = async () =>
        runDeviceStep(
          step.kind === "addDevices" ? { ...step, paths: await checkAdded(step) } : step,
          stepOptions,
        );
      await change(
        isMove ? moves : limiter,
        () => (isMove ? work() : turnsOf(step.volumeGroupName).run(work)),
        (result) => errorFromDeviceStep(step, result),
      );
    },
    data,
    version: () => versionOf(options, read),
    inspect: () => inspectLvm({ options, env, read, readState: cache.read }),
    async close() {
      closing.abort(new InfraError(hostReasons.SHUTTING_DOWN, "The gateway is stopping"));
      clearInterval(resyncTimer);
      cache.close();
      for (const watch of watches) {
        watch.close();
      }
      await Promise.all([limiter.idle(), moves.idle(), data.idle()]);
    },
  };
}
