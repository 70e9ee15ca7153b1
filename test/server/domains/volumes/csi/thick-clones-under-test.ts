import type { Test } from "tap";
import type { LvmAdapter, LvmStep } from "../../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import { createMountsSandbox } from "../../../../../adapters/mounts/sandbox.ts";
import { createStepFaults } from "../../../../../adapters/sandbox/step-faults.ts";
import { Controller } from "../../../../../gen/csi/v1/csi_pb.ts";
import {
  type BackupsGateway,
  createGateway,
  createHost,
  type GatewayOptions,
  gib,
  type HostUnderTest,
} from "../backups/backups-under-test.ts";
import { mountCapability } from "./csi-under-test.ts";

export const sourceId = "vg0/source";
const volumeCapabilities = [mountCapability()];

/** Requests a clone of the volume `source`. */
export const cloneRequest = {
  name: "clone",
  volumeCapabilities,
  volumeContentSource: { type: { case: "volume" as const, value: { volumeId: sourceId } } },
  capacityRange: { requiredBytes: 2n * gib },
};

/** Creates the volume `source` of 1 GiB in the thick class. */
export async function createSource(gateway: BackupsGateway): Promise<void> {
  const capacityRange = { requiredBytes: gib };
  await gateway.call(Controller.method.createVolume, { name: "source", volumeCapabilities, capacityRange });
}

/** Returns a gateway with the CSI driver. */
export function createCsiGateway(t: Test, host: HostUnderTest, options: GatewayOptions = {}) {
  const csi = {
    mounts: createMountsSandbox({ numberOf: async () => undefined }),
    settings: { driverName: "lvm.csi.test", roots: ["/csi"], expansion: "controller" as const },
  };
  return createGateway(t, host, { csi, ...options });
}

/** Creates a host whose LVM has an empty group; its copies wait until `release` is called if they are held. */
export function createCsiHost(
  t: Test,
  { isHeld = false, store }: { isHeld?: boolean; store?: HostUnderTest["store"] } = {},
) {
  const faults = createStepFaults<LvmStep>();
  const sandbox = createLvmSandbox({
    faults,
    copyMs: () => 1,
    volumeGroups: [{ name: "vg0", sizeBytes: 12n * gib }],
  });
  t.teardown(() => sandbox.close());
  const held = Promise.withResolvers<void>();
  const lvm: LvmAdapter = {
    ...sandbox,
    data: {
      ...sandbox.data,
      async run(step, options) {
        if (isHeld) {
          const { promise: stopped, resolve } = Promise.withResolvers<void>();
          options.signal.addEventListener("abort", () => resolve());
          await Promise.race([held.promise, stopped]);
          options.signal.throwIfAborted();
        }
        await sandbox.data.run(step, options);
      },
    },
  };
  return { lvm, faults, release: held.resolve, host: createHost(t, { lvm, ...(store && { store }) }) };
}
