import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { resticReasons } from "../../../../adapters/restic/reasons.ts";
import { createResticSandbox } from "../../../../adapters/restic/sandbox.ts";
import type { SandboxTransfer } from "../../../../adapters/restic/sandbox-transfers.ts";
import { createStepFaults } from "../../../../adapters/sandbox/step-faults.ts";
import { BackupService } from "../../../../gen/hostplane/v1/backup_pb.ts";
import { PlanService } from "../../../../gen/hostplane/v1/plan_pb.ts";
import { LVService, StateType } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import {
  createGateway,
  createHost,
  settings,
  volumeNames,
  withState,
} from "../volumes/backups/backups-under-test.ts";

const { listBackups, getBackup, verifyBackup, restoreBackup, deleteBackup } = BackupService.method;

const anyAge = { ...settings, minimumAgeHours: 0 };

const byOwner = {
  dataSource: {
    type: {
      case: "s3" as const,
      value: {
        endpoint: "https://s3.test",
        path: "bucket",
        verifyTls: true,
        accessKeyId: "an-id",
        secretAccessKey: "a-secret",
        encryptionKey: "a-key",
      },
    },
  },
};

test("backups are listed newest first, with pages and filters", async (t) => {
  const gateway = await createGateway(t, await createHost(t));
  for (const [name, volume] of [
    ["a", "data"],
    ["b", "small"],
    ["c", "data"],
  ] as const) {
    await gateway.backUp(name, volume);
  }
  const first = await gateway.call(listBackups, { pageSize: 2 });
  t.match(
    first.backups.map(({ name }) => name),
    ["c", "b"],
  );
  const rest = await gateway.call(listBackups, { pageSize: 2, pageToken: first.nextPageToken });
  t.match([rest.backups, rest.nextPageToken], [[{ name: "a" }], ""]);
  const namesOf = async (request: { volume?: string; name?: string; schedule?: string }) =>
    (await gateway.call(listBackups, request)).backups.map(({ name }) => name);
  t.same(await namesOf({ volume: "volumeGroups/vg0" }), ["c", "a"]);
  t.same(await namesOf({ volume: "volumeGroups/vg1/volumes/small/" }), ["b"]);
  t.same(await namesOf({ volume: "volumeGroups/vg" }), []);
  t.same(await namesOf({ name: "a" }), ["a"]);
  t.same(await namesOf({ schedule: "daily" }), []);
  const { backup } = await gateway.call(getBackup, { id: rest.backups[0]?.id ?? "" });
  t.same(backup, rest.backups[0]);
});

test("a verification reads the whole backup and records the result", async (t) => {
  let isLost = false;
  const lost = new InfraError(resticReasons.BACKUP_NOT_FOUND, "no matching ID found");
  const fault = ({ kind }: SandboxTransfer) => (isLost && kind === "verify" ? lost : undefined);
  const restic = createResticSandbox({ transferMs: 10, faults: createStepFaults(fault) });
  const gateway = await createGateway(t, await createHost(t, { restic }));
  await gateway.backUp("a", "data");
  const [backup] = (await gateway.call(listBackups, {})).backups;
  const { id = "" } = backup ?? {};
  const started = (await gateway.call(verifyBackup, { id })).operation;
  t.match(started, { kind: "volumes.verifyBackup", resource: `backups/${id}` });
  t.equal((await gateway.end(started?.id ?? "")).state, "completed");
  t.match((await gateway.call(getBackup, { id })).backup, { verifiedAt: { nanos: Number }, damage: "" });

  isLost = true;
  const second = (await gateway.call(verifyBackup, { id })).operation;
  t.match(await gateway.end(second?.id ?? ""), { state: "failed", failure: { reason: "BACKUP_DAMAGED" } });
  t.match((await gateway.call(getBackup, { id })).backup, { damage: /no matching ID found/ });
});

test("a backup can be deleted when it is old enough, which frees its name", async (t) => {
  const host = await createHost(t);
  const young = await createGateway(t, host);
  await young.backUp("a", "data");
  const [{ id } = { id: "" }] = (await young.call(listBackups, {})).backups;
  await t.rejects(young.call(deleteBackup, { id }), {
    name: "InfraError",
    reason: "BACKUP_TOO_YOUNG",
    message: /`volumes\.backup\.minimumAgeHours` is 1/,
  });
  await young.close();
  const gateway = await createGateway(t, host, { settings: anyAge });
  const { operation } = await gateway.call(deleteBackup, { id });
  t.match(await gateway.end(operation?.id ?? ""), { state: "completed", kind: "volumes.deleteBackup" });
  t.same((await gateway.call(listBackups, {})).backups, []);
  await t.rejects(gateway.call(getBackup, { id }), { name: "InfraError", reason: "BACKUP_NOT_FOUND" });
  const again = await gateway.poll("a", "data");
  t.match(again, { state: StateType.INPROGRESS }, "the next poll begins a new backup");
  t.equal((await gateway.end(again.operationId)).state, "completed");
});

