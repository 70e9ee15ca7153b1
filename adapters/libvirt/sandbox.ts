import { InfraError } from "../host/infra-error.ts";
import { createLimiter } from "../host/limiter.ts";
import { createSnapshotCache } from "../host/snapshot.ts";
import { systemClock } from "../sandbox/clock.ts";
import type { SandboxOptions } from "../sandbox/sandbox-options.ts";
import { createStepFaults } from "../sandbox/step-faults.ts";
import type { LibvirtAdapter, LibvirtStep } from "./adapter.ts";
import { assertStep } from "./assert-step.ts";
import { commandOf } from "./commands.ts";
import { libvirtReasons } from "./reasons.ts";
import { createSandboxBackups } from "./sandbox/sandbox-backups.ts";
import { createSandboxHost, type SandboxHostOptions } from "./sandbox/sandbox-host.ts";

export interface LibvirtSandboxOptions extends Partial<SandboxHostOptions>, SandboxOptions<LibvirtStep> {
  /** Duration of a start; 300 ms by default. */
  readonly startMs?: number;
  /** Time from then until the guest is up; 700 ms by default. */
  readonly bootMs?: number;
  /** Time that a guest takes to shut down; 300 ms by default. */
  readonly shutDownMs?: number;
}

/** The sandbox, with changes from outside the gateway. */
export interface LibvirtSandbox extends LibvirtAdapter {
  /** Makes a change as if from outside the gateway. @throws InfraError as `run` does */
  runOutside(step: LibvirtStep): void;
  /** Makes all reads and steps fail, as if the daemon were stopped, until called with undefined. */
  setOutage(error: InfraError | undefined): void;
}

const gibibyte = 1n << 30n;
const sandboxVersion = "0.0.0-sandbox";

/** The GPU of the sandbox. */
export const sandboxGpu = {
  pciAddress: "0000:41:00.0",
  brand: "Sandbox Graphics",
  model: "SG-1",
} as const;

/**
 * Default content: a pool with a base image, a running hypervisor created from it, and a stopped VM that
 * the gateway did not create.
 */
export const quietHost: SandboxHostOptions = {
  pools: [
    {
      name: "sandbox-pool",
      capacityBytes: 1024n * gibibyte,
      volumes: [
        { name: "sandbox-base.qcow2", format: "qcow2", sizeBytes: 4n * gibibyte },
        { name: "hypervisor-sandbox-hv-1.qcow2", format: "qcow2", sizeBytes: 50n * gibibyte },
      ],
    },
  ],
  networks: ["sandbox-net"],
  gpus: [sandboxGpu],
  domains: [
    {
      name: "sandbox-hv-1",
      uuid: "6f0c2ad8-17c0-4a5b-9d3a-52b8a40f1d00",
      vcpuCount: 8,
      memoryBytes: 16n * gibibyte,
      state: "running",
      mark: {
        hypervisorId: "sandbox-hv-1",
        operationId: "sandbox",
        createdVolumes: [{ pool: "sandbox-pool", name: "hypervisor-sandbox-hv-1.qcow2" }],
      },
      disks: [{ kind: "volume", pool: "sandbox-pool", volume: "hypervisor-sandbox-hv-1.qcow2" }],
    },
    {
      name: "sandbox-old-1",
      uuid: "6f0c2ad8-17c0-4a5b-9d3a-52b8a40f1d01",
      vcpuCount: 4,
      memoryBytes: 8n * gibibyte,
      disks: [{ kind: "path", path: "/sandbox/old-1.img" }],
    },
  ],
};

/**
 * libvirt in memory: the same rules and errors as the real one. Nothing is random, and nothing on the host is touched.
 */
export function createLibvirtSandbox(options: LibvirtSandboxOptions = {}): LibvirtSandbox {
  const { startMs = 300, bootMs = 700, shutDownMs = 300 } = options;
  const { clock = systemClock, faults = createStepFaults() } = options;
  const contents = { ...quietHost, ...options };
  const host = createSandboxHost(contents);
  const limiter = createLimiter({ what: "libvirt calls", maxRunning: 64, maxWaiting: 1024 });
  const startedAtMs = new Map<string, number>();
  const timers = new Set<() => void>();
  const { assertReachable } = faults;
  const backups = createSandboxBackups(host, assertReachable);

  const cache = createSnapshotCache({
    system: "libvirt",
    retryMs: 100,
    load: async () => {
      assertReachable();
      return host.state();
    },
  });

  function apply(step: LibvirtStep): void {
    assertStep(step);
    switch (step.kind) {
      case "createVolume": {
        const { pool, name, format, sizeBytes, backingVolume } = step;
        host.storage.addVolume(pool, { name, format, sizeBytes }, backingVolume);
        break;
      }
      case "writeSeed":
        host.storage.putVolume(step.pool, { name: step.name, sizeBytes: 374n * 1024n });
        break;
      case "deleteVolume":
        host.storage.removeVolume(step.pool, step.name);
        break;
      case "refreshPool":
        host.storage.volumesOf(step.pool);
        break;
      case "define":
        host.define(step.domain);
        break;
      case "start":
        host.start(step.name, step.uuid);
        backups.noteStart(step.uuid);
        startedAtMs.set(step.uuid, clock.nowMs());
        break;
      case "shutDown":
        shutDown(step.name, step.uuid);
        break;
      case "powerOff":
        host.stop(step.name, step.uuid);
        break;
      case "undefine":
        host.undefine(step.name, step.uuid);
        break;
    }
    cache.invalidate();
  }

  /** Shuts a VM down after the time that its guest takes. */
  function shutDown(name: string, uuid: string): void {
    if (host.domainOf(name, uuid).state !== "running") {
      throw new InfraError(libvirtReasons.DOMAIN_STATE, `the VM ${name} is not running`);
    }
    const cancel = clock.setTimer(shutDownMs, () => {
      timers.delete(cancel);
      try {
        host.stop(name, uuid);
        cache.invalidate();
      } catch {
        // It was powered off before.
      }
    });
    timers.add(cancel);
  }

  return {
    kind: "sandbox",
    read: cache.read,
    subscribe: cache.subscribe,
    commandOf,
    run: (step, signal) =>
      limiter.run(async () => {
        if (step.kind === "writeSeed") {
          signal?.throwIfAborted();
        }
        await clock.sleep(step.kind === "start" ? startMs : 0);
        assertReachable();
        faults.assertWorks(step);
        apply(step);
      }),
    volumesOf: backups.volumesOf,
    readVolume: backups.readVolume,
    writeVolume: backups.writeVolume,
    beginBackup: backups.beginBackup,
    endBackup: backups.endBackup,
    async isReady(name) {
      assertReachable();
      const { uuid, state } = host.domainOf(name);
      return state === "running" && clock.nowMs() - (startedAtMs.get(uuid) ?? 0) >= bootMs;
    },
    async hasVolume(pool, name) {
      assertReachable();
      return host.storage.volumesOf(pool).some((volume) => volume.name === name);
    },
    async version() {
      assertReachable();
      return sandboxVersion;
    },
    inspectBackups: async () => [{ ok: true, what: "the disks of VMs have generated content" }],
    inspect: async () => ({
      version: sandboxVersion,
      findings: [{ ok: true, what: "VMs exist only in memory, run nothing, and disappear with the gateway" }],
      networks: contents.networks.map((name) => ({ name, isActive: true })),
    }),
    async close() {
      for (const cancel of timers) {
        cancel();
      }
      cache.close();
      await limiter.idle();
    },
    runOutside: apply,
    setOutage(error) {
      faults.setOutage(error);
      cache.invalidate();
    },
  };
}
