import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { resticReasons } from "../../../../../adapters/restic/reasons.ts";
import { createResticSandbox } from "../../../../../adapters/restic/sandbox.ts";
import { createStepFaults } from "../../../../../adapters/sandbox/step-faults.ts";
import { BackupService } from "../../../../../gen/hostplane/v1/backup_pb.ts";
import { LVService, StateType } from "../../../../../gen/lvmd/served/lvmd_pb.ts";
import {
  type BackupsGateway,
  createGateway,
  createHost,
  gib,
  settings,
  stateOfLvm,
  volumeNames,
  withState,
} from "./backups-under-test.ts";

const { INPROGRESS, COMPLETE, ERROR } = StateType;

async function backupsOf(gateway: BackupsGateway) {
  return (await gateway.call(BackupService.method.listBackups, {})).backups;
}

async function operationCount(gateway: BackupsGateway): Promise<number> {
  return (await gateway.operations.list({}, { belowSeq: undefined, limit: 100 })).operations.length;
}

test("a backup is reported as complete while it exists, and its snapshot is removed", async (t) => {
  const host = await createHost(t);
  const gateway = await createGateway(t, host);
  const before = await volumeNames(host.lvm);
  for (const [name, volume, size] of [
    ["monday", "data", "2 GiB"],
    ["tuesday", "vg0/data", "2 GiB"],
    ["monday", "volumeGroups/vg1/volumes/small", "1 GiB"],
  ] as const) {
    const first = await gateway.poll(name, volume);
    t.match(first, { name, state: INPROGRESS, msg: new RegExp(`operation ${first.operationId}$`) });
    t.equal((await gateway.end(first.operationId)).state, "completed");
    const last = await gateway.poll(name, volume);
    t.match(last, { state: COMPLETE, msg: new RegExp(`${size}.* stored in /srv/backup .* key key-`) });
    t.same(await gateway.poll(name, volume), last, "polls can be repeated");
  }
  t.same(await volumeNames(host.lvm), before);
  t.match(await backupsOf(gateway), [
    { name: "monday", volume: "volumeGroups/vg1/volumes/small", sizeBytes: gib, key: /^key-/ },
    { name: "tuesday", volume: "volumeGroups/vg0/volumes/data", repository: "/srv/backup", damage: "" },
    { name: "monday", host: "alpha", actor: "user/admin", snapshotId: /^[0-9a-f]{64}$/ },
  ]);
  t.equal(await operationCount(gateway), 3);
});

test("concurrent polls begin one backup", async (t) => {
  const host = await createHost(t);
  const gateway = await createGateway(t, host);
  const polls = await Promise.all(
    ["data", "vg0/data", "data", "volumeGroups/vg0/volumes/data"].map((handle) => gateway.poll("a", handle)),
  );
  t.equal(new Set(polls.map(({ operationId }) => operationId)).size, 1);
  await gateway.end(polls[0]?.operationId ?? "");
  t.equal((await gateway.poll("a", "data")).state, COMPLETE);
  t.equal(await operationCount(gateway), 1);
  t.equal((await backupsOf(gateway)).length, 1);
});

test("a failure is reported once, and the next poll begins a new attempt", async (t) => {
  let broken = true;
  const fault = () => (broken ? new InfraError(hostReasons.TOOL_FAILED, "the disk is full") : undefined);
  const host = await createHost(t, {
    restic: createResticSandbox({ transferMs: 20, faults: createStepFaults(fault) }),
  });
  const gateway = await createGateway(t, host);
  const before = await volumeNames(host.lvm);
  const failed = await gateway.backUp("a", "data");
  t.match(failed, { state: ERROR, msg: /^the disk is full; operation / });
  t.same(await volumeNames(host.lvm), before, "nothing is left");
  broken = false;
  t.equal((await gateway.backUp("a", "data")).state, COMPLETE);
  t.equal(await operationCount(gateway), 2);
});