test("the backup of a removed volume can be listed, restored and deleted", async (t) => {
  const gateway = await createGateway(t, await createHost(t), { settings: anyAge });
  await gateway.backUp("a", "data");
  const [{ id } = { id: "" }] = (await gateway.call(listBackups, {})).backups;
  await gateway.call(LVService.method.removeLV, { name: "data" });
  t.match(await gateway.poll("a", "data"), { state: StateType.COMPLETE }, "it is there");
  t.match(await gateway.poll("b", "data"), { state: StateType.ERROR, msg: /not found in any device class/ });
  const small = { name: "InfraError", reason: "VOLUME_TOO_SMALL", message: /2 GiB .* 1 GiB/ };
  await t.rejects(gateway.call(restoreBackup, { id, volumeName: "data", sizeGb: 1n }), small);
  for (const volumeName of ["", "no/name", "x".repeat(200)]) {
    const unnamed = { name: "InfraError", reason: "INVALID_FIELD", violations: [{ field: "volume_name" }] };
    await t.rejects(gateway.call(restoreBackup, { id, volumeName }), unnamed);
  }
  const { operation } = await gateway.call(restoreBackup, { id, volumeName: "data", tags: ["x"] });
  t.match(operation, { kind: "volumes.restore", resource: "volumeGroups/vg0/volumes/data" });
  t.match((await gateway.end(operation?.id ?? "")).result, { sizeBytes: 2 ** 31, backupId: id });
});

test("the owner's credentials have to be given with each call", async (t) => {
  const host = await createHost(t);
  const gateway = await createGateway(t, host, { settings: anyAge });
  await gateway.backUp("a", "data", byOwner);
  const [{ id } = { id: "" }] = (await gateway.call(listBackups, {})).backups;
  const access = { accessKeyId: "an-id", secretAccessKey: "a-secret", encryptionKey: "a-key" };
  for (const [missing, field] of [
    [{ ...access, encryptionKey: "" }, "access.encryption_key"],
    [{ ...access, accessKeyId: "" }, "access.access_key_id"],
    [{ ...access, secretAccessKey: "" }, "access.secret_access_key"],
  ] as const) {
    const refusal = { name: "InfraError", reason: "INVALID_FIELD", violations: [{ field }] };
    await t.rejects(gateway.call(verifyBackup, { id, access: missing }), refusal);
    await t.rejects(gateway.call(deleteBackup, { id, access: missing }), refusal);
    await t.rejects(gateway.call(restoreBackup, { id, volumeName: "b", access: missing }), refusal);
  }
  const proxied = { ...access, httpsProxy: "http://evil.test" };
  const refusal = { name: "InfraError", reason: "ENDPOINT_NOT_ALLOWED" };
  await t.rejects(gateway.call(verifyBackup, { id, access: proxied }), refusal);
  const verified = await gateway.call(verifyBackup, { id, access });
  t.equal((await gateway.end(verified.operation?.id ?? "")).state, "completed");
  const restored = await gateway.call(restoreBackup, { id, volumeName: "b", access });
  t.equal((await gateway.end(restored.operation?.id ?? "")).state, "completed");
  const wrong = await gateway.call(verifyBackup, { id, access: { ...access, encryptionKey: "other" } });
  t.match(await gateway.end(wrong.operation?.id ?? ""), { failure: { reason: "REPOSITORY_KEY_WRONG" } });
  t.match(
    (await gateway.call(getBackup, { id })).backup,
    { damage: "" },
    "a wrong key does not count as damage",
  );
  await gateway.close();

  const none = await createGateway(t, host, { settings: { ...settings, allowEndpoints: [] } });
  await t.rejects(
    none.call(verifyBackup, { id, access }),
    refusal,
    "permitted endpoints are checked on each call",
  );
});

test("a local backup is only accessible on its own host", async (t) => {
  const host = await createHost(t);
  const alpha = await createGateway(t, host);
  await alpha.backUp("a", "data");
  await alpha.close();
  const beta = await createGateway(t, host, { host: "beta" });
  const [{ id } = { id: "" }] = (await beta.call(listBackups, {})).backups;
  await t.rejects(beta.call(verifyBackup, { id }), {
    name: "InfraError",
    reason: "REPOSITORY_NOT_FOUND",
    message: /\/srv\/backup on host alpha/,
  });
});

