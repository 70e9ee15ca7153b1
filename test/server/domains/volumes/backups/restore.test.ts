import type { MessageInitShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import { resticReasons } from "../../../../../adapters/restic/reasons.ts";
import { createResticSandbox } from "../../../../../adapters/restic/sandbox.ts";
import type { SandboxTransfer } from "../../../../../adapters/restic/sandbox-transfers.ts";
import { createStepFaults } from "../../../../../adapters/sandbox/step-faults.ts";
import {
  type DataSourceSchema,
  LVService,
  StateType,
  VGService,
} from "../../../../../gen/lvmd/served/lvmd_pb.ts";
import { rpcReasons } from "../../../../../server/rpc/reasons.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import {
  type BackupsGateway,
  createGateway,
  createHost,
  gib,
  stateOfLvm,
  volumeNames,
} from "./backups-under-test.ts";

type Source = MessageInitShape<typeof DataSourceSchema>;

/** Returns the local repository as a source; `path` selects a backup in it. */
function local(path = "", facts: { encryptionKey?: string; synchronousRestore?: boolean } = {}): Source {
  const { encryptionKey = "", synchronousRestore = true } = facts;
  return { synchronousRestore, type: { case: "s3", value: { path, encryptionKey } } };
}

/** Returns a repository whose owner has the key as a source. */
function owned(path = ""): Source {
  const value = {
    endpoint: "https://s3.test",
    path: `bucket${path}`,
    verifyTls: true,
    accessKeyId: "an-id",
    secretAccessKey: "a-secret",
    encryptionKey: "mine",
  };
  return { synchronousRestore: true, type: { case: "s3", value } };
}

async function restore(
  gateway: BackupsGateway,
  name: string,
  dataSource: Source,
  facts: { sizeGb?: bigint; deviceClass?: string; tags?: string[]; ending?: AbortController } = {},
) {
  const { sizeGb = 2n, deviceClass = "", tags = [], ending } = facts;
  const answered = new Headers();
  const request = { name, sizeGb, deviceClass, tags, dataSource };
  const call = { answered, ...(ending === undefined ? {} : { ending }) };
  const { volume } = await gateway.call(LVService.method.createLV, request, call);
  return { volume, operationId: answered.get("hostplane-operation") ?? "" };
}

async function listed(gateway: BackupsGateway, deviceClass = "") {
  return (await gateway.call(VGService.method.getLVList, { deviceClass })).volumes;
}

/** Creates a restic whose restores wait until `go` is called. */
function createSlowRestic() {
  const restic = createResticSandbox({ transferMs: 10 });
  const filling = Promise.withResolvers<string>();
  const go = Promise.withResolvers<void>();
  const slow: typeof restic = {
    ...restic,
    async restore(repository, snapshot, device, options) {
      filling.resolve(device);
      await Promise.race([
        go.promise,
        new Promise<never>((_resolve, reject) =>
          options.signal.addEventListener("abort", () => reject(options.signal.reason), { once: true }),
        ),
      ]);
      await restic.restore(repository, snapshot, device, options);
    },
  };
  return { restic: slow, filling: filling.promise, go: () => go.resolve() };
}

test("a synchronous restore returns the volume, which is an ordinary one", async (t) => {
  const host = await createHost(t);
  const gateway = await createGateway(t, host);
  await gateway.backUp("monday", "data");
  const { volume } = await restore(gateway, "again", local(), { sizeGb: 3n, tags: ["mine", "b=c"] });
  t.match(volume, { name: "again", sizeGb: 3n, devMajor: 253, tags: ["b=c", "mine"] });
  const { volumes } = await stateOfLvm(host.lvm);
  t.match(
    volumes.find(({ name }) => name === "again"),
    { kind: "linear", sizeBytes: 3n * gib, tags: ["b=c", "mine"] },
    "it has no tags of the gateway",
  );
  await gateway.call(LVService.method.resizeLV, { name: "again", sizeGb: 4n });
  await gateway.call(LVService.method.removeLV, { name: "again" });
  const thin = await restore(gateway, "thin", local(), { deviceClass: "thin" });
  t.match(thin.volume, { name: "thin", sizeGb: 2n });
  t.same(await volumeNames(host.lvm), ["vg0/data", "vg1/pool", "vg1/small", "vg1/thin"]);
});