test("a volume that cannot be backed up is reported as the state ERROR, and nothing begins", async (t) => {
  const host = await createHost(t);
  const at = { volumeGroupName: "vg1", name: "data", sizeBytes: gib, tags: [], thinPoolName: "pool" };
  await host.lvm.run({ kind: "create", ...at });
  await host.lvm.run({ kind: "create", volumeGroupName: "vg0", name: "idle", sizeBytes: gib, tags: [] });
  await host.lvm.run({ kind: "deactivate", volumeGroupName: "vg0", name: "idle" });
  await host.lvm.run({ kind: "create", volumeGroupName: "vg0", name: "rest", sizeBytes: 4n * gib, tags: [] });
  const filler = { volumeGroupName: "vg0", name: "filler", sizeBytes: gib - (100n << 20n), tags: [] };
  await host.lvm.run({ kind: "create", ...filler });
  const gateway = await createGateway(t, host);
  const refused: readonly (readonly [string, RegExp])[] = [
    ["none", /logical volume none not found in any device class/],
    ["vg9/data", /vg9\/data/],
    ["../data", /not found in any device class/],
    ["pool", /not found in any device class/],
    ["data", /is ambiguous: use one of volumeGroups\/vg0\/volumes\/data, volumeGroups\/vg1\/volumes\/data/],
    ["idle", /vg0\/idle is not active.*lvchange -ay vg0\/idle/],
    [
      "vg0/data",
      /not enough space for a snapshot of vg0\/data .*free=104857600, requested=21\d+ .*snapshotPercent/,
    ],
  ];
  for (const [handle, msg] of refused) {
    t.match(await gateway.poll("a", handle), { state: ERROR, msg, operationId: "" }, handle);
  }
  t.equal(await operationCount(gateway), 0);
  t.equal(
    (await gateway.backUp("a", "vg1/data")).state,
    COMPLETE,
    "a thin snapshot takes no space of the group",
  );
});

test("invalid requests are rejected", async (t) => {
  const gateway = await createGateway(t, await createHost(t));
  const createBackup = (request: Record<string, unknown>) =>
    gateway.call(LVService.method.createBackup, request);
  const s3 = {
    endpoint: "https://s3.test",
    path: "bucket",
    verifyTls: true,
    accessKeyId: "a",
    secretAccessKey: "b",
  };
  const from = (fields: object) => ({
    backup: {
      name: "a",
      volumeHandle: "data",
      dataSource: { type: { case: "s3" as const, value: { ...s3, ...fields } } },
    },
  });
  const bad: readonly (readonly [Record<string, unknown>, string])[] = [
    [{}, "backup"],
    [{ backup: { volumeHandle: "data" } }, "backup.name"],
    [{ backup: { name: "a,b", volumeHandle: "data" } }, "backup.name"],
    [{ backup: { name: "a/b", volumeHandle: "data" } }, "backup.name"],
    [{ backup: { name: "a" } }, "backup.volume_handle"],
    [from({ endpoint: "" }), "backup.data_source.s3.endpoint"],
    [from({ endpoint: "sftp://s3.test" }), "backup.data_source.s3.endpoint"],
    [from({ endpoint: "rclone:x" }), "backup.data_source.s3.endpoint"],
    [from({ path: "" }), "backup.data_source.s3.path"],
    [from({ path: "bucket/../other" }), "backup.data_source.s3.path"],
    [from({ path: "bucket#monday" }), "backup.data_source.s3.path"],
    [from({ accessKeyId: "" }), "backup.data_source.s3.access_key_id"],
    [from({ secretAccessKey: "x\ny" }), "backup.data_source.s3.secret_access_key"],
    [from({ httpsProxy: "nonsense" }), "backup.data_source.s3.https_proxy"],
  ];
  for (const [request, field] of bad) {
    const refusal = { name: "InfraError", reason: "INVALID_FIELD", violations: [{ field }] };
    await t.rejects(createBackup(request), refusal, JSON.stringify(request));
  }
  const notAllowed: readonly (readonly [object, RegExp])[] = [
    [{ endpoint: "https://other.test" }, /https:\/\/other.test is not in/],
    [{ endpoint: "http://s3.test" }, /http:\/\/s3.test is not in/],
    [{ endpoint: "https://s3.test:8443" }, /https:\/\/s3.test:8443 is not in/],
    [{ verifyTls: false }, /certificate of https:\/\/s3.test must be verified: set verify_tls/],
    [{ httpsProxy: "http://other.test:3128" }, /http:\/\/other.test:3128 is not an allowed proxy/],
    [{ httpProxy: "http://user:secret@other.test" }, /^http:\/\/other.test is not an allowed proxy/],
    [
      { endpoint: "https://self-signed.test:9000", httpsProxy: "http://proxy.test:3128" },
      /is not an allowed proxy/,
    ],
  ];
  for (const [fields, message] of notAllowed) {
    const refusal = { name: "InfraError", reason: "ENDPOINT_NOT_ALLOWED", message };
    await t.rejects(createBackup(from(fields)), refusal, JSON.stringify(fields));
  }
  t.equal(await operationCount(gateway), 0);
});

