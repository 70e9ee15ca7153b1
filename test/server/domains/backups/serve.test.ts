import { create, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { BackupService } from "../../../../gen/hostplane/v1/backup_pb.ts";
import {
  type BackupSource,
  createAbsentBackupSource,
  type RestoreSpec,
  type StoredBackupRequest,
} from "../../../../server/backups/backup-source.ts";
import type { BeginnableChange } from "../../../../server/domain/long-change.ts";
import { serveBackups } from "../../../../server/domains/backups/serve.ts";
import { operationMessage } from "../../../../server/domains/operations/operation-messages.ts";
import type { PlannedMutation } from "../../../../server/operations/mutation.ts";
import type { Operation } from "../../../../server/operations/operation.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { openOwnStore } from "../../store/own-store.ts";
import { callerOf } from "../plan/plan-under-test.ts";

const { listBackups, getBackup, verifyBackup, restoreBackup, deleteBackup } = BackupService.method;

const absent = [
  createAbsentBackupSource({ resourceStart: "volumeGroups/", configKey: "volumes.backup" }),
  createAbsentBackupSource({ resourceStart: "storagePool/", configKey: "hypervisors.pool.backup" }),
] as const;

const operation: Operation = {
  id: "an-operation",
  kind: "volumes.verifyBackup",
  resource: "backups/x",
  backend: "/srv/backup",
  host: "alpha",
  rpc: "hostplane.v1.BackupService/VerifyBackup",
  actor: "user/admin",
  input: null,
  state: "scheduled",
  message: "",
  waitingFor: "",
  progress: undefined,
  doneBytes: undefined,
  totalBytes: undefined,
  step: undefined,
  steps: [],
  attempt: 1,
  isCancelRequested: false,
  isCancellable: true,
  failure: undefined,
  attention: undefined,
  result: undefined,
  createdAtMs: 0,
  startedAtMs: undefined,
  endedAtMs: undefined,
};

/** Creates a source that records its calls. */
function createSource(resourceStart: string, requests: unknown[]): BackupSource {
  const note = (what: string): BeginnableChange<StoredBackupRequest & { readonly spec?: RestoreSpec }> => ({
    async plan({ row, spec }) {
      requests.push([resourceStart, `plan ${what}`, row.id, spec]);
      return plan;
    },
    async begin({ row, spec }) {
      requests.push([resourceStart, what, row.id, spec]);
      return { operation, isNew: true };
    },
  });
  const plan: PlannedMutation = {
    kind: "a.kind",
    resource: "backups/x",
    backend: "",
    plan: { changes: [], losses: [], facts: [] },
    steps: [],
    pointOfNoReturn: 0,
  };
  return {
    resourceStart,
    configKey: "a.key",
    isOn: true,
    verify: note("verify"),
    remove: note("remove"),
    restore: note("restore"),
  };
}

/**
 * Creates the services of these sources over a store with a backup `in-group` of a volume group, one `in-pool`, and one
 * `elsewhere`.
 */
async function createDomain(t: Test, sources: readonly BackupSource[]) {
  const store = await openOwnStore(t);
  const volumes = {
    "in-group": "volumeGroups/vg0/volumes/data",
    "in-pool": "storagePool/volumes/disk.qcow2",
    elsewhere: "clouds/one",
  };
  for (const [id, volume] of Object.entries(volumes)) {
    await store.run("backups.record", {
      backup: {
        id,
        name: "a",
        volume,
        host: "alpha",
        backend: "b",
        volume_uuid: "u",
        size_bytes: 1,
        at: 0,
        repository_json: JSON.stringify({ kind: "local", path: "/srv/backup" }),
        snapshot_id: "s",
        key_name: "k",
        schedule: null,
        operation_id: "o",
        actor: "user/admin",
      },
    });
  }
  const { registrations, planners } = serveBackups({
    store,
    operationMessage,
    served: new Map(
      sources.map((backupSource, index) => [
        String(index),
        { registrations: [], planners: [], backends: [], backupSource },
      ]),
    ),
  });
  return {
    async call<I extends DescMethodUnary["input"], O extends DescMethodUnary["output"]>(
      method: DescMethodUnary<I, O>,
      request: MessageInitShape<I>,
    ): Promise<object> {
      const call = createCall({ method });
      call.identify(callerOf("admin"));
      return registrations[0]?.handlerOf(method)(create(method.input, request), call) as Promise<object>;
    },
    async plan<I extends DescMethodUnary["input"], O extends DescMethodUnary["output"]>(
      method: DescMethodUnary<I, O>,
      request: MessageInitShape<I>,
    ) {
      const { signal } = new AbortController();
      return planners[0]?.plannerOf(method)?.(create(method.input, request), {
        signal,
        peer: { lvmd: "backups" },
      });
    },
  };
}

test("a call for a backup goes to the source of its volume", async (t) => {
  const requests: unknown[] = [];
  const sources = [createSource("volumeGroups/", requests), createSource("storagePool/", requests)];
  const { call, plan } = await createDomain(t, sources);
  t.match(await call(listBackups, {}), {
    backups: [{ id: "elsewhere" }, { id: "in-pool" }, { id: "in-group" }],
  });
  t.match(await call(listBackups, { volume: "storagePool" }), { backups: [{ id: "in-pool" }] });
  t.match(await call(verifyBackup, { id: "in-pool" }), { operation: { id: "an-operation" } });
  await call(deleteBackup, { id: "in-group" });
  await call(restoreBackup, { id: "in-pool", volumeName: "again" });
  await plan(verifyBackup, { id: "in-group" });
  await plan(deleteBackup, { id: "in-pool" });
  await plan(restoreBackup, { id: "in-group", volumeName: "again", sizeGb: 2n });
  const expected = { name: "again", deviceClass: "", sizeGb: 0n, tags: [] };
  t.same(requests, [
    ["storagePool/", "verify", "in-pool", undefined],
    ["volumeGroups/", "remove", "in-group", undefined],
    ["storagePool/", "restore", "in-pool", expected],
    ["volumeGroups/", "plan verify", "in-group", undefined],
    ["storagePool/", "plan remove", "in-pool", undefined],
    ["volumeGroups/", "plan restore", "in-group", { ...expected, sizeGb: 2n }],
  ]);
});

test("a backup whose source is off can be read; changes are refused with the key that enables it", async (t) => {
  const { call, plan } = await createDomain(t, [absent[0], createSource("storagePool/", [])]);
  t.match(await call(getBackup, { id: "in-group" }), { backup: { id: "in-group" } });
  const refusal = {
    name: "InfraError",
    reason: "DOMAIN_OFF",
    message: "backups are off: set `volumes.backup` in the configuration",
  };
  await t.rejects(call(verifyBackup, { id: "in-group" }), refusal);
  await t.rejects(plan(verifyBackup, { id: "in-group" }), refusal);
  await t.rejects(call(deleteBackup, { id: "in-group" }), refusal);
  await t.rejects(plan(deleteBackup, { id: "in-group" }), refusal);
  await t.rejects(call(restoreBackup, { id: "in-group", volumeName: "again" }), refusal);
  await t.rejects(plan(restoreBackup, { id: "in-group", volumeName: "again" }), refusal);
  await t.resolves(call(verifyBackup, { id: "in-pool" }));
  await t.rejects(call(verifyBackup, { id: "elsewhere" }), {
    name: "InfraError",
    reason: "DOMAIN_NOT_BUILT",
  });
});

test("without any source all calls are refused, with every key that would enable one", async (t) => {
  const { call, plan } = await createDomain(t, absent);
  const refusal = {
    name: "InfraError",
    reason: "DOMAIN_OFF",
    message: "backups are off: set `volumes.backup` or `hypervisors.pool.backup` in the configuration",
  };
  await t.rejects(call(listBackups, {}), refusal);
  await t.rejects(call(getBackup, { id: "in-pool" }), refusal);
  await t.rejects(plan(deleteBackup, { id: "in-pool" }), refusal);
});