test("a volume that is being restored is listed, but cannot be opened, changed or created", async (t) => {
  const { restic, filling, go } = createSlowRestic();
  const host = await createHost(t, { restic });
  const gateway = await createGateway(t, host);
  await gateway.backUp("monday", "data");
  const asynchronous = local("", { synchronousRestore: false });
  const { volume, operationId } = await restore(gateway, "again", asynchronous, { tags: ["mine"] });
  t.match(volume, { name: "again", sizeGb: 2n, devMajor: 0, devMinor: 0, tags: ["mine"] });
  t.match(await filling, /^\/dev\/vg0\/hostplane-restore-[0-9a-f]{12}$/);
  t.match(
    (await listed(gateway)).find(({ name }) => name === "again"),
    { sizeGb: 2n, devMajor: 0, devMinor: 0, tags: ["mine"] },
  );
  t.same(
    (await listed(gateway)).filter(({ name }) => name.startsWith("hostplane")),
    [],
  );
  const busy = { name: "InfraError", reason: "OPERATION_IN_PROGRESS", message: new RegExp(operationId) };
  const again = { name: "again", sizeGb: 4n };
  await t.rejects(gateway.call(LVService.method.removeLV, { name: "again" }), busy);
  await t.rejects(gateway.call(LVService.method.resizeLV, again), busy);
  await t.rejects(gateway.call(LVService.method.createLV, again), busy);
  await t.rejects(
    restore(gateway, "again", asynchronous, { sizeGb: 3n }),
    busy,
    "a different size is a different request",
  );
  await t.rejects(
    restore(gateway, "again", asynchronous, { tags: ["yours"] }),
    busy,
    "and so are different tags",
  );
  t.match(await gateway.poll("b", "again"), { state: StateType.ERROR }, "and it cannot be backed up");
  const same = await restore(gateway, "again", asynchronous, { tags: ["mine"] });
  t.equal(same.operationId, operationId, "an equal request joins it");
  go();
  t.match(await gateway.end(operationId), {
    state: "completed",
    result: { volume: "volumeGroups/vg0/volumes/again", sizeBytes: Number(2n * gib) },
  });
  t.match(
    (await listed(gateway)).find(({ name }) => name === "again"),
    { devMajor: 253, tags: ["mine"] },
  );
  await t.rejects(restore(gateway, "again", local()), { name: "InfraError", reason: "VOLUME_EXISTS" });
});

test("a restore continues after the deadline of its call", async (t) => {
  const { restic, filling, go } = createSlowRestic();
  const host = await createHost(t, { restic });
  const gateway = await createGateway(t, host);
  await gateway.backUp("monday", "data");
  const ending = new AbortController();
  const first = restore(gateway, "again", local(), { ending });
  await filling;
  ending.abort(new InfraError(rpcReasons.DEADLINE, "the time is over"));
  await t.rejects(first, { name: "InfraError", reason: "DEADLINE" });
  const second = restore(gateway, "again", local());
  go();
  t.match((await second).volume, { name: "again", devMajor: 253 });
  const { operations } = await gateway.operations.list(
    { kind: "volumes.restore" },
    { belowSeq: undefined, limit: 10 },
  );
  t.equal(operations.length, 1);
});

test("a failed restore leaves no volume, and a waiting call gets the reason", async (t) => {
  let failure = new InfraError(resticReasons.BACKUP_DAMAGED, "a pack is broken");
  const fault = ({ kind }: SandboxTransfer) => (kind === "restore" ? failure : undefined);
  const host = await createHost(t, {
    restic: createResticSandbox({ transferMs: 10, faults: createStepFaults(fault) }),
  });
  const gateway = await createGateway(t, host);
  await gateway.backUp("monday", "data");
  const before = await volumeNames(host.lvm);
  const seen = { name: "InfraError", resource: "volumeGroups/vg0/volumes/again", effect: "none" };
  await t.rejects(restore(gateway, "again", local()), {
    ...seen,
    reason: "BACKUP_DAMAGED",
    code: "DATA_LOSS",
    retryable: false,
    message: /^a pack is broken; operation /,
  });
  failure = new InfraError(resticReasons.REPOSITORY_LOCKED, "another process prunes it");
  await t.rejects(restore(gateway, "again", local()), {
    ...seen,
    reason: "REPOSITORY_LOCKED",
    code: "UNAVAILABLE",
    retryable: true,
    message: /^another process prunes it; operation /,
  });
  t.same(await volumeNames(host.lvm), before);
});