test("plans show changes, losses and commands, and begin nothing", async (t) => {
  const host = await createHost(t);
  const gateway = await createGateway(t, host, { settings: anyAge });
  const plan = (method: string, value: JsonObject) =>
    gateway.call(PlanService.method.plan, { method, request: { case: "json", value } });
  const spec = { backup: { name: "a", volumeHandle: "data" } };
  const backup = await plan("proto.LVService/CreateBackup", spec);
  t.match(backup, {
    kind: "volumes.backup",
    resource: "volumeGroups/vg0/volumes/data",
    changes: [
      "vg0/data, 2 GiB (2147483648 bytes), is stored as a in /srv/backup, encrypted with the gateway's key",
    ],
    losses: [],
    pointOfNoReturn: 4,
  });
  const { operationId } = await gateway.poll("a", "data");
  const { steps } = await gateway.end(operationId);
  const namesOf = (some: readonly { readonly name: string }[]) => some.map(({ name }) => name);
  t.same(namesOf(backup.steps), namesOf(steps), "the steps are those of the operation");
  t.match(backup.steps[1]?.command, ["lvm", "lvcreate"]);
  t.match(backup.steps[2]?.command, ["restic", "backup"]);
  t.match(await plan("proto.LVService/CreateBackup", spec), { steps: [], changes: [] }, "it is there");

  const restore = { name: "b", sizeGb: "2", dataSource: { s3: { path: "#a" } } };
  const planned = await plan("proto.LVService/CreateLV", restore);
  t.match(planned, {
    kind: "volumes.restore",
    resource: "volumeGroups/vg0/volumes/b",
    changes: ["vg0/b is created with 2 GiB (2147483648 bytes), and filled from the backup a in /srv/backup"],
    pointOfNoReturn: 3,
  });
  const message = fromJson(LVService.method.createLV.input, restore);
  const answered = new Headers();
  await gateway.call(LVService.method.createLV, message, { answered });
  const restored = await gateway.end(answered.get("hostplane-operation") ?? "");
  t.same(namesOf(planned.steps), namesOf(restored.steps));
  await t.rejects(plan("proto.LVService/CreateLV", restore), { name: "InfraError", reason: "VOLUME_EXISTS" });

  const [{ id } = { id: "" }] = (await gateway.call(listBackups, {})).backups;
  t.match(await plan("hostplane.v1.BackupService/DeleteBackup", { id }), {
    losses: [/the content of volumeGroups\/vg0\/volumes\/data at .*, 2 GiB .*, in \/srv\/backup/],
    pointOfNoReturn: 0,
  });
  t.match(await plan("hostplane.v1.BackupService/VerifyBackup", { id }), { losses: [], steps: [{}, {}] });
  await t.rejects(plan("hostplane.v1.BackupService/RestoreBackup", { id, volumeName: "-" }), {
    name: "InfraError",
    violations: [{ field: "volume_name" }],
  });
  t.match(await plan("hostplane.v1.BackupService/RestoreBackup", { id, volumeName: "c" }), {
    resource: "volumeGroups/vg0/volumes/c",
  });
  t.same(await volumeNames(host.lvm), ["vg0/b", "vg0/data", "vg1/pool", "vg1/small"]);
});

test("the backup of a former volume is not reported for a new volume of the same name", async (t) => {
  const host = await createHost(t);
  const gateway = await createGateway(t, host, { settings: anyAge });
  t.equal((await gateway.backUp("a", "data")).state, StateType.COMPLETE);
  const [{ id } = { id: "" }] = (await gateway.call(listBackups, {})).backups;
  await gateway.call(LVService.method.removeLV, { name: "data" });
  t.equal((await gateway.poll("a", "data")).state, StateType.COMPLETE, "no volume has the name");
  await gateway.call(LVService.method.createLV, { name: "data", sizeGb: 1n });
  const refusal = {
    state: StateType.ERROR,
    msg: "the backup a belongs to an earlier volume of this name: delete that backup, or choose another name",
    operationId: "",
  };
  t.match(await gateway.poll("a", "data"), refusal);
  t.match(await gateway.poll("a", "data"), refusal, "as long as that is the case");
  const value = { backup: { name: "a", volumeHandle: "data" } };
  const method = "proto.LVService/CreateBackup";
  await t.rejects(gateway.call(PlanService.method.plan, { method, request: { case: "json", value } }), {
    name: "InfraError",
    reason: "BACKUP_EXISTS",
  });
  const { operation } = await gateway.call(deleteBackup, { id });
  await gateway.end(operation?.id ?? "");
  t.equal((await gateway.backUp("a", "data")).state, StateType.COMPLETE);
  t.match((await gateway.call(listBackups, {})).backups, [{ sizeBytes: 1n << 30n }]);

  const { lvm } = host;
  const other = withState(lvm, (state) => ({
    ...state,
    volumeGroups: state.volumeGroups.map((one) => ({ ...one, uuid: `not ${one.uuid}` })),
  }));
  await gateway.close();
  const replaced = await createGateway(t, { ...host, lvm: other }, { settings: anyAge });
  t.match(await replaced.poll("a", "data"), refusal, "the same for a former group");
});
