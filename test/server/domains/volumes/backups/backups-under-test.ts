import { randomBytes } from "node:crypto";
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { Test } from "tap";
import type { LvmAdapter, LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import type { ResticAdapter } from "../../../../../adapters/restic/adapter.ts";
import { createResticSandbox } from "../../../../../adapters/restic/sandbox.ts";
import {
  type BackupState,
  type DataSourceSchema,
  LVService,
} from "../../../../../gen/lvmd/served/lvmd_pb.ts";
import { masterKeysFromText } from "../../../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../../../server/crypto/seal.ts";
import type { BackupSettings } from "../../../../../server/domains/volumes/backups/backup-settings.ts";
import type { DeviceClass } from "../../../../../server/domains/volumes/device-class.ts";
import type { VolumeSystem } from "../../../../../server/domains/volumes/system/system.ts";
import { createEvents } from "../../../../../server/events/events.ts";
import { createServices } from "../../../../../server/gateway/services.ts";
import { createOperations } from "../../../../../server/operations/engine/create-operations.ts";
import { createInlineRunner } from "../../../../../server/operations/engine/run-inline.ts";
import type { Operation } from "../../../../../server/operations/operation.ts";
import type { Operations } from "../../../../../server/operations/operations.ts";
import type { OperationsOptions } from "../../../../../server/operations/operations-options.ts";
import type { Caller } from "../../../../../server/rpc/call/caller.ts";
import { noFleet } from "../../../fleet/no-fleet.ts";
import { historyUnderTest } from "../../../harness/history-under-test.ts";
import { createCall } from "../../../rpc/call/call-under-test.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { callerOf } from "../../plan/plan-under-test.ts";

export const gib = 1n << 30n;

export const deviceClasses: readonly DeviceClass[] = [
  { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
  { name: "thin", volumeGroup: "vg1", default: false, spareGiB: 0, thinPool: "pool", overprovision: 2 },
];

export const settings: BackupSettings = {
  repository: "/srv/backup",
  snapshotPercent: 10,
  allowEndpoints: [
    { url: "https://s3.test", proxies: ["http://proxy.test:3128"], unverifiedTls: false },
    { url: "https://self-signed.test:9000", proxies: [], unverifiedTls: true },
  ],
  minimumAgeHours: 1,
};

/** What the gateways of one test share: the host's volumes, the repositories, the store and the keys. */
export interface HostUnderTest {
  readonly lvm: LvmAdapter;
  readonly restic: ResticAdapter;
  readonly store: OperationsOptions["store"];
  readonly masterKeys: ReturnType<typeof masterKeysFromText>;
}

/** Creates a host with the volumes `data` of 2 GiB in `vg0` and `small` of 1 GiB in the thin pool of `vg1`. */
export async function createHost(t: Test, facts: Partial<HostUnderTest> = {}): Promise<HostUnderTest> {
  const lvm = facts.lvm ?? createLvm();
  if (facts.lvm === undefined) {
    const at = { volumeGroupName: "vg1", name: "small", thinPoolName: "pool" };
    await lvm.run({ kind: "create", ...at, sizeBytes: gib, tags: [] });
  }
  return {
    lvm,
    restic: facts.restic ?? createResticSandbox({ transferMs: 30 }),
    store: facts.store ?? (await openOwnStore(t)),
    masterKeys: facts.masterKeys ?? masterKeysFromText(randomBytes(32).toString("base64"), "test"),
  };
}

function createLvm(): LvmAdapter {
  return createLvmSandbox({
    copyMs: () => 10,
    volumeGroups: [
      { name: "vg0", sizeBytes: 8n * gib, volumes: [{ name: "data", sizeBytes: 2n * gib, tags: ["mine"] }] },
      { name: "vg1", sizeBytes: 8n * gib, volumes: [{ name: "pool", sizeBytes: 4n * gib, thinPool: true }] },
    ],
  });
}

export interface GatewayOptions {
  readonly settings?: BackupSettings | undefined;
  readonly boundary?: OperationsOptions["boundary"];
  readonly store?: OperationsOptions["store"];
  readonly host?: string;
  readonly perSystem?: number;
  readonly leaseMs?: number;
  /** Whether the gateway only makes requests and runs no operations. */
  readonly isIdle?: boolean;
  /** Replaces the host's adapter, to simulate faults in one gateway. */
  readonly lvm?: LvmAdapter;
  readonly restic?: ResticAdapter;
  /** The CSI driver; off if absent. */
  readonly csi?: VolumeSystem["csi"];
}

/** The parts of a gateway that handle backups, called without a network. */
export interface BackupsGateway {
  readonly host: string;
  readonly operations: Operations;
  call<I extends MessageDesc, O extends MessageDesc>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    facts?: CallFacts,
  ): Promise<MessageShape<O>>;
  /** Calls CreateBackup; the result includes the operation id from the response header. */
  poll(
    name: string,
    volumeHandle: string,
    facts?: PollFacts,
  ): Promise<BackupState & { readonly operationId: string }>;
  /** Polls until the backup is COMPLETE or ERROR. */
  backUp(name: string, volumeHandle: string, facts?: PollFacts): Promise<BackupState>;
  /** Resolves to the operation once it has ended. */
  end(id: string): Promise<Operation>;
  close(): Promise<void>;
}

type MessageDesc = DescMethodUnary["input"];

interface CallFacts {
  readonly caller?: Caller;
  readonly ending?: AbortController;
  readonly answered?: Headers;
  /** The time left that the call reports, although it has no deadline. */
  readonly leftMs?: number;
}

export interface PollFacts {
  readonly dataSource?: MessageInitShape<typeof DataSourceSchema>;
}

/** Creates the parts of a gateway on a host; closed when the test ends. */
export async function createGateway(
  t: Test,
  hostUnderTest: HostUnderTest,
  options: GatewayOptions = {},
): Promise<BackupsGateway> {
  const { masterKeys } = hostUnderTest;
  const { lvm = hostUnderTest.lvm, restic = hostUnderTest.restic } = options;
  const store = options.store ?? hostUnderTest.store;
  const host = options.host ?? "alpha";
  const events = await createEvents({
    store,
    keepMs: 86_400_000,
    onFailed: (error) => t.comment(String(error)),
  });
  const operations = createOperations({
    store,
    instance: { instanceId: randomBytes(4).toString("hex"), host },
    seal: createSeal(masterKeys, "operations"),
    limits: {
      perSystem: options.perSystem ?? 4,
      maxOpen: 100,
      leaseMs: options.leaseMs ?? 20_000,
      keepMs: 86_400_000,
    },
    log: { info: () => {}, warn: (message, cause) => t.comment(`${message} ${cause}`) },
    firstPauseMs: 5,
    ...(options.boundary === undefined ? {} : { boundary: options.boundary }),
  });
  const runner = createInlineRunner((_mutation, step, error) => t.fail(`undo of ${step.name}: ${error}`));
  const backupSettings = "settings" in options ? options.settings : settings;
  const { registrations } = await createServices({
    systems: {
      volumes: {
        lvm,
        deviceClasses,
        protect: [],
        lowSpacePercent: 0,
        close: async () => {},
        csi: options.csi,
        ...(backupSettings === undefined ? {} : { backup: { restic, settings: backupSettings } }),
      },
      close: async () => {},
    },
    runner,
    operations,
    events,
    auth: { registrations: [], planners: [] },
    ...historyUnderTest(),
    store,
    repositoryKeySeal: createSeal(masterKeys, "repository-key"),
    planSeal: createSeal(masterKeys, "plans"),
    approvalRules: [],
    planDigestKey: new Uint8Array(32),
    clusterSeal: createSeal(masterKeys, "cluster"),
    instanceId: "test",
    host,
    log: { warn: (message, cause) => t.comment(`${message} ${cause}`) },
    facts: { version: "test", host: "host1", isSandbox: true, startedAtMs: 0, listeners: () => [] },
    maxMessageBytes: 4 << 20,
    fleet: noFleet,
    routeOf: () => undefined,
  });
  if (options.isIdle !== true) {
    operations.begin();
  }

  const call: BackupsGateway["call"] = async (method, request, facts = {}) => {
    const registration = registrations.find(({ service }) => service.typeName === method.parent.typeName);
    if (registration === undefined) {
      throw new TypeError(`no service ${method.parent.typeName}`);
    }
    const { ending, answered, leftMs } = facts;
    const created = createCall({
      method,
      ...(ending === undefined ? {} : { ending }),
      ...(answered === undefined ? {} : { answered }),
    });
    Object.assign(created, { timeLeftMs: () => leftMs });
    created.identify(facts.caller ?? callerOf("admin"));
    const input = create(method.input, request);
    const output = await (registration.handlerOf(method)(input, created) as Promise<object>);
    return create(method.output, output as MessageInitShape<typeof method.output>);
  };

  const poll: BackupsGateway["poll"] = async (name, volumeHandle, facts = {}) => {
    const answered = new Headers();
    const { backupState } = await call(
      LVService.method.createBackup,
      { backup: { name, volumeHandle, ...facts } },
      { answered },
    );
    if (backupState === undefined) {
      throw new TypeError("the response has no state");
    }
    return { ...backupState, operationId: answered.get("hostplane-operation") ?? "" };
  };

  const end = (id: string) => operations.ended(id, AbortSignal.timeout(60_000));
  let isClosed = false;
  async function close(): Promise<void> {
    const isDead = "isDead" in store && store.isDead === true;
    if (!isClosed && !isDead) {
      isClosed = true;
      await operations.close();
      await runner.drain();
      await events.close();
    }
  }
  t.teardown(close);

  return {
    host,
    operations,
    call,
    poll,
    async backUp(name, volumeHandle, facts) {
      const started = await poll(name, volumeHandle, facts);
      if (started.operationId === "") {
        return started;
      }
      await end(started.operationId);
      return poll(name, volumeHandle, facts);
    },
    end,
    close,
  };
}

/** Returns the names of all LVM volumes. */
export async function volumeNames(lvm: LvmAdapter): Promise<string[]> {
  const { volumes } = await stateOfLvm(lvm);
  return volumes.map(({ volumeGroupName, name }) => `${volumeGroupName}/${name}`).toSorted();
}

/** Reads the state of LVM. */
export async function stateOfLvm(lvm: LvmAdapter): Promise<LvmState> {
  return (await lvm.refresh()).value;
}

/** Wraps an LVM adapter so that it reports a changed state. */
export function withState(lvm: LvmAdapter, change: (state: LvmState) => LvmState): LvmAdapter {
  const changed = async (snapshot: Awaited<ReturnType<LvmAdapter["read"]>>) => ({
    ...snapshot,
    value: change(snapshot.value),
  });
  return {
    ...lvm,
    read: async (signal) => changed(await lvm.read(signal)),
    readRecent: async (signal) => changed(await lvm.readRecent(signal)),
    refresh: async (signal) => changed(await lvm.refresh(signal)),
  };
}