test("an impossible restore is rejected before anything is created, even if it is asynchronous", async (t) => {
  const created: string[] = [];
  const plain = await createHost(t);
  const run: typeof plain.lvm.run = (step) => {
    created.push(step.kind);
    return plain.lvm.run(step);
  };
  const host = { ...plain, lvm: { ...plain.lvm, run } };
  const gateway = await createGateway(t, host);
  await gateway.backUp("monday", "data");
  created.length = 0;
  const refusals: readonly (readonly [Parameters<typeof restore>[2], object, string, RegExp])[] = [
    [local("#none"), {}, "BACKUP_NOT_FOUND", /\/srv\/backup contains no backup matching "none"/],
    [local(), { sizeGb: 1n }, "VOLUME_TOO_SMALL", /the backup has 2 GiB .* would have only 1 GiB/],
    [local(), { sizeGb: 7n }, "NO_SPACE", /free=\d+, requested=\d+/],
    [local("", { encryptionKey: "other" }), {}, "REPOSITORY_KEY_WRONG", /wrong password/],
    [local("bucket"), {}, "INVALID_FIELD", /^data_source\.s3\.endpoint: /],
    [local(), { sizeGb: 0n }, "INVALID_FIELD", /^size_gb: /],
    [local(), { tags: ["hostplane-volume=x"] }, "INVALID_FIELD", /^tags\[0\]: /],
    [local(), { deviceClass: "none" }, "DEVICE_CLASS_NOT_FOUND", /none/],
  ];
  for (const [source, facts, reason, message] of refusals) {
    for (const synchronousRestore of [true, false]) {
      const refusal = { name: "InfraError", reason, message };
      await t.rejects(restore(gateway, "again", { ...source, synchronousRestore }, facts), refusal, reason);
    }
  }
  await t.rejects(restore(gateway, "data", local()), { name: "InfraError", reason: "VOLUME_EXISTS" });
  t.same(created, []);
  await gateway.close();
});

test("a queued restore is reported as begun", async (t) => {
  const { restic, filling, go } = createSlowRestic();
  const gateway = await createGateway(t, await createHost(t, { restic }), { perSystem: 1 });
  await gateway.backUp("monday", "data");
  const asynchronous = local("", { synchronousRestore: false });
  const first = await restore(gateway, "first", asynchronous);
  await filling;
  const second = await restore(gateway, "second", asynchronous);
  t.match(second.volume, { name: "second", sizeGb: 2n, devMajor: 0 });
  go();
  t.equal((await gateway.end(first.operationId)).state, "completed");
  t.equal((await gateway.end(second.operationId)).state, "completed");
});

test("a volume that takes the name meanwhile is left alone", async (t) => {
  const host = await createHost(t);
  const gateway = await createGateway(t, host, {
    async boundary(name) {
      if (name === "before forward release") {
        const theirs = { volumeGroupName: "vg0", name: "again", sizeBytes: gib, tags: ["theirs"] };
        await host.lvm.run({ kind: "create", ...theirs });
      }
    },
  });
  await gateway.backUp("monday", "data");
  await t.rejects(restore(gateway, "again", local()), { name: "InfraError", reason: "VOLUME_EXISTS" });
  const { volumes } = await stateOfLvm(host.lvm);
  t.same(
    volumes.filter(({ volumeGroupName }) => volumeGroupName === "vg0").map(({ name, tags }) => [name, tags]),
    [
      ["data", ["mine"]],
      ["again", ["theirs"]],
    ],
  );
});

