import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { devicePathOf } from "../../../../../adapters/lvm/names.ts";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import type { MountStep } from "../../../../../adapters/mounts/adapter.ts";
import { createMountsSandbox } from "../../../../../adapters/mounts/sandbox.ts";
import { createStepFaults } from "../../../../../adapters/sandbox/step-faults.ts";
import {
  VolumeCapability_AccessMode_Mode as AccessMode,
  type VolumeCapabilitySchema,
} from "../../../../../gen/csi/v1/csi_pb.ts";
import type { DomainContext } from "../../../../../server/domain/domain-services.ts";
import { serveCsi } from "../../../../../server/domains/volumes/csi/serve-csi.ts";
import { createThickClones } from "../../../../../server/domains/volumes/long-changes/thick-clones.ts";
import { createVolumes } from "../../../../../server/domains/volumes/volumes.ts";
import { createInlineRunner } from "../../../../../server/operations/engine/run-inline.ts";
import { operationReasons } from "../../../../../server/operations/reasons.ts";
import { createCall } from "../../../rpc/call/call-under-test.ts";
import { withState } from "../backups/backups-under-test.ts";

export const mib = 1n << 20n;
export const gib = 1n << 30n;

export type CapabilityInit = MessageInitShape<typeof VolumeCapabilitySchema>;

/** Returns the capability for a file system, by default ext4 for one writer. */
export function mountCapability({
  fsType = "ext4",
  mountFlags = [] as string[],
  mode = AccessMode.SINGLE_NODE_WRITER as AccessMode,
} = {}): CapabilityInit {
  return { accessType: { case: "mount", value: { fsType, mountFlags } }, accessMode: { mode } };
}

export const blockCapability: CapabilityInit = {
  accessType: { case: "block", value: {} },
  accessMode: { mode: AccessMode.SINGLE_NODE_WRITER },
};

/**
 * Creates the CSI driver of the host `node-1` in memory, with a thick, a thin and a striped device class. The default is thin.
 * `alter` changes the state that LVM reports.
 */
export async function createCsiUnderTest(t: Test, { busy = [] as string[] } = {}) {
  const sandbox = createLvmSandbox({
    volumeGroups: [
      {
        name: "vg0",
        sizeBytes: 40n * gib,
        volumes: [
          { name: "pool", sizeBytes: 10n * gib, thinPool: true },
          { name: "other", sizeBytes: gib },
        ],
      },
      {
        name: "vg1",
        devices: ["a", "b", "c"].map((disk) => ({ path: `/dev/${disk}`, sizeBytes: gib })),
      },
    ],
  });
  t.teardown(() => sandbox.close());
  let alteration = (state: LvmState) => state;
  const lvm = withState(sandbox, (state) => alteration(state));
  const faults = createStepFaults<MountStep>();
  const mounts = createMountsSandbox({
    faults,
    directories: ["/csi/staging", "/csi/staging2", "/csi/pods"],
    numberOf: async (device) =>
      (await lvm.read()).value.volumes.find(
        ({ volumeGroupName, name }) => devicePathOf(volumeGroupName, name) === device,
      )?.device,
  });
  const deviceClasses = [
    { name: "thick", volumeGroup: "vg0", default: false, spareGiB: 1 },
    { name: "thin", volumeGroup: "vg0", default: true, spareGiB: 0, thinPool: "pool", overprovision: 3 },
    { name: "striped", volumeGroup: "vg1", default: false, spareGiB: 0, stripe: 3 },
    { name: "mirrored", volumeGroup: "vg1", default: false, spareGiB: 0, lvcreateOptions: ["-m1"] },
  ];
  const operations = {
    assertFree: async (resource: string) => {
      if (busy.includes(resource)) {
        throw new InfraError(operationReasons.OPERATION_IN_PROGRESS, "an operation works on it");
      }
    },
    list: async () => ({ operations: [], nextSeq: undefined }),
    register: () => ({
      start: () => {
        throw new TypeError("no operations run here");
      },
    }),
  };
  const settings = { driverName: "lvm.csi.test", roots: ["/csi"], expansion: "controller" as const };
  const system = {
    lvm,
    deviceClasses,
    protect: ["keep*"],
    lowSpacePercent: 10,
    csi: { mounts, settings },
    close: async () => {},
  };
  const runner = createInlineRunner(() => {});
  const context = {
    host: "node-1",
    facts: { version: "1.2.3" },
    runner,
    operations,
  } as unknown as DomainContext;
  const volumes = createVolumes({ lvm, deviceClasses });
  const thickClones = createThickClones({ lvm, deviceClasses, runner, operations });
  const { registrations, planners } = serveCsi(system, { lvm, volumes, thickClones }, context);

  /** Calls a method as the router does. */
  async function call<M extends DescMethodUnary>(
    method: M,
    request: MessageInitShape<M["input"]>,
  ): Promise<MessageShape<M["output"]>> {
    const registration = registrations.find(({ service }) => service.typeName === method.parent.typeName);
    const input = create(method.input, request as never);
    const answer = await registration?.handlerOf(method)(input, createCall());
    return create(method.output, answer as never) as MessageShape<M["output"]>;
  }

  const find = async (name: string) => (await lvm.read()).value.volumes.find((one) => one.name === name);
  const alter = (change: typeof alteration) => {
    alteration = change;
  };
  return { lvm, mounts, faults, call, planners, find, alter };
}
