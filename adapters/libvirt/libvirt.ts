import { AsyncLocalStorage } from "node:async_hooks";
import { tmpdir } from "node:os";
import { observeStep } from "../host/observe-step.ts";
import type { ToolEnd } from "../host/process/tool-result.ts";
import { createSnapshotCache } from "../host/snapshot.ts";
import type { LibvirtAdapter, LibvirtStep } from "./adapter.ts";
import { assertStep } from "./assert-step.ts";
import { beginBackup, endBackup } from "./backup/domain-backup.ts";
import { inspectBackups } from "./backup/inspect-backups.ts";
import { commandOf } from "./commands.ts";
import { changeDomain, defineDomain } from "./domains/domain-steps.ts";
import { type Platform, parsePlatform, usualPlatform } from "./domains/platform.ts";
import { isGuestReady } from "./domains/readiness.ts";
import { inspectLibvirt } from "./inspect.ts";
import { readLibvirtVersion } from "./libvirt-version.ts";
import { assertSocketsDirectory } from "./names.ts";
import { createLibvirtClient } from "./rpc/client.ts";
import { parseLibvirtUri } from "./rpc/uri.ts";
import { makeSeed } from "./seed.ts";
import { removeStaleSeeds } from "./stale-seeds.ts";
import { createStateReader } from "./state.ts";
import { readVolume } from "./volumes/read-volume.ts";
import { createVolume, deleteVolume, hasVolume, listVolumes, refreshPool } from "./volumes/volume-steps.ts";
import { replaceVolume, writeVolume } from "./volumes/write-volume.ts";

export interface LibvirtOptions {
  /** URI of a daemon on this host, e.g. `qemu:///system`; `?socket=/path` names another socket. */
  readonly uri: string;
  /** The program that creates ISO images, with mkisofs options: `["xorrisofs"]` or `["genisoimage"]`. */
  readonly seedTool: readonly string[];
  /** Called after each tool has exited, for logs and metrics. */
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
  /**
   * Directory for the sockets of backups of running VMs, each in a subdirectory. QEMU's processes must be able to
   * access it. Since socket paths are short, it may have at most 50 bytes. If a disk is not a file, data that the guest
   * overwrites is kept there too; without space for it, the guest's writes fail. Defaults to the system's directory for
   * temporary files.
   */
  readonly socketsDirectory?: string;
  /** Interval of reading pool sizes again, which change without an event; 10,000 by default. */
  readonly poolsMs?: number;
  /**
   * Interval of reading everything again, for edits of a definition that libvirt does not report; 60,000 by default.
   */
  readonly resyncMs?: number;
}

/**
 * Creates the adapter for this host's libvirt. It connects at once, and again whenever the connection is lost. Each
 * event of libvirt marks the object that it names as stale; it is read again at once if there are subscribers, else by
 * the next read. So a read makes no calls while nothing happens.
 * @throws InfraError INVALID_FIELD for an unsupported URI, or a directory that cannot contain sockets
 */
export function createLibvirt(options: LibvirtOptions): LibvirtAdapter {
  const { seedTool, onToolEnd, poolsMs = 10_000, resyncMs = 60_000 } = options;
  const address = parseLibvirtUri(options.uri);
  const client = createLibvirtClient(address);
  const { socketsDirectory = tmpdir() } = options;
  assertSocketsDirectory(socketsDirectory, "socketsDirectory");
  const backups = { client, directory: socketsDirectory, onToolEnd };
  const state = createStateReader(client);
  const cache = createSnapshotCache({ system: "libvirt", load: state.load });
  // These belong to a connection: the next one may lead to another libvirt.
  let platform: Platform | undefined;
  let version: string | undefined;
  const tidied = removeStaleSeeds(tmpdir());
  let isClosed = false;

  client.subscribe((event) => {
    if (state.touchByEvent(event)) {
      cache.invalidate();
    }
  });
  // State from before the connection was lost must not be served as current, and readers are notified when it is back.
  client.onStateChange(() => {
    platform = undefined;
    version = undefined;
    touch(state.touchConnection);
  });
  // The timers' work must not be attributed to the call that created the adapter.
  const [poolsTimer, resyncTimer] = AsyncLocalStorage.snapshot()(() => [
    setInterval(() => touch(state.touchPools), poolsMs).unref(),
    setInterval(() => touch(state.touchAll), resyncMs).unref(),
  ]);

  function touch(what: () => void): void {
    if (!isClosed) {
      what();
      cache.invalidate();
    }
  }

  async function readPlatform(): Promise<Platform> {
    platform ??= parsePlatform((await client.call("connectGetCapabilities", {})).capabilities);
    return platform;
  }

  async function makeStep(step: LibvirtStep, signal: AbortSignal | undefined): Promise<unknown> {
    switch (step.kind) {
      case "createVolume":
        return createVolume(client, step);
      case "writeSeed": {
        signal?.throwIfAborted();
        const image = await makeSeed({ seedTool, onToolEnd }, step, signal);
        return replaceVolume(client, step.pool, step.name, image, signal);
      }
      case "deleteVolume":
        return deleteVolume(client, step.pool, step.name);
      case "refreshPool":
        return refreshPool(client, step.pool);
      case "define":
        return defineDomain(client, step.domain, await readPlatform());
      default:
        return changeDomain(client, step);
    }
  }

  function touchByStep(step: LibvirtStep): void {
    if ("pool" in step) {
      state.touchPool(step.pool);
    } else {
      const { name, uuid } = step.kind === "define" ? step.domain : step;
      state.touchDomain({ name, uuid, id: -1 });
    }
  }

  return {
    kind: "real",
    read: cache.read,
    subscribe: cache.subscribe,
    commandOf: (step) => commandOf(step, platform ?? usualPlatform),
    async run(step, signal) {
      assertStep(step);
      await client.ready();
      try {
        const argv = commandOf(step, platform ?? usualPlatform);
        await observeStep({ program: "libvirt", subcommand: step.kind, argv }, () => makeStep(step, signal));
      } finally {
        // Also after a failure, which often means that the caller relied on an outdated state.
        touch(() => touchByStep(step));
      }
    },
    async volumesOf(pool) {
      await client.ready();
      return listVolumes(client, pool);
    },
    readVolume: (pool, name, signal) => readVolume(client, pool, name, signal),
    async writeVolume(pool, name, source, signal, onProgress) {
      try {
        await writeVolume(client, { pool, name }, source, signal, onProgress);
      } finally {
        touch(() => state.touchPool(pool));
      }
    },
    beginBackup: (request, signal) => beginBackup(backups, request, signal),
    endBackup: (request) => endBackup(backups, request),
    isReady: (name, readiness, signal) => isGuestReady(client, name, readiness, signal),
    async hasVolume(pool, name) {
      await client.ready();
      return hasVolume(client, pool, name);
    },
    async version() {
      await client.ready();
      version ??= await readLibvirtVersion(client);
      return version;
    },
    inspectBackups: () => inspectBackups({ client, socketsDirectory }),
    inspect: () => inspectLibvirt({ client, socketPath: address.socketPath, seedTool, readPlatform }),
    async close() {
      isClosed = true;
      clearInterval(poolsTimer);
      clearInterval(resyncTimer);
      cache.close();
      await client.close();
      await tidied;
    },
  };
}