test("permitted access fields reach restic unchanged, and are never reported", async (t) => {
  const seen: unknown[] = [];
  const restic = createResticSandbox({ transferMs: 10 });
  const host = await createHost(t, {
    restic: {
      ...restic,
      ensureRepository(repository, signal) {
        seen.push(repository);
        return restic.ensureRepository(repository, signal);
      },
    },
  });
  const gateway = await createGateway(t, host);
  const value = {
    endpoint: "https://s3.test/",
    path: "bucket/prefix",
    verifyTls: true,
    httpsProxy: "http://me:proxy-word@proxy.test:3128",
    accessKeyId: "the-access-key",
    secretAccessKey: "the-secret-key",
    sessionToken: "the-token",
    encryptionKey: "the-encryption-key",
  };
  const dataSource = { type: { case: "s3" as const, value } };
  const last = await gateway.backUp("a", "data", { dataSource });
  t.match(last, { state: COMPLETE, msg: /in https:\/\/s3.test\/bucket\/prefix .* its owner's key$/ });
  t.same(seen, [
    {
      location: { kind: "s3", endpoint: "https://s3.test", path: "bucket/prefix" },
      password: "the-encryption-key",
      access: { accessKeyId: "the-access-key", secretAccessKey: "the-secret-key", sessionToken: "the-token" },
      httpsProxy: "http://me:proxy-word@proxy.test:3128/",
      isTlsUnverified: false,
    },
  ]);
  const unverified = {
    ...value,
    endpoint: "https://self-signed.test:9000",
    verifyTls: false,
    httpsProxy: "",
  };
  await gateway.backUp("b", "data", { dataSource: { type: { case: "s3", value: unverified } } });
  t.match(seen[1], { isTlsUnverified: true });
  t.match(await backupsOf(gateway), [
    { name: "b", key: "" },
    { name: "a", key: "" },
  ]);
});

test("a wrong repository key is reported before a snapshot is created", async (t) => {
  const host = await createHost(t);
  const gateway = await createGateway(t, host);
  const s3 = {
    endpoint: "https://s3.test",
    path: "bucket",
    verifyTls: true,
    accessKeyId: "a",
    secretAccessKey: "b",
  };
  const withKey = (encryptionKey: string) => ({
    dataSource: { type: { case: "s3" as const, value: { ...s3, encryptionKey } } },
  });
  t.equal((await gateway.backUp("a", "data", withKey("mine"))).state, COMPLETE);
  const refused = await gateway.backUp("b", "data", withKey("other"));
  t.match(refused, { state: ERROR, msg: /wrong password or no key found/ });
  const { operations } = await gateway.operations.list({}, { belowSeq: undefined, limit: 1 });
  t.match(operations, [{ state: "failed", failure: { reason: "REPOSITORY_KEY_WRONG" } }]);
  t.match(operations[0]?.steps, [{ name: "open" }, { name: "snapshot", state: "pending" }]);
});

test("the local repository accepts only the gateway's key", async (t) => {
  const host = await createHost(t);
  const gateway = await createGateway(t, host);
  const dataSource = { type: { case: "s3" as const, value: { encryptionKey: "mine" } } };
  const refusal = (field: string) => ({
    name: "InfraError",
    reason: "INVALID_FIELD",
    violations: [{ field }],
    message: /the local repository is encrypted with the gateway's key/,
  });
  await t.rejects(gateway.poll("a", "data", { dataSource }), refusal("backup.data_source.s3.encryption_key"));
  t.equal(await operationCount(gateway), 0);
  t.equal((await gateway.backUp("a", "data")).state, COMPLETE);
  const [{ id } = { id: "" }] = await backupsOf(gateway);
  const access = { encryptionKey: "mine" };
  const { verifyBackup, restoreBackup, deleteBackup } = BackupService.method;
  const ofAccess = refusal("access.encryption_key");
  await t.rejects(gateway.call(verifyBackup, { id, access }), ofAccess);
  await t.rejects(gateway.call(deleteBackup, { id, access }), ofAccess);
  await t.rejects(gateway.call(restoreBackup, { id, volumeName: "b", access }), ofAccess);
  await gateway.close();

  const slashed = await createGateway(t, host, { settings: { ...settings, repository: "/srv/backup/" } });
  t.equal((await slashed.backUp("b", "data")).state, COMPLETE);
  t.match(await backupsOf(slashed), [{ repository: "/srv/backup" }, { repository: "/srv/backup" }]);
  t.equal(new Set((await backupsOf(slashed)).map(({ key }) => key)).size, 1, "it is the same repository");
});

test("the backup of a volume that overflows its snapshot fails", async (t) => {
  const restic = createResticSandbox({ transferMs: 10 });
  let isFull = false;
  const lvm = withState((await createHost(t)).lvm, fillSnapshots);
  function fillSnapshots(state: LvmState): LvmState {
    const volumes = state.volumes.map((volume) =>
      isFull && volume.kind === "snapshot" ? { ...volume, health: "invalidSnapshot" as const } : volume,
    );
    return { ...state, volumes };
  }
  const host = await createHost(t, {
    lvm,
    restic: {
      ...restic,
      async backup(...args) {
        const id = await restic.backup(...args);
        isFull = true;
        return id;
      },
    },
  });
  const gateway = await createGateway(t, host);
  const before = await volumeNames(host.lvm);
  t.match(await gateway.backUp("a", "data"), {
    state: ERROR,
    msg: /snapshot of vg0\/data overflowed .*`volumes.backup.snapshotPercent`/,
  });
  const { operations } = await gateway.operations.list({}, { belowSeq: undefined, limit: 1 });
  t.match(operations, [{ state: "failed", failure: { reason: "SNAPSHOT_FULL" } }]);
  t.match(operations[0]?.steps[2], { name: "store", attempt: 1 }, "a retry would use the same snapshot");
  t.same(await volumeNames(host.lvm), before);
  t.same(await backupsOf(gateway), []);
});

test("what a lost attempt stored is removed from the repository", async (t) => {
  const restic = createResticSandbox({ transferMs: 10 });
  let opened: Parameters<typeof restic.list>[0] | undefined;
  const host = await createHost(t, {
    restic: {
      ...restic,
      async backup(...args) {
        opened = args[0];
        await restic.backup(...args);
        return restic.backup(...args);
      },
    },
  });
  const gateway = await createGateway(t, host);
  t.equal((await gateway.backUp("a", "data")).state, COMPLETE);
  const [backup] = await backupsOf(gateway);
  const stored = opened === undefined ? [] : await restic.list(opened, [], AbortSignal.timeout(10_000));
  t.same(
    stored.map(({ id }) => id),
    [backup?.snapshotId],
  );
});

test("a different volume group of the same name is left alone", async (t) => {
  const { lvm } = await createHost(t);
  let isOther = false;
  const other = withState(lvm, (state) =>
    isOther
      ? { ...state, volumeGroups: state.volumeGroups.map((one) => ({ ...one, uuid: `not ${one.uuid}` })) }
      : state,
  );
  const ran: string[] = [];
  const host = await createHost(t, {
    lvm: {
      ...other,
      run(step) {
        ran.push(step.kind);
        return other.run(step);
      },
    },
  });
  const gateway = await createGateway(t, host, {
    boundary(name) {
      isOther ||= name === "after forward store";
    },
  });
  const { operationId } = await gateway.poll("a", "data");
  const operation = await gateway.end(operationId);
  t.match(operation, {
    state: "needsAttention",
    failure: { reason: "VOLUME_GROUP_GONE", message: /vg0 has been replaced by another one/ },
    attention: { left: [/The snapshot vg0\/hostplane-backup-\w{12} of data/] },
  });
  t.same(ran, ["snapshot"]);
  isOther = false;
  await gateway.operations.retry(operationId);
  t.equal((await gateway.end(operationId)).state, "completed", "it continues once the group is back");
  t.same(ran, ["snapshot", "remove"]);
});

test("a cancelled backup leaves nothing behind, and its volume cannot be changed until then", async (t) => {
  const host = await createHost(t, { restic: createResticSandbox({ transferMs: 5_000 }) });
  const storing = Promise.withResolvers<void>();
  const gateway = await createGateway(t, host, {
    boundary(name) {
      if (name === "before forward store") {
        storing.resolve();
      }
    },
  });
  const before = await volumeNames(host.lvm);
  const { operationId } = await gateway.poll("a", "data");
  await storing.promise;
  const inProgress = {
    name: "InfraError",
    reason: "OPERATION_IN_PROGRESS",
    message: new RegExp(operationId),
  };
  await t.rejects(gateway.call(LVService.method.removeLV, { name: "data" }), inProgress);
  await t.rejects(gateway.call(LVService.method.resizeLV, { name: "data", sizeGb: 3n }), inProgress);
  const { volumes } = await stateOfLvm(host.lvm);
  const snapshot = volumes.find(({ kind }) => kind === "snapshot")?.name ?? "";
  t.match(snapshot, /^hostplane-backup-/);
  await t.rejects(gateway.call(LVService.method.removeLV, { name: snapshot }), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
    message: new RegExp(`created by operation ${operationId}`),
  });
  await gateway.operations.cancel(operationId);
  t.equal((await gateway.end(operationId)).state, "cancelled");
  t.same(await volumeNames(host.lvm), before);
  t.match(await gateway.poll("a", "data"), { state: ERROR, msg: /^cancelled/ });
});

test("the snapshot of a failed backup is removed even if the repository is gone", async (t) => {
  const gone = new InfraError(resticReasons.REPOSITORY_NOT_FOUND, "there is no repository any more");
  const restic = createResticSandbox({ transferMs: 10 });
  const backup = () => Promise.reject(gone);
  const host = await createHost(t, { restic: { ...restic, backup, list: backup } });
  const gateway = await createGateway(t, host);
  const before = await volumeNames(host.lvm);
  t.match(await gateway.backUp("a", "data"), {
    state: ERROR,
    msg: /^there is no repository any more; operation/,
  });
  t.same(await volumeNames(host.lvm), before);
});

test("without volumes.backup or a local repository, the error names the missing setting", async (t) => {
  const host = await createHost(t);
  const off = await createGateway(t, host, { settings: undefined });
  const refusal = { name: "InfraError", reason: "DOMAIN_OFF", message: /`volumes\.backup`/ };
  await t.rejects(off.poll("a", "data"), refusal);
  await t.rejects(off.call(BackupService.method.listBackups, {}), refusal);
  const dataSource = { synchronousRestore: true };
  await t.rejects(off.call(LVService.method.createLV, { name: "b", sizeGb: 1n, dataSource }), refusal);
  await off.close();
  const s3Alone = { snapshotPercent: 10, allowEndpoints: [], minimumAgeHours: 1 };
  const remote = await createGateway(t, host, { settings: s3Alone });
  await t.rejects(remote.poll("a", "data"), {
    name: "InfraError",
    reason: "INVALID_FIELD",
    message: /volumes\.backup\.repository/,
  });
});
