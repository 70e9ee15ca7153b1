import { AsyncLocalStorage } from "node:async_hooks";
import { tmpdir } from "node:os";
import { observeStep } from "../host/observe-step.ts";
import { createSnapshotCache } from "../host/snapshot.ts";
import type { ToolEnd } from "../host/tool-result.ts";
import type { LibvirtAdapter, LibvirtStep } from "./adapter.ts";
import { assertStep } from "./assert-step.ts";
import { commandOf } from "./commands.ts";
import { beginBackup, endBackup } from "./domain-backup.ts";
import { changeDomain, defineDomain } from "./domain-steps.ts";
import { inspectLibvirt } from "./inspect.ts";
import { inspectBackups } from "./inspect-backups.ts";
import { readLibvirtVersion } from "./libvirt-version.ts";
import { assertSocketsDirectory } from "./names.ts";
import { type Platform, parsePlatform, usualPlatform } from "./platform.ts";
import { readVolume } from "./read-volume.ts";
import { isGuestReady } from "./readiness.ts";
import { createLibvirtClient } from "./rpc/client.ts";
import { parseLibvirtUri } from "./rpc/uri.ts";
import { makeSeed } from "./seed.ts";
import { removeStaleSeeds } from "./stale-seeds.ts";
import { createStateReader } from "./state.ts";
import { createVolume, deleteVolume, hasVolume, listVolumes, refreshPool } from "./volume-steps.ts";
import { replaceVolume, writeVolume } from "./write-volume.ts";

export interface LibvirtOptions {
  /** Of a daemon of this host, e.g. `qemu:///system`; `?socket=/path` names another socket. */
  readonly uri: string;
  /** The program that makes ISO images, by the options of mkisofs: `["xorrisofs"]` or `["genisoimage"]`. */
  readonly seedTool: readonly string[];
  /** Told of each tool that has ended, for logs and metrics. */
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
  /**
   * Where backups of running domains have their sockets, each in a directory of its own: the processes of QEMU must be able
   * to get there. Paths of sockets are short, so it may have 50 bytes. What a guest overwrites meanwhile of a disk that
   * is no file is kept there too: without room for it the guest's writes fail. The system's directory for temporary files
   * unless told.
   */
  readonly socketsDirectory?: string;
  /** How often pools' figures are read again, which change without an event; 10,000 unless told. */
  readonly poolsMs?: number;
  /** How often all is read again, for edits of a definition that libvirt tells nobody of; 60,000 unless told. */
  readonly resyncMs?: number;
}

/**
 * Libvirt of this host, connected at once and again whenever the connection is lost. Each of libvirt's events has what it
 * names read anew, at once if anybody subscribes, else by the next read: so a read costs no call while nothing happens.
 * @throws InfraError INVALID_FIELD for a URI that is not spoken, or a directory in which no socket can be
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
  // These are of a connection: another one may lead to another libvirt.
  let platform: Platform | undefined;
  let version: string | undefined;
  const tidied = removeStaleSeeds(tmpdir());
  let isClosed = false;

  client.subscribe((event) => {
    if (state.touchByEvent(event)) {
      cache.invalidate();
    }
  });
  // Readers must not take for true what was before the connection was lost, and are to be told when there is one again.
  client.onStateChange(() => {
    platform = undefined;
    version = undefined;
    touch(state.touchConnection);
  });
  // What the ticks bring about is not to be told as the work of whoever made the adapter.
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
        // Also after a failure: it often means that the state is not what the caller took it for.
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