test("a volume that is open is not removed", async (t) => {
  const fault = ({ kind }: SandboxTransfer) =>
    kind === "restore" ? new InfraError(hostReasons.TOOL_FAILED, "broken") : undefined;
  const plain = await createHost(t, {
    restic: createResticSandbox({ transferMs: 10, faults: createStepFaults(fault) }),
  });
  let isOpen = true;
  const run: typeof plain.lvm.run = async (step) => {
    if (isOpen && step.kind === "remove" && step.name.startsWith("hostplane-restore-")) {
      throw new InfraError(hostReasons.VOLUME_IN_USE, `${step.name} is in use`);
    }
    await plain.lvm.run(step);
  };
  const host = { ...plain, lvm: { ...plain.lvm, run } };
  const gateway = await createGateway(t, host);
  await gateway.backUp("monday", "data");
  const { operationId } = await restore(gateway, "again", local("", { synchronousRestore: false }));
  t.match(await gateway.end(operationId), {
    state: "needsAttention",
    attention: {
      left: [/The volume vg0\/hostplane-restore-\w{12}, the incomplete .*, may still exist/],
      advice: [/lsof .*lvremove/],
    },
  });
  await t.rejects(gateway.call(LVService.method.removeLV, { name: "again" }), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
    message: new RegExp(operationId),
  });
  isOpen = false;
  await gateway.operations.retry(operationId);
  t.equal((await gateway.end(operationId)).state, "failed");
  t.same(await volumeNames(host.lvm), ["vg0/data", "vg1/pool", "vg1/small"]);
});

test("a gateway can restore from an unknown repository with only the key", async (t) => {
  const host = await createHost(t);
  const first = await createGateway(t, host);
  const dataSource = owned();
  for (const [name, volume] of [
    ["monday", "data"],
    ["tuesday", "data"],
    ["monday", "small"],
  ] as const) {
    t.equal((await first.backUp(name, volume, { dataSource })).state, StateType.COMPLETE);
  }
  const { volumes } = await stateOfLvm(host.lvm);
  t.equal(volumes.length, 3);
  await first.close();
  await host.lvm.run({ kind: "remove", volumeGroupName: "vg0", name: "data" });

  const store = await openOwnStore(t);
  const other = await createGateway(t, { ...host, store }, { host: "beta" });
  await t.rejects(restore(other, "new", owned()), {
    name: "InfraError",
    reason: "BACKUP_NOT_FOUND",
    message:
      /contains backups of vg0\/data, vg1\/small: select one at the end of `path`, such as #vg0\/data or #vg0\/data\//,
  });
  t.match(
    (await restore(other, "data", owned())).volume,
    { name: "data" },
    "the volume's own backup, if the name matches",
  );
  await t.rejects(restore(other, "new", owned("#monday")), {
    name: "InfraError",
    reason: "BACKUP_NOT_FOUND",
  });
  const selected: readonly (readonly [string, bigint])[] = [
    ["#data/monday", 2n],
    ["#vg0/data", 2n],
    ["#tuesday", 2n],
    ["#small", 1n],
  ];
  for (const [path, sizeGb] of selected) {
    const { operationId } = await restore(other, "new", owned(path), { sizeGb, deviceClass: "thin" });
    t.match((await other.end(operationId)).result, { restoredBytes: Number(sizeGb * gib) }, path);
    await other.call(LVService.method.removeLV, { name: "new", deviceClass: "thin" });
  }
  await t.rejects(restore(other, "new", local("#small")), {
    name: "InfraError",
    reason: "REPOSITORY_KEY_WRONG",
    message: /this gateway has no key for \/srv\/backup/,
  });
});

test("a repository from another source is read with its owner's key", async (t) => {
  const host = await createHost(t);
  const repository = { location: { kind: "local" as const, path: "/srv/backup" }, password: "theirs" };
  const { signal } = new AbortController();
  await host.restic.ensureRepository(repository, signal);
  const source = { device: "/dev/their/web", sizeBytes: Number(gib), fileName: "web", tags: [] };
  const id = await host.restic.backup(repository, source, { signal, token: "their", onProgress: () => {} });
  const gateway = await createGateway(t, host);
  const dataSource = local(`#${id.slice(0, 8)}`, { encryptionKey: "theirs" });
  t.match((await restore(gateway, "web", dataSource)).volume, { name: "web" });
});
